"""Builds the samples of omnidocbench, olmocr_bench and induocrbench: the same invented pages in three layouts.

`python -m samples.parsed_pages` writes their folders `sample/` from `benchmarks/omnidocbench/source/`: annotations and
images, PDFs and tests, whole texts and questions; and for each the readings of two systems: one writes tables in HTML
and keeps the order, the other writes Markdown, reads headers as text, and takes columns line by line.
"""

import sys
from collections.abc import Iterator, Mapping
from html import escape
from io import BytesIO
from pathlib import Path
from typing import Any

from . import BENCHMARKS, as_json, as_lines, folder_to_write, put, read_yaml, small_png, typeset

SOURCE = BENCHMARKS / "omnidocbench/source"
DPI, GRAYS = 100, 8
"""Resolution and grays of an image: four pages take a quarter of a megabyte, and Tesseract still reads them."""
_FORM = """
#set document(date: none)
#set page("a5", margin: 40pt)
#set text(font: "DejaVu Sans", size: 9pt)
#set par(justify: false)
"""
_CATEGORIES = {"text": "text_block", "rows": "table", "latex": "equation_isolated"}
_OUT_OF_ORDER = ("header", "page_number", "page_footnote")
Block = Mapping[str, Any]


def _kind(block: Block) -> str:
    return next(iter(block))


def _html(rows: list[list[str]]) -> str:
    head, *body = ([f"<td>{escape(cell)}</td>" for cell in row] for row in rows)
    heading = "".join(head).replace("td>", "th>")
    lines = "".join(f"<tr>{''.join(row)}</tr>" for row in body)
    return f"<table><thead><tr>{heading}</tr></thead><tbody>{lines}</tbody></table>"


def _pipes(rows: list[list[str]]) -> str:
    head, *body = (f"| {' | '.join(row)} |" for row in rows)
    return "\n".join([head, "|" + " --- |" * len(rows[0]), *body])


def _annotation(page: Mapping[str, Any]) -> dict[str, Any]:
    """Write a page as OmniDocBench does; a block that continues in the next one is related to it."""
    blocks, related, order = list[dict[str, Any]](), list[dict[str, Any]](), 0
    for number, block in enumerate(page["blocks"]):
        kind = _kind(block)
        entry: dict[str, Any] = {"category_type": _CATEGORIES.get(kind, kind), "anno_id": number, "ignore": False}
        entry |= {"poly": [0, number, 1, number, 1, number + 1, 0, number + 1], "attribute": {}}
        if kind not in _OUT_OF_ORDER:
            order += 1
        entry["order"] = None if kind in _OUT_OF_ORDER else order
        match kind:
            case "rows":
                entry["html"] = _html(block[kind])
            case "latex":
                entry["latex"] = f"$${block[kind]}$$"
            case _:
                entry["text"] = block[kind]
        if block.get("merged"):
            related.append({"source_anno_id": number, "target_anno_id": number + 1, "relation_type": "truncated"})
        blocks.append(entry)
    attribute = {"data_source": page["source"], "language": page["language"], "layout": page["layout"]}
    info = {"page_attribute": attribute, "page_no": 0, "image_path": f"{page['name']}.png"}
    return {"layout_dets": blocks, "page_info": info, "extra": {"relation": related}}


def _markdown(block: Block, *, pipes: bool = False) -> str:
    kind = _kind(block)
    match kind:
        case "title":
            return f"# {block[kind]}"
        case "rows":
            return _pipes(block[kind]) if pipes else _html(block[kind])
        case "latex":
            return f"$$\n{block[kind]}\n$$"
        case _:
            return str(block[kind])


def _careful(page: Mapping[str, Any]) -> str:
    """Return the reading of a system that writes tables in HTML, joins what continues, and drops headers."""
    text = "\n\n".join(_markdown(block) for block in page["blocks"] if _kind(block) not in _OUT_OF_ORDER)
    return text.replace("when ice\n\ndamaged", "when ice damaged").replace("0.83", "0.88") + "\n"


