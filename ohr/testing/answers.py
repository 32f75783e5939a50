"""Conformance of generators and metrics."""

from collections.abc import Sequence

import numpy as np

from ohr.contracts import (
    AnyMetric,
    Case,
    CaseJudgeMetric,
    CaseMetric,
    Generator,
    Metric,
    PageJudgeMetric,
    PageMetric,
    Prompt,
    Question,
    Ranking,
    RankingMetric,
)
from ohr.testing.stage import TEXTS, as_json, check_stage, require, suite


def prompts() -> list[Prompt]:
    """Return prompts that any generator must accept."""
    asked = ("When did the lease begin?", "Is rent due in May?", "租金是多少？", "", "What?")
    passages = (TEXTS[3:5], TEXTS[3:4], TEXTS[7:8], (), TEXTS[-1:])
    return [
        Prompt(question, tuple(read), "Answer briefly.", f"Question: {question}\n\nDocuments: {' '.join(read)}")
        for question, read in zip(asked, passages, strict=True)
    ]


@suite
def check_generator(generator: Generator) -> None:
    """Check a generator."""
    check_stage(generator)
    require(generator, list(generator.answer([])) == [], "no prompt must give no completion")
    asked = prompts()
    given = list(generator.answer(asked))
    require(generator, asked == prompts(), "it must not change the prompts")
    require(generator, len(given) == len(asked), f"{len(asked)} prompts gave {len(given)} completions")
    for completion in given:
        require(generator, completion.error is None, f"a prompt failed: {completion.error}")
        require(generator, completion.finish in ("stop", "length"), f"finish is {completion.finish!r}")
        counts = (completion.tokens_in, completion.tokens_out, completion.seconds)
        require(generator, min(counts) >= 0, f"tokens and seconds must not be negative: {counts}")
    turned = list(generator.answer(asked[::-1]))[::-1]
    same = [completion.text for completion in turned] == [completion.text for completion in given]
    require(generator, same, "completions must come in the order of the prompts, and be repeatable")


@suite
def check_metric(metric: AnyMetric) -> None:
    """Check a metric: a pure function into [0, 1] or nan.

    One of answers is at an end of its range where both texts are the same; one of rankings is highest for the best
    ranking and 0 where nothing is found; one of pages gives one score for each question; a judge asks a generator that
    reads text, and refuses replies with a ValueError.
    """
    check_stage(metric)
    if isinstance(metric, RankingMetric):
        _check_ranking_metric(metric)
    elif isinstance(metric, CaseMetric):
        _check_case_metric(metric)
    elif isinstance(metric, CaseJudgeMetric):
        _check_judge_metric(metric)
    elif isinstance(metric, PageJudgeMetric):
        _check_page_judge(metric)
    elif isinstance(metric, PageMetric):
        _check_page_metric(metric)
    elif isinstance(metric, Metric):
        _check_answer_metric(metric)


@suite
def _check_answer_metric(metric: Metric) -> None:
    for prediction in TEXTS:
        for reference in TEXTS:
            value = metric.score(prediction, reference)
            _check_scores(metric, [value])
            require(
                metric, as_json(value) == as_json(metric.score(prediction, reference)), "one pair must give one score"
            )
    same = metric.score(TEXTS[3], TEXTS[3])
    require(metric, same in (0.0, 1.0), f"equal texts must score the best there is, not {same}")
    require(metric, abs(metric.score("zebra", TEXTS[3]) - same) > 0.5, "texts without a common word must score badly")


@suite
def _check_ranking_metric(metric: RankingMetric) -> None:
    require(metric, np.isnan(metric.score_ranking(_ranking(wanted=()))), "without evidence pages it must be nan")
    best = _scored(metric, _ranking(("a", 0), ("b", 3)))
    require(metric, best > 0, "a ranking of all evidence pages, first and alone, must score more than 0")
    for found in (_ranking(), _ranking(("c", 9))):
        require(metric, _scored(metric, found) == 0, "a ranking without an evidence page must score 0")
    later = _scored(metric, _ranking(("c", 9), ("a", 0), ("b", 3)))
    require(metric, later <= best, "evidence pages at later ranks must not score more")


