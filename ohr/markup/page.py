"""The text of a page from the blocks of an OCR engine: which blocks are kept, and how tables are written."""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ohr.contracts import Block
from ohr.markup import Notation

_FURNITURE = frozenset({"header", "footer", "page_number"})
# up to another picture, or many that are not closed would take quadratic time
_LABEL = r"\[(?:[^\]\n!]|!(?!\[))*+\]"
_LINK = re.compile(
    rf"!{_LABEL}(?:\((?:[^)\n!]|!(?!\[))*+\)|{_LABEL})"
    r"|<img\b[^<>]*+>|^\[[^\]\n]++\]:[ \t]*+<?data:image/[^\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_DELIMITERS = re.compile(r"^[ \t]*+\|?+(?:[ \t]*+:?+-++:?+[ \t]*+\|)++(?:[ \t]*+:?+-++:?+)?+[ \t]*+$", re.MULTILINE)
"""The row below the head of a table in Markdown."""
_ROW = re.compile(r"^[ \t]*+\|.*", re.MULTILINE)
_TIGHT = re.compile(r"(?<=[^\s\\])(?=\|)|(?<=[^\\]\|)(?=[^\s|])|^(\|)(?=[^\s|])")
_BREAK = re.compile(r"(?<=\S)(?=<br[ \t]*/?>)|(?:(?<=<br>)|(?<=<br/>)|(?<=<br />))(?=\S)", re.IGNORECASE)

Keep = Literal["keep", "drop"]
"""Fate of a kind of block."""


class Markup(BaseModel):
    """The markup that is kept of a page, the same for all engines that write some."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    tables: Annotated[Notation | Literal["as_is"], Field(description="Notation of tables.")] = "as_is"
    images: Annotated[Keep, Field(description="Links to pictures, and their placeholders.")] = "drop"
    page_furniture: Annotated[Keep, Field(description="Page headers, footers and page numbers.")] = "keep"
    invented: Annotated[Keep, Field(description="A model's own descriptions of pictures.")] = "keep"
    fences: Annotated[Keep, Field(description="A code fence around the whole page, and what introduces it.")] = "drop"

    def identity(self) -> dict[str, int]:
        """Return what belongs into keys besides the fields: how pages are tidied, and how tables are read."""
        return {"tidying": 3} | ({} if self.tables == "as_is" else {"table_reading": 3})


PRESETS = {
    "as_is": Markup(),
    # what OHRBench's ground truth has: LaTeX tables, nothing of pictures but their text (its section II.2)
    "ohrbench": Markup(tables="latex", page_furniture="drop", invented="drop"),
}
"""Named choices of what becomes of each kind of block."""


def _read(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value not in PRESETS:
        raise ValueError(f"must be {' or '.join(PRESETS)}, or a mapping with any of {', '.join(Markup.model_fields)}")
    return PRESETS[value]


MarkupField = Annotated[
    Markup,
    BeforeValidator(_read, json_schema_input_type=Markup | Literal["as_is", "ohrbench"]),
    Field(description="`as_is`, `ohrbench`, or a mapping: what of the markup is kept, and how tables are written."),
]
"""A plugin's field `markup`: the name of a preset, or a mapping."""


def page_text(blocks: Sequence[Block], markup: Markup) -> str:
    """Join the blocks that are kept, with a blank line between them."""
    return tidy("\n\n".join(_lines(blocks, markup)), markup)


def tidy(text: str, markup: Markup) -> str:
    """Apply what can be seen in a page's Markdown: fences, links to pictures, notation of tables."""
    from ohr.markup.artifacts import BLANK_LINES, unfenced  # many expressions, which a spec that is read needs none of

    if markup.fences == "drop":
        text = unfenced(text)
    if markup.images == "drop":
        text = _LINK.sub("", text)
    if markup.tables != "as_is":
        from ohr.markup.convert import with_tables_in

        text = with_tables_in(text, markup.tables)
    return BLANK_LINES.sub("\n\n", _parted(text)).strip("\n")


def _parted(text: str) -> str:
    """Put spaces around the pipes of tables and around line breaks, which else make one word of two for every score."""
    if "<br" in text.lower():
        text = _BREAK.sub(" ", text)
    if "|" in text and _DELIMITERS.search(text):
        text = _ROW.sub(lambda row: row[0] if _DELIMITERS.fullmatch(row[0]) else _TIGHT.sub(_spaced, row[0]), text)
    return text


def _spaced(place: re.Match[str]) -> str:
    return f"{place[0]} "


def _lines(blocks: Sequence[Block], markup: Markup) -> Iterable[str]:
    for block in blocks:
        dropped = (
            (block.kind in _FURNITURE and markup.page_furniture == "drop")
            or (block.kind == "image" and markup.images == "drop")
            or (block.kind == "description" and markup.invented == "drop")
        )
        text = block.text.strip("\n")
        if dropped or not text.strip():
            continue
        if block.kind == "heading" and not text.startswith("#"):
            text = f"{'#' * min(max(block.level, 1), 6)} {text}"
        yield text
