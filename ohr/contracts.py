"""What each stage takes and gives. Plugins import this module and small shared rooms of ohr, nothing else.

Three kinds of thing live here: values (frozen dataclasses and a named tuple) that flow between stages, stages (frozen
pydantic models whose fields are their YAML keys), and markers for fields.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Protocol, Self, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic.fields import FieldInfo

from ohr.errors import DataError

Image = NDArray[np.uint8]
"""A page image: (height, width, 3), RGB, uint8."""

Span = tuple[int, int]
"""Character offsets [start, end) into a text."""

Where = Literal["everywhere", "evidence", "distractors", "query_terms"]
"""Which part of a text is touched: all; the questions' evidence; all but that; words the questions ask with."""

EvidenceSource = Literal["text", "table", "formula", "chart", "reading_order", "multi"]
SOURCES: tuple[EvidenceSource, ...] = ("text", "table", "formula", "chart", "reading_order", "multi")


# --- values -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a benchmark; `name` starts with its domain, as in `law/lease`."""

    name: str
    domain: str
    language: str
    pages: int


@dataclass(frozen=True, slots=True)
class Page:
    """One page as one knowledge base sees it; `error` says why `text` is empty when a stage failed."""

    document: str
    index: int
    text: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer and the ground-truth passages it rests on.

    Args:
        id: unique within the benchmark.
        answers: accepted answers; the best-scoring one counts.
        pages: page indices of the evidence, in the order of its passages.
        evidence: one passage per page of `pages`, or a single passage. Where both are empty, nobody knows where the
            answer stands: the question has no retrieval score and no generation stage.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    document: str
    pages: tuple[int, ...]
    evidence: tuple[str, ...]
    evidence_source: str
    domain: str
    answer_form: str = "String"
    task_type: str = "understanding"

    @property
    def is_located(self) -> bool:
        """Tell whether it is known where the answer stands."""
        return bool(self.pages or self.evidence)


@dataclass(frozen=True, slots=True)
class Recognition:
    """What an OCR engine read on one image; a page it failed on has an `error` and no text."""

    text: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class NoisyImage:
    """A distorted image.

    Args:
        homography: (3, 3) map of input to output pixel coordinates where the distortion moved them, else None.
        label_effect: `none`, or what happened to the page's truth: part of it is `cropped` or `occluded`, or that of
            other pages `joined` it.
    """

    image: Image
    homography: NDArray[np.float64] | None = None
    label_effect: str = "none"


class Edit(NamedTuple):
    """`removed`, which stood at [start, end) of the input, was replaced by `text`."""

    rule: str
    start: int
    end: int
    text: str
    removed: str = ""


