"""Scores of a batch of questions, in columns: retrieval scores from hits, answer scores from replies."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from ohr.contracts import Benchmark, Case, Chunk, Completion, ImageNoise, Question
from ohr.dataset.inputs import Inputs
from ohr.errors import PluginError
from ohr.metrics.cases import Replies
from ohr.metrics.floors import OtherPages
from ohr.metrics.reply_columns import answer_scores
from ohr.metrics.retrieval_columns import Known, retrieval_scores
from ohr.metrics.scores import MetricFailure, Rules, Scores
from ohr.steps.answers.generate import as_answered
from ohr.steps.answers.prompts import PreparePrompts
from ohr.steps.documents.make_document import expected, page_chunks, read_chunks
from ohr.steps.retrieval.retrieve import read_hits
from ohr.work.step import Context, Ready, Report, Work


@dataclass(frozen=True, slots=True)
class ScoreRetrieval(Work):
    """Score the hits of some questions. Writes the columns of `Scores`.

    Its inputs: the hits, then the questions' documents in chunks, where the protocol has facts.

    Args:
        questions: places in `Inputs.questions`.
        hits: key of the hits as it is without failures.
        cuts: a chunker made the chunks; otherwise the documents are the inputs, and their pages are the chunks.
    """

    kind: ClassVar[str] = "scoring"
    shape: ClassVar[str] = "scores"
    role: ClassVar[str] = "metric"
    name: str
    questions: tuple[int, ...]
    hits: str
    top_k: int
    rules: Rules
    cuts: bool = True

    @property
    def item(self) -> str:
        """Name of the condition."""
        return f"scores of {self.name}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Score the questions; those that were not searched count as failed."""
        hits, _ = read_hits(context.store, ready.inputs[0], self.hits)
        chunks = {question: [hit.chunk for hit in found] for question, found in hits.items()}
        asked = [context.inputs.questions[place] for place in self.questions]
        known = Known(_sizes(context.inputs), self._own_chunks(asked, ready, context), context.inputs.copies)
        scores = retrieval_scores(asked, chunks, self.rules, _others(context.inputs), self.top_k, (), known)
        context.store.put(ready.outputs[0], scores)
        return Report()

    def _own_chunks(self, asked: Sequence[Question], ready: Ready, context: Context) -> dict[str, list[Chunk]]:
        """Read the chunks of each question's own pages; none where nothing needs them."""
        read = read_chunks if self.cuts else page_chunks
        held = defaultdict[tuple[str, int], list[Chunk]](list)
        for chunk in read(context.store, ready.inputs[1:]):
            for page in chunk.pages:
                held[chunk.document, page].append(chunk)
        return {q.id: [chunk for page in q.pages for chunk in held.get((q.document, page), ())] for q in asked}