def _ranking(*pages: tuple[str, int], wanted: tuple[tuple[str, int], ...] = (("a", 0), ("b", 3))) -> Ranking:
    hits, texts = tuple((page,) for page in pages), tuple(TEXTS[place % len(TEXTS)] for place in range(len(pages)))
    return Ranking("When did the lease begin?", hits, texts, frozenset(wanted), tuple("It began." for _ in wanted))


def _scored(metric: RankingMetric, ranking: Ranking) -> float:
    value = metric.score_ranking(ranking)
    require(metric, isinstance(value, float) and 0 <= value <= 1, f"a score must be a float in [0, 1], not {value!r}")
    require(metric, value == metric.score_ranking(ranking), "one ranking must give one score")
    return value


def _cases() -> list[Case]:
    return [
        Case(prompt.question, answers, prompt.passages, reply)
        for prompt in prompts()
        for answers in ((), ("1964",), ("1964", "in 1964"))
        for reply in ("", "1964", TEXTS[-1])
    ]


@suite
def _check_case_metric(metric: CaseMetric) -> None:
    cases = _cases()
    values = list(metric.score_cases(cases))
    require(metric, len(values) == len(cases), f"{len(values)} scores for {len(cases)} cases")
    _check_scores(metric, values)
    again = [metric.score_cases([case])[0] for case in cases]
    require(metric, as_json(values) == as_json(again), "one case must give one score, alone or among others")


@suite
def _check_scores(metric: AnyMetric, values: Sequence[object]) -> None:
    lowest = metric.lowest if isinstance(metric, PageMetric) else 0.0
    for value in values:
        require(metric, isinstance(value, float), f"a score must be a float, not {type(value).__name__}")
        inside = isinstance(value, float) and (np.isnan(value) or lowest <= value <= 1)
        require(metric, inside, f"{value} is outside [{lowest:g}, 1]")


def _asked() -> tuple[Question, ...]:
    return tuple(
        Question(f"q{n}", "When?", (answer,), "law/lease", (0,), ("It began.",), "text", "law", facts=(answer,))
        for n, answer in enumerate(("1964", "May", ""))
    )


@suite
def _check_page_metric(metric: PageMetric) -> None:
    for text in TEXTS:
        for truth in TEXTS:
            values = list(metric.score_page(text, truth, _asked()))
            require(metric, len(values) == len(_asked()), f"{len(values)} scores for {len(_asked())} questions")
            _check_scores(metric, values)
            again = list(metric.score_page(text, truth, _asked()))
            require(metric, as_json(values) == as_json(again), "one page must give one score")


@suite
def _check_page_judge(metric: PageJudgeMetric) -> None:
    _check_judge(metric)
    made = [metric.prompt_for_page(text, TEXTS[3], _asked()) for text in TEXTS]
    require(
        metric, made == [metric.prompt_for_page(text, TEXTS[3], _asked()) for text in TEXTS], "one page, one prompt"
    )
    for reply in TEXTS:
        try:
            values = list(metric.score_page_reply(reply, TEXTS[3], TEXTS[3], _asked()))
        except ValueError:
            continue
        require(metric, len(values) == len(_asked()), f"{len(values)} scores for {len(_asked())} questions")
        _check_scores(metric, values)


@suite
def _check_judge(metric: CaseJudgeMetric | PageJudgeMetric) -> None:
    require(metric, isinstance(metric.judge, Generator), "`judge` must be a generator")
    require(metric, not metric.judge.reads_images, "the judge must not read images")


@suite
def _check_judge_metric(metric: CaseJudgeMetric) -> None:
    _check_judge(metric)
    made = [metric.prompts_for(case) for case in _cases()]
    require(metric, made == [metric.prompts_for(case) for case in _cases()], "one case must give the same prompts")
    for case, prompts in zip(_cases(), made, strict=True):
        for reply in TEXTS if prompts is not None else ():
            try:
                value = metric.score_judged(case, [reply for _ in prompts or ()])
            except ValueError:
                continue
            require(metric, isinstance(value, float) and 0 <= value <= 1, f"a score must be in [0, 1], not {value!r}")
