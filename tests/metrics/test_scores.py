"""Scores of a batch of questions, as columns, and what a metric may not do."""

from math import isnan, nan
from typing import Literal

import pytest

from ohr.contracts import Case, CaseMetric, Chunk, Metric, Page, Question, ScoringProtocol
from ohr.metrics.answers import F1, Em
from ohr.metrics.dose import QuestionDose
from ohr.metrics.floors import OtherPages
from ohr.metrics.lcs import Lcs
from ohr.metrics.question_scores import Known, answer_scores, constant_scores, retrieval_scores
from ohr.metrics.rankings import Ndcg
from ohr.metrics.scores import MetricFailure, Rules, failed_questions, kb_scores

PROTOCOL = ScoringProtocol(answer=("f1", "em"))
RULES = Rules(PROTOCOL, {"lcs": Lcs(), "f1": F1(), "em": Em()})
NOBODY = OtherPages({})


def question(name="q", answers=("1964",), pages=(0,), evidence=("the lease began in 1964",)):
    return Question(name, "When?", answers, "law/lease", pages, evidence, "text", "law")


def chunk(*pages, text="the lease began in 1964", document="law/lease", start=0):
    return Chunk(f"{document}:{pages}:{start}", document, pages, start, start + len(text), text)


def retrieved(found, asked=None, top_k=2, failed=(), rules=RULES):
    asked = asked or question()
    return retrieval_scores([asked], {asked.id: found}, rules, NOBODY, top_k, failed)


def first(scores):
    return {metric: values[0] for metric, values in scores.values.items()}


# --- what was retrieved -----------------------------------------------------------------------------------


def test_a_chunk_that_spans_two_pages_takes_one_place():
    found = first(retrieved([chunk(0, 1), chunk(2)], question(pages=(2,))))
    assert (found["hit@2"], found["recall@2"], found["mrr"]) == (1, 1, 0.5)


def test_a_hit_on_a_page_with_the_same_text_counts():
    copies = {("law/lease", 0): ("law/copy", 3), ("law/copy", 3): ("law/copy", 3)}
    asked, found = question(), {"q": [chunk(3, document="law/copy"), chunk(1)]}
    metrics = {**RULES.metrics, "ndcg": Ndcg()}
    rules = Rules(ScoringProtocol(answer=("f1", "em"), ranking=("ndcg",)), metrics)
    scores = first(retrieval_scores([asked], found, rules, NOBODY, 2, (), Known(copies=copies)))
    assert {name: scores[name] for name in ("lcs", "hit@2", "recall@2", "mrr", "ndcg")} == dict.fromkeys(
        ("lcs", "hit@2", "recall@2", "mrr", "ndcg"), 1
    )
    assert first(retrieval_scores([asked], found, rules, NOBODY, 2, ()))["hit@2"] == 0


def test_each_of_several_evidence_pages_counts_though_one_chunk_holds_both():
    found = first(retrieved([chunk(5), chunk(2, 3)], question(pages=(2, 3, 7))))
    assert (found["hit@2"], found["recall@2"], found["mrr"]) == (1, pytest.approx(2 / 3), 0.5)


def test_a_ranking_has_no_floor_as_a_floor_is_an_overlap_of_texts():
    protocol = ScoringProtocol(retrieval="ndcg", answer=("f1", "em"))
    scores = first(retrieved([chunk(0)], rules=Rules(protocol, {**RULES.metrics, "ndcg": Ndcg()})))
    assert scores["ndcg"] == 1
    assert isnan(scores["ndcg_floor"])


def test_a_question_that_was_not_searched_fails_and_scores_0_unless_it_is_undefined():
    located, lost = question("a"), question("b", pages=(), evidence=())
    scores = retrieval_scores([located, lost], {}, RULES, NOBODY, 2, ())
    assert all(scores.failed[metric] == [True, True] for metric in scores.values)
    assert first(scores) == {"lcs": 0, "hit@2": 0, "recall@2": 0, "mrr": 0, "lcs_floor": 0}
    assert all(isnan(values[1]) for values in scores.values.values())


def test_scores_of_batches_are_those_of_all_questions():
    asked = [question(f"q{n}", pages=(n,)) for n in range(5)]
    found = {one.id: [chunk(n, text="began in 1964" * (n % 2))] for n, one in enumerate(asked)}
    whole = retrieval_scores(asked, found, RULES, NOBODY, 2, {"q1"})
    parts = [retrieval_scores(part, found, RULES, NOBODY, 2, {"q1"}) for part in (asked[:2], asked[2:])]
    assert whole.values == {name: [*parts[0].values[name], *parts[1].values[name]] for name in whole.values}
    assert whole.failed == {name: [*parts[0].failed[name], *parts[1].failed[name]] for name in whole.failed}


# --- knowledge bases --------------------------------------------------------------------------------------


def test_the_dose_of_a_question_with_a_failed_page_is_what_was_measured():
    dose = QuestionDose(
        "q", damaged=False, lcs_kb=0.97, lcs_gt=1.0, damaged_content=None, term_survival=0.8, answer_survival=1.0
    )
    scores = kb_scores([question(), question("other")], {"q": dose}, {"q"})
    assert [scores.values[name][0] for name in ("damaged", "lcs_kb", "term_survival", "answer_survival")] == [
        *(0.0, 0.97, 0.8, 1.0),
    ]
    assert isnan(scores.values["damaged_content"][0])
    assert scores.failed["lcs_kb"] == [True, False]
    assert all(isnan(values[1]) for values in scores.values.values())


