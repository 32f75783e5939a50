"""Scores of a batch of questions, in columns: retrieval scores from hits, answer scores from replies."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import nan
from typing import Any, ClassVar

from ohr.contracts import CaseJudgeMetric, Chunk, Completion, Question
from ohr.dataset.inputs import Inputs
from ohr.metrics.cases import Replies
from ohr.metrics.floors import OtherPages
from ohr.metrics.question_scores import Known, answer_scores, retrieval_scores
from ohr.metrics.scores import MetricFailure, Rules, Scores
from ohr.steps.answers.judging import Judged, read_judged, read_replies, reply_keys
from ohr.steps.answers.replies import OfAnswers, Replied
from ohr.steps.documents.make_document import expected, page_chunks, read_chunks
from ohr.steps.retrieval.retrieve import read_hits
from ohr.store import Store
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
        for place in self._without(ready.inputs[0], context.store):
            for values, failed in zip(scores.values.values(), scores.failed.values(), strict=True):
                values[place], failed[place] = nan, False
        context.store.put(ready.outputs[0], scores)
        return Report()

    def _without(self, hits: str | None, store: Store) -> list[int]:
        """List the questions for which a system has said nothing of what it read: they have no score."""
        given = expected(store, [hits], self.item, "hits")[hits].get("without") if hits else None
        without = set(given or ())
        return [place for place, number in enumerate(self.questions) if number in without]

    def _own_chunks(self, asked: Sequence[Question], ready: Ready, context: Context) -> dict[str, list[Chunk]]:
        """Read the chunks of each question's own pages; none where nothing needs them."""
        read = read_chunks if self.cuts else page_chunks
        held = defaultdict[tuple[str, int], list[Chunk]](list)
        for chunk in read(context.store, ready.inputs[1:]):
            for page in chunk.pages:
                held[chunk.document, page].append(chunk)
        return {q.id: [chunk for page in q.pages for chunk in held.get((q.document, page), ())] for q in asked}


@dataclass(frozen=True, slots=True)
class ScoreAnswers(OfAnswers):
    """Score the replies to some questions. Writes the columns of `Scores`.

    Its last input, where the rules have judges: the keys of their replies.

    Args:
        stage_: of the cell.
        condition: the reference condition, in the stage `reference`.
        cases: a metric looks at whole cases; without `prompts`, they have no passages.
    """

    kind: ClassVar[str] = "scoring"
    shape: ClassVar[str] = "scores"
    role: ClassVar[str] = "metric"
    stage_: str
    condition: str
    rules: Rules
    cases: bool

    @property
    def item(self) -> str:
        """Name of the stage."""
        return f"answer scores of {self.stage_} {self.condition}".rstrip()

    def run(self, ready: Ready, context: Context) -> Report:
        """Wait for the answers and the judges' replies, then score; questions without an answer count as failed."""
        store, judged, given = context.store, dict[str, Any](), ready
        judges = [name for name in self.rules.answer_metrics if isinstance(self.rules.metrics[name], CaseJudgeMetric)]
        if judges:
            given, judged = replace(ready, inputs=ready.inputs[:-1]), read_judged(store, ready.inputs[-1]) or {}
        answers = self.answer_keys(given, store).values()
        needs = tuple(dict.fromkeys((*answers, *reply_keys(judged))))
        if needs and ready.needs is None:
            return Report(needs=needs)
        settled = dict(zip(needs, ready.needs or (), strict=True))
        replied = self.replied(given, context, settled, cases=self.cases)
        replies = Replies(replied.cases, self._judged(judges, judged, settled, replied, store))
        asked = [context.inputs.questions[place] for place in self.questions]
        excluded = {question.id for question, now in zip(asked, replied.questions, strict=True) if now is None}
        questions = [now or question for now, question in zip(replied.questions, asked, strict=True)]
        scores = answer_scores(
            questions, replied.answers, self.rules, self.stage_, self.condition, (), replies, excluded=excluded
        )
        store.put(ready.outputs[0], scores)
        return Report()

    def _judged(
        self,
        judges: Sequence[str],
        judged: Judged,
        settled: Mapping[str, str | None],
        replied: Replied,
        store: Store,
    ) -> Mapping[str, Mapping[str, Sequence[Completion | None]]]:
        """Read the judges' replies; where their prompts failed, no question has one."""
        completions = read_replies(store, (settled[name] for name in reply_keys(judged)), self.item)
        return {
            judge: {q: [completions.get(settled[name]) for name in keys] for q, keys in judged[judge].items()}
            if judge in judged
            else dict.fromkeys(replied.cases, (None,))
            for judge in judges
        }


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
