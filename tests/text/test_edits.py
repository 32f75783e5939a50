import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Edit, NoisyText
from ohr.text.edits import apply, undo

WORDS = "one two three four five six"


@st.composite
def edited(draw):
    """A text and edits of it that do not overlap: replacements, deletions and insertions, in any order."""
    text = draw(st.text(max_size=30))
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=10)))
    spans = draw(st.permutations(list(zip(cuts[::2], cuts[1::2], strict=False))))
    return text, [Edit("rule", start, end, draw(st.text(max_size=4)), text[start:end]) for start, end in spans]


@given(edited(), st.data())
def test_edits_come_back_ascending_and_undoing_gives_the_text_back_and_of_a_part_a_part(pair, data):
    text, made = pair
    noisy = apply(text, made)
    places = [(edit.start, edit.end) for edit in noisy.edits]
    assert places == sorted(places)
    assert undo(noisy.text, noisy.edits) == text
    start = data.draw(st.integers(0, len(noisy.text)))
    end = data.draw(st.integers(start, len(noisy.text)))
    assert undo(noisy.text[start:end], noisy.edits, start) in text


def test_no_edit_changes_nothing():
    assert apply(WORDS, []) == NoisyText(WORDS)


@pytest.mark.parametrize(
    ("made", "result"),
    [
        ([Edit("r", 0, 3, "1", "one")], "1 two three four five six"),
        ([Edit("r", 24, 27, "6", "six"), Edit("r", 0, 3, "1", "one")], "1 two three four five 6"),
        ([Edit("r", 3, 7, "", " two")], "one three four five six"),
        ([Edit("r", 4, 4, "**"), Edit("r", 7, 7, "**")], "one **two** three four five six"),
        ([Edit("r", 4, 7, "2", "two"), Edit("r", 4, 4, "<")], "one <2 three four five six"),
        ([Edit("r", 0, 0, "a"), Edit("r", 0, 0, "b")], "abone two three four five six"),
    ],
)
def test_edits_are_made_at_their_places(made, result):
    assert apply(WORDS, made).text == result


@pytest.mark.parametrize(
    "made",
    [
        [Edit("r", 0, 5, ""), Edit("r", 4, 7, "")],
        [Edit("r", 0, 5, ""), Edit("r", 2, 2, "x")],
        [Edit("r", 5, 4, "")],
        [Edit("r", 0, 99, "")],
        [Edit("r", -1, 0, "")],
    ],
)
def test_edits_that_overlap_or_lie_outside_are_refused(made):
    with pytest.raises(ValueError, match="overlaps another, or is outside the text"):
        apply(WORDS, made)


@pytest.mark.parametrize(
    ("start", "end", "part"),
    [
        (0, 13, "one two thr"),  # `one **2** thr`: markers and the new word undone
        (6, 7, "two"),  # the new word alone
        (5, 6, ""),  # half a marker is nothing of the text
        (9, 25, " three four five"),
    ],
)
def test_what_ended_in_one_chunk_is_undone_alone(start, end, part):
    noisy = apply(WORDS, [Edit("r", 4, 4, "**"), Edit("r", 4, 7, "2", "two"), Edit("r", 7, 7, "**")])
    assert noisy.text == "one **2** three four five six"
    assert undo(noisy.text[start:end], noisy.edits, start) == part
