import subprocess
import sys
from importlib.metadata import entry_points

import pytest

from ohr import registry
from ohr.contracts import FAMILIES
from ohr.errors import PluginError
from ohr.registry import Registry, choices

from .conftest import CHUNKER


def forget():
    """Let entry points be read again."""
    registry._installed.cache_clear()
    registry._entries.cache_clear()


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Install a distribution with entry points, as pip would."""

    def install(points, group="ohr.chunkers", **modules):
        metadata = tmp_path / "stranger-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{group}]\n" + "\n".join(points) + "\n")
        for name, text in modules.items():
            (tmp_path / f"{name}.py").write_text(text)
        forget()

    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield install
    for name in set(sys.modules) - before:
        del sys.modules[name]
    forget()


def message_of(kind, *files, family="chunker"):
    with pytest.raises(PluginError) as caught:
        Registry(files).load(family, kind)
    return str(caught.value)


@pytest.mark.parametrize("family", FAMILIES)
def test_names_are_those_of_the_entry_points(family):
    assert Registry().names(family) == tuple(sorted(entry_points(group=FAMILIES[family][1]).names))


def test_listing_names_imports_no_plugin():
    code = (
        "import sys\nfrom ohr.contracts import FAMILIES\nfrom ohr.registry import Registry\n"
        "found = [name for family in FAMILIES for name in Registry().names(family)]\n"
        "rooms = ('ohr.noise', 'ohr.retrievers', 'ohr.generators', 'ohr.benchmarks', 'ohr.ocr', 'ohr.chunkers')\n"
        "print(len(found) > 10, [name for name in sys.modules if name.startswith(rooms)])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "True []"


def test_an_unknown_name_is_reported_with_the_nearest():
    names = ", ".join(Registry().names("chunker"))
    assert message_of("token") == f"no chunker 'token'. Choose one of: {names}. Did you mean 'tokens'?"


def test_a_name_like_nothing_has_no_nearest():
    assert choices("zzz", ["bm25", "dense"]) == "Choose one of: bm25, dense."


def test_a_foreign_plugin_is_found(installed):
    installed(["whole = stranger:Whole"], stranger=CHUNKER.format(name="Whole", kind="whole"))
    assert Registry().load("chunker", "whole").__name__ == "Whole"


def test_two_plugins_of_one_name_are_refused(installed):
    installed(["tokens = stranger:Whole"])
    message = message_of("tokens")
    assert message.startswith("chunker 'tokens' is claimed twice: ")
    assert set(message.removeprefix("chunker 'tokens' is claimed twice: ").split(" and ")) == {
        "ohr.chunkers.tokens:Tokens",
        "stranger:Whole",
    }


@pytest.mark.parametrize(
    ("point", "text", "message"),
    [
        (
            "whole = stranger:Whole",
            "import no_such_library",
            "stranger:Whole does not import: ModuleNotFoundError: No module named 'no_such_library'",
        ),
        ("whole = stranger:Whole", "1 / 0", "stranger:Whole does not import: ZeroDivisionError: division by zero"),
        (
            "whole = stranger:Whole",
            "",
            "stranger:Whole does not import: AttributeError: module 'stranger' has no attribute 'Whole'",
        ),
        ("whole = stranger:Whole", "Whole = 3", "stranger:Whole is not a Chunker"),
        (
            "whole = stranger:Whole",
            CHUNKER.format(name="Whole", kind="other"),
            "stranger:Whole has the kind 'other', but its entry point is called 'whole'",
        ),
    ],
)
def test_a_broken_plugin_is_reported(installed, point, text, message):
    installed([point], stranger=text)
    assert message_of("whole") == message


# --- plugin files -----------------------------------------------------------------------------------------


def write(path, text):
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_the_classes_of_a_file_are_plugins(tmp_path):
    file = write(tmp_path / "mine.py", CHUNKER.format(name="Whole", kind="whole"))
    files = Registry((file,))
    assert "whole" in files.names("chunker")
    assert files.load("chunker", "whole").__name__ == "Whole"
    assert files.names("retriever") == Registry().names("retriever")


def test_a_file_may_not_take_an_installed_name(tmp_path):
    file = write(tmp_path / "mine.py", CHUNKER.format(name="Mine", kind="tokens"))
    assert (
        message_of("tokens", file)
        == f"chunker 'tokens' is claimed twice: Mine in {file} and ohr.chunkers.tokens:Tokens"
    )


def test_two_files_may_not_take_one_name(tmp_path):
    files = tuple(write(tmp_path / name, CHUNKER.format(name="A", kind="whole")) for name in ("a.py", "b.py"))
    assert message_of("whole", *files) == f"chunker 'whole' is claimed twice: A in {files[0]} and A in {files[1]}"


def test_a_file_that_does_not_import_is_reported(tmp_path):
    file = write(tmp_path / "mine.py", "def broken(:\n")
    with pytest.raises(PluginError, match=r"mine\.py does not import: SyntaxError: "):
        Registry((file,)).names("chunker")


@pytest.mark.parametrize("line", ["from ohr.study.run import run", "from ohr.contracts import PageView"])
def test_a_file_that_imports_what_ohr_no_longer_has_is_referred_to_the_list(tmp_path, line):
    file = write(tmp_path / "mine.py", f"{line}\n")
    with pytest.raises(PluginError, match="what a plugin may import is listed under `Writing a plugin`"):
        Registry((file,)).names("chunker")


def test_a_class_without_a_kind_is_reported(tmp_path):
    text = "from ohr.contracts import Chunker\nclass Mine(Chunker):\n    def split(self, pages):\n        return []\n"
    file = write(tmp_path / "mine.py", text)
    with pytest.raises(PluginError) as caught:
        Registry((file,)).names("chunker")
    assert str(caught.value) == f'{file}: Mine has no kind: write `class Mine(..., kind="name")`'


def test_files_of_one_name_have_a_digest_each(tmp_path):
    files = tuple(write(tmp_path / folder / "mine.py", folder) for folder in ("a", "b"))
    assert len(set(Registry(files).digests().values())) == 2


OLD_RETRIEVER = """\
from typing import Literal
from ohr.contracts import Index, Retriever

