"""Benchmarks: documents, questions, and the protocol by which they are scored."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from ohr.contracts.stage import Stage
from ohr.contracts.treatment import ImageTreatment
from ohr.contracts.values import Document, Image, Page, Question


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
        retrieval: metric of retrieved text against evidence, or of the ranking.
        answer: metrics of an answer against the accepted ones; the first is the headline.
        page: metrics of the text of the questions' own pages.
        ranking: further metrics of rankings.
        facts: metric of a text against one fact of a question. It is averaged over the question's facts in the text of
            its pages, in their chunks one by one (`facts_chunked`), in the retrieved chunks and in the answer.
        index_scope: one index per `document`, per `domain` (as OHRBench does), or one over the whole `corpus`.
        prompt: name of the answer prompt: one of ohr's, or `package:name` for `name.yaml` in the benchmark's package or
            its folder `prompts`.
        image_prompt: the same, for generators that read page images.
        reply: what an answer is: the text in the last <response> tags of a reply (`tagged`), or the `whole` reply.
        joined: order in which the retrieved chunks of a question's own pages are joined before they are scored.
        ranked: what the metrics of rankings count: `hits`, of which several may be of one page, or `pages`, each once,
            at the rank of its best chunk, as the files of other benchmarks have them.
        segment_chinese: cut runs of Chinese characters into words before they are compared.
        prescribed: plugins that its numbers need. In a family that is named here, a spec takes the first where it
            names none, and any other is refused; a family that is not named is free.
        metric_fields: values for the fields of its metrics, by metric; with `kind`, the metric's name here is its own.
        passage_end: from here on, a passage is cut off before the generator sees it.
        instruction: form of an answer, for agents that are to answer as the protocol asks (`answer_form: protocol`).
        unanswered: an answer's score where the benchmark has no accepted answer that is text; None leaves it out.
    """

    name: str = "clean"
    retrieval: str = "lcs"
    answer: tuple[str, ...] = ("f1", "em", "f1_numeric")
    page: tuple[str, ...] = ()
    ranking: tuple[str, ...] = ()
    facts: str | None = None
    index_scope: Literal["document", "domain", "corpus"] = "domain"
    prompt: str = "ohrbench"
    image_prompt: str = "page_images"
    reply: Literal["tagged", "whole"] = "tagged"
    joined: Literal["page", "rank"] = "page"
    ranked: Literal["hits", "pages"] = "hits"
    segment_chinese: bool = True
    prescribed: tuple[Prescribed, ...] = ()
    metric_fields: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    passage_end: str | None = None
    instruction: str = "Answer with one or two words or a very short sentence, and nothing else."
    unanswered: float | None = None

    @property
    def metrics(self) -> tuple[str, ...]:
        """All metrics of the protocol, each once."""
        named = (self.retrieval, *self.answer, *self.page, *self.ranking, *filter(None, (self.facts,)))
        return tuple(dict.fromkeys(named))

    def retrieval_metrics(self, top_k: int) -> tuple[str, ...]:
        """Name what is measured of retrieval at a cut-off, the headline first."""
        facts = ("facts", "facts_chunked") if self.facts else ()
        return (
            self.retrieval,
            f"hit@{top_k}",
            f"recall@{top_k}",
            "mrr",
            f"{self.retrieval}_floor",
            *self.ranking,
            *facts,
        )


@dataclass(frozen=True, slots=True)
class Published:
    """A number from a published table of a benchmark.

    Args:
        stage: `page` (the recognised text itself), `retrieval`, `generation` or `overall`.
        metric: a metric of the protocol, or an aggregate.
        group: an evidence source, a domain, `all`, or a group of the benchmark's own as `name=value`.
        value: in the unit of ohr's metric or aggregate of this name.
        setting: retrievers, generators and numbers of passages behind it.
        table: the table that has it, with source and date.
        main: it is of the benchmark's main table, into which a new system's row belongs.
        unit: `share` in [0, 1] is printed x 100; `number` as it is.
        warning: why it must not be compared; empty where it may.
    """

    system: str
    stage: str
    metric: str
    group: str
    value: float
    setting: str
    table: str
    main: bool = False
    unit: Literal["share", "number"] = "share"
    warning: str = ""


