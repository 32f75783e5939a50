"""A spec, resolved: every plugin an object, every sweep spread out, every default filled in."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from ohr.contracts import Benchmark, Chunker, Generator, ImageNoise, OcrBackend, Retriever, TextNoise

S = TypeVar("S")

EvaluationStage = Literal["retrieval", "generation", "overall"]


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """One condition: the documents as one noise and OCR engine leave them.

    Args:
        name: unique in the run.
        noise: name of the entry it came from; the levels of one entry make a curve.
        knob: name of the field that sets the strength, and its value; None where there is no noise.
        replicate: number of the draw, from 0; it is added to the seed.
        retrievers: names of the retrievers it is limited to, None for all.
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

    @property
    def has_text(self) -> bool:
        """Tell whether its text went through its noise; not so where images are distorted and no engine reads them."""
        return not self.image_noise or self.ocr.kind != "ground_truth"


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
    sample: int | None = None
    max_failures: int | None = None
    retries: int = 1
    plugin_digests: tuple[tuple[str, str], ...] = ()
    plugin_files: tuple[Path, ...] = ()
    resolved: Any = None


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
    evaluate: Annotated[
        list[EvaluationStage], Field(min_length=1, description="Stages of evaluation (OHRBench, section 4.1).")
    ] = ["retrieval", "generation", "overall"]
    limit: Annotated[
        int | None, Field(strict=True, gt=0, description="Use only this many documents, spread over domains.")
    ] = None
    sample: Annotated[
        int | None, Field(strict=True, gt=0, description="Ask only this many questions, stratified by evidence source.")
    ] = None
    max_failures: Annotated[
        int | None, Field(strict=True, ge=0, description="Stop early when more items than this fail.")
    ] = None
    retries: Annotated[int, Field(strict=True, ge=0, le=10, description="How often a failed item is tried again.")] = 1
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
