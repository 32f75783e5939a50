"""Scores of the pages of a knowledge base: those of steps, and those of judges, which are asked here."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import nan

from ohr.contracts import Completion, Page, PageJudgeMetric, Question
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.graph import BasePart
from ohr.metrics.cases import graded
from ohr.metrics.dose import by_page, own_text
from ohr.metrics.pages import about_same_pages, judged_scores
from ohr.metrics.scores import Scores, with_failures
from ohr.runner.asking_judges import Judging, prompted
from ohr.runner.columns import Judgement
from ohr.steps.answers.scoring import read_scores

_AT_ONCE = 64
"""Documents that are read at once: few enough to hold, enough for a judge to get full batches."""


@dataclass
class PageScores:
    """Scores of the questions of a knowledge base by the text of their pages, with the judges' replies.

    Args:
        scores: of all questions, in their order; nan where a question is about no page.
        judgements: by judge.
    """

    scores: Scores
    judgements: dict[str, list[Judgement]] = field(default_factory=dict)


@dataclass
class PageScoring:
    """Gathers the scores of pages, one knowledge base at a time."""

    session: Session
    scheduler: Scheduler
    keys: Keys

    def of(self, part: BasePart, failed: Collection[str]) -> PageScores:
        """Return the scores of a knowledge base, whose steps must be settled; asks judges what is missing.

        Args:
            failed: ids of questions that need a page that failed.
        """
        inputs, found = self.keys.inputs, _Found(self.keys.inputs.questions)
        names = [name for name in self.keys.rules.page_metrics if name not in self.keys.page_judges]
        made = PageScores(Scores(), {name: [] for name in self.keys.page_judges})
        for some in _slices(list(part.scores)):
            kept = self.scheduler.read([part.scores[name] for name in some])
            for name in some:
                asked = inputs.about[name]
                scores = read_scores(kept.get(part.scores[name]), [*names, *self.keys.rules.facts], len(asked))
                found.take(with_failures(scores, asked, failed), asked)
            if self.keys.page_judges:
                self._judge(part, some, failed, found, made.judgements)
        made.scores = found.scores()
        return made

    def _judge(
        self,
        part: BasePart,
        names: Sequence[str],
        failed: Collection[str],
        found: "_Found",
        judgements: dict[str, list[Judgement]],
    ) -> None:
        """Ask the judges about the pages of some documents, and take their scores."""
        judging, inputs = Judging(self.session, self.scheduler, self.keys), self.keys.inputs
        documents = dict(zip(inputs.by_name, part.documents, strict=True))
        asked: list[tuple[str, str, tuple[Question, ...], tuple[str, str]]] = []
        made = self.scheduler.read([documents[name] for name in names])
        for document in names:
            kb = by_page(Page(**page) for page in made.get(documents[document], {"pages": ()})["pages"])
            truth = by_page(inputs.truth[document])
            for questions in about_same_pages(inputs.about[document]):
                texts = own_text(questions[0], kb), own_text(questions[0], truth)
                for name, judge in self.keys.page_judges.items():
                    made_by = partial(judge.prompt_for_page, *texts, questions)
                    if prompt := prompted(name, questions[0].id, made_by):
                        asked.append((name, judging.collect(name, judge, prompt, part.base.name), questions, texts))
        judging.send()
        wanted = list(dict.fromkeys(key for _, key, _, _ in asked))
        self.scheduler.settle(wanted)
        replies = self.scheduler.read(wanted)
        for name, key, questions, texts in asked:
            reply = replies.get(key)
            judge = self.keys.page_judges[name]
            completion = None if reply is None else Completion(**reply)
            scored = judged_scores(name, partial(_score, judge, completion, texts, questions), questions)
            found.take(with_failures(scored, questions, failed), questions)
            reasons = {each.question: each.reason for each in scored.failures}
            judgements[name] += [
                Judgement(question.id, None if completion is None else completion.text, reasons.get(question.id), score)
                for question, score in zip(questions, scored.values[name], strict=True)
            ]
        judging.close()


class _Found:
    """Scores of questions that come in parts, by question."""

    def __init__(self, questions: Sequence[Question]) -> None:
        self._questions = questions
        self._values: dict[str, dict[str, float]] = {}
        self._failed: dict[str, set[str]] = {}
        self._made = Scores()

    def take(self, scores: Scores, questions: Sequence[Question]) -> None:
        self._made.failures += scores.failures
        for name, values in scores.values.items():
            held, lost = self._values.setdefault(name, {}), self._failed.setdefault(name, set())
            for question, value, failed in zip(questions, values, scores.failed[name], strict=True):
                held[question.id] = value
                if failed:
                    lost.add(question.id)

    def scores(self) -> Scores:
        for name, held in self._values.items():
            self._made.values[name] = [held.get(question.id, nan) for question in self._questions]
            self._made.failed[name] = [question.id in self._failed[name] for question in self._questions]
        return self._made


def _score(
    judge: PageJudgeMetric, reply: Completion | None, texts: tuple[str, str], questions: Sequence[Question]
) -> Sequence[float]:
    return judge.score_page_reply(graded(reply), *texts, questions)


def _slices(names: Sequence[str]) -> Iterator[Sequence[str]]:
    return (names[start : start + _AT_ONCE] for start in range(0, len(names), _AT_ONCE))