class Old(Retriever):
    "Keeps its own files."
    kind: Literal["old"] = "old"
    def index(self, chunks) -> Index: ...
    def load(self, folder) -> Index: ...
    {search}
"""


@pytest.mark.parametrize("search", ["", "def search(self, index, questions): return []"])
def test_a_retriever_of_the_version_before_is_refused_with_what_to_change(tmp_path, search):
    file = tmp_path / "old.py"
    file.write_text(OLD_RETRIEVER.format(search=search))
    assert message_of("old", file, family="retriever") == (
        f"{file}: Old is a retriever for an earlier version of ohr: give it `search(index, queries, k)`, and let "
        "`index` return an Index of arrays and JSON values, in place of `load` and an index class "
        "(docs/plugins.md, A retriever)"
    )


def test_an_installed_retriever_of_the_version_before_is_refused_too(installed):
    installed(["old = past:Old"], group="ohr.retrievers", past=OLD_RETRIEVER.format(search=""))
    with pytest.raises(PluginError, match=r"past:Old is a retriever for an earlier version of ohr: give it `search"):
        Registry().load("retriever", "old")


def test_an_installed_plugin_of_the_version_before_works_where_its_contract_is_the_same(installed):
    installed(["old = past:Old"], past=CHUNKER.format(name="Old", kind="old"))
    assert Registry().load("chunker", "old")().kind == "old"


def test_a_plugin_that_lacks_methods_is_reported_with_their_names(tmp_path):
    file = tmp_path / "judge.py"
    file.write_text(
        "from typing import Literal\nfrom ohr.contracts import JudgeMetric\n\n\nclass Several(JudgeMetric):\n"
        '    kind: Literal["several"] = "several"\n    def judge(self): ...\n    def prompt_sha256(self): ...\n'
        "    def prompts_for(self, case): ...\n    def score_judged(self, case, replies): ...\n"
    )
    assert message_of("several", file, family="metric") == (
        f"{file} defines no plugin: a class that inherits from a family of ohr.contracts; Several lacks `prompt_for` "
        "and `score_reply` of its contract (docs/plugins.md)"
    )


@pytest.mark.parametrize(
    ("family", "old", "method", "new"),
    [
        ("benchmark", "Benchmark", "published", "PublishedBenchmark"),
        ("ocr", "OcrBackend", "recorded", "RecordedOcr"),
    ],
)
def test_a_method_of_the_version_before_names_its_contract(tmp_path, family, old, method, new):
    file = tmp_path / "exam.py"
    file.write_text(
        f"from ohr.contracts import {old}\n\n\nclass Exam({old}, kind='exam'):\n    def {method}(self): ...\n"
    )
    assert (
        message_of("exam", file, family=family)
        == f"{file}: Exam has `{method}`: let it inherit from {new} in place of {old}"
    )
