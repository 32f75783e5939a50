"""`set.json`: a set as programs read it, with the origin of each page's ground truth and of each question."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isnan
from typing import Any

import ohr
from ohr.contracts import Document
from ohr.files.built_set import FORMAT, page_digest
from ohr.questions.candidate import Candidate
from ohr.questions.truth import Truth

from .about import About


def set_file(
    truth: Truth, candidates: Sequence[Candidate], about: About, names: Mapping[str, str], digests: Mapping[str, str]
) -> dict[str, Any]:
    """Return the content of `set.json`.

    Args:
        truth: of the set.
        candidates: its questions.
        about: how they were made.
        names: of documents in the set, by their own.
        digests: of the PDFs, by the documents' names in the set.
    """
    return {
        "format": FORMAT,
        "made_by": f"ohr {ohr.__version__}",
        "title": about.title,
        "truth": {"engine": truth.engine, "pages": dict(truth.origins), "left_out": dict(truth.removed)},
        "counts": counts(truth, candidates),
        "models": [model._asdict() for model in about.models],
        "settings": dict(about.settings),
        "funnel": [
            {
                "rule": row.rule,
                "entered": row.entered,
                "removed": row.removed,
                "undecided": row.undecided,
                "left": row.left,
                "runs": row.runs,
            }
            for row in about.funnel
        ],
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


def counts(truth: Truth, candidates: Sequence[Candidate]) -> dict[str, Any]:
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
        "images": truth.benchmark.fingerprint(document, images=True),
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
