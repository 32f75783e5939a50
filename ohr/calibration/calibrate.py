"""Calibration: the strength at which a noise damages the evidence as much as a spec asks, over its replicate seeds."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ohr.calibration.bracket import Found, Unreachable, search
from ohr.calibration.measure import ProbeTask, probe
from ohr.contracts import Document, Question
from ohr.engine.executors.local import Executor
from ohr.engine.inputs import Inputs
from ohr.engine.progress import Progress
from ohr.engine.recipe import Recipe
from ohr.engine.tasks import PageTask, read_page
from ohr.engine.work import Work
from ohr.errors import OhrError, SpecError
from ohr.metrics.dose import DAMAGED, by_page, evidence_text, own_text
from ohr.metrics.lcs import lcs
from ohr.results.groups import GROUPS
from ohr.spec.model import Calibration, KnowledgeBase, Spec, Target
from ohr.store import Store


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


@dataclass(frozen=True, slots=True)
class Workshop:
    """What measurements are made with; without an executor they are only looked up."""

    inputs: Inputs
    store: Store
    executor: Executor | None
    progress: Progress
    work: Work


def calibrate(spec: Spec, shop: Workshop) -> Spec:
    """Give a spec in which each level with a target has the strength that meets it.

    The levels of one entry are searched together. Each strength is measured on the entry's replicates, and their mean
    counts.

    Raises:
        SpecError: targets that no strength reaches; all are told, each with the range that can be reached.
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
        for calibration in _entry(spec, bases, shop, faults):
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


def _entry(spec: Spec, bases: Sequence[KnowledgeBase], shop: Workshop, faults: list[str]) -> list[Calibration]:
    first = next(base.target for base in bases if base.target)
    levels = {base.target: None for base in bases if base.target}
    replicates = {base.replicate: base for base in bases if base.target == first}
    gauge = _Gauge.of(spec, first, tuple(replicates.values()), shop)
    if not gauge.questions:
        faults.append(f"{bases[0].noise}: no question of {first.source} can be counted: nothing to calibrate on")
        return []
    effort = _IMAGE if first.family == "image_noise" else _TEXT
    near = max(effort.tolerance, 1 / len(gauge.questions))
    wanted = [target.value for target in levels]
    # r_noise goes in steps of one question; a loss does not, and of few questions any strength would be near enough
    enough = (near if first.measure == "r_noise" else effort.tolerance) / 2
    doses = search(gauge.measure, wanted, scan=effort.scan, tolerance=enough, passes=effort.passes)
    calibrations = []
    for target, found in zip(levels, doses, strict=True):
        if isinstance(found, Unreachable):
            faults.append(_told(bases[0], target, found))
        else:
            calibrations.append(_calibration(bases[0], target, found, gauge, near))
    return calibrations


def _told(base: KnowledgeBase, target: Target, found: Unreachable) -> str:
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
    )


