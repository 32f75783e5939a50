"""Treatments: what happens to a document between its pages and its chunks, such as noise, OCR and repairs."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from ohr.contracts.stage import Stage, execution
from ohr.contracts.values import (
    Completion,
    Document,
    DocumentView,
    Image,
    NoisyText,
    Page,
    Placed,
    Prompt,
    Recognition,
    Span,
    TreatedImage,
    TreatedPage,
    Where,
    Word,
)

Medium = Literal["image", "text"]
"""The part of a page that a treatment needs, or gives."""
Purpose = Literal["noise", "reading", "repair"]
"""The use of a treatment: reports say what noise costs, and what a repair brings back."""


class Treatment(Stage):
    """A step on a document's way from its pages to its chunks: a knowledge base is a list of them, in order.

    Plugins inherit from one of the kinds below. Each draws from a generator of its own, whatever other kinds
    are in the list; the second of one kind draws otherwise than the first.
    """

    family = "treatment"
    takes: ClassVar[Medium | None] = None
    """The part of a page that it needs; None where either will do."""
    gives: ClassVar[Medium | None] = None
    """The part that a page has afterwards; None where it has what it had before."""
    purpose: ClassVar[Purpose] = "repair"
    knob: ClassVar[str] = ""
    """The field that sets its strength, 0 for nothing; "" where there is none."""

    keeps_edits: ClassVar[bool] = False
    """Its edits of a text are kept in a ledger and counted."""

    @property
    def acts(self) -> bool:
        """Whether it does anything: one without strength gives its input back, and is in no key."""
        return not self.knob or bool(getattr(self, self.knob))

    @property
    def draws(self) -> bool:
        """Whether anything is drawn: a knowledge base in which nothing is needs no replicates."""
        return self.purpose == "noise" and self.acts


class ImageTreatment(Treatment):
    """Changes page images, one by one."""

    takes: ClassVar[Medium | None] = "image"
    gives: ClassVar[Medium | None] = "image"

    @property
    def joined(self) -> int:
        """Number of further pages that a treated image shows whole: the document's first ones, in their order."""
        return 0

    @abstractmethod
    def treat(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> TreatedImage:
        """Treat an image.

        Args:
            image: (H, W, 3) uint8; not changed.
            others: the document's further page images, as its source has them.
            rng: the page's own.
        """


class TextTreatment(Treatment):
    """Changes the text of a document's pages, each of which stays."""

    takes: ClassVar[Medium | None] = "text"
    gives: ClassVar[Medium | None] = "text"

    @abstractmethod
    def treat(self, pages: Sequence[Page], rng: np.random.Generator) -> Sequence[TreatedPage]:
        """Treat the pages of one document; returns one for each, in their order.

        Args:
            pages: a page that failed has an error and no text.
            rng: the document's own.
        """


class PageOrder(Treatment):
    """Leaves pages of a document out, doubles them, or changes their order; what a page shows stays as it is."""

    purpose: ClassVar[Purpose] = "noise"

    @abstractmethod
    def arrange(self, numbers: Sequence[int], rng: np.random.Generator) -> Sequence[Placed]:
        """Arrange the pages of one document.

        Args:
            numbers: the pages' numbers, from 0, in their order.
            rng: the document's own; draws must not depend on the strength.
        """


class Correction(Treatment):
    """Lets a model correct the text of pages, one by one; it never makes a page up."""

    takes: ClassVar[Medium | None] = "text"
    gives: ClassVar[Medium | None] = "text"

    @property
    @abstractmethod
    def model(self) -> Stage:
        """The generator that is asked."""

    @abstractmethod
    def prompt_for(self, page: Page) -> Prompt | None:
        """Return what is asked about a page with text; None where nothing is."""

    @abstractmethod
    def corrected(self, page: Page, reply: Completion | None) -> TreatedPage:
        """Return the page as the reply corrects it; None where there is no reply: the page then stays as it is."""


class ImageNoise(ImageTreatment):
    """Distorts a page image."""

    family = "image_noise"
    purpose: ClassVar[Purpose] = "noise"
    knob: ClassVar[str] = "severity"
    severity: Annotated[float, Field(ge=0, le=1, description="Strength; 0 gives the input back bit for bit.")] = 0.5

    @abstractmethod
    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> TreatedImage:
        """Distort an image.

        The draws from `rng` must not depend on the severity, so that levels are coupled.

        Args:
            image: (H, W, 3) uint8; not changed.
            others: further page images of the document, for the few distortions that compose pages.
        """

    def treat(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> TreatedImage:
        """Distort an image."""
        return self.perturb(image, others, rng)


class TextNoise(Treatment):
    """Edits a page's text."""

    family = "text_noise"
    takes: ClassVar[Medium | None] = "text"
    gives: ClassVar[Medium | None] = "text"
    purpose: ClassVar[Purpose] = "noise"
    keeps_edits: ClassVar[bool] = True
    knob: ClassVar[str] = "rate"
    noise_type: ClassVar[Literal["semantic", "formatting"]] = "semantic"
    """Formatting noise leaves the words alone; semantic noise changes them."""
    rate: Annotated[float, Field(ge=0, le=1, description="Share of the eligible units that are touched.")] = 0.1
    where: Annotated[
        Where, Field(description="What is touched; elsewhere than everywhere, with as many edits as everywhere.")
    ] = "everywhere"
    """The engine turns it into `eligible`; a plugin has nothing to do with it."""

    def for_document(self, pages: Sequence[Page], rng: np.random.Generator) -> Self:  # noqa: ARG002 # for those with such a part
        """Return the noise of one document; only noise that shares something among the document's pages overrides this.

        Args:
            pages: the document's pages, at least one, as they are before this noise.
            rng: the document's own; draws must not depend on the rate.
        """
        return self

    def notes(self, truth: Mapping[str, Sequence[Page]]) -> Sequence[str]:  # noqa: ARG002 # for those that look at it
        """Return what of a study's clean pages, by document, makes this noise doubtful: warnings.

        Reading many documents takes long: look at a few of each domain.
        """
        return ()

    @property
    def sees_document(self) -> bool:
        """Whether what it does to a page depends on the document's other pages."""
        return type(self).for_document is not TextNoise.for_document

    def parts(self) -> tuple[str, ...]:
        """Name the parts whose cost can be measured separately: those of a field `rules` with a weight."""
        return tuple(name for name, weight in self._rules().items() if weight)

    def only(self, parts: Collection[str]) -> "TextNoise":
        """Return this noise with some of its parts; without any it has no strength."""
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


ABSENT = "not among the precomputed results"
"""Error of a page that recorded results lack: nothing failed, so a run counts it apart from failures."""


class AnyOcr(Treatment):
    """Has the text of pages: what the engine asks of every backend. Plugins inherit from one of those below."""

    family = "ocr"
    takes: ClassVar[Medium | None] = "image"
    gives: ClassVar[Medium | None] = "text"
    purpose: ClassVar[Purpose] = "reading"
    reads_images: ClassVar[bool] = True
    """False for backends whose results exist already (ground truth, a folder)."""
    reads_original: ClassVar[bool] = False
    """True for backends that read the benchmark's own files, such as a PDF's text layer: image noise cannot reach
    them."""
    reads_documents: ClassVar[bool] = False
    """True for backends that read a whole document at once, by `recognise_document`; where it is the original file or
    where paragraphs and tables run over pages."""
    counts_tokens: ClassVar[bool] = False
    """True for backends whose pages have `tokens_in` and `tokens_out`: they may have a price by the token."""
    finishing: ClassVar[tuple[str, ...]] = ()
    """Fields that only `written` looks at: no page is read again where they change."""
    batch_size: Annotated[int, execution("Pages given to the engine at once.", gt=0)] = 1

    def written(self, page: Recognition) -> str:
        """Return a page's text as a knowledge base has it."""
        return page.text

    def reads(self, language: str) -> bool:  # noqa: ARG002 # for those that read some languages only
        """Report whether documents in `language` (ISO 639-1) can be read."""
        return True

    def notes(self, documents: Sequence[Document]) -> Sequence[str]:  # noqa: ARG002 # for those that have some
        """List what is missing from recorded results or wrong with them: warnings, as `notes` of a benchmark."""
        if self.reads_original:
            return (f"ocr {self.kind} reads the documents' own files: image noise does not reach it",)
        return ()


class OcrBackend(AnyOcr):
    """Reads text from page images, or from documents."""

    @abstractmethod
    def recognise(self, images: Sequence[Image]) -> Iterable[Recognition]:
        """Read up to `batch_size` images, in order; a page that fails is a value, not an exception.

        What is read of an image must not depend on the others. Each image is made when it is accessed. A generator's
        results are kept as they come.
        """

    def recognise_document(self, view: DocumentView) -> Iterable[Recognition]:
        """Read a document, one result per page, in order."""
        return self.recognise(view.images)


class RecordedOcr(AnyOcr):
    """Has results that were recorded, and reads no images."""

    reads_images: ClassVar[bool] = False

    @abstractmethod
    def recorded(self, document: Document) -> Sequence[Page]:
        """Return a document's pages; one that the results lack has the error ABSENT."""

    def words(self, document: Document) -> Mapping[int, Sequence[Word]]:  # noqa: ARG002 # of results that state them
        """Return the words or lines that have a confidence, by page, in reading order."""
        return {}
