import pytest

from checks import prose


def faults(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    return prose.faults(tmp_path, [name])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('"""Tell whether it exists."""', '"""Tell '),
        ('"""What a level leaves."""', '"""What '),
        ("# the user is told", "told"),
        ("x = 'page 3 stands twice'", "stands"),
        ('x = f"{y} lies outside"', "lies"),
        ("# what is lost of what was there", "what is lost of what"),
        ("# be it by a break", "be it by"),
        ("def test_a_fault_is_told(): ...", "told"),
        ("told = 1", "told"),
        ("def f(told): ...", "told"),
        ("class Standing: ...", "Standing"),
    ],
)
def test_a_word_to_avoid_is_reported(tmp_path, line, words):
    (fault, *_) = faults(tmp_path, "a.py", f"\n{line}\n")
    assert fault.startswith(f"a.py:2: `{words}`: ")


@pytest.mark.parametrize(
    "line",
    [
        "# r stands for the rate",
        "# a stand-in",
        "# plugins are told apart by kind",
        "y = x.told()",  # defined elsewhere
        "y = 'it lies between 0 and 1'  # prose: ok",
        '"""Return the mean."""',
        "outstanding = tellurium = 1",
    ],
)
def test_a_proper_use_is_not(tmp_path, line):
    assert faults(tmp_path, "a.py", line + "\n") == []


def test_lines_of_long_strings_are_counted(tmp_path):
    text = '"""Return.\n\nIt lies\nhere.\n"""'
    assert faults(tmp_path, "a.py", text + "\n") == ["a.py:3: `lies`: is, is stored, is outside"]
    assert faults(tmp_path, "a.py", text + "  # prose: ok\n") == []


def test_markdown_is_read_without_code_and_links(tmp_path):
    page = "A `told` [x](lies.md)\nwhich lies\n```\ntold\n```\nit lies in [0, 1] <!-- prose: ok -->\n"
    assert [fault.split(": ")[0] for fault in faults(tmp_path, "a.md", page)] == ["a.md:2", "a.md:4"]


def test_folders_are_searched_and_missing_ones_reported(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c.py").write_text("# told\n")
    assert [fault.split(": ")[0] for fault in prose.faults(tmp_path, ["a"])] == ["a/b/c.py:1"]
    assert prose.faults(tmp_path, ["nowhere"]) == ["checks/prose.py: PLACES: nowhere does not exist"]
