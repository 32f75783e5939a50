"""Python classes whose file has other files beside it, or whose methods take too little."""

import pytest

from ohr.errors import PluginError
from ohr.systems.python import PythonSystem

RAG = """\
import beside_rag


class Rag:
    def ingest(self, folder, name):
        pass

    def ask(self, question):
        return beside_rag.ANSWER
"""


def made(path):
    return PythonSystem.model_validate({"file": path, "class": "Rag"})


def test_a_file_beside_the_class_is_imported_and_part_of_its_identity(tmp_path):
    (tmp_path / "rag.py").write_text(RAG)
    before = made(tmp_path / "rag.py").identity()
    assert "beside" not in before
    (tmp_path / "beside_rag.py").write_text("import deeper\nANSWER = deeper.ANSWER\n")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "__init__.py").write_text("ANSWER = '1850'\n")
    system = made(tmp_path / "rag.py")
    system.check()
    assert system.ask("?", system.ingest(tmp_path, "kb")).answer == "1850"
    first = system.identity()
    (tmp_path / "deeper" / "__init__.py").write_text("ANSWER = '1851'\n")
    assert made(tmp_path / "rag.py").identity() != first
    (tmp_path / "unrelated.py").write_text("x = 1\n")
    assert set(first["beside"]) == {"beside_rag.py", "deeper/__init__.py"}


@pytest.mark.parametrize(("old", "new"), [("folder, name", "folder"), ("self, question", "self")])
def test_a_method_that_takes_too_little_is_refused_before_a_run(tmp_path, old, new):
    (tmp_path / "rag.py").write_text(RAG.replace("import beside_rag\n", "").replace(old, new, 1))
    with pytest.raises(PluginError, match="must take"):
        made(tmp_path / "rag.py").check()
