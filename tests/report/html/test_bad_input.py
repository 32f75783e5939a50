"""Runs that a page must show rightly, or refuse with a reason."""

import json
import shutil
from dataclasses import replace
from math import nan
from time import perf_counter

import numpy as np
import pytest

from ohr.errors import DataError
from ohr.report.html.details import Comparison, Details, Side, changes_of, find
from ohr.report.html.findings import read_findings
from ohr.report.html.question_list import Choice, QuestionList
from ohr.report.html.report_file import embedded_images, write_report
from ohr.results.run import Run
from speed.made_up_run import Asked, Condition, MadeUp

from .unpacked import unpacked

CLEAN = Condition("clean", "clean", "none", None, str)
MISREAD = Condition("scan", "scan", "semantic", None, lambda text: text.replace("e", "c"))
TEXTS = {(f"law/lease {number}", 0): f"The lease {number} ended in 19{number}5." for number in range(6)}
RUN = MadeUp(
    name="made-up",
    questions=[Asked(f"q{n}", f"When did lease {n} end?", [f"19{n}5"], text, document) for n, ((document, _), text)
               in enumerate(TEXTS.items())],
    pages=TEXTS,
    conditions=[CLEAN, MISREAD],
    score=lambda place, count: np.full(count, 1.0 - place / 2),
    answer=lambda place, asked: asked.answers[0],
)  # fmt: skip


@pytest.fixture
def page(tmp_path):
    """Write the report of a made-up run; returns its text."""

    def written(made):
        (path,) = write_report([Run(made.write(tmp_path / "runs"))], tmp_path / "report.html")
        return path.read_text(encoding="utf-8")

    return written


def losses(folder):
    (view,) = read_findings(Run(folder)).sections["cost"]
    return [dict(zip(view.headers, row, strict=True)) for row in view.long]


def test_one_document_gets_no_invented_interval(tmp_path, page):
    documents = {("law/lease 0", 0): TEXTS["law/lease 0", 0]}
    made = replace(RUN, questions=RUN.questions[:1], pages=documents)
    for row in losses(made.write(tmp_path)):
        assert row["lost [95% interval, alone]"] == "0.500"
        assert row["verdict alone"] == row["among all"] == "too few documents"
    assert "When did lease 0 end?" not in page(made)  # packed, not markup


def test_equal_scores_are_no_loss(tmp_path):
    made = replace(RUN, score=lambda place, count: np.full(count, 0.5))
    for row in losses(made.write(tmp_path)):
        assert row["lost [95% interval, alone]"] == "0.000"
        assert row["verdict alone"] == row["among all"] == "identical"
        assert row["questions"] == "-0 +0"


def test_undefined_scores_are_left_out_and_come_last(tmp_path):
    def score(place, count):
        found = np.full(count, 1.0 - place / 2)
        found[0] = nan
        return found

    listed = QuestionList(Run(replace(RUN, score=score).write(tmp_path)))
    for descending in (True, False):
        order = listed.select(Choice(0, 1, order="score", descending=descending))
        assert order[-1] == 0
    details = Details(listed).read([0])
    assert details["questions"]["q0"]["scores"][0] == [None, None]
    assert json.loads(json.dumps(details, allow_nan=False))


def test_a_run_without_any_score_has_a_page(tmp_path, page):
    made = replace(RUN, score=lambda _, count: np.full(count, nan))
    assert "cannot show a cost of noise" in page(made)


class PagesAlone(MadeUp):
    """A run with `evaluate: [page]`: no question is asked, so that there is no pipeline."""

    def _cells(self):
        yield "page", None, None


def test_a_run_that_scores_pages_alone_lists_its_questions_without_scores(tmp_path, page):
    unasked = PagesAlone(**vars(RUN))
    listed = QuestionList(Run(unasked.write(tmp_path)))
    assert listed.pipelines == [] and listed.conditions == ["clean", "scan"]
    scores, failed = listed.scores(*listed.start)
    assert np.isnan(scores).all() and not failed.any()
    assert {listed.ids[place] for place in listed.select(Choice(*listed.start))} == {f"q{n}" for n in range(6)}
    assert "it scores the text of the pages, and asks no question" in page(unasked)


