"""Builds the sample of FinMMDocR: page images, texts of pages, questions and canned outputs.

`python -m samples.finmmdocr` typesets `source/<document>/document.typ` with the charts of the mini benchmark, and
writes `sample/` in the published layout (`test.json`, `images/<document>/page_<n>.png`, `texts/<document>.json`), with
`outputs.json`, and `canned.jsonl` for the generator `canned`. With `--into FOLDER` it writes there.

The output is deterministic: same sources, same fonts, same versions of typst, pypdfium2 and Pillow, same bytes.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any
from unicodedata import normalize

from ohr.benchmarks.finmmdocr.literals import numbers_in

from . import BENCHMARKS, NOTO, as_json, as_lines, folder_to_write, put, read_yaml, texts_of_pages, typeset

SOURCE, SAMPLE = BENCHMARKS / "finmmdocr/source", BENCHMARKS / "finmmdocr/sample"
_DPI = 100
_GREYS = 8
"""Grey levels of the page images: 47 pages need 1.7 MB, with 16 levels 2.1 MB."""
_FONTS = (NOTO, "font_source_serif_pro", "font_source_sans_pro", "matplotlib")
_RADICALS = {chr(code): normalize("NFKC", chr(code)) for code in range(0x2E80, 0x2FE0)}
"""Radicals, which PDFs of Chinese text may have in place of the characters."""

_VALUE = re.compile(r"^(    \w+ = )([\d.]+)(?=\s)", re.MULTILINE)
"""A line of a gold program that sets a name to a value of the document."""


def compile_pdf(name: str) -> bytes:
    """Typeset a document."""
    return typeset(SOURCE / name / "document.typ", BENCHMARKS, _FONTS)


def page_images(pdf: bytes) -> Iterator[bytes]:
    """Yield each page as a PNG with a few grey levels."""
    import pypdfium2
    from PIL import Image

    step = 255 / (_GREYS - 1)
    with pypdfium2.PdfDocument(pdf) as opened:
        for page in opened:
            grey = page.render(scale=_DPI / 72, grayscale=True).to_pil().convert("L")
            levels = grey.point([round(value / step) for value in range(256)])
            picture = Image.frombytes("P", grey.size, levels.tobytes())
            picture.putpalette([round(level * step) for level in range(_GREYS) for _ in range(3)])
            content = BytesIO()
            picture.save(content, "PNG", optimize=True, bits=4)
            yield content.getvalue()


def page_texts(pdf: bytes) -> list[str]:
    """Return the text layer of each page, with line feeds and without spaces at the ends of lines."""
    table = str.maketrans(_RADICALS)
    return ["\n".join(line.rstrip() for line in text.splitlines()).translate(table) for text in texts_of_pages(pdf)]


def record(question: Mapping[str, Any], about: Mapping[str, Any], pages: int) -> dict[str, Any]:
    """Make a record in the published layout, with the labels that the published data lack at its end."""
    name = question["doc_id"]
    return {
        "question_id": question["question_id"],
        "doc_id": name,
        "doc_type": about["doc_type"],
        "question": question["question"],
        "evidence": question["evidence"],
        "python_solution": question["python_solution"],
        "ground_truth": question["ground_truth"],
        "source_id": about["source_id"],
        "pages_num": pages,
        "images": [f"images/{name}/page_{number}.png" for number in range(1, pages + 1)],
        "texts": f"texts/{name}.json",
        "scenarios": question["scenarios"],
        "extract_steps": question["extract_steps"],
        "calc_steps": question["calc_steps"],
    }


def outputs(questions: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the canned outputs of every question with the scores that they should get."""
    for place, question in enumerate(questions):
        gold, program = question["ground_truth"], question["python_solution"]
        values = {
            "program": program,
            "body": program.partition("\n")[2],
            "gold": gold,
            "near": gold * 1.0019 or 0.0019,
            "far": gold * 1.0021 or 0.0021,
            "minus": str(gold).replace("-", "\u2212"),
            "point": re.sub(r"^0(?=\.)", "", str(gold)),
        }
        for kind, cases in read_yaml(SOURCE / "outputs.yaml").items():
            for case in cases:
                yield {
                    "question_id": question["question_id"],
                    "kind": kind,
                    "case": case["case"],
                    "output": case["output"].format(**values),
                    "expected": {name: _expected(case[name], gold, place) for name in ("reference", "clean")},
                }


def _expected(score: int | list[int], gold: float, place: int) -> int:
    if isinstance(score, int):
        return score
    return score[gold != 0] if len(score) == 2 else score[place]


def canned(questions: list[dict[str, Any]], texts: Mapping[str, list[str]]) -> Iterator[dict[str, str]]:
    """Yield a reply to each question: its program, in which the values from the document are marked.

    A share that the pages have in percent, and only so, is a marked number divided by 100.
    """
    for question in questions:
        pages = {page for listed in question["evidence"].values() for page in listed}
        there = frozenset[Decimal]().union(*(numbers_in(texts[question["doc_id"]][page - 1]) for page in pages))
        program = _VALUE.sub(partial(_marked, there=there), question["python_solution"])
        yield {"id": question["question_id"], "reply": f"```python\n{program}```"}


def _marked(found: re.Match[str], there: frozenset[Decimal]) -> str:
    value = Decimal(found[2])
    marked = f"{{{{{found[2]}}}}}" if value in there else f"{{{{{(value * 100).normalize():f}}}}} / 100"
    return found[1] + marked


def build(folder: Path) -> int:
    """Write the sample into a folder; returns the bytes of its page images."""
    asked = read_yaml(SOURCE / "questions.yaml")
    size, texts = 0, {}
    for name in asked["documents"]:
        pdf = compile_pdf(name)
        for number, content in enumerate(page_images(pdf), start=1):
            put(folder / "images" / name / f"page_{number}.png", content)
            size += len(content)
        texts[name] = page_texts(pdf)
        put(folder / "texts" / f"{name}.json", as_json(texts[name]))
    records = [record(q, asked["documents"][q["doc_id"]], len(texts[q["doc_id"]])) for q in asked["questions"]]
    put(folder / "test.json", as_json(records))
    put(folder / "outputs.json", as_json(list(outputs(asked["questions"]))))
    put(folder / "canned.jsonl", as_lines(canned(asked["questions"], texts)))
    return size


if __name__ == "__main__":
    into = folder_to_write(__doc__, sys.argv[1:], SAMPLE)
    sys.stdout.write(f"{into}: {build(into):,} bytes of page images\n")