@dataclass(frozen=True, slots=True)
class ScoreAnswers(Work):
    """Score the replies to some questions. Writes the columns of `Scores`.

    Its inputs: the completions, those of judges among them, then the inputs of `prompts`.

    Args:
        stage: of the cell.
        condition: the reference condition, in the stage `reference`.
        questions: places in `Inputs.questions`.
        asked: for each of them the place of its input; None where there was no prompt, as the retrieval failed.
        completions: how many inputs are completions; None for all.
        judged: judges by name, each with the places of its replies by question id.
        prompts: how the prompts were made, where a metric looks at passages.
        noises: the distortions of the images that are read, under which the benchmark may accept other answers.
        cases: a metric looks at whole cases; without `prompts`, they have no passages.
    """

    kind: ClassVar[str] = "scoring"
    shape: ClassVar[str] = "scores"
    role: ClassVar[str] = "metric"
    stage_: str
    condition: str
    questions: tuple[int, ...]
    asked: tuple[int | None, ...]
    rules: Rules
    completions: int | None = None
    judged: tuple[tuple[str, tuple[tuple[str, tuple[int, ...]], ...]], ...] = ()
    prompts: PreparePrompts | None = None
    noises: tuple[ImageNoise, ...] = ()
    cases: bool = False

    @property
    def item(self) -> str:
        """Name of the stage."""
        return f"answer scores of {self.stage_} {self.condition}".rstrip()

    def run(self, ready: Ready, context: Context) -> Report:
        """Score the questions; those without an answer count as failed."""
        given = ready.inputs[: self.completions]
        found = expected(context.store, [name for name in given if name is not None], self.item, "answer")
        asked = [context.inputs.questions[place] for place in self.questions]
        now = [questioned(context.inputs.benchmark, question, self.noises) for question in asked]
        questions = [other or question for other, question in zip(now, asked, strict=True)]
        answers: dict[str, str | None] = {}
        for question, place in zip(questions, self.asked, strict=True):
            name = ready.inputs[place] if place is not None else None
            answers[question.id] = as_answered(found[name], self.rules.protocol).answer if name in found else None
        judged = {
            name: {q: [_reply(found.get(ready.inputs[place] or "")) for place in places] for q, places in asked_about}
            for name, asked_about in self.judged
        }
        replies = Replies(self._cases(questions, answers, ready, context), judged)
        excluded = {question.id for question, other in zip(asked, now, strict=True) if other is None}
        scores = answer_scores(
            questions, answers, self.rules, self.stage_, self.condition, (), replies, excluded=excluded
        )
        context.store.put(ready.outputs[0], scores)
        return Report()

    def _cases(
        self, questions: Sequence[Question], answers: Mapping[str, str | None], ready: Ready, context: Context
    ) -> dict[str, Case]:
        if not self.cases:
            return {}
        read: dict[str, Sequence[str]] = {q.id: () for q in questions}
        if self.prompts is not None:
            made = self.prompts.prompts(Ready(ready.inputs[self.completions :], ()), context)
            read = {question: asked.prompt.passages for question, asked in made.items()}
        return {
            q.id: case_of(q, read[q.id], answer)
            for q in questions
            if q.id in read and (answer := answers[q.id]) is not None
        }


def case_of(question: Question, passages: Sequence[str], answer: str) -> Case:
    """Return a reply with its question and what was read."""
    return Case(question.text, question.answers, tuple(passages), answer, question.id, dict(question.groups))


def questioned(benchmark: Benchmark, question: Question, noises: Sequence[ImageNoise]) -> Question | None:
    """Return a question as it is about images with these distortions; None where it cannot be asked of them.

    Raises:
        PluginError: the benchmark raises, or returns another question.
    """
    if not noises:
        return question
    found: Any
    try:
        found = benchmark.under(question, noises)
    except (Exception, SystemExit) as error:
        reason = f"`under` raised {type(error).__name__}: {error}"
        raise PluginError(f"benchmark {benchmark.kind}: question {question.id}: {reason}") from error
    if found is not None and (not isinstance(found, Question) or found != replace(question, answers=found.answers)):
        raise PluginError(f"benchmark {benchmark.kind}: question {question.id}: `under` may change its answers only")
    return found


def _reply(found: dict[str, Any] | None) -> Completion | None:
    return None if found is None else Completion(**found)


@lru_cache(maxsize=1)
def _sizes(inputs: Inputs) -> Mapping[str, int]:
    """The number of pages of each document: listed once in each process."""
    return {name: document.pages for name, document in inputs.by_name.items()}


@lru_cache(maxsize=1)
def _others(inputs: Inputs) -> OtherPages:
    """The pages from which floors are drawn: listed once in each process."""
    return OtherPages(inputs.truth)


def read_scores(kept: Mapping[str, Any] | None, metrics: Sequence[str], questions: int) -> Scores:
    """Read the output of a scoring step; where it failed, every score failed."""
    if kept is None:
        return Scores({name: [0.0] * questions for name in metrics}, {name: [True] * questions for name in metrics})
    failures = [MetricFailure(**failure) for failure in kept["failures"]]
    return Scores(kept["values"], kept["failed"], failures)
