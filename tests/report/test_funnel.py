from dataclasses import replace
from itertools import pairwise

import pytest
from matplotlib.colors import to_hex

from ohr.errors import DataError, SpecError
from ohr.questions.verification import Example, FunnelRow
from ohr.report.exports.markdown import markdown
from ohr.report.figures.funnel import draw_funnel
from ohr.report.figures.funnel import funnel as picture_of
from ohr.report.figures.panels import NothingToDraw
from ohr.report.figures.wanted import Wanted
from ohr.report.views.funnel import funnel

ROWS = (
    FunnelRow("near_duplicate", 15_317, 317, examples=(Example("q1", "Q" * 130, "asks the same as q0"),)),
    FunnelRow("judged_context_dependent", 15_000, 0, runs=False),
    FunnelRow("other_source", 15_000, 0),
    FunnelRow("answer_not_confirmed", 15_000, 6_502, 502, examples=(Example("q2", "What?", "0 of 5"),)),
)


def test_the_table_counts_each_rule_that_removed_something_and_all():
    counts, examples = funnel(ROWS)
    assert counts.headers == ("removed by", "entered", "removed", "undecided", "left")
    assert counts.rows == (
        ("near duplicate", 15_317, 317, 0, 15_000),
        ("answer not confirmed", 15_000, 6_502, 502, 8_498),
        ("all rules", 15_317, 6_819, 502, 8_498),
    )
    assert counts.how.endswith(" Removed nothing: other source. Not run: judged context dependent.")
    assert "| answer not confirmed |  15,000 |   6,502 |       502 |  8,498 |" in markdown(counts)
    assert [row[0] for row in examples.rows] == ["near duplicate", "answer not confirmed"]
    assert examples.rows[0][1:] == ("Q" * 77 + "...", "asks the same as q0")
    assert examples.starts == {0, 1}


def test_a_funnel_that_removed_nothing_has_no_examples():
    (counts,) = funnel([FunnelRow("near_duplicate", 3, 0)])
    assert counts.rows == (("all rules", 3, 0, 0, 3),)
    assert counts.how.endswith("could be used. Removed nothing: near duplicate.")


@pytest.mark.parametrize("width", [2.0, 3.3, 7.0])
def test_no_text_of_the_figure_is_cut_or_on_another(width):
    picture = picture_of(ROWS, Wanted(width=width))
    (axes,) = picture.axes
    assert [label.get_text() for label in axes.get_yticklabels()][::5] == ["written", "survivors"]
    assert [note.get_text() for note in axes.texts] == ["15,317", "−317", "not run", "−6,502", "8,498"]
    assert to_hex(axes.texts[1].get_color()) == to_hex(axes.patches[4].get_facecolor())  # of what was removed
    picture.draw_without_rendering()
    drawn = [text.get_window_extent() for text in (*axes.get_yticklabels(), *axes.texts)]
    assert all(box.x0 >= 0 and box.x1 <= picture.bbox.width for box in drawn)
    ticks = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    assert all(left.x1 < right.x0 for left, right in pairwise(ticks))


def test_bars_are_as_long_as_the_counts():
    (axes,) = picture_of(ROWS).axes
    assert [bar.get_width() for bar in axes.patches] == [
        *(15_317, 0, 0),
        *(15_000, 317, 0),
        *(15_000, 0, 0),
        *(15_000, 0, 0),
        *(8_498, 6_000, 502),
        *(8_498, 0, 0),
    ]


def test_a_figure_is_saved_with_the_same_bytes(tmp_path):
    files = draw_funnel(ROWS, tmp_path, formats=("svg", "png", "pdf"))
    assert [file.name for file in files] == ["funnel.svg", "funnel.png", "funnel.pdf"]
    first = [file.read_bytes() for file in files]
    assert [file.read_bytes() for file in draw_funnel(ROWS, tmp_path, formats=("svg", "png", "pdf"))] == first


def test_what_cannot_be_drawn_is_refused(tmp_path):
    with pytest.raises(NothingToDraw):
        picture_of([])
    with pytest.raises(SpecError, match="no format 'gif'"):
        draw_funnel(ROWS, tmp_path, formats=("gif",))
    with pytest.raises(SpecError, match="too much to draw"):
        picture_of([replace(ROWS[0], rule=f"r{number}") for number in range(200)], Wanted(style="slides"))
    assert issubclass(NothingToDraw, DataError)


def test_an_empty_set_is_drawn():
    (axes,) = picture_of([FunnelRow("near_duplicate", 0, 0)]).axes
    assert [note.get_text() for note in axes.texts] == ["0", "0"]
