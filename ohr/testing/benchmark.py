"""Conformance of benchmarks."""

from collections.abc import Mapping, Sequence

import numpy as np

from ohr.contracts import SOURCES, Benchmark, Document, Question
from ohr.errors import DataError
from ohr.messages.wording import counted
from ohr.results.tables.groups import ATTRIBUTES
from ohr.testing.stage import check_stage, require, suite


@suite
def check_benchmark(benchmark: Benchmark, *, images: int = 1) -> None:
    """Check a benchmark.

    Args:
        benchmark: the benchmark.
        images: of how many documents the first page's image is made.
    """
    check_stage(benchmark)
    documents, questions = benchmark.documents(), benchmark.questions()
    require(benchmark, list(documents) == list(benchmark.documents()), "documents must come in a fixed order")
    require(benchmark, list(questions) == list(benchmark.questions()), "questions must come in a fixed order")
    names = {document.name: document for document in documents}
    require(benchmark, len(names) == len(documents) > 0, "there must be documents, of different names")
    require(
        benchmark, len({q.id for q in questions}) == len(questions) > 0, "there must be questions, of different ids"
    )
    for document in documents:
        _check_document(benchmark, document)
    prints = [benchmark.fingerprint(document, images=shown) for document in documents for shown in (False, True)]
    require(
        benchmark, len(set(prints)) == len(prints), "each document's text and images need fingerprints of their own"
    )
    for question in questions:
        _check_question(benchmark, question, names.get(question.document))
        _check_relevant(benchmark, question, names)
    _check_aggregates(benchmark, questions)
    for document in documents[:images]:
        _check_images(benchmark, document)


@suite
def _check_aggregates(benchmark: Benchmark, questions: Sequence[Question]) -> None:
    """Check that aggregates have names of their own, and are about metrics and groups that there are."""
    found = benchmark.aggregates()
    require(benchmark, len({one.name for one in found}) == len(found), "each aggregate needs a name of its own")
    known = {name for question in questions for name, _ in question.groups} | set(ATTRIBUTES)
    for part in (part for one in found for part in one.parts):
        require(benchmark, part.where.keys() <= known, f"no question has the groups {sorted(part.where)}")
    for one in found:
        parts, counts = np.full((len(one.parts), 3), 0.5), np.ones(len(one.parts), dtype=int)
        shapes = np.shape(one.combine(parts[:, 0], counts)), np.shape(one.combine(parts, counts))
        require(benchmark, shapes == ((), (3,)), f"{one.name}: `combine` must work on (parts,) and on (parts, m)")


@suite
def _check_document(benchmark: Benchmark, document: Document) -> None:
    named = document.name.startswith(f"{document.domain}/") and document.pages > 0
    require(benchmark, named, f"{document}: the name must start with the domain, and there must be pages")
    pages = benchmark.pages(document)
    places = [page.index for page in pages]
    fits = places == sorted(set(places)) and all(0 <= place < document.pages for place in places)
    require(benchmark, fits, f"{document.name} has {counted(document.pages, 'page')}, its ground truth has {places}")
    require(benchmark, all(page.document == document.name for page in pages), f"{document.name}: a page names another")
    prints = [benchmark.fingerprint(document, images=False) for _ in range(2)]
    require(benchmark, prints[0] == prints[1], f"{document.name}: a fingerprint must not change by itself")


@suite
def _check_question(benchmark: Benchmark, question: Question, document: Document | None) -> None:
    about = f"question {question.id}"
    require(benchmark, bool(question.text.strip()), f"{about} needs a text")
    answered = question.answers or question.relevant or not question.asked
    require(benchmark, bool(answered), f"{about} needs an answer, or pages that are relevant to it")
    require(benchmark, len(set(question.pages)) == len(question.pages), f"{about}: a page is listed twice")
    require(
        benchmark, document is None or all(page < document.pages for page in question.pages), f"{about}: no such page"
    )
    require(benchmark, question.evidence_source in SOURCES, f"{about}: no evidence source {question.evidence_source!r}")
    passages = len(question.evidence)
    fits = passages in (1, len(question.pages)) or (not passages and bool(question.places or not question.asked))
    require(benchmark, fits, f"{about}: {passages} passages")
    names = [name for name, _ in question.groups]
    require(benchmark, len(set(names)) == len(names), f"{about}: a group is named twice")
    odd = [name for name in names if "=" in name or name in (*ATTRIBUTES, "pages")]
    require(benchmark, not odd, f"{about}: a group cannot be named {odd[:1]}")


@suite
def _check_relevant(benchmark: Benchmark, question: Question, documents: Mapping[str, Document]) -> None:
    about = f"question {question.id}"
    pages = [(document, page) for document, page, _ in question.relevant]
    require(benchmark, len(set(pages)) == len(pages), f"{about}: a page is judged twice")
    # a document may be absent, as those that a published file of judgments has beyond its corpus: nothing finds it
    there = all(name not in documents or 0 <= page < documents[name].pages for name, page in pages)
    require(benchmark, there, f"{about}: a page that is judged is not there")
    own = {(question.document, page) for page in question.pages}
    fits = not pages or (bool(question.grades) and own <= question.grades.keys())
    require(benchmark, fits, f"{about}: `pages` must be among the relevant ones, and one must be relevant")


@suite
def _check_images(benchmark: Benchmark, document: Document) -> None:
    image = benchmark.page_image(document, 0)
    fits = image.ndim == 3 and image.shape[2] == 3 and image.dtype == np.uint8
    require(benchmark, fits, f"{document.name}: an image is (H, W, 3) of uint8, not {image.shape} of {image.dtype}")
    require(benchmark, np.array_equal(image, benchmark.page_image(document, 0)), "an image must not change by itself")
    try:
        benchmark.page_image(document, 10_000)
    except DataError:
        return
    raise AssertionError(f"benchmark {benchmark.kind}: the image of a page that does not exist must raise a DataError")