@dataclass(frozen=True, slots=True)
class NoisyText:
    """A perturbed text and the edits that made it, ascending and not overlapping."""

    text: str
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage to be found: characters [start, end) of its first page; `id` is unique within a knowledge base."""

    id: str
    document: str
    pages: tuple[int, ...]
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A found chunk, by its place in the sequence that was indexed; a larger `score` is better."""

    place: int
    score: float


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a generator is asked.

    Args:
        question: with `passages`, what `system` and `user` were made of.
        images: for generators that read images, the pages that the passages stand on, as the knowledge base's noise
            left them. Each is made when it is looked at, and not kept: hold few at a time.
        opening: words that the reply is made to begin with, where the generator can; they are not part of the reply.
    """

    question: str
    passages: tuple[str, ...]
    system: str
    user: str
    images: Sequence[Image] = field(default=(), compare=False, repr=False)
    opening: str = ""


@dataclass(frozen=True, slots=True)
class Completion:
    """A generator's reply.

    Args:
        tokens_in: prompt tokens, 0 where there is no tokenizer.
        seconds: wall time of this item (of its batch, shared out, where items ran together).
        finish: `stop`, `length`, or `error`.
        truncated: the prompt was cut to fit the model's context.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    finish: Literal["stop", "length", "error"] = "stop"
    error: str | None = None
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class Prescribed:
    """A plugin that a published protocol prescribes.

    Args:
        family: as in FAMILIES: `chunker`, `retriever` or `generator`.
        kind: the plugin's.
        fields: values that must be as published; fields that are not named here are free.
    """

    family: str
    kind: str
    fields: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoringProtocol:
    """How a benchmark's questions are asked, scored and grouped.

    Args:
        name: `clean`, or the published protocol's name.
        retrieval: metric of retrieved text against evidence.
        answer: metrics of an answer against the accepted ones; the first is the headline.
        index_scope: one index per `domain` (as OHRBench does) or one over the whole `corpus`.
        prompt: name of the answer prompt.
        joined: order in which the retrieved chunks of a question's own pages are joined before they are scored.
        segment_chinese: cut runs of Chinese characters into words before they are compared.
        prescribed: plugins that its numbers need. In a family that is named here, a spec takes the first where it
            names none, and any other is refused; a family that is not named is free.
        metric_fields: values for the fields of its metrics, by metric.
        passage_end: what stands from here on in a passage is cut off before the generator sees it.
        unanswered: an answer's score where the benchmark has no accepted answer that is text; None leaves it out.
    """

    name: str = "clean"
    retrieval: str = "lcs"
    answer: tuple[str, ...] = ("f1", "em", "f1_numeric")
    index_scope: Literal["domain", "corpus"] = "domain"
    prompt: str = "ohrbench"
    joined: Literal["page", "rank"] = "page"
    segment_chinese: bool = True
    prescribed: tuple[Prescribed, ...] = ()
    metric_fields: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    passage_end: str | None = None
    unanswered: float | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """A number from a published table of a benchmark.

    Args:
        stage: `page` (the recognised text itself), `retrieval`, `generation` or `overall`.
        group: an evidence source, a domain, or `all`.
        value: in the unit of ohr's metric of this name: a share in [0, 1].
        setting: retrievers, generators and numbers of passages behind it.
        table: where it stands, with source and date.
        main: it is of the benchmark's main table, into which a new system's row belongs.
    """

    system: str
    stage: str
    metric: str
    group: str
    value: float
    setting: str
    table: str
    main: bool = False


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of something a copy of a benchmark has, and how many were published.

    Args:
        found: None where the copy leaves the part out that they belong to, such as a whole domain.
    """

    what: str
    found: int | None
    published: int


# --- markers ----------------------------------------------------------------------------------------------


def execution(description: str, **limits: Any) -> Any:
    """Field that changes how fast a stage runs but not what it gives; it is left out of every key."""
    return Field(description=description, json_schema_extra={"execution": True}, **limits)


# --- stages -----------------------------------------------------------------------------------------------


class Stage(BaseModel, ABC):
    """One step of a pipeline: its fields are its YAML keys, and it holds no other state."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), defer_build=True, allow_inf_nan=False
    )
    family: ClassVar[str]
    """The family's name in the singular; plugins register in the entry-point group of FAMILIES."""
    version: ClassVar[int] = 1
    """Raised when results change; part of every key."""
    extra: ClassVar[str | None] = None
    """The extra of ohr that installs what this plugin needs, if any."""
    kind: str

    @field_validator("*", mode="before")
    @classmethod
    def _no_flag_for_a_number(cls, value: object, info: ValidationInfo) -> object:
        """Refuse `size: true`, which pydantic would take for 1."""
        field = cls.model_fields[info.field_name or ""]
        if isinstance(value, bool) and not _takes_flags(field.annotation):
            raise ValueError("must not be true or false")
        return value

    def check(self) -> None:
        """Raise if the stage cannot run here (missing extra, model, file); quick, called before any work."""

    def identity(self) -> Mapping[str, object]:
        """Give the JSON values that decide the stage's results; override where a field is a path to content."""
        fields = type(self).model_fields
        dumped = self.model_dump(mode="json")
        return {name: value for name, value in dumped.items() if not _is_execution(fields[name].json_schema_extra)}


def _takes_flags(annotation: object) -> bool:
    parts = get_args(annotation)
    return annotation in (bool, object, Any) or any(isinstance(p, bool) or _takes_flags(p) for p in parts)


