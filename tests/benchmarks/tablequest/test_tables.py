"""The published numbers, and how they can be reproduced."""

from collections import defaultdict
from fractions import Fraction

import pytest

from ohr.benchmarks.tablequest import totals
from ohr.benchmarks.tablequest.published_scores import published, rows

LEVELS = ("easy", "medium", "hard")
QUESTIONS = 80
PRINTED = 0.006  # half a unit of the last digit, and a rounding of it


def half_games(points, n=QUESTIONS):
    """Won, tied and lost games that make some points out of n."""
    win, half = divmod(int(2 * points), 2)
    return win, half, n - win - half


def rating(points, n=QUESTIONS):
    return rating_of(*half_games(points, n))


def rating_of(win, tie, loss):
    games = win + tie + loss
    return float(totals.rating([(win + tie / 2) / games], [games]))


def anchored(records, opponent="gpt-4o-vision", anchor="gpt-4o"):
    """Return ratings of models that all met one opponent, and the opponent's, where the anchor has 1000."""
    shift = 1000 - rating_of(*records[anchor])
    return {name: rating_of(*games) + shift for name, games in records.items()} | {opponent: 1000 + shift}


def elo(columns=("overall", *LEVELS)):
    return {(r["system"], c): float(r[c]) for r in rows("elo.csv") for c in columns if r[c]}


def implied():
    return {(r["system"], c): float(r[c]) for r in rows("implied-points.csv") for c in LEVELS if r[c]}


def test_no_number_of_half_wins_gives_a_rating_of_table_2_with_gpt_4o_as_the_opponent():
    every = [rating(halves / 2) for halves in range(1, 2 * QUESTIONS)]
    table_2 = {key: value for key, value in elo(LEVELS).items() if "vision" not in key[0]}
    assert len(table_2) == 21
    assert not [key for key, value in table_2.items() if any(abs(value - one) < PRINTED for one in every)]


def test_the_overall_rating_is_not_pooled_with_gpt_4o_as_the_opponent():
    every = [rating(halves / 2, 240) for halves in range(1, 480)]
    overall = [value for (system, level), value in elo().items() if level == "overall" and "vision" not in system]
    assert sum(any(abs(value - one) < PRINTED for one in every) for value in overall) == 0


@pytest.mark.parametrize("level", LEVELS)
def test_ratings_follow_if_every_model_met_gpt_4o_vision_and_gpt_4o_has_1000(level):
    records = {system: half_games(points) for (system, of), points in implied().items() if of == level}
    found = anchored(records)
    printed = {system: value for (system, of), value in elo().items() if of == level}
    assert len(printed) >= 7
    assert {system: found[system] for system in printed} == pytest.approx(printed, abs=PRINTED)


def test_overall_ratings_are_then_pooled_over_the_levels():
    sums = defaultdict(list)
    for (system, _), points in implied().items():
        sums[system].append(points)
    records = {name: half_games(sum(points), 240) for name, points in sums.items() if len(points) == 3}
    found = anchored(records)
    printed = {system: value for (system, level), value in elo().items() if level == "overall" and system in found}
    assert len(printed) == 8
    assert {system: found[system] for system in printed} == pytest.approx(printed, abs=PRINTED)


def test_the_other_vision_model_has_half_wins_as_well():
    scale = rating(156, 240) - 1000
    assert 1000 + rating(76.5, 240) - 1000 - scale == pytest.approx(
        elo()["gemini-1.5-pro-vision", "overall"], abs=PRINTED
    )


@pytest.mark.parametrize("level", LEVELS)
def test_no_other_score_of_gpt_4o_makes_all_ratings_of_a_level_half_wins(level):
    printed = [value for (_, of), value in elo().items() if of == level]
    every = [rating(halves / 2) for halves in range(1, 2 * QUESTIONS)]
    fitting = [
        anchor / 2
        for anchor in range(1, 2 * QUESTIONS)
        if all(any(abs(value + rating(anchor / 2) - 1000 - one) < 2 * PRINTED for one in every) for value in printed)
    ]
    assert fitting == [implied()["gpt-4o", level]]


def test_accuracies_are_whole_numbers_of_80_questions_and_the_overall_one_is_their_mean():
    for row in rows("accuracy.csv"):
        levels = [Fraction(row[level]) for level in ("easy", "medium")]
        assert all((value * QUESTIONS / 100).denominator == 1 for value in levels)
        assert sum(levels) / 2 == Fraction(row["overall"])


def test_the_mean_recall_is_weighted_by_the_shares_of_the_buckets():
    *buckets, every = [(float(row["share"]), float(row["recall"])) for row in rows("recall.csv")]
    assert sum(share for share, _ in buckets) == pytest.approx(100)
    assert sum(share * recall for share, recall in buckets) / 100 == pytest.approx(every[1], abs=0.0005)


def test_published_numbers_have_their_units():
    held = published(on_the_papers_scale=False)
    ratings = [one for one in held if one.metric == "elo"]
    assert len(ratings) == 32
    assert {one.unit for one in ratings} == {"number"}
    assert {one.group for one in held} == {"all", *(f"level={level}" for level in LEVELS)}
    assert {(one.metric, one.group == "all") for one in held if one.unit == "share"} == {
        ("accuracy", True),
        ("table_accuracy", False),
    }
    (best,) = [one for one in held if one.system == "gpt-4o-vision" and one.metric == "accuracy"]
    assert best.value == 0.7


def test_ratings_on_another_scale_carry_a_warning():
    for same, warned in ((False, {"elo"}), (True, set())):
        assert {one.metric for one in published(on_the_papers_scale=same) if one.warning} == warned
