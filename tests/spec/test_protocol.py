import json

import pytest


@pytest.fixture(autouse=True)
def data(tmp_path):
    """A folder of the benchmark."""
    page = tmp_path / "data" / "retrieval_base" / "gt" / "law" / "lease.json"
    page.parent.mkdir(parents=True)
    page.write_text(json.dumps([{"page_idx": 0, "text": "The lease began in 1964."}]))
    (tmp_path / "data" / "qas.json").write_text("[]")


def over(text, protocol="reference"):
    """Put the benchmark before the other lines of a spec."""
    return f"benchmark: {{kind: ohrbench, root: data, protocol: {protocol}}}\nknowledge_bases: [{{}}]\n{text}"


def test_a_protocol_picks_its_chunker_and_retriever(spec):
    read = spec(over("evaluate: [retrieval]"))
    assert [(named.name, named.stage.kind) for named in read.chunkers] == [("reference", "reference")]
    assert [(named.name, named.stage.kind) for named in read.retrievers] == [("bm25_reference", "bm25_reference")]
    assert read.resolved["chunkers"][0]["size"] == 1024


def test_no_retriever_is_picked_where_nothing_is_retrieved(spec):
    assert spec(over("generators: [{kind: extractive}]\nevaluate: [generation]")).retrievers == ()


def test_what_the_protocol_leaves_open_may_be_set_and_swept(spec):
    read = spec(over("retrievers: [{kind: bm25_reference, name: okapi, top_k: [1, 2, 5]}]\nevaluate: [retrieval]"))
    assert [named.name for named in read.retrievers] == ["okapi-1", "okapi-2", "okapi-5"]


def test_without_a_protocol_the_defaults_are_as_ever(spec, faults):
    assert spec(over("retrievers: [{kind: bm25}]\nevaluate: [retrieval]", "clean")).chunkers[0].stage.kind == "tokens"
    assert "at least one entry under `retrievers`" in faults(over("evaluate: [retrieval]", "clean"))[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "chunker: {kind: tokens}\nevaluate: [retrieval]",
            "spec.yaml:3: chunker.kind: is not of protocol reference of benchmark ohrbench. Choose one of: reference. "
            "(got 'tokens')",
        ),
        (
            "evaluate: [retrieval]\nretrievers:\n  - {kind: bm25_reference}\n  - {kind: bm25}",
            "spec.yaml:6: retrievers.1.kind: is not of protocol reference of benchmark ohrbench. Choose one of: "
            "bm25_reference. (got 'bm25')",
        ),
        (
            "chunker: {kind: reference, size: 512}\nevaluate: [retrieval]",
            "spec.yaml:3: chunker.size: must be 1024, as protocol reference of benchmark ohrbench has it (got 512)",
        ),
        (
            "retrievers: [{kind: bm25_reference, k1: [1.2, 1.5]}]\nevaluate: [retrieval]",
            "spec.yaml:3: retrievers.0.k1: must be 1.5, as protocol reference of benchmark ohrbench has it "
            "(got [1.2, 1.5])",
        ),
    ],
)
def test_a_plugin_that_is_not_the_protocols_is_refused(faults, text, message):
    assert faults(over(text)) == [message]


def test_a_kind_that_does_not_exist_is_reported_once(faults):
    lines = faults(over("chunker: {kind: referense}\nevaluate: [retrieval]"))
    assert sum("spec.yaml:3: chunker.kind: " in line for line in lines) == 1
