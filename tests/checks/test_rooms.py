import pytest

from checks import rooms


@pytest.fixture
def house(tmp_path):
    """A room of two files, with 100 lines and three public names, and a family."""
    for name, text in {
        "ohr/store/a.py": "from x import y\nFIRST: int = 1\nsecond, _third = 1, 2\n_fourth = 4\n" + "\n" * 46,
        "ohr/store/b.py": "class Fifth:\n    sixth = 6\n\n\ndef seventh(): ...\n" + "\n" * 45,
        "ohr/keys.py": "",
        "noise/__init__.py": "",
        "noise/ink/b.py": "\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_package_of_ohr_is_a_room_and_a_family_is_one(house):
    assert rooms.measured(house) == {
        "noise": {"lines": 1, "names": 0},
        "ohr": {"lines": 0, "names": 0},
        "ohr/store": {"lines": 100, "names": 3},
    }
    assert rooms.repeated_names(house) == ["b.py"]


GROWN = 'checks/rooms.json: shorten it, or run python -m checks.rooms --because "REASON"'


@pytest.mark.parametrize(
    ("lines", "names", "expected"),
    [
        (100, 3, []),
        (70, 3, []),
        (112, 3, ["checks/rooms.json: ohr/store has 100 lines now: run python -m checks.rooms"]),
        (69, 3, [f"ohr/store: has 100 lines, more than the 69 of {GROWN}"]),
        (100, 0, [f"ohr/store: has 3 names, more than the 0 of {GROWN}"]),
    ],
)
def test_what_grew_or_fell_by_more_than_the_slack_is_reported(house, lines, names, expected):
    known = {"noise": {"lines": 1, "names": 0}, "ohr/store": {"lines": lines, "names": names}}
    assert rooms.faults(house, {"repeated": 0, "rooms": known}) == expected


def test_a_room_that_is_not_known_is_reported(house):
    known = {"repeated": 0, "rooms": {"noise": {"lines": 1, "names": 0}}}
    assert rooms.faults(house, known) == [
        f"ohr/store: has 100 lines, more than the 0 of {GROWN}",
        f"ohr/store: has 3 names, more than the 0 of {GROWN}",
    ]


def test_names_that_too_many_files_have_are_reported(house, monkeypatch):
    monkeypatch.setattr(rooms, "MOST_REPEATED", 0)
    known = rooms.renewed(rooms.measured(house), {}, "first")
    assert rooms.faults(house, {"repeated": 1, "rooms": known}) == []
    assert rooms.faults(house, {"repeated": 0, "rooms": known}) == ["1 base names of files repeat, 0 at most: b.py"]


def test_the_baseline_falls_by_itself_and_rises_only_with_a_reason():
    known = {"a": {"lines": 1000, "names": 50, "because": "of before"}, "gone": {"lines": 9, "names": 1}}
    less, more = {"a": {"lines": 900, "names": 51}}, {"a": {"lines": 1031, "names": 50}, "b": {"lines": 9, "names": 1}}
    assert rooms.renewed(less, known) == {"a": {"lines": 900, "names": 50, "because": "of before"}}
    assert rooms.renewed(more, known) == {"a": known["a"]}
    assert rooms.renewed(more, known, "of retries") == {
        room: {**counts, "because": "of retries"} for room, counts in more.items()
    }
