"""Builds the sample of TableQuest: questions with their contexts, and page images, from its `source/`.

`python -m samples.tablequest` writes `benchmarks/tablequest/sample/`, and the pages of the sample of
`finqa_tablequest`. All companies and figures are invented. A context is a piece of HTML as in a filing; typst sets the
same content as a page. The output is deterministic: same sources, same fonts, same bytes.
"""

import json
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any
from xml.etree import ElementTree

from . import BENCHMARKS, as_lines, put, small_png, typeset

SOURCE, SAMPLE = BENCHMARKS / "tablequest/source", BENCHMARKS / "tablequest/sample"
FINQA = BENCHMARKS / "finqa_tablequest/sample"
FINQA_PAGES = {
    "easy/BRINDLEMERE_2023_10K_p68": ("brindlemere_2023", None),
    "easy/PENNISTOW_2023_10K_p97": ("pennistow_2023", None),
    "medium/CALLOWRIDGE_2022_10K_p81": ("callowridge_2022", None),
    "hard/PENNISTOW_2023_8K_dated-2023-11-14_p3": ("pennistow_2023", 3),
}
"""The source of each page of the other sample, and its number where it is not that of `reports.json`."""
DPI = 150
GRAYS = 16  # colors of a page image: text and shading need no more, and 4 bits a pixel keep the files small

_PAGE = """\
#set page(width: 8.5in, height: 11in, margin: (x: 0.95in, top: 0.8in, bottom: 0.9in),
  footer: align(center, text(size: 9pt)[{number}]))
#set text(font: "STIXGeneral", size: 10pt, lang: "en")
#set par(justify: true, leading: 0.55em, spacing: 0.95em)
#align(center, text(size: 8pt, fill: rgb("#1a4f8b"), underline[Table of Contents]))
#v(0.1in)
#align(center)[#strong[#{company}] \\ #strong[NOTES TO CONSOLIDATED FINANCIAL STATEMENTS (Continued)]]
#v(0.12in)
"""
_SHADE = 'rgb("#cfe6f5")'
_SPACE = re.compile(r"\s+")
_BELOW = {"total": "none", "sum": "1.6pt"}
"""The line below a row of a subtotal and of a total, by its class."""


def questions() -> list[dict[str, Any]]:
    """Return the questions in the schema of `reading`, each with its context."""
    reports = _load("reports.json")
    made = []
    for entry in _load("questions.json"):
        report = reports[entry["context"]]
        context = (SOURCE / f"{entry['context']}.html").read_text(encoding="utf-8")
        about = {"id": entry["id"], "company": report["company"], "year": report["year"]}
        made.append(about | {key: entry[key] for key in ("difficulty", "question", "answer", "steps")})
        made[-1] |= {"context": context, "image": f"pages/{entry['context']}.png"}
    return made


def page_png(name: str, dpi: int, number: int | None = None) -> bytes:
    """Set one context as a page of a report and draw it.

    Args:
        number: the page's number, where it is not that of `reports.json`.
    """
    from PIL import Image

    report = _load("reports.json")[name]
    head = _PAGE.format(number=number or report["page"], company=json.dumps(report["company"].upper()))
    body = "\n".join(_block(part) for part in ElementTree.parse(SOURCE / f"{name}.html").getroot())
    # matplotlib has STIX, whose letterforms are those of Times
    drawn = typeset((head + body).encode(), SOURCE, ("matplotlib",), format="png", ppi=dpi)
    with Image.open(BytesIO(drawn)) as image:
        return small_png(image.convert("RGB"), GRAYS, bits=4)


def _block(element: ElementTree.Element) -> str:
    if element.tag != "table":
        above = "#v(0.1in)\n" if element.find("b") is not None else ""
        return f"{above}#par[{_inline(element)}]"
    caption = element.find("caption")
    above = "" if caption is None else f"#align(center, emph[{_inline(caption)}])\n"
    return f"{above}#align(center, block(width: 92%)[{_table(element)}])"


def _table(element: ElementTree.Element) -> str:
    rows = element.findall("tr")
    columns = sum(int(cell.get("colspan", 1)) for cell in rows[0])
    cells = [cell for number, row in enumerate(rows) for cell in _cells(row, number)]
    widths = ["1fr", *(["auto"] * (columns - 1))]
    return (
        f"#set par(justify: false)\n#table(columns: ({', '.join(widths)}), stroke: none, "
        f"inset: (x: 5pt, y: 3.2pt), {', '.join(cells)})"
    )


def _cells(row: ElementTree.Element, number: int) -> Iterator[str]:
    """Yield the cells of a row: every other row shaded, figures to the right, a rule above totals."""
    for place, cell in enumerate(row):
        options = [f"{key}: {cell.get(key)}" for key in ("colspan", "rowspan") if cell.get(key)]
        options.append(f"align: {_side(cell, place)} + horizon")
        if number % 2 and cell.tag == "td":
            options.append(f"fill: {_SHADE}")
        if place and row.get("class") in _BELOW:
            options.append(f"stroke: (top: 0.6pt, bottom: {_BELOW[row.get('class', '')]})")
        content = f"#strong[{_inline(cell)}]" if cell.tag == "th" else _inline(cell)
        yield f"table.cell({', '.join(options)})[{content}]"


def _side(cell: ElementTree.Element, place: int) -> str:
    text = "".join(cell.itertext())
    if place == 0 or not (cell.tag == "th" or text == "—" or any(map(str.isdigit, text))):
        return "left"
    return "center" if cell.tag == "th" else "right"


def _inline(element: ElementTree.Element) -> str:
    """Write the text of an element with its bold, italic and raised parts."""
    marks = {"b": "strong", "i": "emph", "sup": "super"}
    parts = [_text(element.text)]
    for child in element:
        parts += [f"#{marks[child.tag]}[{_inline(child)}]", _text(child.tail)]
    return "".join(parts)


def _text(text: str | None) -> str:
    """Write a text as a string, so that no sign of it is markup."""
    return f"#{json.dumps(_SPACE.sub(' ', text), ensure_ascii=False)};" if text else ""


def _load(name: str) -> Any:
    return json.loads((SOURCE / name).read_text(encoding="utf-8"))


def write() -> None:
    """Write both samples' files that are made from `source/`."""
    put(SAMPLE / "questions.jsonl", as_lines(questions()))
    for name in _load("reports.json"):
        put(SAMPLE / "pages" / f"{name}.png", page_png(name, DPI))
    for path, (name, number) in FINQA_PAGES.items():
        put(FINQA / "sampled_pages" / f"{path}.png", page_png(name, DPI, number))


if __name__ == "__main__":
    write()
