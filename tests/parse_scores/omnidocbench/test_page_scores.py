"""Scores of pages: values that the published code computed, of our pages and of pages in a folder."""

import json
import os
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from rapidfuzz.distance import Levenshtein

from ohr.parse_scores.omnidocbench import VERSIONS, Match, score_markdown, score_page
from ohr.parse_scores.omnidocbench.block_matching import _matched, match
from ohr.parse_scores.omnidocbench.joined_runs import distances

FOLDER = Path(os.environ.get("OHRBENCH_VECTORS", ""), "ocr")
PAGES = FOLDER / "omnidocbench_pages.json"
VALUES = FOLDER / "omnidocbench_v15_values.json"
PUBLISHED = json.loads(PAGES.read_text(encoding="utf-8"))["vectors"] if PAGES.is_file() else []
NEWER = json.loads(VALUES.read_text(encoding="utf-8"))["vectors"] if VALUES.is_file() else []
with_tables = pytest.mark.skipif(find_spec("ohr.parse_scores.tables") is None, reason="tables are read by another file")

A = "The board proposes a dividend."
B = "Shipments to the south fell in March."
C = "Costs rose by a tenth."
F = r"$$a_{1} + b = \frac{c}{d}$$"
T = "<table><tr><td>Q1</td><td>2024</td></tr></table>"
HEAD = "Annual report 2024"
CONTENT = {"table": "html", "equation_isolated": "latex"}
ARRAY = r"$$\begin{array}{l} a=b \\ c=d \end{array}$$"


def page(*regions, cut=()):
    """A page whose blocks are given as `category: content`, numbered from 1; `cut` has the numbers of two pieces."""
    blocks = [region.split(": ", 1) for region in regions]
    return {
        "layout_dets": [
            {"category_type": category, "order": number, "anno_id": number, CONTENT.get(category, "text"): content}
            for number, (category, content) in enumerate(blocks, 1)
        ],
        "extra": {
            "relation": [
                {"relation_type": "truncated", "source_anno_id": first, "target_anno_id": second}
                for first, second in cut
            ]
        },
    }


def text(*contents):
    return page(*(f"text_block: {content}" for content in contents))


def part(score):
    return score and (score.edits, score.length)


NONE = (None, None, None)
CASES = [  # page, prediction; for each version edits and length of text and formulas, and the distance of the order
    pytest.param(text(A, B), f"{A}\n\n{B}", ((0, 55), None, 0), ((0, 55), None, 0), id="equal"),
    pytest.param(text(A, B), f"{B}\n\n{A}", ((0, 55), None, 1), ((0, 55), None, 1), id="swapped"),
    pytest.param(text(A, B), f"{A} {B}", ((0, 55), None, 0), ((0, 55), None, 0), id="one line for two blocks"),
    pytest.param(text(A, B), f"{A}\n{B}", ((0, 55), None, 0), ((0, 55), None, 0), id="no blank line"),
    pytest.param(
        text(f"{A} {B}", C), f"{A}\n\n{B}\n\n{C}", ((0, 72), None, 0), ((0, 72), None, 0), id="two lines for a block"
    ),
    pytest.param(text(A, B), B, ((50, 80), None, 2 / 3), ((25, 55), None, 1 / 2), id="missing"),
    pytest.param(text(A, B), f"{A}\n\n{C}\n\n{B}", ((17, 72), None, 0), ((0, 55), None, 0), id="invented"),
    pytest.param(text(A, B), f"{A}\n\n{C}", ((22, 55), None, 0), ((22, 55), None, 0), id="one for another"),
    pytest.param(
        page(f"title: {A}", f"equation_isolated: {F}"),
        "",
        ((25, 25), (23, 23), 1),
        ((25, 25), (19, 19), 1),
        id="nothing predicted",
    ),
    pytest.param(
        page(f"header: {HEAD}", f"text_block: {A}"),
        f"{HEAD}\n\n{A}",
        ((0, 25), None, 0),
        ((0, 25), None, 0),
        id="a header is not scored",
    ),
    pytest.param(
        page(f"header: {HEAD}", f"text_block: {A}"), A, ((0, 25), None, 0), ((0, 25), None, 0), id="nor missed"
    ),
    pytest.param(page(f"header: {HEAD}"), A, NONE, NONE, id="only a header"),
    pytest.param(
        page(f"text_block: {A}", f"equation_isolated: {F}"),
        f"{A}\n\n\\[\n{F[2:-2]}\n\\]",
        ((0, 25), (4, 23), 0),
        ((0, 25), (0, 19), 0),
        id="a formula with other delimiters",
    ),
    pytest.param(
        page(f"text_block: {A}", f"equation_isolated: {F}"),
        f"{A}\n\na1 + b = c/d",
        ((5, 30), (23, 23), 0),
        ((1, 31), None, 0),
        id="a formula as text",
    ),
    pytest.param(
        page(f"text_block: {A}", f"equation_isolated: {F}"),
        f"{A}\n\n{F[1:-1]}",
        ((0, 25), (2, 23), 0),
        ((0, 25), (0, 19), 0),
        id="a formula between single dollars",
    ),
    pytest.param(
        page(f"text_block: {A}", f"equation_isolated: {ARRAY}"),
        f"{A}\n\n$$a=b$$\n\n$$c=d$$",
        ((0, 25), (9, 15), 0),
        ((0, 25), (0, 6), 0),
        id="rows of an array",
    ),
    pytest.param(
        text(r"The rate $\alpha_{1}$ is \(x^2\)."),
        "The rate α_1 is x^2.",
        ((0, 14), None, 0),
        ((0, 14), None, 0),
        id="inline formulas are Unicode",
    ),
    pytest.param(
        page(f"text_block: {A}", f"title: {C}", f"text_block: {B}", cut=[(1, 3)]),
        f"{A}{B}\n\n# {C}",
        ((0, 72), None, 0),
        ((0, 72), None, 0),
        id="cut in two",
    ),
    pytest.param(
        page(*(f"text_block: {each}" for each in (A, B, C)), cut=[(1, 2), (2, 3)]),
        f"{A}{B}{C}",
        ((30, 102), None, 0),
        ((30, 102), None, 0),
        id="cut in three: the middle counts twice",
    ),
    pytest.param(
        text("成本比上年增长百分之八。", "هذا نص عربي للاختبار"),
        "成本比去年增长百分之八。\n\nهذا نص عربي",
        ((9, 28), None, 0),
        ((9, 28), None, 0),
        id="Chinese and Arabic",
    ),
    pytest.param(
        text(A, B),
        f"{A}\n\n<table><tr><td>{B}</td></tr></table>",
        ((60, 85), None, 2 / 3),
        ((30, 55), None, 1 / 2),
        id="text in a table, where the truth has none",
    ),
    pytest.param(  # the published 1.0 stops with an error
        text("***"), A, ((25, 25), None, None), NONE, id="a truth without letters"
    ),
]


