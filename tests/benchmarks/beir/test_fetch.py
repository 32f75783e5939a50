"""Data sets of the hub, from a small one on this machine, in both layouts that were seen there."""

import gzip
import io
import json

import pytest
from typer.testing import CliRunner

from ohr.benchmarks.beir import Beir
from ohr.benchmarks.beir.fetch import DOCUMENTS_AND_QUERIES, fetch
from ohr.cli.app import app
from ohr.errors import DataError

CORPUS = [
    {"_id": "4983", "title": "Microstructure", "text": "Of white matter."},
    {"_id": "10", "title": "", "text": ""},
]
QUERIES = [{"_id": "1", "text": "Is white matter structured?"}]
JUDGMENTS = {
    "train.tsv": b"query-id\tcorpus-id\tscore\n1\t10\t1\n",
    "test.tsv": b"query-id\tcorpus-id\tscore\n1\t4983\t1\n",
}


def packed(records):
    return gzip.compress("".join(json.dumps(record) + "\n" for record in records).encode())


def parquet(records):
    pyarrow = pytest.importorskip("pyarrow.parquet")
    out = io.BytesIO()
    pyarrow.write_table(pytest.importorskip("pyarrow").Table.from_pylist(records), out)
    return out.getvalue()


def layouts():
    lines = {"corpus.jsonl.gz": packed(CORPUS), "queries.jsonl.gz": packed(QUERIES)}
    tables = {
        "corpus/corpus-00000-of-00002.parquet": parquet(CORPUS[:1]),
        "corpus/corpus-00001-of-00002.parquet": parquet(CORPUS[1:]),
        "queries/queries-00000-of-00001.parquet": parquet(QUERIES),
    }
    return {"lines": lines, "tables": tables}


@pytest.mark.parametrize("layout", ["lines", "tables"])
def test_a_named_set_is_fetched_and_can_be_read(hub, tmp_path, layout):
    hub.files = {**layouts()[layout], **JUDGMENTS, "README.md": b"x"}
    root = tmp_path / "scifact"
    printed = fetch(root, None, "scifact", endpoint=hub.url)
    assert printed[0] == f"{2 + (layout == 'tables')} files of BeIR/scifact at commit {'a' * 40}, 0 unpacked"
    assert printed[1] == f"2 files of BeIR/scifact-qrels at commit {'a' * 40}, 0 unpacked"
    assert printed[-2:] == ["splits: test, train", f"root: {root}"]
    benchmark = Beir(root=root)
    assert [document.name for document in benchmark.documents()] == ["scifact/4983", "scifact/10"]
    assert benchmark.questions()[0].relevant[0].document == "scifact/4983"
    assert [(tally.what, tally.found, tally.published) for tally in benchmark.verify()] == [
        ("documents", 2, 5_183),
        ("queries of test", 1, 300),
    ]
    hub.asked.clear()
    fetch(root, None, "scifact", endpoint=hub.url)
    assert not [path for command, path, _ in hub.asked if command == "GET" and "/resolve/" in path]


def test_a_file_that_was_not_fetched_is_never_replaced(hub, tmp_path):
    hub.files = {**layouts()["tables"], **JUDGMENTS}
    (tmp_path / "corpus.jsonl").write_text("mine")
    with pytest.raises(DataError, match=r"corpus\.jsonl: is there already and not the hub's: move it"):
        fetch(tmp_path, None, "scifact", endpoint=hub.url)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.jsonl"]
    (tmp_path / "corpus.jsonl").unlink()
    fetch(tmp_path, None, "scifact", endpoint=hub.url)
    (tmp_path / "queries.jsonl").write_text("changed since")
    fetch(tmp_path, None, "scifact", endpoint=hub.url)
    (backup,) = tmp_path.glob("*.bak-*")
    assert (backup.name.partition(".bak-")[0], backup.read_text()) == ("queries.jsonl", "changed since")


def test_a_set_in_another_layout_is_one_sentence(hub, tmp_path):
    hub.files = dict(JUDGMENTS)
    with pytest.raises(DataError, match=r"the hub has no corpus\.jsonl\.gz and no corpus/\*\.parquet of this data set"):
        fetch(tmp_path, None, "scifact", endpoint=hub.url)


def test_the_command_asks_for_a_set_that_is_known():
    for words, message in (
        (["data", "get", "beir"], "benchmark beir: it has several data sets: name one with --set. Choose one of: argu"),
        (["data", "get", "beir", "--set", "scifakt"], "no data set 'scifakt' is known"),
        (["data", "get", "beir", "--set", "scifakt"], "Did you mean 'scifact'?"),
    ):
        found = CliRunner().invoke(app, words)
        assert (found.exit_code, message in found.stderr) == (2, True), found.stderr
    assert tuple(DOCUMENTS_AND_QUERIES) == Beir.names()


def test_a_copy_is_verified_where_counts_are_published(data_set):
    found = CliRunner().invoke(app, ["data", "verify", str(data_set.write()), "--benchmark", "beir"])
    assert (found.exit_code, found.stdout.strip()) == (
        0,
        "no counts of this data set are published: it has 3 documents and 1 question",
    )
    data_set.root.rename(data_set.root.parent / "scifact")
    found = CliRunner().invoke(app, ["data", "verify", str(data_set.root.parent / "scifact"), "--benchmark", "beir"])
    assert (found.exit_code, "2 of 2 counts differ" in found.stdout) == (1, True)
