"""Tables as OmniDocBench compares them: normalization of HTML, reading of Markdown, and TEDS by version."""

import re
import unicodedata
import warnings
from collections.abc import Iterator, Sequence
from html import unescape
from itertools import pairwise
from math import isnan
from typing import NamedTuple

from ohr.extras import load

from .teds import teds
from .versions import VERSIONS, Version

_TABLE = re.compile(r"<table\b[^>]*>", re.IGNORECASE)
_TABLE_END = re.compile("</table>", re.IGNORECASE)
_ATTRIBUTES = [re.compile(f' {name}=".*?"') for name in ("style", "height", "width", "align", "class")]
_BODY = re.compile("</?tbody>")
_INLINE_TAGS = re.compile("</?(?:sup|sub|span|div|p)>")
_SPACE = re.compile(r"\s+")
_COLUMNS = re.compile("<colgroup>.*?</colgroup>")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PLAIN_TABLE = re.compile("<table>.*?</table>", re.DOTALL)
_SECTION = re.compile("</?t(?:able|head|body)>")


class TableScores(NamedTuple):
    """TEDS and TEDS-S of one table, each at most 1 and maybe negative."""

    teds: float
    teds_s: float


def normalized_html(html: str, version: Version) -> str:
    """Return the content of a text's tables as one plain `<table>`; nothing if there is none.

    `<th>` becomes `<td>`, a formula its LaTeX source; `<thead>`, `<tbody>`, `<colgroup>`, attributes of style and
    layout tags without attributes go; references to characters are resolved, Unicode becomes NFKC and white space one
    blank. Versions 1.0 and 1.5 do the same. Text that looks like a tag once its references are resolved is one from
    then on: `&lt;b` swallows the rest of its cell. What Python's HTML parser rejects is no table.

    Raises:
        ValueError: For another version.
    """
    _check(version)
    if "<table" not in html.replace(" ", ""):
        return ""
    text = unicodedata.normalize("NFKC", unescape(_without_headings(html)).replace("\n", "")).strip()
    text = _between_first_and_last_tag(text)
    for pattern in (*_ATTRIBUTES, _BODY):
        text = pattern.sub("", text)
    text = '<html><body><table border="1" >' + _SPACE.sub(" ", text) + "</table></body></html>"
    return _COLUMNS.sub("", _INLINE_TAGS.sub("", text).replace('<spandata-span-identity="">', ""))


def markdown_tables_to_html(page: str, version: Version) -> str:
    """Return a page whose rows between pipes are HTML tables, as both versions make them before they read tables.

    Each row becomes a table of its own, and tables without a line between them are merged. Two traps are kept: a cell
    with a colon or with `---` is lost, as if it were a separator, and so is a row that has no other cell.

    Raises:
        ValueError: For another version.
    """
    _check(version)
    text = "".join(_with_tables_of_rows(page.replace("\r", "") + "\n"))
    lines = "\n".join(_merged(text.split("\n")))
    return lines.replace("<table>", '<table border="1" >').replace("<td>", '<td colspan="1" rowspan="1">')


def scores_as_written(prediction: str, truth: str, version: Version) -> TableScores:
    """Return the scores of a table that counts only where it is HTML; Markdown is no table, and scores 0."""
    return scores_of_normal(normalized_html(prediction, version), normalized_html(truth, version), version)


def scores_of_normal(prediction: str, truth: str, version: Version) -> TableScores:
    """Return the scores of tables that `normalized_html` has brought into their normal form."""
    both = [teds(prediction, truth, structure_only=structure_only) for structure_only in (False, True)]
    return TableScores(*(defined(score, version) for score in both))


def defined(score: float, version: Version) -> float:
    """Return a score, or what a version has for one that the published code cannot compute: 0 in 1.5, nan in 1.0."""
    return 0.0 if isnan(score) and version == "1.5" else score


def scores_after_conversion(prediction: str, truth: str, version: Version) -> TableScores:
    """Return the scores of a table whose rows between pipes, if it is no HTML, are converted first."""
    if "<table" not in prediction:
        prediction = markdown_tables_to_html(prediction, version)
    return scores_as_written(prediction, truth, version)


def _check(version: str) -> None:
    if version not in VERSIONS:
        raise ValueError(f"OmniDocBench has no version {version!r} here: there are {' and '.join(VERSIONS)}")


def _without_headings(html: str) -> str:
    bs4 = load("bs4", "parse_scores")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what looks like a file name or like XML is read all the same
        try:
            soup = bs4.BeautifulSoup(html, "html.parser")
        except bs4.ParserRejectedMarkup:
            return ""
    for tag in soup.find_all("th"):
        tag.name = "td"
    for tag in soup.find_all("thead"):
        tag.unwrap()
    for tag in soup.find_all("math"):
        tag.replace_with(f"${tag.get('alttext', '')}$")
    for tag in soup.find_all("span"):
        tag.unwrap()
    return str(soup)


def _between_first_and_last_tag(text: str) -> str:
    ends = [end.start() for end in _TABLE_END.finditer(text)]
    starts = (start.end() for start in _TABLE.finditer(text) if ends and start.end() <= ends[-1])
    return next((text[start : ends[-1]] for start in starts), "")


def _with_tables_of_rows(text: str) -> Iterator[str]:
    """Cut a page into rows, each from a pipe to the next one that ends a line, and what is between them."""
    done = 0
    while (start := text.find("|", done)) >= 0 and (end := text.find("|\n", start + 1)) >= 0:
        yield text[done:start]
        yield _table_of_row(text[start : end + 2])
        done = end + 2
    yield text[done:]


def _table_of_row(markdown: str) -> str:
    """Write what is between a pipe and the next one that ends a line as a table, one tag or cell a line."""
    heading, *others = [line.strip().split("|")[1:-1] for line in markdown.strip().split("\n")]
    rows = [_row(heading, "th"), "  </thead>", "  <tbody>", *(_row(cells, "td") for cells in others[1:])]
    return "\n".join(["<table>", "  <thead>", *rows, "  </tbody>", "</table>", ""])


def _row(cells: Sequence[str], tag: str) -> str:
    return "\n".join(["    <tr>", *(f"      <{tag}>{cell.strip()}</{tag}>" for cell in cells), "    </tr>"])


def _merged(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines, those of neighboring tables merged into one table; each is looked at when the next one is known."""
    block: list[str] | None = None
    for line, following in pairwise(["", *lines]):
        if "<table>" in following:
            block = block or []
            block.append(line)
        elif block is None:
            yield line
        else:
            if not (":" in line or "---" in line or "</thead>" in line):
                block += ["\n", line]
            if "</table>" in line:
                yield _joined("".join(block))
                block = None
    if last := lines[-1]:
        yield last if block is None and "</table>" not in last else _joined("".join([*(block or ()), "\n", last]))


def _joined(block: str) -> str:
    lines: list[str] = []
    for table in _PLAIN_TABLE.findall(_COMMENT.sub("", block)):
        cells = [
            line.replace("<th>", "<td>").replace("</th>", "</td>") if "<th>" in line else line
            for line in table.split("\n")
        ]
        row = [line for line in cells if not _SECTION.search(line)]
        if len(row) > 2:  # more than <tr> and </tr>
            lines.extend(row)
    return "\n\n<table>\n" + "\n".join(lines) + "\n</table>\n\n"