@pytest.mark.parametrize(("truth", "prediction", "old", "new"), CASES)
def test_a_page_has_the_values_of_the_published_code(truth, prediction, old, new):
    for version, expected in zip(VERSIONS, (old, new), strict=True):
        scores = score_page(truth, prediction, version)
        order = scores.order and pytest.approx(scores.order.distance)
        assert (part(scores.text), part(scores.formula), order) == expected, version


@with_tables
@pytest.mark.parametrize(
    ("truth", "prediction", "table", "teds"),
    [
        pytest.param(page(f"table: {T}"), T, (0, 86), [1], id="equal"),
        pytest.param(page(f"table: {T}"), "| Q1 | 2024 |\n|---|---|\n| 5 | 6 |", (125, 211), [0.5], id="Markdown"),
        pytest.param(page(f"table: {T}"), A, (86, 86), [0], id="missing"),
        pytest.param(page(f"table: {T}"), r"\begin{tabular}{ll} Q1 & 2024 \end{tabular}", (86, 86), [0], id="LaTeX"),
        pytest.param(
            page(f"table: {T}", f"table: {T.replace('Q1', 'Q2')}"),
            f"{T.replace('Q1', 'Q2')}\n\n{T}",
            (0, 172),
            [1, 1],
            id="in another order",
        ),
    ],
)
def test_a_table_has_the_values_of_the_published_code(truth, prediction, table, teds):
    for version in VERSIONS:
        scores = score_page(truth, prediction, version)
        assert part(scores.table) == table
        assert [score.teds for score in scores.tables] == pytest.approx(teds)
        assert [score.anno_id for score in scores.tables] == list(range(1, len(teds) + 1))


@with_tables
def test_only_the_new_version_compares_text_with_the_cells_of_a_superfluous_table():
    truth = page(f"table: {T}", f"text_block: {A}")
    prediction = f"{T}\n\n<table><tr><td>{A}</td></tr></table>"
    assert [part(score_page(truth, prediction, version).text) for version in VERSIONS] == [(25, 25), (0, 25)]


