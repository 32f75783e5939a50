"""A spec, resolved: every plugin an object, every sweep spread out, every default filled in."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from ohr.contracts import Benchmark, Chunker, Generator, ImageNoise, Metric, OcrBackend, Retriever, Stage, TextNoise

S = TypeVar("S")

EvaluationStage = Literal["retrieval", "generation", "overall"]


Measure = Literal["r_noise", "evidence_loss"]
MEASURES: tuple[Measure, ...] = ("r_noise", "evidence_loss")


_Values = Annotated[tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)]


class QuestionFilter(BaseModel):
    """Which questions are asked: those that have one of the values given, of every attribute given."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    evidence_source: Annotated[_Values, Field(description="Such as text, table; all.")] = ()
    answer_form: Annotated[_Values, Field(description="Such as Numeric, Yes/No; all.")] = ()
    task_type: Annotated[_Values, Field(description="Such as understanding; all.")] = ()


_EVERY = QuestionFilter()


@dataclass(frozen=True, slots=True)
class Target:
    """The dose that a level is to have, in place of a strength.

    Args:
        source: the questions that count: `all`, an evidence source, or `multimodal`.
        family: `image_noise` or `text_noise`: the chain in which the noise stands whose strength is looked for.
        place: its place there.
    """

    measure: Measure
    value: float
    source: str
    family: Literal["image_noise", "text_noise"]
    place: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """How the strength of a level was found.

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
    """Write a plugin out as JSON values; a path stays a path: only who writes a file knows from where it is read."""
    fields = type(stage).model_fields.items()
    paths = {field.alias or name: path for name, field in fields if isinstance(path := getattr(stage, name), Path)}
    return stage.model_dump(mode="json", by_alias=True) | paths


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """One condition: the documents as one noise and OCR engine leave them.

    Args:
        name: unique in the run.
        noise: name of the entry it came from; the levels of one entry make a curve.
        knob: name of the field that sets the strength, and its value; None where there is no noise.
        replicate: number of the draw, from 0; it is added to the seed.
        retrievers: names of the retrievers it is limited to, None for all.
        target: the dose it is to have; until it is calibrated its noise has any strength.
        dosed_as: noises, one for each of `text_noise`, as many edits as which are made everywhere those make.
    """

    name: str
    noise: str
    image_noise: tuple[ImageNoise, ...]
    ocr: OcrBackend
    text_noise: tuple[TextNoise, ...]
    knob: str | None = None
    knob_value: float | str | None = None
    replicate: int = 0
    retrievers: tuple[str, ...] | None = None
    target: Target | None = None
    dosed_as: tuple[TextNoise, ...] = ()

    @property
    def calibrated(self) -> ImageNoise | TextNoise:
        """The noise that the target is about."""
        if self.target is None:
            raise ValueError(f"{self.name} has no target")
        chain: tuple[ImageNoise | TextNoise, ...] = getattr(self, self.target.family)
        return chain[self.target.place]

    def with_strength(self, value: float) -> "KnowledgeBase":
        """Give this base with another strength of the noise that its target is about."""
        noise, target = self.calibrated, self.target
        assert target is not None
        chain = list(getattr(self, target.family))
        chain[target.place] = noise.model_copy(update={noise.knob: value})
        changed: dict[str, Any] = {target.family: tuple(chain)}
        return replace(self, **changed)

    def written(self) -> dict[str, Any]:
        """Write it out with all defaults."""
        return {
            "name": self.name,
            "image_noise": [written(noise) for noise in self.image_noise],
            "ocr": written(self.ocr),
            "text_noise": [written(noise) for noise in self.text_noise],
            "replicate": self.replicate,
            "retrievers": self.retrievers,
            "target": self.target and asdict(self.target),
        }

    @property
    def has_text(self) -> bool:
        """Tell whether its text went through its noise; not so where images are distorted and no engine reads them."""
        return not self.image_noise or self.ocr.kind != "ground_truth"


class Limits(BaseModel):
    """The keys of `limits`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seconds: Annotated[float | None, Field(gt=0, description="Longest time for one item.")] = 600
    memory_gb: Annotated[float | None, Field(gt=0, description="Most memory of a worker.")] = None


class Attribution(BaseModel):
    """The keys of `attribution`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    of: Annotated[list[str], Field(min_length=1, description="Names of knowledge bases, without the replicate's #.")]
    methods: Annotated[
        list[Literal["leave_one_out", "shapley"]], Field(min_length=1, description="How costs are told apart.")
    ] = ["leave_one_out"]
    permutations: Annotated[
        int, Field(strict=True, ge=2, le=1000, description="Orders drawn for shapley, of more than five rules.")
    ] = 8


@dataclass(frozen=True, slots=True)
class Named(Generic[S]):
    """A plugin and the name it has in this run."""

    name: str
    stage: S


@dataclass(frozen=True, slots=True)
class Spec:
    """One experiment, ready to run."""

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
    plugin_digests: tuple[tuple[str, str], ...] = ()
    plugin_files: tuple[Path, ...] = ()
    resolved: Any = None
    calibrations: tuple[Calibration, ...] = ()
    attribution: Attribution | None = None
    metrics: tuple[Named[Metric], ...] = ()
    limits: Limits = Limits()


class SpecFile(BaseModel):
    """The keys of a spec; plugins are mappings with a `kind`, told apart and checked afterwards."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$", description="Names the run's folder.")] = "run"
    seed: Annotated[int, Field(strict=True, ge=0, description="Every random draw follows from it.")] = 0
    replicates: Annotated[
        int, Field(strict=True, ge=1, le=100, description="Draws of each noisy knowledge base, pooled.")
    ] = 5
    benchmark: Annotated[dict[str, Any], Field(description="The documents and questions.")]
    knowledge_bases: Annotated[list[dict[str, Any]], Field(min_length=1, description="The conditions to compare.")]
    chunker: Annotated[
        dict[str, Any] | None, Field(description="Cuts pages into passages; by default the protocol's, else tokens.")
    ] = None
    retrievers: Annotated[list[dict[str, Any]], Field(description="Find passages for a question.")] = []
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
    attribution: Annotated[Attribution | None, Field(description="Tell what each part of a noise costs.")] = None
    plugins: Annotated[list[str], Field(description="Plugin files, loaded with --trust-plugins only.")] = []


class KnowledgeBaseEntry(BaseModel):
    """The keys of one entry of `knowledge_bases`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str | None, Field(description="By default its noise and OCR engine.")] = None
    image_noise: Annotated[dict[str, Any] | list[dict[str, Any]], Field(description="Distorts page images.")] = []
    ocr: Annotated[dict[str, Any], Field(description="Reads the pages.")] = {"kind": "ground_truth"}
    text_noise: Annotated[dict[str, Any] | list[dict[str, Any]], Field(description="Edits the text.")] = []
    retrievers: Annotated[list[str] | None, Field(description="Names of the retrievers to use; all.")] = None


def names(named: Sequence[Named[Any]]) -> tuple[str, ...]:
    """Give the names of named plugins."""
    return tuple(item.name for item in named)
