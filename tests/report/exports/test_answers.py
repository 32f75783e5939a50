"""The answers of a run as files of other programs, and scored again."""

from pathlib import Path

import pytest

from ohr.benchmarks.mini import Mini
from ohr.engine.executors.inline import Inline
from ohr.errors import DataError
from ohr.files.foreign_answers.layouts import LAYOUTS, read_foreign, written
from ohr.report.exports.answer_export import export_answers
from ohr.report.leaderboard.answer_files import score_file
from ohr.results.run import Run
from ohr.runner.run import run
from ohr.spec.read import read_spec


class Rows(Run):
    """A run whose tables are at hand."""

    def __init__(self, folder, **tables):
        super().__init__(folder)
        self.tables = tables
        self.manifest = {"name": "study", "started": "2026-01-01T00:00:00+00:00", "key": "0123456789"}

    def rows(self, name, /, columns=None, **equal):
        return [row for row in self.tables[name] if all(row[key] == value for key, value in equal.items())]


def question(name, *answers):
    about = {"text": f"{name}?", "answers": answers, "evidence": ["e"], "document": "law/a"}
    return {"question_id": name, **about}


def answer(name, stage="overall", kb="clean", retriever="bm25", generator="m", **more):
    place = {"stage": stage, "kb": kb, "condition": kb, "chunker": retriever and "page", "retriever": retriever}
    return {"question_id": name, **place, "generator": generator, "answer": f"{name} {kb}", "error": None, **more}


def hit(name, rank, kb="clean", retriever="bm25"):
    place = {"kb": kb, "chunker": "page", "retriever": retriever, "rank": rank}
    return {"question_id": name, **place, "text": f"{name} {rank} {kb} {retriever}"}


def made(tmp_path, answers, hits=()):
    questions = [question("q1", "one"), question("q2", "two", "2")]
    return Rows(tmp_path / "run", questions=questions, answers=answers, hits=hits)


def test_each_pipeline_and_knowledge_base_has_a_file_with_its_own_contexts(tmp_path):
    places = [("clean", "bm25"), ("clean", "dense"), ("blur 0.2", "bm25")]
    answers = [answer(name, kb=kb, retriever=by) for kb, by in places for name in ("q1", "q2")]
    answers += [answer("q1", stage="generation", retriever=None), answer("q1", stage="reference")]
    hits = [hit(name, rank, kb, by) for rank in (2, 1) for kb, by in places for name in ("q1", "q2")]
    done = export_answers(made(tmp_path, answers, hits), tmp_path / "out", "ragas")
    assert done == (4, 7, 0)
    names = ["blur 0.2--page--bm25--m", "clean--m--generation", "clean--page--bm25--m", "clean--page--dense--m"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"{name}.jsonl" for name in names]
    _, second = read_foreign(tmp_path / "out" / "clean--page--dense--m.jsonl").rows
    assert second.contexts == ("q2 1 clean dense", "q2 2 clean dense") and second.references == ("two", "2")
    assert (second.id, second.answer, second.evidence, second.document) == ("q2", "q2 clean", ("e",), "law/a")
    (alone,) = read_foreign(tmp_path / "out" / "clean--m--generation.jsonl").rows
    assert alone.contexts is None


def test_an_agent_has_found_its_own_contexts(tmp_path):
    answers = [answer("q1", retriever=None, generator="react", chunker="page")]
    answers += [answer("q2", retriever=None, generator="react", chunker="page")]
    export_answers(made(tmp_path, answers, [hit("q1", 1, retriever="react")]), tmp_path / "out", "ragas")
    rows = read_foreign(tmp_path / "out" / "clean--page--react.jsonl").rows
    assert [row.contexts for row in rows] == [("q1 1 clean react",), ()]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_failed_answers_are_written_with_their_error_and_counted(tmp_path, layout):
    answers = [answer("q1"), answer("q2", answer=None, error="no reply")]
    done = export_answers(made(tmp_path, answers), tmp_path / "out", layout)
    assert done == (1, 2, 1)
    (path,) = (tmp_path / "out").iterdir()
    found = read_foreign(path)
    assert [(row.id, row.answer, row.error) for row in found.rows] == [("q1", "q1 clean", ""), ("q2", "", "no reply")]


def test_names_that_differ_only_in_what_no_file_takes_stay_apart(tmp_path):
    answers = [
        answer("q1", kb="a/b"),
        answer("q1", kb="a:b"),
        answer("q1", kb="a--page", retriever=None, generator="b"),
    ]
    answers += [answer("q1", kb="a", retriever=None, chunker="page", generator="b")]
    assert export_answers(made(tmp_path, answers), tmp_path / "out", "deepeval").files == 4
    assert len(list((tmp_path / "out").iterdir())) == 4


def test_a_run_without_answers_and_a_folder_with_files_are_refused(tmp_path):
    with pytest.raises(DataError, match="has no answers to export"):
        export_answers(made(tmp_path, []), tmp_path / "out", "ragas")
    assert not (tmp_path / "out").exists()
    run, out = made(tmp_path, [answer("q1")]), tmp_path / "out"
    export_answers(run, out, "ragas")
    with pytest.raises(DataError, match="name another with --answers, or add --force"):
        export_answers(run, out, "ragas")
    export_answers(run, out, "deepeval", force=True)
    assert [path.suffix for path in out.iterdir()] == [".json"] and len(list(Path(tmp_path).glob("out.bak-*"))) == 1


def test_a_made_up_run_is_written_read_and_written_the_same(tmp_path, one):
    run = Run.finished(one())
    done = export_answers(run, tmp_path / "out", "ragas")
    assert (done.files, done.answers) == (6, 6 * 24)
    for path in (tmp_path / "out").iterdir():
        rows = read_foreign(path).rows
        assert written("ragas", rows, {})[0].encode() == path.read_bytes()
        assert all(len(row.contexts) == 2 for row in rows if "generation" not in path.name)


SPEC = """\
name: small
replicates: 1
benchmark: {kind: mini, languages: [en], max_pages: 1}
knowledge_bases:
  - name: formatting
    text_noise: {kind: formatting, rate: 0.4}
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 2}]
generators: [{kind: extractive}]
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    home = tmp_path_factory.mktemp("run")
    (home / "small.yaml").write_text(SPEC)
    return Run(run(read_spec(home / "small.yaml"), store=home / "store", runs=home / "runs", executor=Inline()).folder)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_exported_answers_have_the_scores_of_the_run(finished, tmp_path, layout):
    export_answers(finished, tmp_path / "out", layout)
    (path,) = (path for path in (tmp_path / "out").iterdir() if "bm25" in path.name)
    found = score_file(path, lambda: Mini(languages=["en"], max_pages=1), is_named=True)
    assert found.retrieval.nowhere == 0 and not found.missing
    compared = 0
    for stage, scores in (("overall", found.scores), ("retrieval", found.retrieval.scores)):
        for row in finished.rows("summary", stage=stage):
            if row["group"] == "multimodal":  # a group of groups
                continue
            again = scores[row["metric"]][row["by"]][row["group"]]
            means = [again.mean, again.low, again.high, again.n, again.failed, again.documents]
            names = ("mean", "low", "high", "n", "failed", "documents")
            # the last bit of a sum depends on how many rows are summed at once
            assert means == pytest.approx([row[name] for name in names], rel=1e-13, abs=1e-15, nan_ok=True)
            compared += again.low < again.high
    assert compared > 50