@dataclass(frozen=True)
class _Gauge:
    """Measures the dose of one entry at any strength.

    Args:
        questions: those that count: of the target's source, with words of evidence, on pages that the ground truth has.
        whole: for each of them, the share of its evidence that the ground truth holds.
    """

    spec: Spec
    target: Target
    replicates: tuple[KnowledgeBase, ...]
    questions: tuple[Question, ...]
    whole: np.ndarray[Any, np.dtype[np.float64]]
    shop: Workshop

    @classmethod
    def of(cls, spec: Spec, target: Target, replicates: tuple[KnowledgeBase, ...], shop: Workshop) -> "_Gauge":
        truth = by_page(page for pages in shop.inputs.truth.values() for page in pages)
        cuts = spec.benchmark.scoring.segment_chinese
        questions, whole = [], []
        for question in shop.inputs.questions:
            there = all((question.document, index) in truth for index in question.pages)
            if there and GROUPS[target.source](question.evidence_source):
                held = lcs(own_text(question, truth), evidence_text(question), cuts)
                if not np.isnan(held):
                    questions.append(question)
                    whole.append(held)
        return cls(spec, target, replicates, tuple(questions), np.array(whole), shop)

    def seed(self, base: KnowledgeBase) -> int:
        return self.spec.seed + base.replicate

    def measure(self, strengths: Sequence[float]) -> list[float]:
        """Give the mean dose over the replicates at each strength."""
        trials = [base.with_strength(strength) for strength in strengths for base in self.replicates]
        spec = replace(self.spec, knowledge_bases=tuple(trials))
        held = self._held(Recipe(spec, self.shop.inputs), trials)
        doses = [self._dose(np.array([found[question.id] for question in self.questions])) for found in held]
        size = len(self.replicates)
        return [float(np.mean(doses[place : place + size])) for place in range(0, len(doses), size)]

    def _dose(self, held: np.ndarray[Any, np.dtype[np.float64]]) -> float:
        if self.target.measure == "r_noise":
            return float((held <= DAMAGED).mean())
        return float(1 - np.minimum(held, self.whole).sum() / self.whole.sum())

    def _held(self, recipe: Recipe, trials: Sequence[KnowledgeBase]) -> list[dict[str, float]]:
        """Give, for each trial, the share of each question's evidence that is left."""
        documents = {document.name: document for document in self.shop.inputs.documents}
        asked: dict[str, list[Question]] = defaultdict(list)
        for question in self.questions:
            asked[question.document].append(question)
        tasks = [
            self._task(recipe, trial, documents[name], tuple(questions))
            for trial in trials
            for name, questions in asked.items()
        ]
        found: dict[str, Any] = {task.key: self.shop.store.get(task.key) for task in tasks}
        missing = {task.key: task for task in tasks if found[task.key] is None}
        if missing and self.shop.executor is None:
            raise NotCalibrated(f"{self.replicates[0].noise} is not calibrated yet")
        if missing:
            found |= self._measured(list(missing.values()))
        each = len(asked)
        return [
            {question: share for task in tasks[place : place + each] for question, share in found[task.key].items()}
            for place in range(0, len(tasks), each)
        ]

    def _task(self, recipe: Recipe, trial: KnowledgeBase, document: Document, asked: tuple[Question, ...]) -> ProbeTask:
        placed = recipe.placing(trial, document)
        whole = placed or any(noise.sees_document for noise in trial.text_noise)
        pages = range(document.pages) if whole else sorted({index for question in asked for index in question.pages})
        keys = tuple((i, recipe.page(trial, document, i)) for i in pages) if trial.ocr.reads_images else ()
        cuts = self.spec.benchmark.scoring.segment_chinese
        name = recipe.probe(trial, document, tuple(pages), asked, cuts)
        seed = self.seed(trial)
        return ProbeTask(
            recipe.spec.benchmark, trial, document, seed, name, tuple(pages), keys, asked, placed, cuts,
            self.shop.store.root,
        )  # fmt: skip

    def _measured(self, tasks: Sequence[ProbeTask]) -> dict[str, Mapping[str, float]]:
        executor, progress, work = self.shop.executor, self.shop.progress, self.shop.work
        assert executor is not None
        self._read(tasks)
        found: dict[str, Mapping[str, float]] = {}
        with work.timed("calibration"), progress.step(f"calibrating {self.replicates[0].noise}", len(tasks)) as advance:
            for outcome in executor.map(probe, tasks, self.spec.retries):
                advance(1)
                work.calls["probes"] += 1
                if outcome.error:
                    raise OhrError(f"calibration stopped: {outcome.task.item}: {outcome.error}")
                found[outcome.task.key] = outcome.result
        return found

    def _read(self, tasks: Sequence[ProbeTask]) -> None:
        """Recognise the pages that the store does not have; a page that fails counts as empty."""
        executor, progress, work = self.shop.executor, self.shop.progress, self.shop.work
        assert executor is not None
        pages: dict[str, PageTask] = {}
        for task in tasks:
            for index, name in task.page_keys:
                if name not in pages and self.shop.store.get(name) is None:
                    pages[name] = PageTask(
                        task.benchmark, task.base, task.document, index, task.seed, name, self.shop.store.root
                    )
        with work.timed("ocr"), progress.step(f"reading for {self.replicates[0].noise}", len(pages)) as advance:
            for outcome in executor.map(read_page, list(pages.values()), self.spec.retries):
                advance(1)
                work.calls["pages"] += 1
                if not outcome.error:
                    work.seconds[f"ocr {outcome.task.base.ocr.kind} (worker)"] += outcome.result
