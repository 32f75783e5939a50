"""The manifest names where a run's code comes from."""

from importlib.metadata import version

from ohr.results.run import Run
from ohr.runner.origins import origins
from ohr.spec.read import read_spec


def test_a_plugin_file_and_ohr_itself_are_named_with_what_is_known(home):
    text = "benchmark: {kind: tiny}\nknowledge_bases: [{name: clean}]\nchunker: {kind: page}\n"
    path = home.write(text + "retrievers: [{kind: bm25}]\nevaluate: [retrieval]\n")
    found = origins(read_spec(path, (), trust_plugins=True))
    (file,) = [name for name in found if name != "ohr"]
    assert file.startswith("ohr_plugin_plugins")
    assert found[file]["plugins"] == ["benchmark tiny"]
    assert found["ohr"]["version"] and "chunker page" in found["ohr"]["plugins"]


def test_parts_of_plugins_are_named_with_their_packages(home):
    """An arm of a joined retriever decides the results as a retriever of the spec does."""
    text = "benchmark: {kind: tiny}\nknowledge_bases: [{name: clean}]\nchunker: {kind: page}\nevaluate: [retrieval]\n"
    path = home.write(f"{text}retrievers: [{{kind: hybrid, retrievers: [{{kind: bm25}}, {{kind: bm25_okapi}}]}}]\n")
    about = origins(read_spec(path, (), trust_plugins=True))["ohr"]
    assert {"retriever hybrid", "retriever bm25", "retriever bm25_okapi"} <= set(about["plugins"])
    assert about["packages"]["rank-bm25"] == version("rank-bm25")


def test_another_commit_changes_no_key_and_is_in_the_manifest(home, monkeypatch):
    text = "benchmark: {kind: tiny}\nknowledge_bases: [{name: clean}]\nchunker: {kind: page}\n"
    spec = f"{text}retrievers: [{{kind: bm25}}]\nevaluate: [retrieval]\n"
    monkeypatch.setattr("ohr.runner.origins.own_commit", lambda: "0123-dirty")
    first = home.run(spec)
    assert Run(first.folder).manifest["origins"]["ohr"]["commit"] == "0123-dirty"
    monkeypatch.setattr("ohr.runner.origins.own_commit", lambda: "4567")
    again = home.run(spec)
    assert again.folder == first.folder
