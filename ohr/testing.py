"""Conformance suites: what every plugin owes, one function per contract, for one line in a plugin's own tests.

    def test_conforms():
        check_retriever(MyRetriever())

Each raises an AssertionError that says in a sentence what is wrong. No test framework is needed.
"""

import io
import json
import pickle
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from pydantic import ValidationError
from ruamel.yaml import YAML

from ohr import edits
from ohr.contracts import (
    SOURCES,
    Benchmark,
    Chunk,
    Chunker,
    Document,
    Generator,
    Image,
    ImageNoise,
    Index,
    Metric,
    NoisyText,
    OcrBackend,
    Page,
    Prompt,
    Question,
    Recognition,
    Retriever,
    Stage,
    TextNoise,
)  # fmt: skip
from ohr.errors import DataError

TEXTS = (
    "",
    " \n\t \n",
    "One.",
    "The lease of the ferry berth began in 1964. It ends after ninety years. See below.\n\nRent is due each May.",
    "# Title\n\nInline $a_1 + b$ and \\(x^2\\) stay.\n\n$$\\frac{a}{b} = c$$\n\n- a list\n- of two things\n",
    "Before.\n\n\\begin{tabular}{|l|r|}\n\\hline Name & Price \\\\\n\\hline Oak & 12.50 \\\\\n\\end{tabular}\n\nAfter.",
    "<chart>\n| year | sales |\n|---|---|\n| 2021 | 3 |\n</chart>\n\nUnbalanced $, \\textbf{open, <table> and **bold.",
    "今年的租金是三百元。合同从二〇二一年开始。二〇二一年增长10%！\n\n第二段。",
    "e\u0301 \u200d\u202e 👩‍👩‍👧 ﬁ \x00 \ufeff ß \u3000 ½ ﷽ " + "x" * 3000,
)
"""Texts that any stage must take: empty, markup whole and broken, Chinese, and the odd ends of Unicode."""

RATES = (0.05, 0.1, 0.3, 0.6, 1.0)
_EFFECTS = ("none", "cropped", "occluded")


def _owe(stage: Stage, holds: bool, sentence: str) -> None:
    if not holds:
        raise AssertionError(f"{type(stage).family} {stage.kind}: {sentence}")


# --- every stage ------------------------------------------------------------------------------------------


def check_stage(stage: Stage) -> None:
    """Check what every stage owes: frozen, told in YAML, sent to another process, identified, documented."""
    plugin = type(stage)
    _owe(stage, plugin.model_fields["kind"].default == stage.kind, "`kind` must be a Literal with its own default")
    _owe(stage, bool((plugin.__doc__ or "").strip()), "the class needs a docstring: its first line is shown to users")
    for name, field in plugin.model_fields.items():
        _owe(stage, name == "kind" or bool(field.description), f"field {name!r} needs a description")
    stage.check()
    written = io.StringIO()
    YAML(typ="safe", pure=True).dump(stage.model_dump(mode="json"), written)
    read = plugin.model_validate(YAML(typ="safe", pure=True).load(written.getvalue()))
    _owe(stage, read == stage, "written to YAML and read again it must be the same")
    _owe(stage, pickle.loads(pickle.dumps(stage)) == stage, "it must survive pickling: stages go to other processes")
    _owe(stage, hash(read) == hash(stage), "equal stages must have equal hashes")
    _owe(stage, _json(read.identity()) == _json(stage.identity()), "equal stages must have one identity")
    run = {name for name, field in plugin.model_fields.items() if _is_execution(field.json_schema_extra)}
    _owe(stage, not run & set(stage.identity()), f"execution fields {sorted(run)} must not be in the identity")
    try:
        plugin.model_validate({**stage.model_dump(), "no_such_key": 1})
    except ValidationError:
        return
    raise AssertionError(f"{plugin.family} {stage.kind}: an unknown key must be refused (`extra` is forbidden)")


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _is_execution(extra: object) -> bool:
    return isinstance(extra, dict) and bool(extra.get("execution"))


# --- text -------------------------------------------------------------------------------------------------


