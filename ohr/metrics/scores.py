"""Scores of a batch of questions of one cell, as columns: values in, values out, without store or files.

Each function may run in any process, on any part of a cell's questions; `ohr.study.columns` turns what it returns into
columns of the run's tables.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isnan, nan
from numbers import Real

from ohr import seeds
from ohr.contracts import CaseMetric, Chunk, JudgeMetric, Metric, Page, Question, RankingMetric, ScoringProtocol
from ohr.metrics.cases import NO_REPLIES, Replies, case_score, ranking_score
from ohr.metrics.dose import QUESTION_PARTS, QuestionDose, evidence_text
from ohr.metrics.floors import CEILINGS, OtherPages, constant_answers, read_floor
from ohr.metrics.ranking import hit_at_k, recall_at_k, reciprocal_rank
from ohr.text.words import words


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of scoring: with questions, texts and answers, they determine the scores.

    Args:
        metrics: the protocol's answer metrics and its retrieval metric, and further ones, by name.
        further: names of metrics that are not the protocol's.
        seed: of the draws of floors.
    """

    protocol: ScoringProtocol
    metrics: Mapping[str, Metric]
    further: tuple[str, ...] = ()
    seed: int = 0

    @property
    def answer_metrics(self) -> tuple[str, ...]:
        """The protocol's answer metrics, headline first, and the further ones."""
        return (*self.protocol.answer, *(name for name in self.further if name not in self.ranking_metrics))

    @property
    def ranking_metrics(self) -> tuple[str, ...]:
        """The further metrics of rankings."""
        return tuple(name for name in self.further if isinstance(self.metrics[name], RankingMetric))


@dataclass(frozen=True, slots=True)
class MetricFailure:
    """A metric that gave no score for an answer or for retrieved passages."""

    question: str
    metric: str
    reason: str


@dataclass(slots=True)
class Scores:
    """Scores of some questions of one cell.

    Args:
        values: metric to one score per question, in their order; nan where undefined.
        failed: metric to whether the score is 0 because something failed.
        failures: scores that failed because of the metric itself.
    """

    values: dict[str, list[float]] = field(default_factory=dict)
    failed: dict[str, list[bool]] = field(default_factory=dict)
    failures: list[MetricFailure] = field(default_factory=list)

    def add(self, metric: str, value: float, *, failed: bool, measured: bool = False) -> None:
        """Add one question's score.

        Args:
            metric: its name.
            value: the score.
            failed: something that the score needs failed: it is 0, unless it is undefined anyway.
            measured: the value is a measurement, not a score: it does not change.
        """
        self.values.setdefault(metric, []).append(value if measured or not failed or isnan(value) else 0.0)
        self.failed.setdefault(metric, []).append(failed)

    def only(self, metrics: Collection[str]) -> "Scores":
        """Return the scores by some of the metrics."""
        return Scores(
            {metric: values for metric, values in self.values.items() if metric in metrics},
            {metric: failed for metric, failed in self.failed.items() if metric in metrics},
            [failure for failure in self.failures if failure.metric in metrics],
        )

    def add_checked(self, metric: str, score: Callable[[], object], question: str, *, failed: bool) -> None:
        """Add a metric's score; anything but a number in [0, 1] or nan fails this score, and no other."""
        value, reason = _checked(score)
        if reason is not None and not failed:  # what failed before is counted there
            self.failures.append(MetricFailure(question, metric, reason))
        self.add(metric, value if reason is None else 0.0, failed=failed or reason is not None)


def with_failures(scores: Scores, questions: Sequence[Question], failed: Collection[str]) -> Scores:
    """Return the scores with further questions counted as failed: their scores are 0, their floors stay."""
    if not any(question.id in failed for question in questions):
        return scores
    made = Scores(failures=[failure for failure in scores.failures if failure.question not in failed])
    for metric, values in scores.values.items():
        for question, value, broken in zip(questions, values, scores.failed[metric], strict=True):
            measured = metric.endswith("_floor")
            made.add(metric, value, failed=broken or question.id in failed, measured=measured)
    return made


def kb_scores(questions: Sequence[Question], doses: Mapping[str, QuestionDose], failed: Collection[str]) -> Scores:
    """Score a knowledge base itself: the measured dose of each question.

    Args:
        questions: the batch.
        doses: by question id; a question without one has none that is defined.
        failed: ids of questions that need a page that failed; their dose is that of the text that exists.
    """
    made = Scores()
    for question in questions:
        dose = doses.get(question.id)
        for name in QUESTION_PARTS:
            value = None if dose is None else getattr(dose, name)
            made.add(name, nan if value is None else float(value), failed=question.id in failed, measured=True)
    return made


