"""A spec, resolved: every plugin an object, every sweep spread out, every default filled in."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ohr.contracts import Benchmark, Chunker, Generator, ImageNoise, Metric, OcrBackend, Retriever, Stage, TextNoise

S = TypeVar("S")

EvaluationStage = Literal["retrieval", "generation", "overall"]

Measure = Literal["r_noise", "evidence_loss"]

MOST = 10_000
"""Knowledge bases of a spec with all draws, cells without, and variants of one plugin: more is a slip or an attack."""


class _Keys(BaseModel):
    """Some keys of a spec; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


_Values = Annotated[tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)]


class QuestionFilter(_Keys):
    """Which questions are asked: those that have one of the values given, of every attribute given."""

    evidence_source: Annotated[_Values, Field(description="Such as text, table; all.")] = ()
    answer_form: Annotated[_Values, Field(description="Such as Numeric, Yes/No; all.")] = ()
    task_type: Annotated[_Values, Field(description="Such as understanding; all.")] = ()


class Limits(_Keys):
    """Limits of one item (a page, a document, an index, an answer); beyond them it counts as failed.

    Limits change only the result of an item that exceeds them, so they are part of no key.
    """

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    seconds: Annotated[float, Field(gt=0, description="Longest time of one item.")] = 600.0
    memory_gb: Annotated[float | None, Field(gt=0, description="Most memory of a worker process; no limit.")] = None


class Attribution(_Keys):
    """The keys of `attribution`."""

    of: Annotated[list[str], Field(min_length=1, description="Names of knowledge bases, without the replicate's #.")]
    methods: Annotated[
        list[Literal["leave_one_out", "shapley"]], Field(min_length=1, description="How costs are estimated.")
    ] = ["leave_one_out"]
    permutations: Annotated[
        int, Field(strict=True, ge=2, le=1000, description="Orders drawn for shapley, of more than five rules.")
    ] = 8


_EVERY, _LIMITS = QuestionFilter(), Limits()


class SpecFile(_Keys):
    """The keys of a spec; plugins are mappings with a `kind`, which are validated by their own class."""

    name: Annotated[
        str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$", max_length=100, description="Names the run's folder.")
    ] = "run"
    seed: Annotated[int, Field(strict=True, ge=0, lt=2**63, description="Every random draw follows from it.")] = 0
    replicates: Annotated[
        int, Field(strict=True, ge=1, le=100, description="Draws of each noisy knowledge base, pooled.")
    ] = 5
    benchmark: Annotated[dict[str, Any], Field(description="The documents and questions.")]
    knowledge_bases: Annotated[list[dict[str, Any]], Field(min_length=1, description="The conditions to compare.")]
    chunker: Annotated[
        dict[str, Any] | None, Field(description="Cuts pages into chunks; by default the protocol's, else tokens.")
    ] = None
    retrievers: Annotated[list[dict[str, Any]], Field(description="Find chunks for a question.")] = []
    generators: Annotated[list[dict[str, Any]], Field(description="Answer questions.")] = []
    metrics: Annotated[list[dict[str, Any]], Field(description="Score answers, beside the benchmark's own.")] = []
    evaluate: Annotated[
        list[EvaluationStage], Field(min_length=1, description="Stages of evaluation (OHRBench, section 4.1).")
    ] = ["retrieval", "generation", "overall"]
    limit: Annotated[
        int | None, Field(strict=True, gt=0, description="Use only this many documents, spread over domains.")
    ] = None
    questions: Annotated[QuestionFilter, Field(description="Ask only questions of these kinds.")] = _EVERY
    sample: Annotated[
        int | None, Field(strict=True, gt=0, description="Ask only this many questions, stratified by evidence source.")
    ] = None
    max_failures: Annotated[
        int | None, Field(strict=True, ge=0, description="Stop early when more items than this fail.")
    ] = None
    retries: Annotated[int, Field(strict=True, ge=0, le=10, description="How often a failed item is tried again.")] = 1
    limits: Annotated[Limits, Field(description="Most time and memory of one item.")] = _LIMITS
    attribution: Annotated[Attribution | None, Field(description="Estimate what each part of a noise costs.")] = None
    margin: Annotated[
        float,
        Field(
            gt=0, lt=1, allow_inf_nan=False, description="Difference of a score that matters; set it before the run."
        ),
    ] = 0.02
    strata: Annotated[
        Literal["auto", "domain", "none"],
        Field(description="Whether intervals take the domains as fixed; auto: where each has five documents."),
    ] = "auto"
    plugins: Annotated[list[str], Field(description="Plugin files, loaded with --trust-plugins only.")] = []


