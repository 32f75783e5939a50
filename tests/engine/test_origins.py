"""The manifest names where a run's code comes from."""

import subprocess

from ohr.runner.origins import _commit, origins
from ohr.spec.read import read_spec


def test_a_plugin_file_and_ohr_itself_are_named_with_what_is_known(home):
    text = "benchmark: {kind: tiny}\nknowledge_bases: [{name: clean}]\nchunker: {kind: page}\n"
    path = home.write(text + "retrievers: [{kind: bm25}]\nevaluate: [retrieval]\n")
    found = origins(read_spec(path, (), trust_plugins=True))
    (file,) = [name for name in found if name != "ohr"]
    assert file.startswith("ohr_plugin_plugins")
    assert found[file]["plugins"] == ["benchmark tiny"]
    assert found["ohr"]["version"] and "chunker page" in found["ohr"]["plugins"]


def test_the_commit_is_that_of_a_tracked_file_only(tmp_path):
    git = ["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b.c"]
    tracked, other = tmp_path / "mine.py", tmp_path / "other.py"
    for path in (tracked, other):
        path.touch()
    for words in (["init", "-q"], ["add", "mine.py"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    assert (_commit(tracked), _commit(other)) == (commit, None)
    tracked.write_text("changed = 1\n")
    assert _commit(tracked) == f"{commit}-dirty"
