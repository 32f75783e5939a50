from checks import names

FIVE = "found = 1\nfor kept in (): ...\ndef f(one, wanted): ...\nrows = [some for some in ()]\nitem.made = item.found\n"


def test_a_file_that_binds_too_many_universal_names_is_reported(tmp_path):
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "a.py").write_text(FIVE)
    (tmp_path / "noise" / "b.py").write_text("found = kept = made = 1\n")
    words = "found, kept, made, one, some, wanted"
    assert names.faults(tmp_path, {}) == [
        f"noise/a.py:1: binds 5 variables named {words}, 3 at most: name what they hold"
    ]
    assert names.faults(tmp_path, {"noise/a.py": 5}) == []
    assert names.faults(tmp_path, {"noise/a.py": 5, "gone.py": 4}) == [
        f"checks/baseline.json: gone.py binds 0 of {words} now: run python -m checks.names"
    ]


def test_the_baseline_falls_and_follows_files_that_move_but_never_grows():
    assert names.lowered({"a": 5, "b": 2}, {"a": 6}) == {"a": 5}
    assert names.lowered({"moved": 6, "b": 3}, {"a": 6}) == {"moved": 6}
    assert names.lowered({"a": 6, "b": 4}, {"a": 6}) == {"a": 6}
