"""A set as files: OHRBench's layout, a datasheet, and set.json about where the ground truth comes from."""

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ohr
from ohr.contracts import Benchmark, Document, Image
from ohr.errors import DataError
from ohr.files import pdf
from ohr.files.built_set import FILE, FORMAT, page_digest, silver_sentence
from ohr.files.ohrbench_json import set_names, write_pages
from ohr.keys import file_digest
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import counted
from ohr.questions.candidate import Candidate
from ohr.questions.human_review import ReviewerAgreement
from ohr.questions.page_truth import Truth
from ohr.questions.verification import FunnelRow


class ModelUse(NamedTuple):
    """A model that took part: its name, what it did (`writes`, `judges`), its version, and its settings by name."""

    name: str
    role: str
    version: str = ""
    settings: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class About:
    """How a set was made.

    Args:
        title: of the set.
        models: in the order of their use.
        funnel: of the verification, rule by rule.
        agreements: of each two reviewers.
        settings: of the build, JSON values by name.
        limits: further sentences about what the set cannot show.
    """

    title: str
    models: Sequence[ModelUse] = ()
    funnel: Sequence[FunnelRow] = ()
    agreements: Sequence[ReviewerAgreement] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    limits: Sequence[str] = ()


def _faults(candidates: Sequence[Candidate], truth: Truth) -> Iterator[Fault]:
    """Yield what the set could not hold."""
    pages = {(name, page.index) for name in truth.texts for page in truth.texts[name]}
    for name, uses in Counter(candidate.id for candidate in candidates).items():
        if uses > 1:
            yield Fault("id", "used more than once", name)
    for candidate in candidates:
        if not candidate.question.strip():
            yield Fault("question", "without a text", candidate.id)
        if not candidate.answers or not all(answer.strip() for answer in candidate.answers):
            yield Fault("question", "with an empty answer", candidate.id)
        if not candidate.evidence:
            yield Fault("question", "without evidence", candidate.id)
        for page in candidate.pages:
            if (candidate.document, page) not in pages:
                where = f"{candidate.id} (page {page + 1} of {candidate.document})"
                yield Fault("question", "with evidence on a page without ground truth", where)


def record(candidate: Candidate, names: Mapping[str, str]) -> dict[str, Any]:
    """Return a candidate with the keys of OHRBench's file; `names` are those of documents in the set, by their own.

    Evidence on one page is a number with a passage, or with a list of them; on several pages it is a list of pages in
    ascending order, and a passage for each. Passages of a page are in its order, as scores compare words in order.
    """
    document = names[candidate.document]
    in_order = sorted(candidate.evidence, key=lambda each: (each.page, each.start))
    passages = {page: [each.text for each in in_order if each.page == page] for page in sorted(candidate.pages)}
    several = len(passages) > 1
    context: Any = ["\n".join(own) for own in passages.values()]
    if not several:
        (own,) = passages.values()
        context = own if len(own) > 1 else own[0]
    return {
        "doc_name": document,
        "ID": candidate.id,
        "questions": candidate.question,
        "answers": candidate.answers[0] if len(candidate.answers) == 1 else list(candidate.answers),
        "doc_type": document.split("/")[0],
        "answer_form": candidate.answer_form,
        "evidence_source": candidate.source,
        "evidence_context": context,
        "evidence_page_no": list(passages) if several else next(iter(passages)),
        "task_type": candidate.task,
    }


_OF_RULE = ("rule", "entered", "removed", "undecided", "left", "runs")
"""Counts of each rule in the record."""


def _set_file(
    truth: Truth, candidates: Sequence[Candidate], about: About, names: Mapping[str, str], digests: Mapping[str, str]
) -> dict[str, Any]:
    """Return the content of `set.json`; `names` are those of the documents in the set, by their own."""
    return {
        "format": FORMAT,
        "made_by": f"ohr {ohr.__version__}",
        "title": about.title,
        "truth": {"engine": truth.engine, "pages": dict(truth.origins), "left_out": dict(truth.removed)},
        "counts": _counts(truth, candidates),
        "models": [model._asdict() for model in about.models],
        "settings": dict(about.settings),
        "funnel": [{name: getattr(row, name) for name in _OF_RULE} for row in about.funnel],
        "agreement": [
            {**asdict(each), "kappa": None if isnan(each.kappa) else each.kappa} for each in about.agreements
        ],
        "documents": {
            names[document.name]: _document(document, truth, digests[names[document.name]])
            for document in truth.documents
        },
        "pages_without_truth": [page._asdict() for page in truth.missing],
        "pages_without_questions": [page._asdict() for page in truth.left_out],
        "questions": {candidate.id: _question(candidate) for candidate in candidates},
    }


