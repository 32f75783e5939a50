"""A spec, resolved: every plugin an object, every sweep spread out, every default filled in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from ohr.contracts import (
    Agent,
    AnyMetric,
    AnyOcr,
    AnyRetriever,
    Benchmark,
    Chunker,
    Generator,
    ImageTreatment,
    PageOrder,
    Stage,
    System,
    Treatment,
)
from ohr.metrics.references import REFERENCES
from ohr.prices import Price
from ohr.spec.file_keys import (
    EVERY,
    LIMITS,
    Attribution,
    EvaluationStage,
    Hypothesis,
    IndexScope,
    Limits,
    Measurement,
    QuestionFilter,
)
from ohr.treatments import Recorded, written_treatments

S = TypeVar("S")

Measure = Literal["r_noise", "evidence_loss"]

MOST = 10_000
"""Knowledge bases of a spec with all draws, cells without, and variants of one plugin: more is a slip or an attack."""


@dataclass(frozen=True, slots=True)
class Target:
    """The dose that a condition is to have, in place of a strength.

    Args:
        source: the questions that count: `all`, an evidence source, or `multimodal`.
        family: of the noise whose strength is looked for.
        place: its place among the treatments of that family.
    """

    measure: Measure
    value: float
    source: str
    family: str
    place: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the strength of a condition was found.

    Args:
        noise: name of the entry.
        value: the strength, of field `knob`.
        achieved: the mean dose over `seeds` at that strength.
        questions: how many were counted.
        tolerance: how far from the target the dose may be.
        met: it is not farther.
        passes: (strength, dose) of each measurement, in order.
        fresh_sd: standard deviation of the mean dose of as many fresh draws around the achieved one, which is a fact of
            these draws; None for a single seed.
    """

    noise: str
    target: Target
    knob: str
    value: float
    achieved: float
    seeds: tuple[int, ...]
    questions: int
    tolerance: float
    met: bool
    passes: tuple[tuple[float, float], ...]
    fresh_sd: float | None = None


