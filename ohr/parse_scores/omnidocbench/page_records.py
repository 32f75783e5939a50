"""Pages as OmniDocBench's JSON files annotate them, and as sets of the same form do, checked."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ohr.messages.wording import quoted

IGNORED = (
    *("equation_caption", "figure_caption", "figure_footnote", "table_caption", "table_footnote", "code_algorithm"),
    *("code_algorithm_caption", "header", "footer", "page_footnote", "page_number"),
)
"""Categories of text that are matched with lines of a prediction, but not scored."""

TEXTS = ("text_block", "title", "code_txt", "code_txt_caption", "reference", *IGNORED)
"""Categories of text, in the order of blocks that have none."""

FORMULA = "equation_isolated"
TABLE = "table"

_UNREAD = ("figure", "abandon", "equation_ignore")
_MASK = "_mask"
"""How categories end of regions that cannot be judged, such as `need_mask`."""

_CONTENT = {**dict.fromkeys(TEXTS, "text"), FORMULA: "latex", TABLE: "html"}


@dataclass(frozen=True, slots=True)
class Region:
    """A block of a page: its text, LaTeX or HTML, its place in the reading order, and its name in the annotation."""

    category: str
    content: str
    order: float | None
    anno_id: int | str | None


@dataclass(frozen=True, slots=True)
class PageRecord:
    """An annotated page.

    Attributes:
        regions: Blocks that are compared, those that a column or a page cuts in two joined.
        unknown: How many blocks have a category that no public set has; they are left out.
        image_path: `page_info.image_path`, empty where the record has none.
        attributes: `page_info.page_attribute`, such as the language.
    """

    regions: tuple[Region, ...]
    unknown: Mapping[str, int]
    image_path: str
    attributes: Mapping[str, Any]

    def of(self, *categories: str) -> list[Region]:
        """Return the regions of categories in reading order; those without one first, by category as given."""
        regions = [region for category in categories for region in self.regions if region.category == category]
        return sorted(regions, key=lambda region: region.order or 0)


def read_record(record: Any) -> PageRecord:
    """Check one page of an annotation, and join its truncated blocks as the published code does.

    `ignore` is not looked at, as in the published code. A block in two relations is joined twice, likewise: where one
    is cut in three, the text in the middle counts twice.

    Raises:
        ValueError: what is not a page of OmniDocBench's form; the message has the place within the page.
    """
    page = _mapping(record, "a page")
    if "layout_dets" not in page:
        raise ValueError("a page has no `layout_dets`: it is none of OmniDocBench's")
    items = [
        _mapping(item, f"layout_dets[{number}]")
        for number, item in enumerate(_list(page["layout_dets"], "layout_dets"))
    ]
    categories = [_string(item.get("category_type"), f"layout_dets[{n}].category_type") for n, item in enumerate(items)]
    joins = _joins(page.get("extra"))
    cut = {name for names in joins for name in names}
    regions = []
    pieces: dict[int | str | None, tuple[int, Mapping[str, Any]]] = {}
    for number, (item, category) in enumerate(zip(items, categories, strict=True)):
        name = _name(item.get("anno_id"), f"layout_dets[{number}].anno_id")
        if name in cut:
            pieces[name] = (number, item)
        elif category in _CONTENT:
            regions.append(_region(item, category, name, f"layout_dets[{number}]"))
    joined = [_joined(names, pieces) for names in joins]
    unknown = Counter(
        category for category in categories if category not in (*_CONTENT, *_UNREAD) and not category.endswith(_MASK)
    )
    info = _mapping(page.get("page_info") or {}, "page_info")
    return PageRecord(
        (*regions, *(region for region in joined if region.category in _CONTENT)),
        dict(unknown),
        _string(info.get("image_path", ""), "page_info.image_path"),
        _mapping(info.get("page_attribute") or {}, "page_info.page_attribute"),
    )


def _joins(extra: Any) -> list[list[int | str]]:
    """Return the names of blocks to join; each relation adds both its blocks to every list that has one of them."""
    joins: list[list[int | str]] = []
    for number, entry in enumerate(_list(_mapping(extra or {}, "extra").get("relation") or [], "extra.relation")):
        place = f"extra.relation[{number}]"
        relation = _mapping(entry, place)
        if relation.get("relation_type") != "truncated":
            continue
        ends = [_name(relation.get(key), f"{place}.{key}") for key in ("source_anno_id", "target_anno_id")]
        names = [name for name in ends if name is not None]
        if len(names) < len(ends):
            raise ValueError(f"{place} has no `source_anno_id` or no `target_anno_id`")
        related = [join for join in joins if not set(names).isdisjoint(join)]
        for join in related:
            join += names
        if not related:
            joins.append(names)
    return joins


def _joined(names: Sequence[int | str], pieces: Mapping[int | str | None, tuple[int, Mapping[str, Any]]]) -> Region:
    regions = []
    for name in names:
        if name not in pieces:
            raise ValueError(
                f"extra.relation: no block has the anno_id {quoted(name)}, which a truncated one is to be joined with"
            )
        number, item = pieces[name]
        category = item["category_type"]
        if category in (FORMULA, TABLE):
            raise ValueError(
                f"layout_dets[{number}]: a {category} is no text, and cannot be joined with a truncated block"
            )
        regions.append(_region(item, category, name, f"layout_dets[{number}]"))
        if regions[-1].order is None:
            raise ValueError(f"layout_dets[{number}]: a truncated block needs an `order`")
    regions.sort(key=lambda region: region.order or 0)
    first = regions[0]
    return Region(first.category, "".join(region.content for region in regions), first.order, first.anno_id)


def _region(item: Mapping[str, Any], category: str, name: int | str | None, place: str) -> Region:
    key = _CONTENT.get(category, "text")
    return Region(
        category, _string(item.get(key), f"{place}.{key} of a {category}"), _order(item.get("order"), place), name
    )


def _order(value: Any, place: str) -> float | None:
    if value is None or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise ValueError(f"{place}.order is {quoted(value)}: it must be a number, or null")


def _name(value: Any, place: str) -> int | str | None:
    if value is None or (isinstance(value, int | str) and not isinstance(value, bool)):
        return value
    raise ValueError(f"{place} is {quoted(value)}: it must be a number or a string")


def _string(value: Any, place: str) -> str:
    if isinstance(value, str):
        return value
    raise ValueError(f"{place} is {_kind(value)}: it must be a string")


def _mapping(value: Any, place: str) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    raise ValueError(f"{place} is {_kind(value)}: it must be an object")


def _list(value: Any, place: str) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    raise ValueError(f"{place} is {_kind(value)}: it must be a list")


def _kind(value: Any) -> str:
    return "missing, or null" if value is None else f"of type {type(value).__name__}"
