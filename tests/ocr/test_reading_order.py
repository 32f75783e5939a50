import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.ocr.reading_order import Line, in_reading_order


def line(text, left, top, width=400, height=20):
    return Line(left, top, left + width, top + height, text)


def read(lines, width=1000):
    return [found.text for found in in_reading_order(lines, width)]


def grid(names, lefts, width, top=10):
    """Lines of columns, column by column: `a0`, `a1`, ..."""
    return [
        [line(f"{name}{row}", left, top + 30 * row, width) for row in range(3)]
        for name, left in zip(names, lefts, strict=True)
    ]


LEFT, RIGHT = grid("lr", (50, 520), 400, 100)
ONE, TWO, THREE = grid("abc", (10, 350, 690), 280)
CELLS = grid("xyz", (50, 350, 650), 80)


@pytest.mark.parametrize(
    ("lines", "order"),
    [
        ([line("b", 50, 40), line("a", 50, 10), line("c", 50, 70)], "a b c"),
        ([*RIGHT[::-1], *LEFT], "l0 l1 l2 r0 r1 r2"),
        ([*THREE, *ONE, *TWO], "a0 a1 a2 b0 b1 b2 c0 c1 c2"),
        ([*RIGHT, *LEFT, line("head", 50, 10, 870)], "head l0 l1 l2 r0 r1 r2"),
        ([cell for column in CELLS[::-1] for cell in column], "x0 y0 z0 x1 y1 z1 x2 y2 z2"),
        # a row that is a little crooked
        ([line("b", 400, 12, 100), line("a", 50, 16, 100), line("c", 50, 50, 100)], "a b c"),
    ],
    ids=["column", "two columns", "three columns", "headline", "table", "crooked"],
)
def test_lines_are_read_by_columns_or_by_rows_of_a_table(lines, order):
    assert read(lines) == order.split()


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