@dataclass(frozen=True, slots=True)
class Tally:
    """How many of something a copy of a benchmark has, and how many were published.

    Args:
        found: None where the copy leaves the part out that they belong to, such as a whole domain.
    """

    what: str
    found: int | None
    published: int


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a metric over some questions: a part of an `Aggregate`.

    Args:
        where: values that the questions' groups must have, by name; also `evidence_source`, `domain`, `answer_form`
            and `task_type`.
    """

    metric: str
    where: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A number over many questions that is more than the mean of one metric: a mean of means, a ratio, a rating.

    Args:
        name: unique within the benchmark.
        parts: the means that it is made of.
        combine: from the means of the parts, (parts,) or (parts, m), and their numbers of questions, (parts,), to the
            number, a scalar or (m,). A part without a question is nan and counts 0. It must work on arrays: it is
            computed again without each document for the interval.
        unit: `share` in [0, 1] is printed x 100; `number` as it is.
        ratio: also divide it by its value on the clean knowledge base, over the same questions; without ground truth,
            on the only condition without noise.
        source: where its formula comes from, or what a reader must know.
    """

    name: str
    parts: tuple[Mean, ...]
    combine: Callable[[Any, Any], Any]
    unit: Literal["share", "number"] = "share"
    ratio: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text that a generator gets to read, and the pages that it is from; none where it is from no page."""

    text: str
    pages: tuple[tuple[str, int], ...] = ()


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

    def pdf(self, document: Document) -> Path | None:  # noqa: ARG002 # for those that have some
        """Return the PDF from which a document's page images are made; None where there is none."""
        return None

    @abstractmethod
    def questions(self) -> Sequence[Question]:
        """List the questions, in a fixed order."""

    @abstractmethod
    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the content of a document's ground truth, or of what its images are made from."""

    def under(self, question: Question, noises: Sequence[ImageTreatment]) -> Question | None:  # noqa: ARG002 # for those
        """Return a question as it is about distorted images; None where nothing can be asked of them.

        Override where a distortion changes the truth: a cropped page no longer shows a field, and the answer to "which
        defect has this picture?" is the distortion. Only `answers` may differ.

        Args:
            noises: the distortions that act on every image, in their order; at least one.
        """
        return question

    def prompt_values(
        self,
        question: Question,
        passages: Sequence[Passage],
        *,
        images: bool,  # noqa: ARG002 # for those that have some
    ) -> Mapping[str, str]:
        """Return what the placeholders of a prompt stand for; override where a question refers to its passages.

        Args:
            passages: what the generator may read, in its order.
            images: the generator sees page images, those of `passages`.
        """
        return {"question": question.text, "retrieved_documents": "\n\n".join(passage.text for passage in passages)}

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the protocol's numbers that are more than a mean over all questions."""
        return ()

    def origin(self, question: Question) -> str:  # noqa: ARG002 # for those that know
        """Name the file and line in which a question is written; empty where that is not known."""
        return ""

    def notes(self) -> Sequence[str]:
        """List what was left out or looks wrong: warnings, printed before a run and kept in its manifest."""
        return ()


class PublishedBenchmark(Benchmark):
    """A benchmark whose data, and the numbers of others on it, are published."""

    @classmethod
    def names(cls) -> Sequence[str]:
        """List the data sets that `fetch` knows by name; none where there is only one."""
        return ()

    @classmethod
    @abstractmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:
        """Download the benchmark into a folder, or resume a download; returns lines to print.

        Args:
            revision: a commit, tag or branch; by default that of an earlier fetch into this folder, else the newest.
            name: one of `names()`; empty where there are none.

        Raises:
            DataError: it cannot be downloaded; the message says where a user gets it.
        """

    def verify(self) -> Sequence[Tally]:
        """Count the parts of this copy, beside the published counts."""
        return ()

    def published(self) -> Sequence[Published]:
        """Return the numbers that others published for this benchmark, to compare with."""
        return ()

    def results(self, folder: Path) -> Mapping[str, Sequence[str | None]] | None:  # noqa: ARG002 # for those that have one
        """Read OCR results that are in the benchmark's own published layout: the texts of pages, by document.

        A page without a result is None.

        Returns:
            None where the folder is in another layout.
        """
        return None
