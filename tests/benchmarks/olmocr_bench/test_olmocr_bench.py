"""olmOCR-bench: which files are read, what is refused, and what results score."""

import json
import shutil
from pathlib import Path

import pytest

from ohr.benchmarks.olmocr_bench import SAMPLE, OlmOcrBench
from ohr.benchmarks.olmocr_bench.metrics import OlmOcrTest
from ohr.errors import DataError

from ..whole_runs import aggregates, scored, values

CAREFUL = SAMPLE / "results/careful"
TEST = {"pdf": "a.pdf", "page": 1, "id": "t", "type": "present", "text": "Dues rose."}


def root(folder, *records):
    folder.mkdir(exist_ok=True)
    (folder / "text.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return folder


def test_a_pdf_is_a_document_and_gets_a_baseline_test():
    benchmark = OlmOcrBench(root="sample")
    names = [document.name for document in benchmark.documents()]
    assert names == [
        "formulas/tide_model_17",
        "headers_footers/harbor_dues_3",
        "headers_footers/pilot_rules_5",
        "reading_order/ferry_notice_1",
    ]
    added = [question for question in benchmark.questions() if dict(question.groups)["file"] == "baseline"]
    assert [question.id for question in added] == [f"{name.split('/')[1]}.pdf_baseline" for name in names]
    assert benchmark.page_image(benchmark.documents()[0], 0).ndim == 3
    assert list(benchmark.pages(benchmark.documents()[0])) == []


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{**TEST, "type": "nope"}], r"text\.jsonl:1: .*nope"),
        ([TEST, {**TEST, "id": "u", "page": "one"}], r"text\.jsonl:2: .*page"),
        ([TEST, TEST], r"text\.jsonl:2: the test t is that of .*text\.jsonl:1, too"),
        ([[]], r"text\.jsonl:1: must be an object"),
        ([], r"text\.jsonl: holds no test"),
        ([{**TEST, "pdf": "../a.pdf"}], r"text\.jsonl:1: `pdf` must be a path inside"),
        ([{**TEST, "pdf": "a"}], r"text\.jsonl:1: `pdf` must end in \.pdf"),
        ([{**TEST, "page": 10**9}], r"text\.jsonl:1: page 1,000,000,000, and a\.pdf has 100,000 pages at most"),
    ],
)
def test_tests_that_cannot_be_used_are_refused_with_their_line(tmp_path, records, message):
    with pytest.raises(DataError, match=message):
        OlmOcrBench(root=root(tmp_path, *records)).questions()


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(DataError, match="holds no tests"):
        OlmOcrBench(root=tmp_path).documents()
    benchmark = OlmOcrBench(root=root(tmp_path, {**TEST, "page": 2}))
    assert benchmark.documents()[0].pages == 2
    (note,) = benchmark.notes()
    assert note.startswith("1 PDF of the tests not below") and note.endswith("a.pdf")
    with pytest.raises(DataError, match=r"a\.pdf: no such file"):
        benchmark.page_image(benchmark.documents()[0], 0)


def test_a_repeat_of_results_is_chosen(tmp_path):
    benchmark = OlmOcrBench(root=root(tmp_path / "set", {**TEST, "pdf": "deep/a.pdf", "page": 3}))
    (tmp_path / "read/deep").mkdir(parents=True)
    for name, text in {
        "a_pg1_repeat1": "",
        "a_pg3_repeat1": "first",
        "a_pg3_repeat2": "second",
        "b_pg1_repeat1": "x",
    }.items():
        (tmp_path / "read/deep" / f"{name}.md").write_text(text)
    assert benchmark.results(tmp_path / "read") == {"deep/a": ["\n", None, "first"]}
    (tmp_path / "read/deep/a_pg99999999999_repeat1.md").write_text("far")
    second = benchmark.model_copy(update={"repeat": 2})
    assert second.results(tmp_path / "read") == {"deep/a": [None, None, "second"]}
    with pytest.raises(DataError, match=r"none of its 5 results is called .* deep/a_pg1_repeat3.md"):
        benchmark.model_copy(update={"repeat": 3}).results(tmp_path / "read")
    with pytest.raises(DataError, match=r"holds no <PDF>_pg<page>_repeat<number>\.md, nor <domain>"):
        benchmark.results(tmp_path / "set")
    (tmp_path / "set/law.json").write_text("[]")
    assert benchmark.results(tmp_path / "set") is None


def test_an_empty_page_of_results_passes_no_test_of_presence(tmp_path):
    absent = {**TEST, "id": "u", "type": "absent"}
    questions = OlmOcrBench(root=root(tmp_path, TEST, absent)).questions()
    tests = [question for question in questions if not question.asked]
    assert OlmOcrTest().score_page("\n", "", tests)[:2] == [0, 1]


def test_a_test_that_is_called_like_an_added_one_or_like_another_files_stays(tmp_path):
    copy = root(tmp_path, {**TEST, "id": "a.pdf_baseline"}, TEST)
    (copy / "other.jsonl").write_text(json.dumps(TEST), encoding="utf-8")
    asked = {question.id: dict(question.groups)["file"] for question in OlmOcrBench(root=copy).questions()}
    assert asked == {
        "t": "other", "text/t": "text", "a.pdf_baseline": "text", "baseline/a.pdf_baseline": "baseline",
    }  # fmt: skip


@pytest.mark.usefixtures("one_process")
def test_results_pass_and_fail_their_tests(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(CAREFUL, tmp_path / "partial")
    (tmp_path / "partial/pilot_rules_5_pg1_repeat1.md").unlink()
    (tmp_path / "partial/ferry_notice_1_pg1_repeat1.md").write_text("Lanterns for the old quay.", encoding="utf-8")
    status, report = scored("ocr", tmp_path / "partial", "olmocr_bench")
    assert (status, report["truth"]) == (1, "")
    passed = values(Path(report["run"]), stage="page", metric="passed")
    assert {name for name, value in passed.items() if not value} == {
        "pilot_rules_5_headers_footers_0", "pilot_rules_5_headers_footers_1", "pilot_rules_5_tables_0",
        "pilot_rules_5.pdf_baseline", "ferry_notice_1_reading_order_0", "ferry_notice_1_reading_order_1",
    }  # fmt: skip
    numbers = aggregates(Path(report["run"]), stage="page")
    shares = {"formulas": 1, "headers_footers": 1 / 3, "reading_order": 0, "tables": 2 / 3, "baseline": 3 / 4}
    assert numbers == pytest.approx(
        {**{f"{file}: passed": share for file, share in shares.items()}, "olmocr_bench": sum(shares.values()) / 5}
    )


def test_two_results_of_one_page_are_refused(tmp_path):
    for name in ("harbor_dues_3_pg1_repeat1.md", "harbor_dues_3_pg01_repeat1.md"):
        (tmp_path / name).write_text("read")
    with pytest.raises(DataError, match=r"another file of .* is of the same page and repeat"):
        OlmOcrBench(root="sample").results(tmp_path)