def test_failed_questions_can_be_listed(tmp_path):
    folder = replace(RUN, failed=frozenset({("scan", "q3")})).write(tmp_path)
    listed = QuestionList(Run(folder))
    assert [listed.ids[place] for place in listed.select(Choice(0, 1, change="failed"))] == ["q3"]
    assert Details(listed).read([3])["questions"]["q3"]["scores"][0] == [1.0, "failed"]
    (failed, *_) = read_findings(Run(folder)).sections["failures"]
    assert failed.long == (("generator", "1", "no reply", "scan: q3"),)


def test_a_filter_that_fits_nothing_lists_nothing(tmp_path):
    listed = QuestionList(Run(RUN.write(tmp_path)))
    assert listed.select(Choice(0, 1, search="no such words")).size == 0
    assert listed.select(Choice(0, 1, source="chart")).size == 0


def test_a_run_without_a_clean_condition_has_no_losses(tmp_path, page):
    made = replace(RUN, conditions=[MISREAD])
    listed = QuestionList(Run(made.write(tmp_path)))
    assert listed.clean is None
    (shown,) = Details(listed).read([0])["pages"].values()
    assert shown["truth"] == ""
    assert shown["reads"]["scan"]["read"] == TEXTS["law/lease 0", 0].replace("e", "c")
    assert "cannot show a cost of noise" in page(made)


def test_results_of_another_version_are_refused_by_name(tmp_path):
    folder = RUN.write(tmp_path)
    (folder / "texts.parquet").unlink()
    with pytest.raises(DataError, match=r"texts\.parquet: is missing or damaged; run the spec again"):
        write_report([Run.finished(folder)], tmp_path / "report.html")
    assert not (tmp_path / "report.html").exists()


def test_a_run_that_is_not_finished_is_refused(tmp_path):
    folder = RUN.write(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "status": "stopped"}))
    with pytest.raises(DataError, match=r"not finished \(stopped\)"):
        write_report([Run.finished(folder)], tmp_path / "report.html")


@pytest.mark.acceptance
def test_three_megabytes_of_text_are_cut_around_the_evidence(tmp_path, page):
    long = "word " * 300_000 + "The long lease ended in 1995." + " tail" * 300_000
    asked = Asked("q6", "When did the long lease end?", ["1995"], "The long lease ended in 1995.", "law/long")
    made = replace(RUN, questions=[*RUN.questions, asked], pages={**TEXTS, ("law/long", 0): long})
    began = perf_counter()
    details = Details(QuestionList(Run(made.write(tmp_path)))).read([6])
    assert perf_counter() - began < 30
    (question,) = details["questions"].values()
    (shown,) = question["pages"]
    truth = details["pages"][shown["key"]]["truth"]
    ((start, end),) = shown["evidence"]
    assert truth[start:end] == asked.evidence
    assert len(truth) < 20_000
    ((first, last),) = shown["kept"]["scan"]
    assert details["pages"][shown["key"]]["reads"]["scan"]["read"][first:last] == asked.evidence.replace("e", "c")
    assert len(page(made)) < 3_000_000


def test_images_that_cannot_be_made_have_a_reason(tmp_path):
    made = replace(RUN, benchmark={"kind": "folder", "root": "gone"})
    found = embedded_images(QuestionList(Run(made.write(tmp_path))), 5, trust_plugins=False)
    assert found["pages"] == {}
    assert found["reason"].startswith("no page image: ")


def test_a_report_without_its_benchmark_still_has_every_question(tmp_path, page):
    assert "No published rows" in page(replace(RUN, benchmark={"kind": "of_nobody"}))


def runs_of_words(text, size=6):
    words = text.split()
    return {" ".join(words[start : start + size]) for start in range(len(words) - size + 1)}