def written(stage: Stage) -> dict[str, Any]:
    """Return a plugin's keys as JSON values.

    A path remains a path, since only the writer of a file knows from where it is read; one with `${NAME}` is as the
    spec has it, so that no result holds the value of a variable.
    """
    fields = type(stage).model_fields.items()
    paths = {field.alias or name: path for name, field in fields if isinstance(path := getattr(stage, name), Path)}
    plain = {key: getattr(path, "written", "") or path for key, path in paths.items()}
    return stage.model_dump(mode="json", by_alias=True) | plain


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """One draw of a condition: the documents as a noise and an OCR engine leave them.

    Args:
        condition: what it is a draw of; its draws are pooled. Any text: nothing is read out of it.
        noise: name of the entry it came from; the conditions of one entry make a curve.
        treatments: what happens to its pages, in order; exactly one is an OCR engine.
        knob: name of the field that sets the strength, and its value; None where there is no noise.
        replicate: number of the draw, from 0; it is added to the seed.
        replicates: draws of the condition.
        retrievers: names of the retrievers it is limited to, None for all.
        target: the dose it is to have; until it is calibrated its noise has any strength.
        again_of: the condition that it repeats, with results of its own; `turn` is the number of the repeat, from 1.
        dosed_as: reference noises, one per noise of its text: each entry makes as many edits as its reference
            would make on the whole text.
    """

    condition: str
    noise: str
    treatments: tuple[Treatment, ...]
    knob: str | None = None
    knob_value: float | str | None = None
    replicate: int = 0
    replicates: int = 1
    retrievers: tuple[str, ...] | None = None
    target: Target | None = None
    dosed_as: tuple[Treatment, ...] = ()
    again_of: str | None = None
    turn: int = 1

    @property
    def name(self) -> str:
        """The condition's name, with the draw's number where there are several; unique in a run."""
        return f"{self.condition}#{self.replicate}" if self.replicates > 1 else self.condition

    @property
    def ocr(self) -> AnyOcr:
        """The engine that reads its pages; that of the ground truth where none does."""
        return next(each for each in self.treatments if isinstance(each, AnyOcr))

    @property
    def _read_at(self) -> int:
        return next(place for place, each in enumerate(self.treatments) if isinstance(each, AnyOcr))

    @property
    def image_treatments(self) -> tuple[ImageTreatment, ...]:
        """The treatments of its page images, in order."""
        return tuple(each for each in self.treatments if isinstance(each, ImageTreatment))

    @property
    def text_treatments(self) -> tuple[Treatment, ...]:
        """The treatments of its texts, in order; where pages are read one by one, their arrangement too."""
        place = self._read_at
        first = [each for each in self.treatments[:place] if isinstance(each, PageOrder)]
        return (*(first if not self.ocr.reads_documents else ()), *self.treatments[place + 1 :])

    @property
    def orders(self) -> tuple[PageOrder, ...]:
        """The treatments that arrange its pages, in order."""
        return tuple(each for each in self.treatments if isinstance(each, PageOrder))

    @property
    def orders_read(self) -> tuple[PageOrder, ...]:
        """Those of `orders` that act before an engine reads a whole document; none for other engines."""
        first = [each for each in self.treatments[: self._read_at] if isinstance(each, PageOrder)]
        return tuple(first) if self.ocr.reads_documents else ()

    @property
    def noises(self) -> tuple[Treatment, ...]:
        """The treatments that are noise, in order."""
        return tuple(each for each in self.treatments if each.purpose == "noise")

    @property
    def repairs(self) -> tuple[Treatment, ...]:
        """The treatments that are repairs, in order."""
        return tuple(each for each in self.treatments if each.purpose == "repair")

    @property
    def calibrated(self) -> Treatment:
        """The noise that the target is about."""
        return self.treatments[self._calibrated_at]

    @property
    def _calibrated_at(self) -> int:
        if self.target is None:
            raise ValueError(f"{self.name} has no target")
        family = [place for place, each in enumerate(self.treatments) if each.family == self.target.family]
        return family[self.target.place]

    def with_strength(self, value: float) -> "KnowledgeBase":
        """Return this base with another strength of the noise that its target is about."""
        noise, treatments = self.calibrated, list(self.treatments)
        treatments[self._calibrated_at] = noise.model_copy(update={noise.knob: value})
        return replace(self, treatments=tuple(treatments))

    def written(self) -> dict[str, Any]:
        """Return it as JSON values, with all defaults."""
        treatments = [Recorded(each.family, each.purpose, each.takes, written(each)) for each in self.treatments]
        return {
            "name": self.name,
            "condition": self.condition,
            "replicate": self.replicate,
            **written_treatments(treatments),
            "retrievers": self.retrievers,
            "target": self.target and asdict(self.target),
            **({"again_of": self.again_of} if self.again_of else {}),
            **({"turn": self.turn} if self.turn > 1 else {}),
        }

    @property
    def noise_type(self) -> str:
        """The kind of its noise: `semantic`, `formatting`, or `none`."""
        types = [getattr(each, "noise_type", "semantic") for each in self.treatments if each.family != "ocr"]
        semantic = self.ocr.kind != "ground_truth" or "semantic" in types
        return "semantic" if semantic else "formatting" if types else "none"

    @property
    def folder(self) -> str:
        """Its folder's name in OHRBench's layout, whatever its own is: `gt`, that of its results, or its engine's."""
        root = getattr(self.ocr, "root", None)
        return "gt" if self.ocr.kind == "ground_truth" else Path(root).name if root else self.ocr.kind

    def uses(self, retriever: str) -> bool:
        """Report whether a retriever, by its name, searches it."""
        return self.retrievers is None or retriever in self.retrievers

    @property
    def has_text(self) -> bool:
        """Whether its text went through its noise; not so where images are treated and no engine reads them."""
        return not self.image_treatments or self.ocr.kind != "ground_truth"


@dataclass(frozen=True, slots=True)
class Named(Generic[S]):
    """A plugin and the name it has in this run."""

    name: str
    stage: S