def retrieval_scores(
    questions: Sequence[Question],
    found: Mapping[str, Sequence[Chunk]],
    rules: Rules,
    others: OtherPages,
    top_k: int,
    failed: Collection[str],
) -> Scores:
    """Score retrieved passages: the published score, rank-aware ones, and the published score's floor.

    Args:
        questions: the batch.
        found: the chunks of each question's hits, best first; a question without an entry failed.
        rules: metrics and protocol.
        others: the pages from which floors are drawn.
        top_k: how many hits were asked for.
        failed: ids of questions that need a page that failed.
    """
    made, metric = Scores(), rules.protocol.retrieval
    for question in questions:
        chunks, broken = found.get(question.id, ()), question.id in failed or question.id not in found
        wanted = {(question.document, page) for page in question.pages}
        ranking = [[(chunk.document, page) for page in chunk.pages] for chunk in chunks]
        own = [chunk for chunk, pages in zip(chunks, ranking, strict=True) if not wanted.isdisjoint(pages)]
        if rules.protocol.joined == "page":  # the score must not depend on which half of the evidence came first
            own.sort(key=lambda chunk: (chunk.pages, chunk.start))
        texts = [chunk.text for chunk in own]
        made.add_checked(metric, partial(_of_passages, texts, question, rules), question.id, failed=broken)
        made.add(f"hit@{top_k}", hit_at_k(ranking, wanted, top_k), failed=broken)
        made.add(f"recall@{top_k}", recall_at_k(ranking, wanted, top_k), failed=broken)
        made.add("mrr", reciprocal_rank(ranking, wanted), failed=broken)
        made.add(f"{metric}_floor", _floor(question, texts, rules, others), failed=broken, measured=True)
        for name in rules.ranking_metrics:
            score = partial(ranking_score, rules.metrics[name], question, chunks)  # type: ignore[arg-type] # by its name
            made.add_checked(name, score, question.id, failed=broken)
    return made


def answer_scores(
    questions: Sequence[Question],
    answers: Mapping[str, str | None],
    rules: Rules,
    stage: str,
    condition: str,
    failed: Collection[str],
    replies: Replies = NO_REPLIES,
) -> Scores:
    """Score answers, each against the accepted answer that it matches best, or with its question and passages.

    Args:
        questions: the batch.
        answers: by question id; None, or no entry, where the generator failed.
        rules: metrics and protocol.
        stage: `generation`, `overall` or `reference`.
        condition: of the knowledge base, or the name of the reference.
        failed: ids of questions that need a page that failed.
        replies: what metrics of cases and judges need.
    """
    made = Scores()
    for question in questions:
        given = answers.get(question.id)
        broken, reads = given is None or question.id in failed, _has_context(stage, condition, question)
        answer = "" if broken or given is None else given
        for metric in rules.answer_metrics:
            scorer = rules.metrics[metric]
            if isinstance(scorer, CaseMetric | JudgeMetric):
                if reads and not broken:
                    score = partial(case_score, metric, scorer, question.id, replies)
                    made.add_checked(metric, score, question.id, failed=False)
                else:
                    made.add(metric, 0.0 if reads else nan, failed=broken)
            elif reads and question.answers:
                score = partial(_of_answer, metric, answer, question, rules)
                made.add_checked(metric, score, question.id, failed=broken)
            else:
                unanswered = rules.protocol.unanswered if reads else None
                made.add(metric, nan if unanswered is None else unanswered, failed=broken)
    return made


def constant_scores(questions: Sequence[Question], rules: Rules) -> Scores:
    """Score the one word, yes or no, that does best as the answer to everything; of all questions at once."""

    def headline(word: str, question: Question) -> float:
        return _checked(partial(_of_answer, rules.protocol.answer[0], word, question, rules))[0]

    chosen = constant_answers(questions, headline)
    answers = {question.id: word for question, word in zip(questions, chosen, strict=True)}
    return answer_scores(questions, answers, rules, "reference", "constant", ())


def failed_questions(questions: Iterable[Question], pages: Iterable[Page]) -> set[str]:
    """Return the ids of questions that need a page that failed, or that the knowledge base does not have."""
    whole = {(page.document, page.index) for page in pages if page.error is None}
    return {q.id for q in questions if any((q.document, index) not in whole for index in q.pages)}


def _of_passages(texts: Sequence[str], question: Question, rules: Rules) -> object:
    score = rules.metrics[rules.protocol.retrieval].score_passages(texts, evidence_text(question))
    # where no chunk of the evidence's pages was found, the metric's own rule for empty texts does not apply
    return score if texts or (known := _as_score(score)) is None or isnan(known) else 0.0


def _of_answer(metric: str, answer: str, question: Question, rules: Rules) -> object:
    """Return the best score over the accepted answers; one that is no score is returned as it is."""
    scores = [rules.metrics[metric].score(answer, accepted) for accepted in question.answers]
    if odd := [score for score in scores if _as_score(score) is None]:
        return odd[0]
    return max((score for score in scores if not isnan(score)), default=nan)


def _checked(score: Callable[[], object]) -> tuple[float, str | None]:
    """Return a metric's score, or nan and the fault."""
    try:
        given = score()
        value = _as_score(given)
        return (value, None) if value is not None else (nan, f"a score must be in [0, 1] or nan, not {given!r:.60}")
    except (Exception, SystemExit) as error:  # a metric may raise anything: its score fails, the run continues
        return nan, f"{type(error).__name__}: {error}"


def _as_score(value: object) -> float | None:
    """Return a metric's value as a score, None where it is none."""
    try:
        number = float(value) if isinstance(value, Real) else None
    except OverflowError:
        return None
    return number if number is None or isnan(number) or 0 <= number <= 1 else None


def _floor(question: Question, texts: Sequence[str], rules: Rules, others: OtherPages) -> float:
    """Score as much text of another page as was retrieved of the question's own; nothing retrieved gives 0."""
    segment = rules.protocol.segment_chinese
    if not any(words(passage, segment) for passage in question.evidence):
        return nan
    length = sum(len(words(text, segment)) for text in texts)
    rng = seeds.generator(rules.seed, "read_floor", question.id)
    return read_floor(question, others, length, rng, segment) if length else 0.0


def _has_context(stage: str, condition: str, question: Question) -> bool:
    """Report whether the text that the generator may read in this cell is known for the question."""
    if stage == "generation":
        return question.is_located
    return stage != "reference" or condition not in CEILINGS or any(question.evidence)
