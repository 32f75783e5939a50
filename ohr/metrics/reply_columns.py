"""Scores of a batch of replies, as columns."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from math import isnan, nan

from ohr.contracts import AnyMetric, CaseJudgeMetric, CaseMetric, Question
from ohr.metrics.cases import NO_REPLIES, Outcome, Replies, case_outcomes
from ohr.metrics.floors import CEILINGS, constant_answers
from ohr.metrics.scores import Rules, Scores, as_score, checked_score


def answer_scores(
    questions: Sequence[Question],
    answers: Mapping[str, str | None],
    rules: Rules,
    stage: str,
    condition: str,
    failed: Collection[str],
    replies: Replies = NO_REPLIES,
    excluded: Collection[str] = (),
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
        excluded: ids of questions that cannot be asked under this condition: they have no score.
    """
    made, scored = Scores(), _case_outcomes(questions, answers, rules, failed, replies, excluded)
    for question in questions:
        given = answers.get(question.id)
        broken = given is None or question.id in failed
        reads = question.id not in excluded and _has_context(stage, condition, question)
        answer = "" if broken or given is None else given
        for metric in rules.answer_metrics:
            if metric in scored:
                if reads and not broken:
                    made.add_checked(metric, scored[metric][question.id], question.id, failed=False)
                else:
                    value = partial(_missing, rules.metrics[metric], question) if reads else partial(float, nan)
                    made.add_checked(metric, value, question.id, failed=broken and question.id not in excluded)
            elif reads and question.answers:
                score = partial(_of_answer, metric, answer, question, rules)
                made.add_checked(metric, score, question.id, failed=broken)
            else:
                unanswered = rules.protocol.unanswered if reads else None
                lost = broken and question.id not in excluded
                made.add(metric, nan if unanswered is None else unanswered, failed=lost)
        for name in rules.facts:
            value = partial(rules.surviving, question, [answer]) if reads else partial(float, nan)
            made.add_checked(name, value, question.id, failed=broken and question.id not in excluded)
    return made


def _case_outcomes(
    questions: Sequence[Question],
    answers: Mapping[str, str | None],
    rules: Rules,
    failed: Collection[str],
    replies: Replies,
    excluded: Collection[str],
) -> dict[str, dict[str, Outcome]]:
    """Score the replies that are there by the metrics of cases and the judges, each metric all of them at once."""
    there = [q.id for q in questions if answers.get(q.id) is not None and q.id not in failed and q.id not in excluded]
    scorers = ((name, rules.metrics[name]) for name in rules.answer_metrics)
    return {
        name: case_outcomes(name, scorer, there, replies)
        for name, scorer in scorers
        if isinstance(scorer, CaseMetric | CaseJudgeMetric)
    }


def _missing(metric: AnyMetric, question: Question) -> float:
    """Return the score of a question without a reply, which the metric may leave out."""
    return metric.score_missing(question) if isinstance(metric, CaseMetric) else 0.0


def constant_scores(questions: Sequence[Question], rules: Rules) -> Scores:
    """Score the one word, yes or no, that does best as the answer to everything; of all questions at once."""

    def headline(word: str, question: Question) -> float:
        return checked_score(partial(_of_answer, rules.protocol.answer[0], word, question, rules))[0]

    chosen = constant_answers(questions, headline)
    answers = {question.id: word for question, word in zip(questions, chosen, strict=True)}
    return answer_scores(questions, answers, rules, "reference", "constant", ())


def _of_answer(metric: str, answer: str, question: Question, rules: Rules) -> object:
    """Return the best score over the accepted answers; one that is no score is returned as it is."""
    scores = [rules.of_texts(metric).score(answer, accepted) for accepted in question.answers]
    if odd := [score for score in scores if as_score(score) is None]:
        return odd[0]
    return max((score for score in scores if not isnan(score)), default=nan)


def _has_context(stage: str, condition: str, question: Question) -> bool:
    """Report whether the text that the generator may read in this cell is known for the question."""
    if stage == "generation":
        return question.is_located
    return stage != "reference" or condition not in CEILINGS or any(question.evidence)
