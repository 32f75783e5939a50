"""Values that flow between stages: frozen dataclasses and a named tuple."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
"""A page image: (height, width, 3), RGB, uint8."""

Span = tuple[int, int]
"""Character offsets [start, end) into a text."""

Where = Literal["everywhere", "evidence", "distractors", "query_terms"]
"""The part of a text that is touched: all; the questions' evidence; all but the evidence; the questions' words."""

EvidenceSource = Literal["text", "table", "formula", "chart", "reading_order", "multi"]
SOURCES: tuple[EvidenceSource, ...] = ("text", "table", "formula", "chart", "reading_order", "multi")


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
    """A question with its answer and the ground-truth passages that it needs.

    Args:
        id: unique within the benchmark.
        answers: accepted answers; the best-scoring one counts.
        pages: page indices of the evidence, in the order of its passages.
        evidence: one passage per page of `pages`, or a single passage. Where both are empty, the place of the
            answer is unknown: the question has no retrieval score and no generation stage.
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
        """Report whether the place of the answer is known."""
        return bool(self.pages or self.evidence)


@dataclass(frozen=True, slots=True)
class Recognition:
    """The text that an OCR engine read on one image; a page on which it failed has an `error` and no text."""

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
    """`removed`, at [start, end) of the input, was replaced by `text`."""

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
    """The prompt of a generator.

    Args:
        question: with `passages`, the parts of which `system` and `user` were made.
        images: for generators that read images, the pages of the passages, with the knowledge base's noise. Each
            is made when it is accessed, and not kept: hold few at a time.
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