def yaml_keys(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """Give the fields of a stage by the keys they have in YAML: their aliases, where a method has the name."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _is_execution(extra: object) -> bool:
    return isinstance(extra, dict) and bool(extra.get("execution"))


class Benchmark(Stage):
    """Documents, their page images and ground truth, and questions about them."""

    family = "benchmark"

    @property
    def scoring(self) -> ScoringProtocol:
        """How the questions are scored and grouped."""
        return ScoringProtocol()

    @abstractmethod
    def documents(self) -> Sequence[Document]:
        """List the documents, in a fixed order."""

    @abstractmethod
    def pages(self, document: Document) -> Sequence[Page]:
        """Read a document's ground truth, one page per index; empty where there is none."""

    @abstractmethod
    def page_image(self, document: Document, index: int) -> Image:
        """Render or read one page's image; raises DataError when it cannot."""

    @abstractmethod
    def questions(self) -> Sequence[Question]:
        """List the questions, in a fixed order."""

    @abstractmethod
    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the content of a document's ground truth, or of what its images are made from."""

    def notes(self) -> Sequence[str]:
        """Say what was left out or looks wrong; shown before a run and kept in its manifest."""
        return ()

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None) -> Sequence[str]:  # noqa: ARG003 # for those that can
        """Download the benchmark into a folder, or go on where it broke off; gives what to tell of it."""
        raise DataError(f"benchmark {cls.model_fields['kind'].default}: there is nothing that could be fetched")

    def verify(self) -> Sequence[Tally]:
        """Count what is there, beside what was published."""
        return ()

    def published(self) -> Sequence[Published]:
        """Give the numbers that others published for this benchmark, for a table to stand among."""
        return ()


class OcrBackend(Stage):
    """Reads text from page images."""

    family = "ocr"
    reads_images: ClassVar[bool] = True
    """False for backends that take the text from elsewhere (ground truth, a folder)."""

    @abstractmethod
    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Read each image, in order; a page that fails is a value, not an exception."""

    def reads(self, language: str) -> bool:  # noqa: ARG002 # for those that read some languages only
        """Tell whether documents in `language` (ISO 639-1) can be read."""
        return True

    def notes(self, documents: Sequence[Document]) -> Sequence[str]:  # noqa: ARG002 # for those that have some
        """Say what is missing from recorded results, or wrong with them; shown and kept as a benchmark's notes are."""
        return ()

    def recorded(self, document: Document) -> Sequence[Page]:
        """Give a document's pages where `reads_images` is False."""
        raise NotImplementedError(f"{self.kind} reads images")


class ImageNoise(Stage):
    """Distorts a page image."""

    family = "image_noise"
    knob: ClassVar[str] = "severity"
    severity: Annotated[float, Field(ge=0, le=1, description="Strength; 0 gives the input back bit for bit.")] = 0.5

    @abstractmethod
    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:
        """Distort an image.

        The draws from `rng` must not depend on the severity, so that levels are coupled.

        Args:
            image: (H, W, 3) uint8; not changed.
            others: further page images of the document, for the few distortions that compose pages.
        """


class TextNoise(Stage):
    """Edits a page's text."""

    family = "text_noise"
    knob: ClassVar[str] = "rate"
    noise_type: ClassVar[Literal["semantic", "formatting"]] = "semantic"
    """Formatting noise leaves the words alone; semantic noise changes them."""
    rate: Annotated[float, Field(ge=0, le=1, description="Share of the eligible units that are touched.")] = 0.1
    where: Annotated[
        Where, Field(description="What is touched; elsewhere than everywhere, with as many edits as everywhere.")
    ] = "everywhere"
    """The engine turns it into `eligible`; a plugin has nothing to do with it."""

    def for_document(self, pages: Sequence[Page], rng: np.random.Generator) -> Self:  # noqa: ARG002 # for those with such a part
        """Give the noise of one document; only noise with something common to all pages of it needs another one.

        Args:
            pages: the document's pages, at least one, as they are before this noise.
            rng: the document's own; draws must not depend on the rate.
        """
        return self

    @property
    def sees_document(self) -> bool:
        """Whether what it does to a page depends on the document's other pages."""
        return type(self).for_document is not TextNoise.for_document

    def parts(self) -> tuple[str, ...]:
        """Name the parts whose cost can be told apart: those of a field `rules` with a weight."""
        return tuple(name for name, weight in self._rules().items() if weight)

    def only(self, parts: Collection[str]) -> "TextNoise":
        """Give this noise with some of its parts; without any it has no strength."""
        if not parts:
            return self.model_copy(update={self.knob: 0.0})
        kept = {name: weight for name, weight in self._rules().items() if name in parts}
        return type(self).model_validate({**self.model_dump(), "rules": kept})

    def _rules(self) -> Mapping[str, float]:
        rules = self.model_dump(include={"rules"}).get("rules")
        return rules if isinstance(rules, dict) else {}

    @abstractmethod
    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        """Edit a text within the `eligible` spans; the edits at a lower rate are a subset of those at a higher."""


