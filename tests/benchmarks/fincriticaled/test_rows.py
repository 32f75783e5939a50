"""Tables that are no text, or have no end of it: each is refused in a short sentence, with its line."""

from os import mkfifo

import pytest

from ohr.benchmarks.fincriticaled.release_files import find_table, read_data_set
from ohr.benchmarks.fincriticaled.rows import open_table
from ohr.errors import DataError


def refused(path, content):
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        open_table(path, ("matched_html",))
    return str(caught.value).replace(str(path), "TABLE")


@pytest.mark.parametrize("line", [1, 3, 5000])
def test_a_nul_byte_is_named_with_its_line(tmp_path, line):
    lines = [b"id,matched_html", *(b"%d,<p>a</p>" % number for number in range(6000))]
    lines[line - 1] += b"\0"
    assert refused(tmp_path / "a.csv", b"\n".join(lines)).startswith(f"TABLE:{line}: the line has a NUL byte")


def test_a_nul_byte_behind_latin_1_is_named_too(tmp_path):
    assert refused(tmp_path / "a.csv", b"matched_html\n\xe9\n\0\n").startswith("TABLE:3: the line has a NUL byte")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_known_by_its_mark_or_its_zeros(tmp_path, encoding):
    message = refused(tmp_path / "a.csv", "id,matched_html\n0,价\n".encode(encoding))
    assert message == "TABLE:1: the table is in UTF-16; save it as UTF-8"


@pytest.mark.parametrize("header", ["a" * 100_000, f"matched_html,{'b' * 100_000},{'b' * 100_000}"])
def test_a_long_header_is_cut_in_messages(tmp_path, header):
    assert len(refused(tmp_path / "a.csv", header.encode())) < 500


@pytest.mark.parametrize("name", ["absent", "file"])
def test_a_root_that_is_no_folder_is_said_to_be_none(tmp_path, name):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="no such folder"):
        find_table(tmp_path / name)


def data_set(root, gold):
    (root / "raw_input.csv").write_text("matched_html\n<p>5</p>\n")
    (root / "gold_annotation_html").mkdir()
    gold(root / "gold_annotation_html" / "gold_0.txt")
    with pytest.raises(DataError) as caught:
        read_data_set(root)
    return str(caught.value)


def test_a_gold_file_that_is_a_pipe_is_no_file(tmp_path):
    assert data_set(tmp_path, mkfifo).endswith("gold_0.txt: is no file")


def test_a_gold_file_of_nested_facts_is_refused(tmp_path):
    nested = f"{'<number>' * 200}5{'</number>' * 200}"
    assert "gold_0.txt:1: more than 100 tags" in data_set(tmp_path, lambda path: path.write_text(nested))
