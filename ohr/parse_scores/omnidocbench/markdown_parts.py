"""A Markdown page divided into paragraphs, formulas and tables, as OmniDocBench divides predictions."""

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from ..versions import Version
from .delimiters import Formula, blanked, formulas, spans, unwrapped, without
from .table_spans import html_tables, latex_tables

Kind = Literal["text", "formula", "html_table", "latex_table"]

_DISPLAYS = (("$$", "$$"), ("\\[", "\\]"), ("$", "$"), ("\\(", "\\)"))
_DOLLARS = (("$$", "$$"), ("$", "$"), ("\\(", "\\)"))
_CODE = re.compile(r"```(?:\w+)\n")
_FENCES = {
    "1.0": re.compile(r"^```markdown\n?", re.MULTILINE),
    "1.5": re.compile(r"^```(?:markdown|html|latex)\n?", re.MULTILINE),
}
_CLOSING_FENCE = re.compile(r"```\n?$", re.MULTILINE)
_LEAST_ROWS = 2
"""Rows, from a `|` to the next one at the end of a line, of a page that has Markdown tables."""

_REPEATED_SIGN = re.compile(r"([^a-zA-Z0-9])\1{10,}")


class Part(NamedTuple):
    """A part of a page.

    Attributes:
        kind: What it is compared with, and how it is normalized.
        place: Where it begins. Of text this counts no line breaks between paragraphs, and of Markdown tables it is a
            place in the page with HTML in their stead, so that places of different kinds are not comparable.
        content: Its Markdown, LaTeX or HTML.
        category: What it is called where one kind has several.
    """

    kind: Kind
    place: int
    content: str
    category: str


def parts_of(markdown: str, version: Version) -> list[Part]:
    """Divide a page into its parts, in the order of their places."""
    text = _cleaned(markdown, version)
    readers: dict[Kind, Callable[[str], list[tuple[int, str]]]]
    readers = {"latex_table": latex_tables, "html_table": html_tables}
    parts: list[Part] = []
    for kind, tables_of in readers.items():
        tables = tables_of(text)
        parts += [Part(kind, start, content, kind) for start, content in tables]
        text = blanked(text, [(start, start + len(content)) for start, content in tables])
    return sorted([*parts, *_without_tables(text, version)], key=lambda part: part.place)


def _cleaned(text: str, version: Version) -> str:
    """Remove images and fences, and shorten what is repeated."""
    text = without(text, "![", "](", ")", in_line=True)
    text = _CLOSING_FENCE.sub("", _FENCES[version].sub("", text))
    text = re.sub(" {4,}", " " * 4, re.sub("_{4,}", "_" * 4, text))
    if version == "1.0":
        return _REPEATED_SIGN.sub(r"\1\1\1\1", text)
    for tag in ("<html>", "</html>", "<body>", "</body>"):
        text = text.replace(tag, "")
    return text


def _without_tables(text: str, version: Version) -> Iterator[Part]:
    """Yield formulas, Markdown tables, code and paragraphs of a text whose other tables are blank."""
    displays = []
    for formula in formulas(text, _DISPLAYS):
        part = _formula(formula, text[formula.start : formula.end], version)
        yield part
        if part.category == "equation_isolated":
            displays.append((formula.start, formula.end))
    text = blanked(text, displays)
    if sum(1 for _ in spans(f"{text}\n", "|", "|\n")) >= _LEAST_ROWS:
        text = _with_html_tables(text, version)
        tables = [(start, end) for start, _, end in spans(text, "<table", "</table>")]
        for start, end in tables:
            yield Part("html_table", start, text[start:end], "md2html_table")
        text = blanked(text, tables)
    blocks = list(_code_blocks(text))
    for start, body, end in blocks:
        yield Part("text", start, text[body : end - 3].strip(), "code")
    text = blanked(text, [(start, end) for start, _, end in blocks])
    yield from _paragraphs(_without_titles(text))


def _with_html_tables(text: str, version: Version) -> str:
    from ohr.parse_scores.tables import markdown_tables_to_html

    return markdown_tables_to_html(text, version)


def _formula(formula: Formula, written: str, version: Version) -> Part:
    r"""Return a formula between `\[` and `\]`; one between single dollars remains in its paragraph too."""
    latex = "".join(written.split()) if version == "1.0" else " ".join(written.strip().split("\n"))
    dollars = list(formulas(latex, _DOLLARS))
    if not dollars:
        return Part("formula", formula.start, latex, "equation_isolated")
    is_display = dollars[0].opener == "$$" and dollars[0].body != ""
    place, pieces = 0, []
    for start, end, opener, body in dollars:
        pieces += [latex[place:start], "\\[", body if (opener == "$$") == is_display else "", "\\]"]
        place = end
    latex = "".join(pieces) + latex[place:]
    return Part("formula", formula.start, latex, "equation_isolated" if is_display else "equation_inline")


def _code_blocks(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where a block with a language begins, where its code begins, and where the block ends.

    Few have an end, since fences at the end of a line are removed before.
    """
    place = 0
    while (opening := _CODE.search(text, place)) and (end := text.find("```", opening.end())) >= 0:
        place = end + 3
        yield opening.start(), opening.end(), place


def _without_titles(text: str) -> str:
    text = unwrapped(text, r"\\title\{", in_line=True)
    text = unwrapped(text, r"\\title\s*\{", in_line=False)
    text = unwrapped(text, r"\\text\s*\{", in_line=False)
    text = unwrapped(text, r"\\section\*?\{", in_line=True)
    return unwrapped(text, r"\\section\*?\{", in_line=False)


def _paragraphs(text: str) -> Iterator[Part]:
    """Yield what blank lines separate, or single lines where no line is blank."""
    paragraphs = text.split("\n\n")
    if len(paragraphs) == 1:
        paragraphs = text.split("\n")
    place = 0
    for paragraph in paragraphs:
        content = "\n".join(filter(None, map(str.strip, paragraph.strip().split("\n"))))
        if content.startswith("<table") and content.endswith("</table>"):
            yield Part("html_table", place, content, "html_table")
        elif content.startswith("$") and content.endswith("$"):
            if content.replace("$", "").strip():
                yield Part("formula", place, content, "equation_isolated")
        elif content:
            yield Part("text", place, content, "text_block")
        place += len(paragraph)