def test_questions_fail_whose_pages_failed_or_are_not_there():
    asked = [question("a", pages=(0,)), question("b", pages=(0, 1)), question("c", pages=(9,)), question("d", pages=())]
    pages = [Page("law/lease", 0, "text"), Page("law/lease", 1, "", "paper jam")]
    assert failed_questions(asked, pages) == {"b", "c"}


# --- answers ----------------------------------------------------------------------------------------------


def test_an_answer_takes_its_best_accepted_form():
    asked = question(answers=("in 1964", "1964", "[***]"))
    assert first(answer_scores([asked], {"q": "1964"}, RULES, "overall", "kb", ())) == {"f1": 1, "em": 1}


def test_an_answer_that_failed_scores_0_and_an_undefined_one_nothing():
    asked = [question("a"), question("b"), question("c", answers=("[***]",)), question("d", answers=())]
    scores = answer_scores(asked, {"a": None, "c": None, "d": "x"}, RULES, "overall", "kb", {"d"})
    assert scores.values["f1"][:2] == scores.values["em"][:2] == [0, 0]
    assert all(isnan(value) for metric in ("f1", "em") for value in scores.values[metric][2:])
    assert scores.failed["f1"] == [True, True, True, True]


class Lenient(CaseMetric):
    kind: Literal["lenient"] = "lenient"
    missing: float = 0.0

    def score_case(self, case: Case) -> float:
        return 1.0

    def score_missing(self, question: Question) -> float:
        return nan if "optional" in question.answers else self.missing


@pytest.mark.parametrize("missing", [0.0, 1.0], ids=["no more", "more than it may"])
def test_a_metric_of_cases_may_leave_out_questions_without_a_reply_and_gives_them_no_more_than_0(missing):
    rules = Rules(ScoringProtocol(answer=("lenient",)), {"lenient": Lenient(missing=missing)})
    asked = [question("a"), question("b", answers=("optional",)), question("c", answers=("optional",))]
    scores = answer_scores(asked, {"c": None}, rules, "overall", "kb", (), excluded=())
    assert scores.values["lenient"][0] == 0
    assert all(map(isnan, scores.values["lenient"][1:]))
    assert scores.failed["lenient"] == [True, True, True]


def test_a_question_without_a_known_context_has_no_score_there():
    lost = question(pages=(), evidence=())
    for stage, condition, defined in (
        ("generation", "kb", False),
        ("reference", "evidence_only", False),
        ("reference", "closed_book", True),
        ("overall", "kb", True),
    ):
        value = first(answer_scores([lost], {"q": "1964"}, RULES, stage, condition, ()))["f1"]
        assert isnan(value) != defined, (stage, condition)


def test_the_constant_answer_is_the_better_one_though_a_score_is_undefined():
    answers = ["no"] * 9 + ["yes", "[***]"]  # `constant_floor` of the vectors
    asked = [question(f"q{n}", answers=(answer,)) for n, answer in enumerate(answers)]
    scores = constant_scores(asked, RULES)
    assert scores.values["f1"][:10] == [1] * 9 + [0]
    assert isnan(scores.values["f1"][10])


# --- metrics at the border --------------------------------------------------------------------------------


class Odd(Metric):
    """Returns the value of its field."""

    kind: str = "odd"
    gives: object = 0.5

    def score(self, prediction, reference):
        if isinstance(self.gives, BaseException):
            raise self.gives
        return self.gives


ODD = [
    None,
    "0.5",
    b"x",
    [0.5],
    1j,
    10**400,
    float("inf"),
    -5,
    7,
    1.0001,
    ValueError("no"),
    SystemExit(0),
    MemoryError(),
]


@pytest.mark.parametrize("gives", ODD, ids=repr)
def test_anything_but_a_share_fails_that_score_and_no_other(gives):
    rules = Rules(PROTOCOL, {**RULES.metrics, "odd": Odd(gives=gives)}, ("odd",))
    asked = [question("a", answers=("1964", "in 1964")), question("b")]
    scores = answer_scores(asked, {"a": "1964", "b": None}, rules, "overall", "kb", ())
    assert scores.values["odd"] == [0, 0]
    assert (scores.failed["odd"], scores.failed["f1"]) == ([True, True], [False, True])
    assert scores.values["f1"] == [1, 0]
    (failure,) = scores.failures  # the answer that failed is counted with the generator
    assert (failure.question, failure.metric) == ("a", "odd")
    assert failure.reason and "\n" not in failure.reason


@pytest.mark.parametrize(("gives", "value"), [(1, 1.0), (True, 1.0), (0, 0.0), (nan, nan)])
def test_a_share_of_any_kind_of_number_is_a_score(gives, value):
    import numpy as np

    for given in (gives, np.float32(gives), np.float64(gives)):
        rules = Rules(PROTOCOL, {**RULES.metrics, "odd": Odd(gives=given)}, ("odd",))
        scores = answer_scores([question()], {"q": "x"}, rules, "overall", "kb", ())
        assert scores.failures == []
        assert type(scores.values["odd"][0]) is float
        assert repr(scores.values["odd"][0]) == repr(value)


def test_a_retrieval_metric_is_checked_too():
    rules = Rules(PROTOCOL, {**RULES.metrics, "lcs": Odd(gives=7)})
    scores = retrieved([chunk(0)], rules=rules)
    assert first(scores)["lcs"] == 0 and scores.failed["lcs"] == [True] and scores.failed["mrr"] == [False]
    assert scores.failures == [MetricFailure("q", "lcs", "a score must be in [0, 1] or nan, not 7")]


def test_an_interrupt_is_no_score():
    rules = Rules(PROTOCOL, {**RULES.metrics, "odd": Odd(gives=KeyboardInterrupt())}, ("odd",))
    with pytest.raises(KeyboardInterrupt):
        answer_scores([question()], {"q": "x"}, rules, "overall", "kb", ())
