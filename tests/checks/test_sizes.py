import pytest

from checks import sizes


def write(root, name, text):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text)


def function(lines, docstring=""):
    return f"def long():\n{docstring}" + "    x = 1\n" * (lines - 1)


@pytest.mark.parametrize("folder", ["ohr/engine", "noise", "speed"])
def test_a_file_over_the_limit_is_reported(tmp_path, folder):
    write(tmp_path, f"{folder}/fits.py", "x = 1\n" * 500)
    write(tmp_path, f"{folder}/long.py", "x = 1\n" * 501)
    assert sizes.faults(tmp_path, {}) == [f"{folder}/long.py:1: the file has 501 lines, more than 500"]
    assert sizes.faults(tmp_path, {f"{folder}/long.py": "a table"}) == []


def test_a_function_over_the_limit_is_reported(tmp_path):
    write(tmp_path, "ohr/fits.py", function(40))
    write(tmp_path, "ohr/long.py", "\n" + function(41))
    assert sizes.faults(tmp_path, {}) == ["ohr/long.py:2: long has 41 lines, more than 40"]
    assert sizes.faults(tmp_path, {"ohr/long.py:long": "options"}) == []


def test_a_docstring_does_not_count(tmp_path):
    write(tmp_path, "ohr/a.py", function(40, '    """Return.\n\n    Args: none.\n    """\n'))
    assert sizes.faults(tmp_path, {}) == []
    write(tmp_path, "ohr/a.py", function(41, '    """Return."""\n'))
    assert len(sizes.faults(tmp_path, {})) == 1


def test_an_exception_that_is_not_needed_is_reported(tmp_path):
    write(tmp_path, "ohr/a.py", "x = 1\n")
    assert sizes.faults(tmp_path, {"ohr/a.py": "a table"}) == [
        "checks/sizes.py: LONG: ohr/a.py is short, or gone: delete the entry"
    ]
