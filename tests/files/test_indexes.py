import numpy as np
import pytest

from ohr.contracts import Index
from ohr.errors import PluginError
from ohr.files.indexes import is_index, reopened


def test_each_kind_of_content_comes_back():
    inner = Index({"scores": np.zeros((0, 3), np.float16)}, ["not shown"])
    index = reopened(
        Index(
            {"vectors": np.arange(6.0).reshape(2, 3), "words": {"lease \ud800": 1}, "part": inner, "file": write},
            ["one chunk was cut"],
        )
    )
    assert index["vectors"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert isinstance(index["vectors"].base, np.memmap)
    assert (index["words"], index.notes) == ({"lease \ud800": 1}, ["one chunk was cut"])
    assert (index["part"]["scores"].shape, index["part"]["scores"].dtype) == ((0, 3), np.float16)
    assert index["file"].read_text() == "of a library"


def write(path):
    path.write_text("of a library")


def test_what_is_made_of_an_index_is_made_once():
    index, calls = Index({}), []
    for _ in range(3):
        assert index.once("calls", lambda: calls.append(1) or len(calls)) == 1


def test_names_are_those_of_variables():
    with pytest.raises(PluginError, match=r"names its contents as Python does variables, not '\.\./x'"):
        reopened(Index({"../x": 1}))


def test_a_folder_of_a_retriever_s_own_files_is_no_index(tmp_path):
    (tmp_path / "words.json").write_text("{}")
    assert not is_index(tmp_path)
