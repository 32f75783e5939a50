import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.ocr.reading_order import Line, in_reading_order


def line(text, left, top, width=400, height=20):
    return Line(left, top, left + width, top + height, text)


def read(lines, width=1000):
    return [found.text for found in in_reading_order(lines, width)]


def test_one_column_reads_from_top_to_bottom():
    assert read([line("b", 50, 40), line("a", 50, 10), line("c", 50, 70)]) == ["a", "b", "c"]


def test_two_columns_read_one_after_the_other():
    left = [line(f"l{row}", 50, 10 + 30 * row) for row in range(3)]
    right = [line(f"r{row}", 520, 12 + 30 * row) for row in range(3)]
    assert read([right[0], left[2], left[0], right[2], left[1], right[1]]) == ["l0", "l1", "l2", "r0", "r1", "r2"]


def test_three_columns_read_from_left_to_right():
    columns = [
        [line(f"{name}{row}", left, 10 + 30 * row, 280) for row in range(2)]
        for name, left in zip("abc", (10, 350, 690), strict=True)
    ]
    assert read([*columns[2], *columns[0], *columns[1]]) == ["a0", "a1", "b0", "b1", "c0", "c1"]


def test_a_headline_over_two_columns_comes_first():
    columns = [line(f"{side}{row}", left, 100 + 30 * row) for side, left in (("l", 50), ("r", 520)) for row in range(2)]
    assert read([*columns[::-1], line("head", 50, 10, 870)]) == ["head", "l0", "l1", "r0", "r1"]


def test_a_table_reads_row_by_row():
    cells = [line(f"{row}{column}", 50 + 300 * column, 10 + 30 * row, 80) for row in range(3) for column in range(3)]
    assert read(cells[::-1]) == [f"{row}{column}" for row in range(3) for column in range(3)]


def test_a_row_that_is_a_little_crooked_stays_a_row():
    assert read([line("b", 400, 12, 100), line("a", 50, 16, 100), line("c", 50, 50, 100)]) == ["a", "b", "c"]


@pytest.mark.parametrize("lines", [[], [line("a", 0, 0)]])
def test_few_lines_are_in_order(lines):
    assert in_reading_order(lines, 1000) == lines


boxes = st.tuples(st.floats(0, 1000), st.floats(0, 1000), st.floats(0, 500), st.floats(0, 60))


@given(st.lists(boxes, max_size=20), st.randoms())
def test_no_line_is_lost_and_the_order_does_not_depend_on_the_engines(found, random):
    lines = [line(str(place), *box) for place, box in enumerate(dict.fromkeys(found))]
    mixed = list(lines)
    random.shuffle(mixed)
    ordered = in_reading_order(mixed, 1000)
    assert sorted(item.text for item in ordered) == sorted(item.text for item in lines)