class KnowledgeBaseEntry(_Keys):
    """The keys of one entry of `knowledge_bases`."""

    name: Annotated[str | None, Field(description="By default its noise and OCR engine.")] = None
    image_noise: Annotated[dict[str, Any] | list[dict[str, Any]], Field(description="Distorts page images.")] = []
    ocr: Annotated[dict[str, Any], Field(description="Reads the pages.")] = {"kind": "ground_truth"}
    text_noise: Annotated[dict[str, Any] | list[dict[str, Any]], Field(description="Edits the text.")] = []
    retrievers: Annotated[list[str] | None, Field(description="Names of the retrievers to use; all.")] = None


@dataclass(frozen=True, slots=True)
class Target:
    """The dose that a condition is to have, in place of a strength.

    Args:
        source: the questions that count: `all`, an evidence source, or `multimodal`.
        family: `image_noise` or `text_noise`: the chain with the noise whose strength is looked for.
        place: its place there.
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
        knob: name of the field that sets the strength, and its value; None where there is no noise.
        replicate: number of the draw, from 0; it is added to the seed.
        replicates: draws of the condition.
        retrievers: names of the retrievers it is limited to, None for all.
        target: the dose it is to have; until it is calibrated its noise has any strength.
        dosed_as: reference noises, one per entry of `text_noise`: each entry makes as many edits as its reference
            would make on the whole text.
    """

    condition: str
    noise: str
    image_noise: tuple[ImageNoise, ...]
    ocr: OcrBackend
    text_noise: tuple[TextNoise, ...]
    knob: str | None = None
    knob_value: float | str | None = None
    replicate: int = 0
    replicates: int = 1
    retrievers: tuple[str, ...] | None = None
    target: Target | None = None
    dosed_as: tuple[TextNoise, ...] = ()

    @property
    def name(self) -> str:
        """The condition's name, with the draw's number where there are several; unique in a run."""
        return f"{self.condition}#{self.replicate}" if self.replicates > 1 else self.condition

    @property
    def calibrated(self) -> ImageNoise | TextNoise:
        """The noise that the target is about."""
        if self.target is None:
            raise ValueError(f"{self.name} has no target")
        chain: tuple[ImageNoise | TextNoise, ...] = getattr(self, self.target.family)
        return chain[self.target.place]

    def with_strength(self, value: float) -> "KnowledgeBase":
        """Return this base with another strength of the noise that its target is about."""
        noise, target = self.calibrated, self.target
        assert target is not None
        chain = list(getattr(self, target.family))
        chain[target.place] = noise.model_copy(update={noise.knob: value})
        changed: dict[str, Any] = {target.family: tuple(chain)}
        return replace(self, **changed)

    def written(self) -> dict[str, Any]:
        """Return it as JSON values, with all defaults."""
        return {
            "name": self.name,
            "condition": self.condition,
            "replicate": self.replicate,
            "image_noise": [written(noise) for noise in self.image_noise],
            "ocr": written(self.ocr),
            "text_noise": [written(noise) for noise in self.text_noise],
            "retrievers": self.retrievers,
            "target": self.target and asdict(self.target),
        }

    @property
    def has_text(self) -> bool:
        """Whether its text went through its noise; not so where images are distorted and no engine reads them."""
        return not self.image_noise or self.ocr.kind != "ground_truth"


@dataclass(frozen=True, slots=True)
class Named(Generic[S]):
    """A plugin and the name it has in this run."""

    name: str
    stage: S


@dataclass(frozen=True, slots=True)
class Spec:
    """One study, ready to run.

    Args:
        resolved: the spec with its defaults as JSON values and paths, for the manifest.
    """

    name: str
    seed: int
    benchmark: Benchmark
    knowledge_bases: tuple[KnowledgeBase, ...]
    chunkers: tuple[Named[Chunker], ...]
    retrievers: tuple[Named[Retriever], ...]
    generators: tuple[Named[Generator], ...]
    evaluate: tuple[EvaluationStage, ...]
    replicates: int = 1
    limit: int | None = None
    questions: QuestionFilter = _EVERY
    sample: int | None = None
    max_failures: int | None = None
    retries: int = 1
    limits: Limits = _LIMITS
    plugin_digests: tuple[tuple[str, str], ...] = ()
    plugin_files: tuple[Path, ...] = ()
    resolved: Any = None
    calibrations: tuple[Calibration, ...] = ()
    attribution: Attribution | None = None
    metrics: tuple[Named[Metric], ...] = ()

    def stages(self) -> Iterator[Stage]:
        """List every plugin of the spec; one that several conditions share comes several times."""
        yield self.benchmark
        for base in self.knowledge_bases:
            yield from (*base.image_noise, base.ocr, *base.text_noise)
        families: tuple[tuple[Named[Any], ...], ...] = (self.chunkers, self.retrievers, self.generators, self.metrics)
        yield from (named.stage for family in families for named in family)


def names(named: Sequence[Named[Any]]) -> tuple[str, ...]:
    """Return the names of named plugins."""
    return tuple(item.name for item in named)