def check_text_noise(noise: TextNoise, *, coupled: bool = True) -> None:
    """Check a text noise.

    Args:
        noise: any level of it; every rate is tried.
        coupled: False for noise that is not monotone by nature (swaps), whose edits at a low rate need not be among
            those at a higher one.
    """
    check_stage(noise)
    for text in TEXTS:
        whole = [(0, len(text))] if text else []
        for seed in range(3):
            levels = [_edited(noise, rate, text, whole, seed) for rate in (0.0, *RATES)]
            _owe(noise, levels[0] == NoisyText(text), "rate 0 must give the text back, without edits")
            for low, high in pairwise(levels):
                lost = Counter(low.edits) - Counter(high.edits)
                told = f"an edit at a lower rate is not among those at a higher one: {next(iter(lost), None)}"
                _owe(noise, not (coupled and lost), told)
        half = [(0, len(text) // 3), (len(text) // 2, len(text))]
        _owe(noise, _edited(noise, 1.0, text, [], 0).text == text, "it must touch nothing where nothing is eligible")
        for edit in _edited(noise, 1.0, text, half, 0).edits:
            inside = any(start <= edit.start and edit.end <= end for start, end in half)
            _owe(noise, inside, f"{edit} is outside the eligible spans")


def _edited(noise: TextNoise, rate: float, text: str, eligible: list[tuple[int, int]], seed: int) -> NoisyText:
    level, given = noise.model_copy(update={"rate": rate}), list(eligible)
    made = level.perturb(text, given, np.random.default_rng(seed))
    _owe(noise, given == eligible, "it must not change the list of eligible spans")
    _owe(noise, made == level.perturb(text, eligible, np.random.default_rng(seed)), "one seed must give one result")
    for edit in made.edits:
        _owe(noise, text[edit.start : edit.end] == edit.removed, f"{edit}: `removed` is not what stood there")
    _owe(noise, edits.apply(text, made.edits) == made, "its edits, applied, must give its text, in ascending order")
    _owe(noise, edits.undo(made.text, made.edits) == text, "undoing its edits must give the text back")
    return made


# --- images -----------------------------------------------------------------------------------------------


def odd_images() -> tuple[Image, ...]:
    """Give images that any stage must take: tiny, narrow, blank, grey, and plain noise."""
    draws = np.random.default_rng(0)
    shapes = ((1, 1), (1, 40), (40, 1), (3, 5), (64, 48))
    found = [draws.integers(0, 256, (*shape, 3), dtype=np.uint8) for shape in shapes]
    found += [np.full((80, 60, 3), shade, dtype=np.uint8) for shade in (0, 128, 255)]
    found.append(np.repeat(draws.integers(0, 256, (50, 70, 1), dtype=np.uint8), 3, axis=2))
    for image in found:
        image.setflags(write=False)
    return tuple(found)


def check_image_noise(noise: ImageNoise) -> None:
    """Check an image noise."""
    check_stage(noise)
    published = getattr(type(noise), "published", noise.severity)
    _owe(noise, 0 < published <= 1, "the `published` point must be a severity in (0, 1]")
    images = odd_images()
    for image in images:
        still, _ = _distorted(noise, 0.0, image, images[-2:])
        _owe(noise, np.array_equal(still, image), "severity 0 must give the image back bit for bit")
        first, low = _distorted(noise, 0.2, image, images[-2:])
        again, high = _distorted(noise, 0.2, image, images[-2:])[0], _distorted(noise, 1.0, image, images[-2:])[1]
        _owe(noise, np.array_equal(first, again), "one seed must give one result")
        _owe(noise, low == high, "it must draw as much at each severity, so that levels are coupled")
        _distorted(noise, published, image, ())


def _distorted(noise: ImageNoise, severity: float, image: Image, others: Sequence[Image]) -> tuple[Image, str]:
    rng, before = np.random.default_rng(7), image.copy()
    made = noise.model_copy(update={"severity": severity}).perturb(image, others, rng)
    shape = f"an image of shape {image.shape} became {made.image.shape} of {made.image.dtype}, not (H, W, 3) of uint8"
    fits = made.image.ndim == 3 and made.image.shape[2] == 3 and made.image.size > 0 and made.image.dtype == np.uint8
    _owe(noise, fits, shape)
    _owe(noise, np.array_equal(image, before), "it must not change its input")
    matrix = made.homography
    _owe(noise, matrix is None or (matrix.shape == (3, 3) and bool(np.isfinite(matrix).all())), "bad homography")
    _owe(noise, made.label_effect in _EFFECTS, f"label_effect must be one of {', '.join(_EFFECTS)}")
    return made.image, _json(rng.bit_generator.state)


def check_ocr(ocr: OcrBackend, *, line: Image | None = None, reads: str = "") -> None:
    """Check an OCR backend.

    Args:
        ocr: the backend.
        line: a page image with text on it.
        reads: what must be among what is read on `line`.
    """
    check_stage(ocr)
    _owe(ocr, ocr.recognise([]) == [], "no image must give no result")
    _owe(ocr, isinstance(ocr.reads("en"), bool) and isinstance(ocr.reads("xx"), bool), "`reads` gives True or False")
    odd = odd_images()
    images = [odd[0], odd[2], odd[-1], *([line] if line is not None else [])]
    before = [image.copy() for image in images]
    found = ocr.recognise(images)
    _owe(ocr, len(found) == len(images), f"{len(images)} images gave {len(found)} results")
    for result in found:
        _owe(ocr, isinstance(result, Recognition) and isinstance(result.text, str), f"{result!r} is no Recognition")
        _owe(ocr, result.error is None or result.text == "", "a page that failed has an error and no text")
    _owe(ocr, all(map(np.array_equal, images, before)), "it must not change its input")
    _owe(
        ocr,
        ocr.recognise(images[::-1]) == found[::-1],
        "results must be repeatable, in the order of the images",
    )
    if not ocr.reads_images:
        _owe(ocr, all(result.error for result in found), "it must refuse each image with an error")
        return
    _owe(ocr, all(result.error is None for result in found), f"it must read odd images too: {found}")
    if line is not None:
        _owe(ocr, reads in found[-1].text, f"it read {found[-1].text!r} where {reads!r} is written")


# --- passages ---------------------------------------------------------------------------------------------


def check_chunker(chunker: Chunker) -> None:
    """Check a chunker."""
    check_stage(chunker)
    _owe(chunker, chunker.split([]) == [], "no page must give no chunk")
    blank = [Page("d/a", 0, ""), Page("d/a", 1, " \n "), Page("d/a", 2, "", error="unreadable")]
    _owe(chunker, chunker.split(blank) == [], "pages without text must give no chunk")
    long = " ".join(f"Sentence {number} says a little more than the last one did." for number in range(2000))
    pages = [Page("d/a", index, text) for index, text in enumerate((*TEXTS, long, "和" * 4000))]
    chunks = chunker.split(pages)
    _owe(chunker, chunks == chunker.split(tuple(pages)), "one text must give one result")
    _owe(chunker, len({chunk.id for chunk in chunks}) == len(chunks), "the ids of chunks must differ")
    for chunk in chunks:
        _owe(
            chunker,
            chunk.document == "d/a" and len(chunk.pages) > 0,
            f"chunk {chunk.id} lacks its document or page",
        )
        part = pages[chunk.pages[0]].text[chunk.start : chunk.end]
        same = chunk.text == part if len(chunk.pages) == 1 else bool(part) and chunk.text.startswith(part)
        _owe(chunker, same, f"chunk {chunk.id}: its text is not what stands at its span")
        _owe(chunker, bool(chunk.text.strip()), f"chunk {chunk.id} has no text")
    places = [(chunk.pages, chunk.start) for chunk in chunks]
    _owe(chunker, places == sorted(places), "chunks must come in the order of the text")


def _chunks(*texts: str) -> list[Chunk]:
    return [Chunk(f"d/a:{place}:0", "d/a", (place,), 0, len(text), text) for place, text in enumerate(texts)]


def check_retriever(retriever: Retriever) -> None:
    """Check a retriever and its index."""
    check_stage(retriever)
    empty = retriever.index([])
    _owe(retriever, empty.search(["anything"], 3) == [[]], "an empty corpus must be allowed, and find nothing")
    texts = ("The cat sat on the mat.", "Stock prices fell sharply today.", "今年的租金是三百元。", *TEXTS)
    corpus = _chunks(*texts)
    index = retriever.index(corpus)
    _owe(retriever, corpus == _chunks(*texts), "it must not change the chunks")
    _owe(retriever, index.search([], 3) == [], "no query must give no ranking")
    for place in range(3):
        best = index.search([texts[place]], 1)[0]
        _owe(
            retriever,
            [hit.place for hit in best] == [place],
            f"{texts[place]!r} must find its own chunk",
        )
    queries = ("cat prices", "租金", "", "   ", "\N{SNOWMAN}", "?", "x " * 5000, *TEXTS)
    for k in (1, 2, 99):
        _check_ranking(retriever, index, queries, k, len(texts))
    for asked in (index, empty):
        _check_saving(retriever, asked, queries)
    _check_ties(retriever)


def _check_ranking(retriever: Retriever, index: Index, queries: Sequence[str], k: int, size: int) -> None:
    ranked = index.search(queries, k)
    _owe(retriever, len(ranked) == len(queries), f"{len(queries)} queries gave {len(ranked)} rankings")
    for hits in ranked:
        places = [hit.place for hit in hits]
        _owe(retriever, len(hits) <= k, f"at most {k} hits were asked for, {len(hits)} came")
        _owe(retriever, len(set(places)) == len(places), "a chunk must not be found twice")
        _owe(retriever, all(0 <= place < size for place in places), f"places must be those of chunks: {places}")
        _owe(retriever, all(np.isfinite(hit.score) for hit in hits), "scores must be finite")
        ordered = sorted(hits, key=lambda hit: (-hit.score, hit.place))
        _owe(retriever, hits == ordered, "hits must come best first, ties in the order of the chunks")
    _owe(retriever, index.search(queries, k) == ranked, "one query must give one result")


def _check_ties(retriever: Retriever) -> None:
    index = retriever.index(_chunks(*["rain fell on the old harbour wall"] * 40, "a different thing"))
    for k in (1, 7, 40):
        places = [hit.place for hit in index.search(["rain on the harbour"], k)[0]]
        _owe(
            retriever,
            places == list(range(k)),
            f"of equal chunks the first {k} must be found, not {places}",
        )


def _check_saving(retriever: Retriever, index: Index, queries: Sequence[str]) -> None:
    with TemporaryDirectory() as folder:
        index.save(Path(folder))
        for path in (path for path in Path(folder).rglob("*") if path.is_file()):
            pickled = path.suffix in (".pkl", ".pickle", ".pt") or path.read_bytes()[:1] == b"\x80"
            _owe(retriever, not pickled, f"{path.name} is a pickle: an index must be saved without")
        again = retriever.load(Path(folder))
        _owe(retriever, again.search(queries, 5) == index.search(queries, 5), "a saved index must find the same")


# --- answers ----------------------------------------------------------------------------------------------


def prompts() -> list[Prompt]:
    """Give prompts that any generator must take."""
    asked = ("When did the lease begin?", "Is rent due in May?", "租金是多少？", "", "What?")
    passages = (TEXTS[3:5], TEXTS[3:4], TEXTS[7:8], (), TEXTS[-1:])
    return [
        Prompt(question, tuple(read), "Answer briefly.", f"Question: {question}\n\nDocuments: {' '.join(read)}")
        for question, read in zip(asked, passages, strict=True)
    ]


def check_generator(generator: Generator) -> None:
    """Check a generator."""
    check_stage(generator)
    _owe(generator, list(generator.answer([])) == [], "no prompt must give no completion")
    asked = prompts()
    given = list(generator.answer(asked))
    _owe(generator, asked == prompts(), "it must not change the prompts")
    _owe(generator, len(given) == len(asked), f"{len(asked)} prompts gave {len(given)} completions")
    for completion in given:
        _owe(generator, completion.error is None, f"a prompt failed: {completion.error}")
        _owe(generator, completion.finish in ("stop", "length"), f"finish is {completion.finish!r}")
        counts = (completion.tokens_in, completion.tokens_out, completion.seconds)
        _owe(generator, min(counts) >= 0, f"tokens and seconds must not be negative: {counts}")
    turned = list(generator.answer(asked[::-1]))[::-1]
    same = [completion.text for completion in turned] == [completion.text for completion in given]
    _owe(generator, same, "completions must come in the order of the prompts, and be repeatable")


def check_metric(metric: Metric) -> None:
    """Check a metric: a pure function into [0, 1] or nan, at an end of its range where both texts are the same."""
    check_stage(metric)
    for prediction in TEXTS:
        for reference in TEXTS:
            value = metric.score(prediction, reference)
            _owe(metric, isinstance(value, float), f"a score must be a float, not {type(value).__name__}")
            _owe(metric, np.isnan(value) or 0 <= value <= 1, f"{value} is outside [0, 1]")
            _owe(metric, _json(value) == _json(metric.score(prediction, reference)), "one pair must give one score")
    same = metric.score(TEXTS[3], TEXTS[3])
    _owe(metric, same in (0.0, 1.0), f"equal texts must score the best there is, not {same}")
    _owe(metric, abs(metric.score("zebra", TEXTS[3]) - same) > 0.5, "texts without a common word must score badly")


def check_benchmark(benchmark: Benchmark, *, images: int = 1) -> None:
    """Check a benchmark.

    Args:
        benchmark: the benchmark.
        images: of how many documents the first page's image is made.
    """
    check_stage(benchmark)
    documents, questions = benchmark.documents(), benchmark.questions()
    _owe(benchmark, list(documents) == list(benchmark.documents()), "documents must come in a fixed order")
    _owe(benchmark, list(questions) == list(benchmark.questions()), "questions must come in a fixed order")
    names = {document.name: document for document in documents}
    _owe(benchmark, len(names) == len(documents) > 0, "there must be documents, of different names")
    _owe(benchmark, len({q.id for q in questions}) == len(questions) > 0, "there must be questions, of different ids")
    for document in documents:
        _check_document(benchmark, document)
    prints = [benchmark.fingerprint(document, images=shown) for document in documents for shown in (False, True)]
    _owe(benchmark, len(set(prints)) == len(prints), "each document's text and images need fingerprints of their own")
    for question in questions:
        _check_question(benchmark, question, names.get(question.document))
    for document in documents[:images]:
        _check_images(benchmark, document)


def _check_document(benchmark: Benchmark, document: Document) -> None:
    named = document.name.startswith(f"{document.domain}/") and document.pages > 0
    _owe(benchmark, named, f"{document}: the name must start with the domain, and there must be pages")
    pages = benchmark.pages(document)
    places = [page.index for page in pages]
    fits = places == sorted(set(places)) and all(0 <= place < document.pages for place in places)
    _owe(benchmark, fits, f"{document.name} has {document.pages} pages, its ground truth has {places}")
    _owe(benchmark, all(page.document == document.name for page in pages), f"{document.name}: a page names another")
    prints = [benchmark.fingerprint(document, images=False) for _ in range(2)]
    _owe(benchmark, prints[0] == prints[1], f"{document.name}: a fingerprint must not change by itself")


def _check_question(benchmark: Benchmark, question: Question, document: Document | None) -> None:
    about = f"question {question.id}"
    _owe(benchmark, bool(question.text.strip() and question.answers), f"{about} needs a text and an answer")
    _owe(benchmark, question.pages == tuple(sorted(set(question.pages))), f"{about}: pages must ascend")
    _owe(benchmark, document is None or question.pages[-1] < document.pages, f"{about}: no such page")
    _owe(benchmark, question.evidence_source in SOURCES, f"{about}: no evidence source {question.evidence_source!r}")
    passages = len(question.evidence)
    _owe(benchmark, passages in (1, len(question.pages)), f"{about}: {passages} passages")


def _check_images(benchmark: Benchmark, document: Document) -> None:
    image = benchmark.page_image(document, 0)
    fits = image.ndim == 3 and image.shape[2] == 3 and image.dtype == np.uint8
    _owe(benchmark, fits, f"{document.name}: an image is (H, W, 3) of uint8, not {image.shape} of {image.dtype}")
    _owe(benchmark, np.array_equal(image, benchmark.page_image(document, 0)), "an image must not change by itself")
    try:
        benchmark.page_image(document, 10_000)
    except DataError:
        return
    raise AssertionError(f"benchmark {benchmark.kind}: an image of a page that is not there must raise a DataError")
