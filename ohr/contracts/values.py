"""Values that flow between stages: frozen dataclasses and a named tuple."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
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
"""Where the evidence of a question is on its page; `multi` for several places."""
SOURCES: tuple[EvidenceSource, ...] = ("text", "table", "formula", "chart", "reading_order", "multi")
"""All sources of evidence, in the order of tables and figures."""


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


class Relevant(NamedTuple):
    """A page that was judged for a question; a grade above 0 is relevant, a larger one more so."""

    document: str
    page: int
    grade: float = 1.0


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer and the ground-truth passages that it needs.

    Args:
        id: unique within the benchmark.
        answers: accepted answers; the best-scoring one counts.
        pages: page indices of the evidence, in the order of its passages.
        evidence: one passage per page of `pages`, or a single passage. Where both are empty, the place of the
            answer is unknown: the question has no retrieval score and no generation stage.
        places: the pages that a generator reads in the stage `generation`, in its order, where they are not `pages` of
            `document`: an item may show pages of several documents.
        facts: texts that must survive the pipeline, such as numbers; the protocol's `facts` metric counts them.
        groups: further attributes that results are grouped by, as (name, value); a name occurs once.
        asked: False for what is measured on its page alone: no retriever or generator gets it.
        relevant: the pages that rankings are scored by, where they have grades or are of several documents; `document`
            is then the first of those with the highest grade, `pages` and `evidence` are its own.
        hidden: pages that a retriever does not find for it: the question is itself a document of the corpus.
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
    places: tuple[tuple[str, int], ...] = ()
    facts: tuple[str, ...] = ()
    groups: tuple[tuple[str, str], ...] = ()
    asked: bool = True
    relevant: tuple[Relevant, ...] = ()
    hidden: tuple[tuple[str, int], ...] = ()

    @property
    def grades(self) -> Mapping[tuple[str, int], float]:
        """The pages that a ranking should find, with their grades, all above 0: `relevant`, else `pages` with 1."""
        if self.relevant:
            return {(document, page): grade for document, page, grade in self.relevant if grade > 0}
        return dict.fromkeys(((self.document, page) for page in self.pages), 1.0)

    @property
    def own_pages(self) -> tuple[tuple[str, int], ...]:
        """The pages that a generator reads in the stage `generation`: `places`, else `pages` in ascending order."""
        return self.places or tuple((self.document, index) for index in sorted(self.pages))

    @property
    def is_located(self) -> bool:
        """Report whether the place of the answer is known."""
        return bool(self.pages or self.evidence)


BlockKind = Literal[
    "text", "heading", "list", "code", "table", "formula", "caption", "footnote", "image", "description", "header",
    "footer", "page_number",
]  # fmt: skip
"""Kinds of blocks: `image` is a link or placeholder, `description` is text that a model made up about one."""


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a page in Markdown, in reading order.

    Args:
        text: tables as HTML, LaTeX or Markdown, formulas with their delimiters, headings without their marks.
        level: of a heading, from 1; 0 where the engine gives none.
    """

    kind: BlockKind
    text: str
    level: int = 0


@dataclass(frozen=True, slots=True)
class Word:
    """A word or line of a page with its box (left, top, right, bottom) in pixels, and a confidence in [0, 1]."""

    text: str
    box: tuple[float, float, float, float] | None = None
    confidence: float | None = None


Ending = Literal["stop", "length", "repeat"]
"""How a reading ended: by itself, cut at the longest reply, or in a loop that repeats its last words."""


class Permanent(str):
    """Why an item failed, where another try would fail the same way: it is not tried again."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Recognition:
    """The text that an OCR engine read on one page; a page on which it failed has an `error` and no text.

    Args:
        text: the page's text, unless it is in `blocks`.
        blocks: the page's text in blocks, from engines that tell them apart.
        words: words or lines with their places, in reading order, from engines that have them; those with a
            confidence in [0, 1] are kept with the page, without their places.
        finish: a reading that was cut or ran in a loop is kept, and counted.
        tokens_in: of engines that count tokens.
        tokens_out: the same, of the reply.
        seconds: wall time of this page alone; None where the engine does not know it.
        confidence: mean over the page's words, in [0, 1].
        reader: the model that a server says has answered, or the part of the engine that read the page.
    """

    text: str = ""
    error: str | None = None
    blocks: tuple[Block, ...] = ()
    words: tuple[Word, ...] = field(default=(), repr=False)
    finish: Ending = "stop"
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float | None = field(default=None, compare=False)
    confidence: float | None = None
    reader: str = ""


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document as an OCR engine gets it.

    Args:
        images: its page images with the knowledge base's noise. Each is made when it is accessed, and not kept: hold
            few at a time.
        pdf: the benchmark's own file, without noise; None where it has none.
    """

    document: Document
    images: Sequence[Image]
    pdf: Path | None = None


@dataclass(frozen=True, slots=True)
class TreatedImage:
    """A page image after a treatment.

    Args:
        homography: (3, 3) map of input to output pixel coordinates where the treatment moved them, else None.
        label_effect: `none`, or what happened to the page's truth: part of it is `cropped` or `occluded`, or that of
            other pages `joined` it.
        record: what was done, as JSON values, such as the degrees of a turn; the table `treatments` has it.
    """

    image: Image
    homography: NDArray[np.float64] | None = None
    label_effect: str = "none"
    record: Mapping[str, object] = field(default_factory=dict)


NoisyImage = TreatedImage
"""The name that noise plugins know it by."""


@dataclass(frozen=True, slots=True)
class TreatedPage:
    """The text of a page after a treatment; `record` is what was done, as JSON values."""

    text: str
    record: Mapping[str, object] = field(default_factory=dict)


class Placed(NamedTuple):
    """A page of an arranged document: which of the given pages it is, from 0, and the number that it has there."""

    place: int
    number: int


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
        id: of the question. Prompts that are equal but for it are asked once.
        attempt: number of the try: where replies are sampled, another try is another sample.
    """

    question: str
    passages: tuple[str, ...]
    system: str
    user: str
    images: Sequence[Image] = field(default=(), compare=False, repr=False)
    opening: str = ""
    id: str = field(default="", compare=False)
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Completion:
    """A generator's reply.

    Args:
        tokens_in: prompt tokens, 0 where there is no tokenizer.
        seconds: wall time of this item (of its batch, shared out, where items ran together).
        finish: `stop`, `length`, or `error`.
        truncated: the prompt was cut to fit the model's context.
        model: as the server names it in its reply; empty where there is none.
    """

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    finish: Literal["stop", "length", "error"] = "stop"
    error: str | None = None
    truncated: bool = False
    model: str = ""
