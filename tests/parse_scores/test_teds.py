"""TEDS: worked cases, the published traps, a second implementation, and time."""

import json
import math
import os
import random
import time
from functools import cache
from pathlib import Path

import pytest

from ohr.parse_scores.teds import teds

PATH = Path(os.environ.get("OHRBENCH_VECTORS", ""), "ocr", "teds.json")
VECTORS = json.loads(PATH.read_text())["vectors"] if PATH.is_file() else []
COLUMNS = {
    "pubtabnet_teds": ("prediction", "truth"),
    "omnidocbench_teds": ("prediction", "truth"),
    "omnidocbench_after_their_normalisation_teds": ("omnidocbench_norm_prediction", "omnidocbench_norm_truth"),
}
ROW = "<tr><td>a</td><td>bb</td></tr>"


def table(*rows):
    return f"<table>{''.join(rows)}</table>"


@pytest.mark.parametrize(
    ("prediction", "truth", "score", "structure"),
    [
        pytest.param(table(ROW), table(ROW), 1, 1, id="equal"),
        pytest.param("a bb", table(ROW), 0, 0, id="no table in the prediction"),
        pytest.param(table(ROW), "", 0, 0, id="no table in the truth"),
        pytest.param(table(ROW), table(ROW, ROW), 0.5, 0.5, id="three of six nodes are missing"),
        pytest.param(table("<tr><td>a</td><td>bc</td></tr>"), table(ROW), 1 - 0.5 / 3, 1, id="half a cell is wrong"),
        pytest.param(table("<tr><td></td><td>bb</td></tr>"), table(ROW), 1 - 1 / 3, 1, id="an empty cell"),
        pytest.param(table("<tr><th>a</th><td>bb</td></tr>"), table(ROW), 1 - 1 / 3, 1 - 1 / 3, id="th is no td"),
        pytest.param(table(f"<thead>{ROW}</thead>"), table(ROW), 0.75, 0.75, id="thead is a node"),
        pytest.param(table("<tr><td>a</td><td colspan=2>bb</td></tr>"), table(ROW), 1 - 1 / 3, 1 - 1 / 3, id="spans"),
        # <b> and </b> are two of three characters, and <b> is a fourth element
        pytest.param(table("<tr><td><b>a</b></td><td>bb</td></tr>"), table(ROW), 1 - 2 / 3 / 4, 1, id="tags in cells"),
        pytest.param(table("<tr><td>中文</td></tr>"), table("<tr><td>中国</td></tr>"), 0.75, 1, id="Chinese"),
        pytest.param("<table><tr><td>a<td>bb", table(ROW), 1, 1, id="unclosed"),
        pytest.param(f"<html><body>{table(ROW)}</body></html>", table(ROW), 1, 1, id="a whole page"),
        pytest.param(table(ROW) + table(ROW, ROW), table(ROW), 1, 1, id="the first of two tables"),
        pytest.param("<table></table>", table(ROW), 0, 0, id="one empty table"),
        pytest.param("<table></table>", "<table></table>", math.nan, math.nan, id="two empty tables"),
        pytest.param(table("<tr><td colspan=x>"), table(ROW), math.nan, math.nan, id="a span that is no number"),
        pytest.param("<table>\ud800\x00</table>", table(ROW), 0, 0, id="half a character"),
    ],
)
def test_similarity_of_worked_cases(prediction, truth, score, structure):
    found = teds(prediction, truth), teds(prediction, truth, structure_only=True)
    assert found == pytest.approx((score, structure), nan_ok=True)


def test_tables_that_share_little_have_a_negative_similarity():
    tall, wide = (
        table("<tr><td>a</td></tr>", "<tr><td>b</td></tr>"),
        table("<thead><tr><th>a</th><th>b</th></tr></thead>"),
    )
    assert teds(tall, wide) == -0.25


@pytest.mark.skipif(not VECTORS, reason="OHRBENCH_VECTORS names no folder with ocr/teds.json")
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("structure_only", [False, True])
def test_values_of_the_published_code(column, structure_only):
    published = [case.get(column + "_s" * structure_only, math.nan) for case in VECTORS]
    values = [math.nan if isinstance(value, str) else value for value in published]
    texts = [[case[name] for name in COLUMNS[column]] for case in VECTORS]
    found = [teds(*pair, structure_only=structure_only) for pair in texts]
    assert found == pytest.approx(values, abs=1e-6, nan_ok=True)


def by_recursion(left, right):
    """Return the edit distance of two forests, tuples of (label, forest), straight from its definition."""

    @cache
    def distance(left, right):
        if not left or not right:
            return sum(1 + distance(children, ()) for _, children in left + right)
        (a, below_a), (b, below_b) = left[-1], right[-1]
        return min(
            distance(left[:-1] + below_a, right) + 1,
            distance(left, right[:-1] + below_b) + 1,
            distance(below_a, below_b) + distance(left[:-1], right[:-1]) + (a != b),
        )

    return distance(left, right)


def some_forest(rng, nodes):
    forest = []
    while nodes > 0:
        size = rng.randint(1, nodes)
        forest.append((rng.choice("uvw"), some_forest(rng, size - 1)))
        nodes -= size
    return tuple(forest)


def html(forest):
    return "".join(f"<{label}>{html(children)}</{label}>" for label, children in forest)


@pytest.mark.parametrize("seed", range(60))
def test_distance_is_that_of_its_definition(seed):
    rng = random.Random(seed)
    left, right = (some_forest(rng, rng.randint(1, 9)) for _ in range(2))
    nodes = max(by_recursion(forest, ()) for forest in (left, right))
    tables = (f"<table><tr><svg>{html(forest)}</svg></tr></table>" for forest in (left, right))
    assert teds(*tables) == pytest.approx(1 - by_recursion(left, right) / (nodes + 2))


def figures(rng, rows):
    return table(*(f"<tr>{''.join(f'<td>{rng.random():.3f}</td>' for _ in range(12))}</tr>" for _ in range(rows)))


def test_a_table_without_end_takes_little_more_than_its_length():
    rng = random.Random(0)
    start = time.process_time()
    assert teds(table("<tr><td>1</td><td>2</td></tr>" * 5000), figures(rng, 5)) < 0.1
    assert time.process_time() - start < 2


def test_a_table_of_a_page_takes_well_below_a_second():
    rng = random.Random(0)
    tables = figures(rng, 60), figures(rng, 57)
    start = time.process_time()
    assert 0 < teds(*tables) < 1
    assert time.process_time() - start < 1
