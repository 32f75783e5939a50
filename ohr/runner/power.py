"""Designs: the loss that a study can detect, and the documents that one needs."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, inf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from ohr.errors import DataError
from ohr.results.derived.losses import read_losses
from ohr.results.derived.pairs import FAILED, FLOOR
from ohr.results.run import Run
from ohr.runner.comparisons import comparisons
from ohr.spec.model import Spec
from ohr.statistics.planning import Aim, Changes, Range, assumed, assumed_changes, detectable, documents_needed, limits
from ohr.statistics.signs import fewest
from ohr.statistics.variance import Budget, predicted_error

if TYPE_CHECKING:
    from ohr.dataset.inputs import Inputs

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
        comparisons: stage to the comparisons with clean text that are judged together there: the conditions of the
            pipeline that has most. Empty where each loss is judged alone.
    """

    documents: int
    per_document: float
    cv: float
    draws: int
    comparisons: Mapping[str, int] = field(default_factory=dict)

    def among(self, stage: str = "") -> int:
        """Return how many comparisons are judged together at a stage; by default, at the stage that has most."""
        return self.comparisons.get(stage) or max(self.comparisons.values(), default=0) or 1

    def fewest(self, stage: str = "") -> int:
        """Return with how many changed documents, at least, a loss of a stage can be shown."""
        return fewest(self.among(stage))

    @property
    def compares_nothing(self) -> bool:
        """Report whether no condition is compared with clean text."""
        return bool(self.comparisons) and not any(self.comparisons.values())


@dataclass(frozen=True, slots=True)
class Pilot:
    """The parts of the squared error of one loss, measured in a run or assumed.

    Args:
        name: stage, condition and pipeline; empty where the parts are assumed.
        low: the parts at their lower limit, since a pilot may be unlucky.
        high: at their upper limit, since it may be lucky.
        changes: how questions change.
        stage: empty where the parts are assumed, as is `condition`.
    """

    name: str
    low: Budget
    high: Budget
    changes: Changes
    stage: str = ""
    condition: str = ""

    @property
    def has_one_draw(self) -> bool:
        """Report whether it cannot say what more draws, or more questions of a document, would help."""
        return bool(self.name) and self.low.made == 1


@dataclass(frozen=True, slots=True)
class Needed:
    """Documents that a study needs, for a number of draws and of questions per document; inf where none suffice."""

    pilot: str
    draws: int
    per_document: float
    documents: Range


@dataclass(frozen=True, slots=True)
class Enough:
    """Documents, and questions about them, with which four of five studies find a loss; inf where none suffice."""

    loss: float
    documents: Range
    questions: Range
    stage: str = ""


def design(spec: Spec, inputs: "Inputs") -> Design:
    """Describe the size of a spec's study."""
    draws = max((base.replicates for base in spec.knowledge_bases), default=1)
    return design_of((question.document for question in inputs.questions), draws, comparisons(spec))


def design_of_run(run: Run) -> Design:
    """Describe the size of a finished study.

    Raises:
        DataError: a table is missing or damaged.
    """
    losses = [loss for loss in read_losses(run) if loss.metric == run.headlines[loss.stage]]
    draws = max((row["replicates"] for row in run.rows("summary", ["replicates"])), default=1)
    documents = (row["document"] for row in run.rows("questions", ["document"]))
    sizes: dict[str, int] = {}
    for loss in losses:
        sizes[loss.stage] = max(sizes.get(loss.stage, 0), loss.among)
    return design_of(documents, draws, sizes)


def design_of(documents: Iterable[str], draws: int, comparisons: Mapping[str, int] | None = None) -> Design:
    """Describe the size of a study.

    Args:
        documents: of each question its document; at least one.
        draws: of each noise.
        comparisons: as in `Design`; by default each is judged alone.
    """
    counts = np.array(list(Counter(documents).values()), dtype=float)
    return Design(
        len(counts), float(counts.mean()), float(counts.std() / counts.mean()), draws, dict(comparisons or {})
    )