def test_a_report_without_texts_has_numbers_and_names_alone(tmp_path, plain):
    run = Run(plain)
    secret = {words for row in run.rows("texts", ["text"]) for words in runs_of_words(row["text"] or "")}
    for row in run.rows("questions", ["text", "answers", "evidence"]):
        secret |= {words for text in (row["text"], *row["answers"], *row["evidence"]) for words in runs_of_words(text)}
    shown = {}
    for texts in (True, False):
        (path,) = write_report([run], tmp_path / f"{texts}.html", pages=True, texts=texts)
        shown[texts] = " ".join(unpacked(path.read_text(encoding="utf-8")).split())
    assert len(secret) > 500
    assert sum(words in shown[True] for words in secret) > 100
    assert [words for words in secret if words in shown[False]] == []
    assert "data:image/" not in shown[False] and "Most confused words" not in shown[False]
    assert "This report leaves out the texts of questions, answers and pages." in shown[False]
    of_this_machine = (run.manifest["store"], run.manifest["process"]["host"])
    assert all(name in shown[True] and name not in shown[False] for name in of_this_machine)
    names = run.table("questions", ["question_id"])["question_id"].to_pylist()
    assert names and all(name in shown[False] for name in names)


def test_a_report_without_texts_has_no_failed_item_and_no_folder(tmp_path):
    folder = RUN.write(tmp_path)
    manifest = json.loads((folder / "manifest.json").read_text())
    quoted = {"stage": "generator", "reason": "no reply to: Who pays?", "items": 2, "first": "model on scan: Who pays?"}
    manifest["failures"] = {"items": 2, "reasons": [quoted]}
    manifest["spec"]["plugins"] = ["/disk/John Doe/study/mine.py"]
    manifest["warnings"] = ["1 file of /disk/John Doe/study/docs cannot be read"]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    shown = {}
    for texts in (True, False):
        (path,) = write_report([Run(folder)], tmp_path / f"{texts}.html", texts=texts)
        shown[texts] = unpacked(path.read_text(encoding="utf-8"))
    assert all(text in shown[True] and text not in shown[False] for text in ("Who pays?", "John Doe"))
    assert "2 items failed, generator: the reason is left out." in shown[False]
    assert "…/mine.py" in shown[False] and "1 file of …/docs cannot be read" in shown[False]


def test_a_moved_run_has_the_same_report(tmp_path):
    folder = RUN.write(tmp_path / "runs")
    (first,) = write_report([Run(folder)], tmp_path / "first.html")
    moved = tmp_path / "elsewhere" / folder.name
    shutil.copytree(folder, moved)
    (second,) = write_report([Run(moved)], tmp_path / "second.html")
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("the old lease", "the old lease", []),
        ("the old lease", "the 0ld lease", [("old", "0ld", False)]),
        ("the old lease", "the lease", [("old", "", False)]),
        ("the lease", "the new lease", [("", "new", False)]),
        ("The lease, ended", "the lease ended", [("The lease,", "the lease", True)]),
        ("租赁合同于1964年", "租货合同于1964年", [("赁", "货", False)]),
        ("بدأ عقد الإيجار", "بدأ عفد الإيجار", [("عقد", "عفد", False)]),
        ("", "something", [("", "something", False)]),
        ("something", "", [("something", "", False)]),
        ("  spaced\n", "spaced", []),
    ],
)
def test_words_are_compared(before, after, changed):
    found = list(changes_of(Comparison(Side(before), Side(after)).changes()))
    assert [(before[a:b], after[c:d], same) for a, b, c, d, same in found] == changed


def test_evidence_is_found_though_it_is_not_there_letter_by_letter():
    text = "Nothing here. The func-\ntions of the lease   ended in 1964. Nothing there."
    start, end = find("The functions of the lease ended in 1964.", text)
    assert "lease   ended in 1964" in text[start:end]
    assert find("An evidence about whales", text) is None