class Chunker(Stage):
    """Cuts pages into passages."""

    family = "chunker"

    def for_base(self, name: str) -> "Chunker":  # noqa: ARG002 # for those whose chunks depend on it
        """Give the chunker of the knowledge base `name`; only a published protocol needs another one for each."""
        return self

    @abstractmethod
    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        """Cut the pages of one document, in order; a page without text gives no chunk."""


PageView = tuple[Chunk, Image]
"""A page as a vision retriever sees it: its text in the knowledge base, as one chunk, and its image."""


class Index(Protocol):
    """Chunks or pages made searchable.

    It may have `notes`, a sequence of sentences that are worth telling about its making, such as how many chunks were
    cut to fit a model. They need not be saved.
    """

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return at most `k` hits per query, best first, ties in the order of the chunks."""
        ...

    def save(self, folder: Path) -> None:
        """Write the index into an existing empty folder, without pickle."""
        ...


class Retriever(Stage):
    """Finds chunks for a query."""

    family = "retriever"
    reads_images: ClassVar[bool] = False
    """True for those that look at page images: `index_pages` is called instead of `index`."""
    top_k: Annotated[int, Field(gt=0, description="Chunks given to the generator and scored.")] = 2

    @abstractmethod
    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Make `chunks` searchable; an empty corpus is allowed and finds nothing."""

    def index_pages(self, pages: Iterable[PageView]) -> Index:
        """Make pages searchable; hits count them in the order in which they came.

        Args:
            pages: a knowledge base's pages. Images are distorted as they are asked for; hold few at a time. To go
                through the pages again is allowed, and distorts them again.
        """
        raise NotImplementedError(f"{self.kind} does not read page images")

    @abstractmethod
    def load(self, folder: Path) -> Index:
        """Read an index that this retriever saved."""

    def search(self, index: Index, questions: Sequence[Question]) -> list[list[Hit]]:
        """Search for each question's text; only sanity arms, which look at the truth, do anything else."""
        return index.search([question.text for question in questions], self.top_k)


class PageRetriever(Retriever):
    """Finds pages by their images alone: a passage is a page, whatever text the knowledge base has for it."""

    reads_images: ClassVar[bool] = True

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Refuse: text has no image."""
        raise NotImplementedError(f"{self.kind} retrieves page images, not text")

    def index_pages(self, pages: Iterable[PageView]) -> Index:
        """Make pages searchable by their images."""
        return self.index_images(image for _, image in pages)

    @abstractmethod
    def index_images(self, images: Iterable[Image]) -> Index:
        """Make page images searchable; they come one at a time. No image is allowed, and nothing is found."""


class Generator(Stage):
    """Answers questions from retrieved text."""

    family = "generator"
    reads_images: ClassVar[bool] = False
    """True for those that look at page images: `Prompt.images` is filled, and part of the answer's key."""

    prompt: Annotated[
        Path | str | None, Field(description="A prompt's name (ohrbench, short) or file; by default the benchmark's.")
    ] = None

    def identity(self) -> Mapping[str, object]:
        """Leave the prompt out: its text is in the key of every answer."""
        return {name: value for name, value in super().identity().items() if name != "prompt"}

    @abstractmethod
    def answer(self, prompts: Sequence[Prompt]) -> Iterable[Completion]:
        """Answer each prompt, in order, yielding as results come; a failed item is a Completion with an error."""


class Metric(Stage):
    """Scores one prediction against one reference."""

    family = "metric"

    @abstractmethod
    def score(self, prediction: str, reference: str) -> float:
        """Give the score; nan where it is undefined."""

    def score_passages(self, passages: Sequence[str], reference: str) -> float:
        """Give the score of retrieved passages, joined with a blank line; override where that can be done sooner."""
        return self.score("\n\n".join(passages), reference)


FAMILIES: dict[str, tuple[type[Stage], str]] = {
    "ocr": (OcrBackend, "ohr.ocr"),
    "image_noise": (ImageNoise, "ohr.image_noise"),
    "text_noise": (TextNoise, "ohr.text_noise"),
    "chunker": (Chunker, "ohr.chunkers"),
    "retriever": (Retriever, "ohr.retrievers"),
    "generator": (Generator, "ohr.generators"),
    "metric": (Metric, "ohr.metrics"),
    "benchmark": (Benchmark, "ohr.benchmarks"),
}
"""Each family's contract and its entry-point group."""
