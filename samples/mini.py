"""Builds the mini benchmark from its sources: PDFs, ground truth and questions.

`python -m samples.mini` compiles `benchmarks/mini/source/<domain>/<document>/` into `benchmarks/mini/data/`; with
document names it compiles and checks only those. Each document is three files that a person edits:

- `document.typ`: what the page looks like (typst; `/chart.typ` draws the charts);
- `truth.md`: what the pages say, in Mathpix-Markdown, each page after a line `<!-- page N -->`;
- `questions.yaml`: `language`, and `questions` with their evidence.

The output is deterministic: same sources, same fonts, same bytes.
"""

import re
import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ohr.messages.wording import counted

from . import BENCHMARKS, NOTO, as_json, put, read_yaml, texts_of_pages, typeset

SOURCE, DATA = BENCHMARKS / "mini/source", BENCHMARKS / "mini/data"
SOURCES = ("text", "table", "formula", "chart", "reading_order")
FORMS = ("String", "Numeric", "Yes/No", "List")
TASKS = ("understanding", "reasoning")
_FONTS = (
    NOTO, "font_roboto", "font_source_serif_pro", "font_source_sans_pro", "font_caladea", "font_hanken_grotesk",
    "matplotlib",
)  # fmt: skip
"""Fonts of Chinese; Roboto, Source, Caladea and Hanken Grotesk; STIX and DejaVu, which matplotlib has."""
_PAGE_MARK = re.compile(r"^<!-- page (\d+) -->\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """One source document: its name is `<domain>/<folder>`."""

    name: str
    language: str
    pages: tuple[str, ...]
    questions: tuple[dict[str, Any], ...]

    @property
    def folder(self) -> Path:
        """Where the document's three source files are."""
        return SOURCE / self.name


def read(folder: Path) -> Document:
    """Read one document's ground truth and questions."""
    head, *parts = _PAGE_MARK.split((folder / "truth.md").read_text(encoding="utf-8"))
    numbers = [int(number) for number in parts[::2]]
    if head.strip() or numbers != list(range(len(numbers))):
        raise ValueError(f"{folder / 'truth.md'}: pages must be marked 0, 1, 2, ... (got {numbers})")
    asked = read_yaml(folder / "questions.yaml")
    return Document(
        name=f"{folder.parent.name}/{folder.name}",
        language=asked["language"],
        pages=tuple(page.strip() for page in parts[1::2]),
        questions=tuple(asked["questions"]),
    )


def compile_pdf(document: Document) -> bytes:
    """Typeset a document."""
    return typeset(document.folder / "document.typ", SOURCE, _FONTS)


def faults(document: Document, pdf: bytes) -> Iterator[str]:
    """Report everything that is wrong with a document."""
    printed = texts_of_pages(pdf)
    if len(printed) != len(document.pages):
        yield f"PDF has {counted(len(printed), 'page')}, truth.md {len(document.pages)}"
    for number, (truth, text) in enumerate(zip(document.pages, printed, strict=False)):
        yield from _disagreements(number, truth, text, document.language)
    for question in document.questions:
        for fault in _question_faults(question, document.pages):
            yield f"question {question.get('id')}: {fault}"


def _question_faults(question: dict[str, Any], pages: tuple[str, ...]) -> Iterator[str]:
    for key, allowed in (("evidence_source", SOURCES), ("answer_form", FORMS), ("task_type", TASKS)):
        if question.get(key) not in allowed:
            yield f"{key} must be one of {allowed} (got {question.get(key)!r})"
    numbers, evidence = question["pages"], question["evidence"]
    if len(numbers) != len(evidence) or numbers != sorted(set(numbers)):
        yield "pages and evidence must be lists of one length, pages ascending and distinct"
    for number, passage in zip(numbers, evidence, strict=False):
        if number >= len(pages):
            yield f"no page {number}"
        elif _squeeze(passage) not in _squeeze(pages[number]):
            yield f"evidence is not verbatim on page {number}: {_squeeze(passage)[:70]!r}"
    if not isinstance(question["answer"], str):
        yield f"answer must be a quoted string (got {question['answer']!r})"


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _disagreements(number: int, truth: str, printed: str, language: str) -> Iterator[str]:
    """Compare words of ground truth (without charts and formulas) and of the PDF's text layer, both ways."""
    # a dollar sign in print is money, not the border of a formula
    said, seen = words(truth, language, charts=False), words(printed.replace("$", " "), language)
    missing = said - seen
    if missing.total() > 0.03 * said.total():
        share = f"{missing.total()} of {said.total()}"
        yield f"page {number}: {share} words of truth.md are not in the PDF: {_few(missing)}"
    extra = seen - words(truth, language, charts=True)
    if extra.total() > 0.1 * seen.total():
        share = f"{extra.total()} of {seen.total()}"
        yield f"page {number}: {share} words of the PDF are not in truth.md: {_few(extra)}"


def words(text: str, language: str, charts: bool = True) -> Counter[str]:
    """Count the plain words of a text: hyphenated line ends joined, commands, formulas and tags dropped."""
    text = re.sub(r"(?:[\u00ad\ufffe\x02]|(?<=[a-z])-)\s*\r?\n\s*(?=[a-z])", "", text)
    if not charts:
        text = re.sub(r"<chart>.*?</chart>", " ", text, flags=re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$|(?<!\\)\$[^$]*?(?<!\\)\$", " ", text, flags=re.DOTALL)
    text = re.sub(r"\\(?:begin|end|cline|multirow|multicolumn)\{[^}]*\}(?:\{[^{}]*\})?", " ", text)
    text = re.sub(r"\\[a-zA-Z]+|</?\w+>", " ", text)
    pattern = r"[\u4e00-\u9fff]|[A-Za-z0-9]+" if language == "zh" else r"[^\W_]{2,}"
    return Counter(re.findall(pattern, text.lower()))


def _few(counts: Counter[str]) -> str:
    return ", ".join(word for word, _ in counts.most_common(12))


def write(documents: list[Document], pdfs: dict[str, bytes]) -> None:
    """Write `data/` in the layout of OHRBench: retrieval_base/gt, pdfs, qas.json; and documents.json."""
    records = []
    for document in documents:
        put(DATA / "pdfs" / f"{document.name}.pdf", pdfs[document.name])
        pages = [{"page_idx": number, "text": text} for number, text in enumerate(document.pages)]
        put(DATA / "retrieval_base/gt" / f"{document.name}.json", as_json(pages))
        records += [_record(document, question) for question in document.questions]
    put(DATA / "qas.json", as_json(records))
    put(DATA / "documents.json", as_json({d.name: {"language": d.language, "pages": len(d.pages)} for d in documents}))


def _record(document: Document, question: dict[str, Any]) -> dict[str, Any]:
    single = len(question["pages"]) == 1
    return {
        "doc_name": document.name,
        "ID": question["id"],
        "questions": question["question"],
        "answers": question["answer"],
        "doc_type": document.name.split("/")[0],
        "answer_form": question["answer_form"],
        "evidence_source": question["evidence_source"],
        "evidence_context": question["evidence"][0].strip() if single else [e.strip() for e in question["evidence"]],
        "evidence_page_no": question["pages"][0] if single else question["pages"],
        "task_type": question["task_type"],
    }


def main(arguments: list[str]) -> int:
    """Build and check; write `data/` when everything is right, or previews of the named documents."""
    parser = ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("documents", nargs="*", help="e.g. law/ferry_lease; none: build all and write data/")
    parser.add_argument("--preview", type=Path, help="folder for PDF and page images of the named documents")
    options = parser.parse_args(arguments)
    folders = [SOURCE / name for name in options.documents] or sorted(
        path.parent for path in SOURCE.glob("*/*/document.typ")
    )
    documents, pdfs, broken = [], {}, False
    for folder in folders:
        document = read(folder)
        pdf = compile_pdf(document)
        documents.append(document)
        pdfs[document.name] = pdf
        found = list(faults(document, pdf))
        broken = broken or bool(found)
        _report(document, found)
        if options.preview:
            _preview(options.preview / document.name.replace("/", "-"), pdf)
    if not options.documents and not broken:
        write(documents, pdfs)
    return int(broken)


def _report(document: Document, found: list[str]) -> None:
    kinds = Counter(question["evidence_source"] for question in document.questions)
    multi = sum(len(question["pages"]) > 1 for question in document.questions)
    counts = f"{counted(len(document.pages), 'page')}, {counted(len(document.questions), 'question')} {dict(kinds)}"
    print(f"{document.name}: {counts}, {multi} of several pages")
    print("".join(f"  FAULT {fault}\n" for fault in found), end="")


def _preview(stem: Path, pdf: bytes) -> None:
    import pypdfium2

    put(stem.with_suffix(".pdf"), pdf)
    with pypdfium2.PdfDocument(pdf) as opened:
        for number, page in enumerate(opened):
            page.render(scale=110 / 72).to_pil().save(f"{stem}-{number}.png")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