@pytest.mark.parametrize(
    ("truth", "prediction", "old", "new"),
    [
        pytest.param(f"{A}\n\n{B}", f"{B}\n\n{A}", ((0, 55), None, 0), ((0, 55), None, 0), id="swapped first"),
        pytest.param(f"{A}\n\n{F}", f"{A}\n\n{F}", ((0, 25), (0, 19), None), ((0, 25), (8, 27), None), id="a formula"),
        pytest.param(f"{A}\n\n{B}", f"{A}\n\n{B}\n\n{C}", ((17, 72), None, 0), ((17, 72), None, 0), id="invented"),
        pytest.param(
            f"{A}\n\n{B}\n\n{C}", f"{A}\n\n{C}\n\n{B}", ((0, 72), None, 1), ((0, 72), None, 1), id="swapped later"
        ),
        pytest.param("", A, NONE, NONE, id="empty"),
    ],
)
def test_markdown_has_the_values_of_the_published_code(truth, prediction, old, new):
    for version, expected in zip(VERSIONS, (old, new), strict=True):
        scores = score_markdown(truth, prediction, version)
        assert (part(scores.text), part(scores.formula), scores.order and scores.order.distance) == expected, version


def test_matches_name_blocks_and_lines_with_the_category_of_most():
    truth = page(f"title: {A}", f"text_block: {B}", f"text_block: {C}")
    assert score_page(truth, f"{C}\n\n{A} {B}", "1.5").matches == (
        Match((0, 1), (1,), 0.0, "title"),
        Match((2,), (0,), 0.0, "text_block"),
    )


@pytest.mark.skipif(not PUBLISHED, reason="OHRBENCH_VECTORS names no folder with pages of OmniDocBench")
@with_tables
def test_pages_have_the_values_of_the_published_code():
    newer = {vector["name"]: vector["values"] for vector in NEWER}
    for vector in PUBLISHED:
        for version, values in (("1.0", vector["values"]), ("1.5", newer[vector["name"]])):
            scores = score_page(vector["truth"], vector["prediction"], version)
            parts = (scores.text, scores.formula, scores.table, scores.order)
            names = ("text_block", "display_formula", "table", "reading_order")
            assert [each and each.distance for each in parts] == [
                values[name] and pytest.approx(values[name]["edit_dist"], abs=1e-6) for name in names
            ], (vector["name"], version)
            for name in ("teds", "teds_s") if values["table"] else ():
                mean = sum(getattr(table, name) for table in scores.tables) / len(scores.tables)
                assert mean == pytest.approx(values["table"][name], abs=1e-6)
        matches = [
            Match(
                *(tuple(filter(lambda number: number != "", pair[side])) for side in ("gt_idx", "pred_idx")),
                pytest.approx(pair["edit"]),
                pair["category"],
            )
            for pair in vector["pairs"]
        ]
        assert list(score_page(vector["truth"], vector["prediction"], "1.0").matches[: len(matches)]) == matches


HARD = {
    "images": "![](!" * 20_000,
    "open formulas": r"\[" * 50_000,
    "open tables": "<table>" * 5_000,
    "open titles": "\\title{" * 14_000,
    "one row": "|" * 100_000,
    "open arguments": "$$" + "\\tag{" * 19_000 + "$$",
    "arrays": "$$" + "\\begin{array}{l}" * 6_000 + "$$",
    "braces": "$" + "{" * 50_000 + "_$",
    "a loop": "Costs rose by a tenth.\n\n" * 4_000,
}


@pytest.mark.parametrize("name", HARD)
def test_no_page_of_100_kb_takes_long(name):
    if name == "one row":
        pytest.importorskip("ohr.parse_scores.tables")
    start = time.process_time()
    for version in VERSIONS:
        score_page(text(*([A] * 20)), HARD[name], version)
    assert time.process_time() - start < 5  # half a second at most where this was written; minutes as published


def test_a_text_that_is_the_truths_is_matched_line_by_line():
    lines = ["Total 100", "Total 100", "Total 101", "Fees", "Fees"]
    for version in VERSIONS:
        scores = score_markdown("\n\n".join(lines), "\n\n".join(lines), version)
        assert scores.matches == tuple(Match((n,), (n,), 0, "text_block") for n in range(5))
        assert match(lines, lines, version) == _matched(lines, lines, version)


def test_lines_that_a_loop_repeats_have_the_costs_of_each():
    texts, lines = ["Fees", "Total", "Fees"], ["Total", "Total 1", "Fees", "Total"]
    assert distances(texts, lines).tolist() == [
        [Levenshtein.normalized_distance(text, line) for line in lines] for text in texts
    ]


def test_more_pairs_of_blocks_than_fit_into_memory_are_refused():
    with pytest.raises(ValueError, match="a text of 20,000 blocks for one of 20,000 is not scored"):
        match(["Fees"] * 20_000, ["Total"] * 20_000, "1.5")