def pilots(run: Run | None, size: Design) -> list[Pilot]:
    """Read the parts of the losses of a finished run; without one they are assumed.

    Args:
        run: to read.
        size: of the study that is planned.

    Raises:
        DataError: the run has no loss with enough documents.
    """
    if run is None:
        return [Pilot("", *assumed(size.per_document), assumed_changes(size.per_document))]
    judged = {
        tuple(getattr(loss, name) for name in _CELL) for loss in read_losses(run) if loss.verdict not in (FAILED, FLOOR)
    }
    # failures say nothing of noise; where nothing varied, or nothing could be lost, other studies may differ
    rows = [row for row in run.rows("variance", of="lost") if row["total"] > 0 and _cell(row) in judged]
    if not rows:
        raise DataError(
            f"{run.folder}: has no loss from which a study can be planned: it needs a knowledge base without "
            "noise, five documents, and scores that are not near their floor"
        )
    return [
        Pilot(_name(row), *limits(_parts(row), row["df"]), _changes(row), row["stage"], row["condition"])
        for row in rows
    ]


def hardest(known: Iterable[Pilot], size: Design) -> list[Pilot]:
    """Return the loss of each stage that is hardest to find, the hardest one last: it decides how large a study is."""
    by_stage = {pilot.stage: pilot for pilot in sorted(known, key=lambda pilot: _hardness(pilot, size))}
    return sorted(by_stage.values(), key=lambda pilot: _hardness(pilot, size))


def _hardness(pilot: Pilot, size: Design) -> tuple[float, float]:
    return finds(pilot, size).high, predicted_error(pilot.high, 1, size.per_document, size.draws, size.cv)


def finds(pilot: Pilot, size: Design) -> Range:
    """Return the smallest true loss that four of five studies of a size show, among the comparisons of its stage."""
    if size.compares_nothing:
        return Range(inf, inf)
    low, high = (
        detectable(
            predicted_error(parts, size.documents, size.per_document, size.draws, size.cv),
            size.documents,
            size.documents / (1 + size.cv**2) - 1,
            size.among(pilot.stage),
            pilot.changes,
            size.per_document / parts.per_document,
        )
        for parts in (pilot.low, pilot.high)
    )
    return Range(low, high)


def needed(known: Sequence[Pilot], size: Design, difference: float, aim: Aim) -> list[Needed]:
    """List the documents with which a difference is found, or equivalence within it is shown, in four of five studies.

    A difference is found among all comparisons of its stage; equivalence is judged one by one.

    Args:
        known: the losses.
        size: of the spec; half, as many and twice as many questions of a document are tried, where the pilot can say
            what they change.
        difference: to be found, or the margin.
        aim: which of the two.
    """
    return [
        Needed(
            pilot.name,
            draws,
            size.per_document * factor,
            _documents(difference, pilot, replace(size, draws=draws, per_document=size.per_document * factor), aim),
        )
        for pilot in known
        for draws in ((size.draws,) if pilot.has_one_draw else DRAWS)
        for factor in ((1,) if pilot.has_one_draw else (0.5, 1, 2))
    ]


def enough(pilot: Pilot, size: Design, losses: Sequence[float] = LOSSES) -> list[Enough]:
    """List the documents that find each of some losses, with as many draws and questions each as a size has."""
    documents = [_documents(loss, pilot, size) for loss in losses]
    return [
        Enough(
            loss,
            counts,
            Range(*(count if count == inf else ceil(count * size.per_document) for count in counts)),
            pilot.stage,
        )
        for loss, counts in zip(losses, documents, strict=True)
    ]


def _documents(difference: float, pilot: Pilot, size: Design, aim: Aim = "difference") -> Range:
    about = size.per_document, size.draws, size.cv, size.among(pilot.stage), pilot.changes, aim
    low, high = (documents_needed(difference, parts, *about) for parts in (pilot.low, pilot.high))
    return Range(low, high)


_CELL = ("stage", "condition", "chunker", "retriever", "generator")


def _cell(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(row[name] or "" for name in _CELL)


def _name(row: dict[str, Any]) -> str:
    return " / ".join(filter(None, (row[name] for name in _CELL)))


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


def _changes(row: Mapping[str, Any]) -> Changes:
    return Changes(row["loss"], row["square"], row["size"], row["changed"], row["per_document"])
