"""Designs: the loss that a study can detect, and the documents that one needs."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil, inf, isnan
from typing import Any

import numpy as np

from ohr.dataset.inputs import Inputs
from ohr.errors import DataError
from ohr.results.run import Run
from ohr.spec.model import Spec
from ohr.statistics.planning import Aim, assumed, cautious, detectable, documents_needed
from ohr.statistics.signs import FEWEST
from ohr.statistics.variance import Budget, predicted_error

DRAWS = (1, 3, 5)
"""Draws of each noise for which a plan is made."""

LOSSES = (0.1, 0.05, 0.02)
"""Losses whose documents are said where none is asked for: plain to see, worth knowing, and barely noticed."""


@dataclass(frozen=True, slots=True)
class Design:
    """The size of a study.

    Args:
        documents: that its questions are about.
        per_document: mean questions of a document, with coefficient of variation `cv`.
        draws: of each noise.
    """

    documents: int
    per_document: float
    cv: float
    draws: int


@dataclass(frozen=True, slots=True)
class Pilot:
    """The parts of the squared error of one loss, measured in a run or assumed.

    Args:
        name: stage, condition and pipeline; empty where the parts are assumed.
        parts: at their upper limit, since a pilot may be lucky.
    """

    name: str
    parts: Budget


@dataclass(frozen=True, slots=True)
class Needed:
    """Documents that a study needs, for each number of draws and of questions per document; inf where none suffice."""

    pilot: str
    draws: int
    per_document: float
    documents: float


@dataclass(frozen=True, slots=True)
class Enough:
    """Documents, and questions about them, with which four of five studies find a loss; inf where none suffice."""

    loss: float
    documents: float
    questions: float


def design(spec: Spec, inputs: Inputs) -> Design:
    """Describe the size of a spec's study."""
    noisy = any(base.replicates > 1 for base in spec.knowledge_bases)
    draws = max((base.replicates for base in spec.knowledge_bases), default=1) if noisy else 1
    return design_of((question.document for question in inputs.questions), draws)


def design_of(documents: Iterable[str], draws: int) -> Design:
    """Describe the size of a study.

    Args:
        documents: of each question its document; at least one.
        draws: of each noise.
    """
    counts = np.array(list(Counter(documents).values()), dtype=float)
    return Design(len(counts), float(counts.mean()), float(counts.std() / counts.mean()), draws)


def pilots(run: Run | None, size: Design, **equal: str) -> list[Pilot]:
    """Read the parts of the losses of a finished run; without one they are assumed.

    Args:
        run: to read.
        size: of the study that is planned.
        equal: column of the table `variance` to the value that a loss must have; every loss by default.

    Raises:
        DataError: the run has no loss with enough documents.
    """
    if run is None:
        return [Pilot("", assumed(size.per_document))]
    # a loss of which nothing varied says nothing of other studies
    rows = [row for row in run.rows("variance", of="lost", **equal) if row["total"] > 0]
    if not rows:
        raise DataError(
            f"{run.folder}: has no loss from which a study can be planned: it needs a knowledge base without "
            "noise, and five documents"
        )
    return [Pilot(_name(row), cautious(_parts(row), row["df"])) for row in rows]


def finds(pilot: Pilot, size: Design) -> float:
    """Return the smallest true loss that four of five studies of a size find; inf with too few documents."""
    df = size.documents / (1 + size.cv**2) - 1
    error = predicted_error(pilot.parts, size.documents, size.per_document, size.draws, size.cv)
    return detectable(error, df) if df > 0 and size.documents >= FEWEST else float("inf")


def needed(found: Sequence[Pilot], size: Design, difference: float, aim: Aim) -> list[Needed]:
    """List the documents with which a difference is found, or equivalence within it is shown, in four of five studies.

    Args:
        found: the losses.
        size: of the spec; half, as many and twice as many questions of a document are tried.
        difference: to be found, or the margin.
        aim: which of the two.
    """
    return [
        Needed(
            pilot.name,
            draws,
            size.per_document * factor,
            documents_needed(difference, pilot.parts, size.per_document * factor, draws, size.cv, aim=aim),
        )
        for pilot in found
        for draws in DRAWS
        for factor in (0.5, 1, 2)
    ]


def enough(pilot: Pilot, size: Design, losses: Sequence[float] = LOSSES) -> list[Enough]:
    """List the documents that find each of some losses, with as many draws and questions each as a size has."""
    documents = [documents_needed(loss, pilot.parts, size.per_document, size.draws, size.cv) for loss in losses]
    return [
        Enough(loss, count, count * size.per_document if count == inf else ceil(count * size.per_document))
        for loss, count in zip(losses, documents, strict=True)
    ]


def _name(row: dict[str, Any]) -> str:
    return " / ".join(filter(None, (row[name] for name in ("stage", "condition", "retriever", "generator"))))


def _parts(row: dict[str, Any]) -> Budget:
    """Read a budget; what a single draw cannot separate counts as differences between documents."""
    single = isnan(row["from_documents"])
    parts = {name: 0.0 if single else row[f"from_{name}"] for name in ("questions", "draws", "question_draws")}
    return Budget(
        total=row["total"],
        documents=row["total"] if single else row["from_documents"],
        **parts,
        shared=0.0 if single else row["shared"],
        shared_ratio=1.0 if single else row["shared_ratio"],
        shared_p=1.0 if single or isnan(row["shared_p"]) else row["shared_p"],
        made=row["draws"],
        per_document=row["per_document"],
        effective_documents=row["effective_documents"],
    )