def _hasty(page: Mapping[str, Any]) -> str:
    """Return the reading of a system that writes tables in Markdown, keeps headers, and reads across columns."""
    blocks = list(page["blocks"])
    if page["layout"] == "double_column":
        blocks = [*blocks[::2], *blocks[1::2]]
    text = "\n\n".join(_markdown(block, pipes=True) for block in blocks)
    return text.replace("harbor", "harhor").replace("1,628.9", "1.628,9").replace("\\varphi", "\\phi") + "\n"


def _drawn(page: Mapping[str, Any]) -> bytes:
    """Write a page for typst."""
    return (_FORM + "\n\n".join(_drawn_blocks(page))).encode()


def _drawn_blocks(page: Mapping[str, Any]) -> Iterator[str]:
    for block in page["blocks"]:
        kind = _kind(block)
        match kind:
            case "title":
                yield f'#text(13pt, weight: "bold")[#{_quoted(block[kind])}]'
            case "rows":
                cells = ", ".join(f"[#{_quoted(cell)}]" for row in block[kind] for cell in row)
                yield f"#table(columns: {len(block[kind][0])}, stroke: .5pt, {cells})"
            case "latex":
                yield f"$ {block['typst']} $"
            case "header":
                yield f"#text(7pt)[#{_quoted(block[kind])}]"
            case "page_number":
                yield f"#place(bottom + center)[#{_quoted(block[kind])}]"
            case _:
                yield f"#{_quoted(block[kind])}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _systems(pages: list[Any]) -> Iterator[tuple[str, str, str]]:
    """Yield system, page and reading."""
    for page in pages:
        yield "careful", page["name"], _careful(page)
        yield "hasty", page["name"], _hasty(page)


def write(into: Path) -> None:
    """Write the three samples below a folder of benchmarks."""
    from PIL import Image

    pages = read_yaml(SOURCE / "pages.yaml")
    annotated, tested, asked = (into / name / "sample" for name in ("omnidocbench", "olmocr_bench", "induocrbench"))
    put(annotated / "annotations.json", as_json([_annotation(page) for page in pages]))
    for page in pages:
        picture = Image.open(BytesIO(typeset(_drawn(page), SOURCE, ["matplotlib"], format="png", ppi=DPI)))
        put(annotated / "images" / f"{page['name']}.png", small_png(picture.convert("L").convert("RGB"), GRAYS, bits=4))
        put(tested / "pdfs" / f"{page['name']}.pdf", typeset(_drawn(page), SOURCE, ["matplotlib"], format="pdf"))
    for file, by_page in read_yaml(SOURCE / "tests.yaml").items():
        tests = [
            {"pdf": f"{name}.pdf", "page": 1, "id": f"{name}_{file}_{number}", **test}
            for name, listed in by_page.items()
            for number, test in enumerate(listed)
        ]
        put(tested / f"{file}.jsonl", as_lines(tests))
    about = read_yaml(SOURCE / "questions.yaml")
    types = about["types"]
    for page in pages:
        truth = _careful(page).replace("0.88", "0.83")
        put(asked / "RAG_eval/doc_md" / f"{types[page['name']]}_{page['name']}.md", truth)
    put(asked / "RAG_eval/QA_pairs.jsonl", as_lines(_question(types, question) for question in about["questions"]))
    for system, name, text in _systems(pages):
        put(annotated / "results" / system / f"{name}.md", text)
        put(tested / "results" / system / f"{name}_pg1_repeat1.md", text)
        put(asked / "results" / system / f"{types[name]}_{name}.md", text)


def _question(types: Mapping[str, str], question: Mapping[str, str]) -> dict[str, str]:
    file = f"{types[question['page']]}_{question['page']}.md"
    return {
        "doc_type": types[question["page"]],
        "filename": file,
        "title": question["page"].replace("_", " "),
        "file_path": f"RAG_eval/doc_md/{file}",
        "question_category": question["category"],
        "question": question["question"],
        "answer": question["answer"],
        "evidence": question["evidence"],
    }


if __name__ == "__main__":
    write(folder_to_write(__doc__, sys.argv[1:], BENCHMARKS))