def _counts(truth: Truth, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Count a set: its parts, and its questions by each of their attributes, most frequent first."""
    attributes: dict[str, list[str]] = {
        "evidence source": [candidate.source for candidate in candidates],
        "task": [candidate.task for candidate in candidates],
        "pages": ["one" if len(candidate.pages) == 1 else "several" for candidate in candidates],
        "answer form": [candidate.answer_form for candidate in candidates],
        "language": [candidate.language for candidate in candidates],
        "domain": [candidate.document.split("/")[0] for candidate in candidates],
        "origin": [candidate.origin for candidate in candidates],
    }
    silver = {(n, each.page.index) for n in truth.pages for each in truth.pages[n] if each.origin == "silver"}
    return {
        "documents": len(truth.documents),
        "pages": truth.origins.total(),
        "questions": len(candidates),
        "questions on silver pages": sum(any((c.document, page) in silver for page in c.pages) for c in candidates),
        "questions by": {name: dict(Counter(values).most_common()) for name, values in attributes.items()},
    }


def _document(document: Document, truth: Truth, digest: str) -> dict[str, Any]:
    return {
        "source": document.name,
        "language": document.language,
        "pdf_sha256": digest,
        "pages": {
            str(each.page.index): {"origin": each.origin, "reason": each.reason, "sha256": page_digest(each.page.text)}
            for each in truth.pages[document.name]
        },
    }


def _question(candidate: Candidate) -> dict[str, Any]:
    return {
        "origin": candidate.origin,
        "made_by": candidate.made_by,
        "parents": list(candidate.parents),
        "language": candidate.language,
        "spans": [[passage.page, passage.start, passage.end] for passage in candidate.evidence],
        "notes": dict(candidate.notes),
    }


_FILL_IN = "## Licence and contact"
"""Heading of the last part, which people fill in, and which a new build leaves as it is."""

_PART = f"\n{_FILL_IN}\n"
_TO_FILL_IN = """
- Licence of the documents: TODO
- Licence of the questions and answers: TODO
- Personal or confidential data in the documents: TODO
- Contact: TODO
- Version and date: TODO"""
_ORIGINS = {
    "text_layer": "the PDF's own text layer",
    "corrected": "corrected by people",
    "silver": "read by an OCR engine, not corrected",
}
_OF_MODELS = "Models wrote or judged questions: a model of the same family may find them easier than others do."
_OF_LAYERS = (
    "Text layers have no markup: tables and formulas are plain text, in the order in which the file draws them."
)


def _datasheet(content: Mapping[str, Any], notes: Sequence[str], about: About, before: str = "") -> str:
    """Return the README of a set; the part of an earlier one that people filled in stays."""
    _, heading, filled_in = before.partition(_PART)
    parts = (
        (f"# {about.title}", _summary(content)),
        ("## Sources", _sources(content, notes)),
        ("## Ground truth", _truth(content)),
        ("## Questions", _questions(content)),
        ("## Verification", _verification(about)),
        ("## Models", _models(about)),
        ("## Known limits", _limits(content, about)),
    )
    body = "\n\n".join("\n\n".join((title, *paragraphs)) for title, paragraphs in parts)
    return f"{body}\n\n{_FILL_IN}\n{filled_in.rstrip() if heading else _TO_FILL_IN}"


def _summary(content: Mapping[str, Any]) -> Iterator[str]:
    counts = content["counts"]
    yield (
        f"{counted(counts['questions'], 'question')} about {counted(counts['documents'], 'document')} with "
        f"{counted(counts['pages'], 'page')} of ground truth, built by {content['made_by']}."
    )
    yield "The files are in OHRBench's layout (arXiv:2412.02592). A study reads them so:"
    yield "```yaml\nbenchmark: {kind: ohrbench, root: .}\n```"
    yield "`set.json` has the origin of each page, the place of each question's evidence, and all counts below."


def _sources(content: Mapping[str, Any], notes: Sequence[str]) -> Iterator[str]:
    rows = (
        (name, about["source"], about["language"], len(about["pages"]), f"`{about['pdf_sha256']}`")
        for name, about in content["documents"].items()
    )
    yield _table(("document", "source", "language", "pages", "SHA-256 of the PDF"), rows)
    if notes:
        yield "Not used:"
        yield "\n".join(f"- {note}" for note in notes)


def _truth(content: Mapping[str, Any]) -> Iterator[str]:
    truth, pages = content["truth"], content["counts"]["pages"]
    yield _table(("ground truth", "pages"), ((_ORIGINS[name], count) for name, count in truth["pages"].items()))
    if silver := truth["pages"].get("silver", 0):
        yield f"The {silver_sentence(silver, pages, truth['engine'])}."
    if truth["left_out"]:
        yield "Pages without ground truth, and those that no question was written about, by the reason's name:"
        yield _table(("reason", "pages"), truth["left_out"].items())


def _questions(content: Mapping[str, Any]) -> Iterator[str]:
    for name, numbers in content["counts"]["questions by"].items():
        if numbers:
            yield _table((name, "questions"), numbers.items())


def _verification(about: About) -> Iterator[str]:
    if about.funnel:
        yield "Each rule got what the rules above it let pass:"
        yield _table(
            ("rule", "entered", "removed", "undecided", "left"),
            (
                (row.rule if row.runs else f"{row.rule} (not run)", row.entered, row.removed, row.undecided, row.left)
                for row in about.funnel
            ),
        )
    else:
        yield "The questions were not verified."
    if about.agreements:
        yield "People reviewed the questions; Cohen's kappa of each two over the verdicts keep, drop and edit:"
        yield _table(
            ("reviewers", "questions", "equal", "kappa"),
            (
                (" and ".join(a.reviewers), a.candidates, a.equal, "" if isnan(a.kappa) else f"{a.kappa:.2f}")
                for a in about.agreements
            ),
        )
    else:
        yield "No two people reviewed the same questions."


def _models(about: About) -> Iterator[str]:
    if not about.models:
        yield "No model took part."
        return
    rows = (
        (model.name, model.role, model.version, ", ".join(f"{key}: {value}" for key, value in model.settings.items()))
        for model in about.models
    )
    yield _table(("model", "role", "version", "settings"), rows)


def _limits(content: Mapping[str, Any], about: About) -> Iterator[str]:
    silver = content["counts"]["questions on silver pages"]
    layers = content["truth"]["pages"].get("text_layer", 0)
    limits = [*[_OF_MODELS] * bool(about.models), *[_OF_LAYERS] * bool(layers), *about.limits]
    if silver:
        limits.append(f"{counted(silver, 'question')} with evidence on silver pages: the engine's errors are in them.")
    yield "\n".join(f"- {limit}" for limit in limits) or "None that a program knows of."


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    written = ([str(cell).replace("|", r"\|") for cell in row] for row in (header, *rows))
    first, *others = (f"| {' | '.join(row)} |" for row in written)
    return "\n".join((first, f"|{' --- |' * len(header)}", *others))


QUESTIONS, DATASHEET = "qas_v2.json", "README.md"
_DPI = 200
"""Resolution at which `ohrbench` renders PDFs by default: page images come back pixel by pixel."""
_BLANK = np.full((280, 200, 3), 255, dtype=np.uint8)


def write_set(out: Path, truth: Truth, candidates: Sequence[Candidate], about: About) -> None:
    """Write a set in OHRBench's layout.

    Args:
        out: a folder that this program made; whoever calls protects the files of an earlier set. What people filled
            in in a datasheet that is there stays.
        truth: all of its documents get their pages and their PDF, also those without a question.
        candidates: the questions, in their order.
        about: how they were made.

    Raises:
        DataError: a question cannot be in the set (all faults are listed), or a file cannot be written.
    """
    if faults := sentences(_faults(candidates, truth)):
        raise DataError(f"the set cannot be written: {'; '.join(faults)}")
    names = set_names(document.name for document in truth.documents)
    try:
        out.mkdir(parents=True, exist_ok=True)
        for document in truth.documents:
            name = names[document.name]
            write_pages(out / "retrieval_base" / "gt" / f"{name}.json", truth.texts[document.name])
            _write_pdf(_pdf_file(out, name), document, truth.benchmark)
        digests = {name: file_digest(_pdf_file(out, name)) for name in names.values()}
        content = _set_file(truth, candidates, about, names, digests)
        _write(out / FILE, json.dumps(content, ensure_ascii=False, indent=1))
        _write(out / DATASHEET, _datasheet(content, truth.notes, about, _text(out / DATASHEET)))
        asked = [record(candidate, names) for candidate in candidates]
        _write(out / QUESTIONS, json.dumps(asked, ensure_ascii=False, indent=1))
    except OSError as error:
        raise DataError(f"{error.filename or out}: cannot be written: {error.strerror}") from None


def _write_pdf(target: Path, document: Document, benchmark: Benchmark) -> None:
    """Copy a PDF, or make one of page images."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source := benchmark.pdf(document):
        shutil.copyfile(source, target)
    else:
        pdf.write(target, _images(benchmark, document), _DPI)


def _images(benchmark: Benchmark, document: Document) -> Iterator[Image]:
    """Yield a document's pages; in the place of a damaged one a blank one, so that the others keep their numbers."""
    for index in range(document.pages):
        try:
            yield benchmark.page_image(document, index)
        except DataError:
            yield _BLANK


def _pdf_file(out: Path, name: str) -> Path:
    return out / "pdfs" / f"{name}.pdf"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _write(path: Path, text: str) -> None:
    path.write_text(text + "\n", encoding="utf-8")