@dataclass(frozen=True, slots=True)
class Spec:
    """One study, ready to run.

    Args:
        index_scope: the benchmark's, unless the spec has its own.
        decompose: conditions whose loss is split by stage.
        resolved: the spec with its defaults as JSON values and paths, for the manifest.
        prices: by name; they decide no result, so neither `resolved` nor any key has them, as `currency`.
    """

    name: str
    seed: int
    benchmark: Benchmark
    knowledge_bases: tuple[KnowledgeBase, ...]
    chunkers: tuple[Named[Chunker], ...]
    retrievers: tuple[Named[AnyRetriever], ...]
    generators: tuple[Named[Generator], ...]
    evaluate: tuple[EvaluationStage, ...]
    agents: tuple[Named[Agent], ...] = ()
    systems: tuple[Named[System], ...] = ()
    index_scope: IndexScope = "domain"
    replicates: int = 1
    limit: int | None = None
    questions: QuestionFilter = EVERY
    per_document: int | None = None
    sample: int | None = None
    max_failures: int | None = None
    retries: int = 1
    limits: Limits = LIMITS
    plugin_digests: tuple[tuple[str, str], ...] = ()
    plugin_files: tuple[Path, ...] = ()
    resolved: Any = None
    calibrations: tuple[Calibration, ...] = ()
    attribution: Attribution | None = None
    references: tuple[str, ...] = REFERENCES
    decompose: tuple[str, ...] = ()
    measure: tuple[Measurement, ...] = ("dose",)
    metrics: tuple[Named[AnyMetric], ...] = ()
    hypotheses: tuple[Hypothesis, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)
    currency: str = ""

    @property
    def whole(self) -> tuple[Named[Agent] | Named[System], ...]:
        """The agents and systems: each retrieves and answers by itself."""
        return (*self.agents, *self.systems)

    def stages(self) -> Iterator[Stage]:
        """List every plugin of the spec; one that several conditions share comes several times."""
        yield self.benchmark
        for base in self.knowledge_bases:
            yield from base.treatments
        named: tuple[Named[Any], ...] = (
            *self.chunkers,
            *self.retrievers,
            *self.generators,
            *self.whole,
            *self.metrics,
        )
        yield from (each.stage for each in named)


def names(named: Sequence[Named[Any]]) -> tuple[str, ...]:
    """Return the names of named plugins."""
    return tuple(item.name for item in named)


Parts = frozenset[str]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a knowledge base's noise: a noise at its place among the treatments, or one `rule` of it."""

    name: str
    place: int
    rule: str | None = None


def parts(base: KnowledgeBase) -> list[Part]:
    """List the parts of a base's noise, in the order in which they act."""
    listed: list[Part] = []
    kinds = [noise.kind for noise in base.noises]
    treatments: Sequence[Any] = base.treatments
    for place, noise in enumerate(treatments):
        if noise.purpose != "noise":
            continue
        number = [each.family for each in base.treatments[: place + 1]].count(noise.family)
        name = f"{noise.kind} {number}" if kinds.count(noise.kind) > 1 else noise.kind
        rules = noise.parts() if noise.keeps_edits else ()
        if len(rules) < 2:
            listed.append(Part(name, place))
        alone = len(kinds) == 1
        listed += [Part(rule if alone else f"{name}: {rule}", place, rule) for rule in rules if len(rules) > 1]
    return listed


def with_only(base: KnowledgeBase, kept: Parts, *, equal_dose: bool) -> KnowledgeBase:
    """Return a base with some parts of its noise only.

    Args:
        equal_dose: text noise makes as many edits as with all its parts.
    """
    treatments: list[Any] = list(base.treatments)
    for place, of_noise in groupby(parts(base), lambda part: part.place):
        noise, rules = treatments[place], [part.rule for part in of_noise if part.name in kept]
        if not rules:
            treatments[place] = noise.model_copy(update={noise.knob: 0.0})
        elif rules != [None]:  # a noise without rules stays whole
            treatments[place] = noise.only(rules)
    doses = _of_text(base) if equal_dose and kept else ()
    return replace(base, treatments=tuple(treatments), dosed_as=doses, target=None)


def _of_text(base: KnowledgeBase) -> tuple[Treatment, ...]:
    return tuple(noise for noise in base.noises if noise.keeps_edits)


def fault_of(base: KnowledgeBase, methods: Sequence[str]) -> str | None:
    """Explain why the noise of a base cannot be attributed to its parts; None when it can."""
    of_noise = parts(base)
    if len(of_noise) < 2:
        return "has one part only: attribution needs a chain of noises, or a noise with several rules"
    fixed = [noise.kind for noise in base.noises if not noise.knob]
    if fixed:
        return f"has {fixed[0]}, which has no strength that could be 0"
    if "shapley" in methods and (len(_of_text(base)) != 1 or any(part.rule is None for part in of_noise)):
        return "is not one text noise with several rules, which shapley is for"
    return None
