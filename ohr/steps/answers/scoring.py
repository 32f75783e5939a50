"""Scores in columns: of hits, of the pages that an agent has looked at, of answers, and of the pages of a document."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import nan
from typing import Any, ClassVar

from ohr.contracts import CaseJudgeMetric, Chunk, Completion, Document, PageJudgeMetric, Question
from ohr.dataset.inputs import Inputs
from ohr.metrics.cases import Replies, wanted_pages
from ohr.metrics.dose import by_page
from ohr.metrics.floors import OtherPages
from ohr.metrics.question_scores import Known, answer_scores, page_scores, retrieval_scores
from ohr.metrics.rankings import SHOWN_METRICS
from ohr.metrics.scores import MetricFailure, Rules, Scores
from ohr.statistics.ranking import ndcg_at_k, recall_at_k, reciprocal_rank
from ohr.steps.answers.judging import Judged, OfAnswers, Replied, read_judged, read_replies, reply_keys
from ohr.steps.documents.make_document import expected, page_chunks, read_chunks, read_pages
from ohr.steps.retrieval.retrieve import read_hits
from ohr.store import Store
from ohr.work.step import Context, Ready, Report, Work


class Scoring(Work):
    """Scores some questions. Writes the columns of `Scores`."""

    __slots__ = ()
    kind: ClassVar[str] = "scoring"
    shape: ClassVar[str] = "scores"
    role: ClassVar[str] = "metric"


@dataclass(frozen=True, slots=True)
class ScoreRetrieval(Scoring):
    """Score the hits of some questions. Writes the columns of `Scores`.

    Its inputs: the hits, then the questions' documents in chunks, where the protocol has facts.

    Args:
        questions: places in `Inputs.questions`.
        hits: key of the hits as it is without failures.
        cuts: a chunker made the chunks; otherwise the documents are the inputs, and their pages are the chunks.
    """

    named: ClassVar[str] = "scores of {0.name}"
    name: str
    questions: tuple[int, ...]
    hits: str
    top_k: int
    rules: Rules
    cuts: bool = True

    def run(self, ready: Ready, context: Context) -> Report:
        """Score the questions; those that were not searched count as failed."""
        hits, _ = read_hits(context.store, ready.inputs[0], self.hits)
        chunks = {question: [hit.chunk for hit in ranked] for question, ranked in hits.items()}
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
class ScoreAnswers(Scoring, OfAnswers):
    """Score the replies to some questions. Writes the columns of `Scores`.

    Its last input, where the rules have judges: the keys of their replies.

    Args:
        stage_: of the cell.
        condition: the reference condition, in the stage `reference`.
        cases: a metric looks at whole cases; without `prompts`, they have no passages.
    """

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


@dataclass(frozen=True, slots=True)
class ScorePages(Scoring):
    """Score one document of a knowledge base. Writes the columns of `Scores` for the questions about it.

    Its inputs: the document, then the keys of the judges' replies, where judges are asked about pages.
    """

    named: ClassVar[str] = "page scores of {0.base}: {0.document.name}"
    base: str
    document: Document
    rules: Rules

    def run(self, ready: Ready, context: Context) -> Report:
        """Wait for the judges' replies, then score the document; one that failed has lost everything."""
        inputs, name, store = context.inputs, self.document.name, context.store
        questions = inputs.about.get(name, ())
        judged = read_judged(store, ready.inputs[1]) if len(ready.inputs) > 1 else {}
        needs = tuple(dict.fromkeys(reply_keys(judged or {})))
        if needs and ready.needs is None:
            return Report(needs=needs)
        if judged is None:  # the prompts failed: there is no reply to any of them
            replies = {judge: dict.fromkeys(q.id for q in questions) for judge in self._judges()}
        else:
            replies = self._replies(judged, dict(zip(needs, ready.needs or (), strict=True)), store)
        here = by_page(read_pages(store, ready.inputs[0]) or ())
        store.put(ready.outputs[0], page_scores(questions, by_page(inputs.truth[name]), here, self.rules, replies))
        return Report()

    def _judges(self) -> Iterator[str]:
        return (name for name in self.rules.page_metrics if isinstance(self.rules.metrics[name], PageJudgeMetric))

    def _replies(
        self, judged: Judged, settled: Mapping[str, str | None], store: Store
    ) -> dict[str, dict[str, Completion | None]]:
        """Read the judges' replies by question."""
        completions = read_replies(store, settled.values(), self.item)
        return {
            judge: {question: completions.get(settled[name]) for question, (name,) in about.items()}
            for judge, about in judged.items()
        }


@dataclass(frozen=True, slots=True)
class ScoreShown(Scoring):
    """Score the pages that were looked at for some questions. Writes the columns of `Scores`.

    Args:
        questions: places in `Inputs.questions`.
        episodes: for each of them, the place of its trajectory in the inputs.
    """

    named: ClassVar[str] = "scores of the pages that {0.name} looked at"
    name: str
    questions: tuple[int, ...]
    episodes: tuple[int, ...]

    def run(self, ready: Ready, context: Context) -> Report:
        """Score the questions; one without a trajectory counts as failed."""
        trajectories = expected(context.store, [name for name in ready.inputs if name is not None], self.item, "answer")
        scores = Scores()
        for number, place in zip(self.questions, self.episodes, strict=True):
            question, kept = context.inputs.questions[number], trajectories.get(ready.inputs[place] or "")
            copies = context.inputs.copies
            pages = [copies.get((name, index), (name, index)) for name, index in kept["shown"]] if kept else []
            own = wanted_pages(question, copies)
            ranking, most = [[page] for page in pages], max(len(pages), 1)
            values = (
                recall_at_k(ranking, own, most),
                reciprocal_rank(ranking, own),
                ndcg_at_k(ranking, own, max(most, len(own))),
            )
            for metric, value in zip(SHOWN_METRICS, values, strict=True):
                scores.add(metric, value, failed=kept is None)
        context.store.put(ready.outputs[0], scores)
        return Report()
