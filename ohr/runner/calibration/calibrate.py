"""Calibration: the strength at which a noise damages the evidence as much as a spec asks, over its replicate seeds."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ohr.contracts import ImageTreatment, Question
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.errors import OhrError, SpecError
from ohr.graph.cache_keys import Keys
from ohr.graph.compile import add_pages
from ohr.graph.graph import Graph
from ohr.metrics.dose import DAMAGED, by_page, evidence_text, own_text
from ohr.metrics.lcs import lcs
from ohr.results.tables.groups import GROUPS
from ohr.runner.calibration.bracket import Found, Unreachable, search
from ohr.spec.model import Calibration, KnowledgeBase, Spec, Target
from ohr.steps.documents.damage import MeasureEvidence
from ohr.work.shapes import read_sound
from ohr.work.step import Step


@dataclass(frozen=True, slots=True)
class _Effort:
    """How a kind of noise is searched: strengths of the scan, when a dose is near enough, and most measurements."""

    scan: tuple[float, ...]
    tolerance: float
    passes: int


_TEXT = _Effort((0.0, 0.05, 0.2, 0.5, 1.0), 0.01, 20)
_IMAGE = _Effort((0.0, 0.1, 1.0), 0.03, 8)  # each pass reads the pages of all evidence with the OCR engine


class NotCalibrated(OhrError):
    """The store does not have the measurements that a calibration needs."""


def calibrate(spec: Spec, session: Session) -> Spec:
    """Return a spec in which each level with a target has the strength that meets it.

    The levels of one entry are searched together. Each strength is measured on the entry's replicates, and their mean
    counts.

    Raises:
        SpecError: targets that no strength reaches; all are listed, each with the range that can be reached.
        NotCalibrated: there is no executor, and the store lacks a measurement.
    """
    entries: dict[Any, list[KnowledgeBase]] = defaultdict(list)
    for base in spec.knowledge_bases:
        if base.target is not None:
            entries[base.noise, base.target.source, base.target.measure].append(base)
    strengths: dict[tuple[str, Target], float] = {}
    made: list[Calibration] = []
    faults: list[str] = []
    for bases in entries.values():
        for calibration in _entry(spec, bases, session, faults):
            made.append(calibration)
            strengths[calibration.noise, calibration.target] = calibration.value
    if faults:
        raise SpecError("\n".join(faults))
    if not made:
        return spec
    found = tuple(
        base.with_strength(strengths[base.noise, base.target]) if base.target else base for base in spec.knowledge_bases
    )
    resolved = {**spec.resolved, "knowledge_bases": [base.written() for base in found]}
    return replace(spec, knowledge_bases=found, resolved=resolved, calibrations=tuple(made))


def _entry(spec: Spec, bases: Sequence[KnowledgeBase], session: Session, faults: list[str]) -> list[Calibration]:
    first = next(base.target for base in bases if base.target)
    levels = {base.target: None for base in bases if base.target}
    replicates = {base.replicate: base for base in bases if base.target == first}
    gauge = _Gauge.of(spec, first, tuple(replicates.values()), session)
    if not gauge.questions:
        faults.append(f"{bases[0].noise}: no question of {first.source} can be counted: nothing to calibrate on")
        return []
    effort = _IMAGE if isinstance(bases[0].calibrated, ImageTreatment) else _TEXT
    near = max(effort.tolerance, 1 / len(gauge.questions))
    wanted = [target.value for target in levels]
    # r_noise goes in steps of one question; a loss does not, and of few questions any strength would be near enough
    enough = (near if first.measure == "r_noise" else effort.tolerance) / 2
    doses = search(gauge.measure, wanted, scan=effort.scan, tolerance=enough, passes=effort.passes)
    calibrations = []
    for target, found in zip(levels, doses, strict=True):
        if isinstance(found, Unreachable):
            faults.append(_unreachable(bases[0], target, found))
        else:
            calibrations.append(_calibration(bases[0], target, found, gauge, near))
    return calibrations


def _unreachable(base: KnowledgeBase, target: Target, found: Unreachable) -> str:
    noise = base.calibrated
    on = "" if target.source == "all" else f" on {target.source}"
    return (
        f"{base.noise}: target_{target.measure} {target.value:g}{on} cannot be reached: {noise.kind} with {noise.knob} "
        f"from 0 to 1 gives {found.lowest:.3f} to {found.highest:.3f}"
    )


def _calibration(base: KnowledgeBase, target: Target, found: Found, gauge: "_Gauge", near: float) -> Calibration:
    return Calibration(
        noise=base.noise,
        target=target,
        knob=base.calibrated.knob,
        value=found.value,
        achieved=found.achieved,
        seeds=tuple(gauge.seed(trial) for trial in gauge.replicates),
        questions=len(gauge.questions),
        tolerance=near,
        met=abs(found.achieved - target.value) <= near,
        passes=found.passes,
        fresh_sd=gauge.fresh_sd(found.value),
    )


@dataclass(frozen=True)
class _Gauge:
    """Measures the dose of one entry at any strength.

    Args:
        questions: those that count: of the target's source, with words of evidence, on pages that the ground truth has.
        whole: for each of them, the share of its evidence that the ground truth holds.
        seen: the dose of each replicate, by strength.
    """

    spec: Spec
    target: Target
    replicates: tuple[KnowledgeBase, ...]
    questions: tuple[Question, ...]
    whole: np.ndarray[Any, np.dtype[np.float64]]
    session: Session
    scheduler: Scheduler | None
    seen: dict[float, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: Spec, target: Target, replicates: tuple[KnowledgeBase, ...], session: Session) -> "_Gauge":
        scheduler = session.scheduler(spec) if session.executor else None
        cuts = spec.benchmark.scoring.segment_chinese
        clean = any(base.noise_type == "none" for base in spec.knowledge_bases)
        left_out = session.inputs.without_text if clean else ()
        questions, whole = [], []
        for question in (question for question in session.inputs.questions if question.id not in left_out):
            truth = by_page(session.inputs.truth.get(question.document, ()))
            there = all((question.document, index) in truth for index in question.pages)
            if there and GROUPS[target.source](question.evidence_source):
                held = lcs(own_text(question, truth), evidence_text(question), cuts)
                if not np.isnan(held):
                    questions.append(question)
                    whole.append(held)
        return cls(spec, target, replicates, tuple(questions), np.array(whole), session, scheduler)

    def seed(self, base: KnowledgeBase) -> int:
        return self.spec.seed + base.replicate

    def measure(self, strengths: Sequence[float]) -> list[float]:
        """Return the mean dose over the replicates at each strength."""
        trials = [base.with_strength(strength) for strength in strengths for base in self.replicates]
        spec = replace(self.spec, knowledge_bases=tuple(trials))
        held = self._held(Keys(spec, self.session.inputs), trials)
        doses = [self._dose(np.array([found[question.id] for question in self.questions])) for found in held]
        size = len(self.replicates)
        by_strength = [doses[place : place + size] for place in range(0, len(doses), size)]
        self.seen.update(zip(strengths, by_strength, strict=True))
        return [float(np.mean(found)) for found in by_strength]

    def fresh_sd(self, strength: float) -> float | None:
        """Estimate how far the mean dose of as many fresh draws would be from that of these; None from one draw."""
        doses = self.seen[strength]
        return float(np.std(doses, ddof=1) * np.sqrt(2 / len(doses))) if len(doses) > 1 else None

    def _dose(self, held: np.ndarray[Any, np.dtype[np.float64]]) -> float:
        if self.target.measure == "r_noise":
            return float((held <= DAMAGED).mean())
        return float(1 - np.minimum(held, self.whole).sum() / self.whole.sum())

    def _held(self, keys: Keys, trials: Sequence[KnowledgeBase]) -> list[dict[str, float]]:
        """Return, for each trial, the share of each question's evidence that survives."""
        asked: dict[str, list[Question]] = defaultdict(list)
        for question in self.questions:
            asked[question.document].append(question)
        graph = Graph()
        names = [
            [self._step(graph, keys, trial, name, tuple(questions)) for name, questions in asked.items()]
            for trial in trials
        ]
        self._run(graph, [name for trial in names for name in trial])
        every = [name for trial in names for name in trial]
        found = self.scheduler.read(every) if self.scheduler else read_sound(self.session.store, every, "shares")
        return [{question: share for name in trial for question, share in found[name].items()} for trial in names]

    def _step(self, graph: Graph, keys: Keys, trial: KnowledgeBase, name: str, asked: tuple[Question, ...]) -> str:
        document, placed = self.session.inputs.by_name[name], keys.placing(trial, self.session.inputs.by_name[name])
        whole = placed or any(getattr(each, "sees_document", True) for each in trial.text_treatments)
        read = range(len(keys.read_order(trial, document)))
        whole = whole or bool(trial.orders_read)
        pages = read if whole else sorted({index for question in asked for index in question.pages})
        every = keys.pages(trial, document, read)
        inputs = add_pages(graph, keys, trial, {name: list(pages)})[name]
        cuts = self.spec.benchmark.scoring.segment_chinese
        work = MeasureEvidence(
            keys.spec.benchmark, trial, document, self.seed(trial), tuple(pages), asked, placed, cuts
        )
        key = keys.measure(keys.document(trial, document, every), tuple(pages), asked)
        return graph.add(Step(work, (key,), tuple(inputs))).key

    def _run(self, graph: Graph, goals: Sequence[str]) -> None:
        """Make the measurements that are missing; a page that fails counts as empty."""
        if self.session.store.has_many(goals).issuperset(goals):
            return
        if self.scheduler is None:
            raise NotCalibrated(f"{self.replicates[0].noise} is not calibrated yet")
        self.scheduler.add(graph, goals)
        self.scheduler.settle(goals)
        for name in goals:
            if self.scheduler.effective(name) is None:
                failure = self.session.ledger.failures[-1]
                raise OhrError(f"calibration stopped: {failure.item}: {failure.reason}")
