from math import isnan, nan

from ohr.benchmarks.mini import Mini
from ohr.contracts import Published, PublishedBenchmark, Tally
from ohr.report.leaderboard.standings import Row, column, fairly_ranked, leaderboard, leaderboards, protocol_boards

TABLE = "Table 4, 2026"


def published(system, metric, value, group="all", **further):
    return Published(system, "overall", metric, group, value, "paper", TABLE, main=True, **further)


NUMBERS = [
    published("A", "iqe", 0.4),
    published("A", "overall", 0.6),
    published("B", "iqe", 0.5),
    published("B", "overall", 0.7, warning="scored on a part"),
    published("A", "golden_k", 8.4, unit="number"),
]


def test_columns_are_the_tables_own_numbers_and_the_best_is_first():
    (board,) = protocol_boards(NUMBERS, "overall", [Row("mine", "here", {"iqe": 0.1, "overall": 0.65, "other": 1.0})])
    assert board.groups == ("iqe", "overall", "golden_k")
    assert board.numbers == {"golden_k"}
    assert board.warnings == ("B: scored on a part",)
    ranked = [row.system for row in board.rows]
    assert ranked[0] == "A"  # by the last number of all questions, here golden_k
    assert {"mine", "B"} == set(ranked[1:])


def test_groups_of_the_benchmarks_own_are_columns_by_their_value():
    numbers = [published("A", "ffa", 0.9, "type=Number"), published("A", "ffa", 0.8)]
    own = Row("mine", "here", {column("ffa", "type=Number"): 0.5, column("ffa", "all"): 0.85})
    (board,) = protocol_boards(numbers, "overall", [own])
    assert board.groups == ("ffa Number", "ffa")
    assert [row.system for row in board.rows] == ["mine", "A"]
    assert not leaderboards(numbers, "overall", [own], {"evidence_source": ["all"], "domain": ["all"]})


class Counted(Mini, PublishedBenchmark, kind="counted"):
    """Has 90 questions."""

    def fetch(self):
        raise NotImplementedError

    def verify(self):
        return [Tally("pages", 3, 3), Tally("questions", 90, 90)]


def test_own_rows_have_a_rank_only_where_as_many_questions_were_asked_as_were_published():
    (board,) = protocol_boards(NUMBERS[:4], "overall", [Row("mine", "here", {"iqe": 0.1, "overall": 0.9})])
    assert fairly_ranked([board], Counted(), 90) == [board]
    for other, questions in ((Counted(), 24), (Mini(), 90)):  # a limit; nobody has counted them
        (fair,) = fairly_ranked([board], other, questions)
        assert [(row.system, row.ranked) for row in fair.rows] == [("B", True), ("A", True), ("mine", False)]


def test_of_clean_is_named_where_it_is_shown():
    for is_truth in (False, True):
        own = Row("mine", "here", {"iqe": 0.1, "overall": 0.9}, is_truth=is_truth)
        (view,) = leaderboard(fairly_ranked(protocol_boards(NUMBERS[:4], "overall", [own]), Mini(), 24))
        assert ("`of clean`" in view.how, "of clean" in view.headers) == (is_truth, is_truth)


def test_a_run_without_any_of_the_numbers_has_no_such_table():
    assert protocol_boards(NUMBERS, "overall", [Row("mine", "here", {"f1": 0.1, "iqe": nan})]) == []
    assert protocol_boards(NUMBERS, "page", [Row("mine", "here", {"iqe": 0.1})]) == []


def test_an_undefined_score_comes_last():
    (board,) = protocol_boards(NUMBERS[:4], "overall", [Row("mine", "here", {"iqe": 0.1, "overall": nan})])
    assert board.rows[-1].system == "mine"
    assert isnan(board.rows[-1].scores["overall"])


def test_a_warning_of_all_published_rows_is_given_once():
    every = [published(name, "elo", 900.0, unit="number", warning="another opponent") for name in ("A", "B")]
    (board,) = protocol_boards(every, "overall", [Row("mine", "here", {"elo": 950.0})])
    assert board.warnings == ("all published rows: another opponent",)
    (board,) = protocol_boards([*every, published("C", "elo", 1.0)], "overall", [Row("mine", "here", {"elo": 950.0})])
    assert board.warnings == ("A, B: another opponent",)
