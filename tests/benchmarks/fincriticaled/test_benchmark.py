"""The benchmark class: its documents and questions, its two protocols, and the inputs that it refuses or notes."""

import csv
import io
import json
import pickle
from math import isnan
from os import utime

import numpy as np
import pytest
from typer.testing import CliRunner

from ohr.benchmarks.fincriticaled import REPOSITORY, FinCriticalED, fetched
from ohr.benchmarks.fincriticaled.facts import strip_entity_tags
from ohr.cli.app import app
from ohr.errors import DataError
from ohr.testing import check_benchmark
from samples.fincriticaled import SAMPLE

from ..hub_server import archive

TAGGED = "<p>Sales of <number>25,700</number> in <temporal>2024</temporal></p>"


@pytest.fixture
def own(tmp_path):
    """Make a benchmark of some gold pages, whose table has these columns beside `matched_html`."""

    def make(*pages, columns=(), rows=(), protocol="clean"):
        plain = map(strip_entity_tags, pages)
        table = io.StringIO()
        cells = rows or [()] * len(pages)
        lines = [[*columns, "matched_html"], *([*row, html] for row, html in zip(cells, plain, strict=True))]
        csv.writer(table, lineterminator="\n").writerows(lines)
        (tmp_path / "raw_input_859.csv").write_bytes(table.getvalue().encode())
        (tmp_path / "gold_annotation_html").mkdir(exist_ok=True)
        for index, page in enumerate(pages):
            (tmp_path / f"gold_annotation_html/gold_{index}.txt").write_bytes(page.encode())
        return FinCriticalED(root=tmp_path, protocol=protocol)

    return make


@pytest.mark.parametrize("protocol", ["clean", "reference"])
def test_the_sample_keeps_the_contract(protocol):
    bench = FinCriticalED(root="sample", protocol=protocol)
    check_benchmark(bench, images=6)
    assert pickle.loads(pickle.dumps(bench)) == bench


def test_a_page_is_a_document_of_its_type():
    names = [document.name for document in FinCriticalED(root="sample").documents()]
    assert names == ["sec_filings/0", "sec_filings/1", "legal/2", "statements/3", "legal/4", "tax_forms/5"]


def test_pages_of_no_type_are_filings(own):
    bench = own(TAGGED, TAGGED, columns=["doc_type"], rows=[["Tax Forms"], [""]])
    assert [document.name for document in bench.documents()] == ["tax_forms/0", "filings/1"]


def test_a_fact_is_a_question_with_its_type_its_hint_and_its_row():
    found = {question.id: question for question in FinCriticalED(root="sample").questions()}
    fact = found["3-0"]
    assert (fact.text.partition(": ")[0], fact.answers, fact.groups) == ("Number", ("186,402",), (("type", "Number"),))
    assert fact.evidence == ("Net sales $186,402 $192,875",)
    assert (fact.document, fact.evidence_source, fact.asked) == ("statements/3", "table", True)
    page = found["3"]
    assert (page.asked, page.facts, page.evidence) == (False, (), ())
    assert "<number>186,402</number>" in page.answers[0]


def test_a_question_names_its_file_and_line():
    bench = FinCriticalED(root="sample")
    found = {question.id: bench.origin(question) for question in bench.questions()}
    assert found["0-0"].endswith("sample/gold_annotation_html/gold_0.txt:12")
    assert found["1"].endswith("sample/raw_input.csv:29")
    line = (SAMPLE / "raw_input.csv").read_text(encoding="utf-8").splitlines()[28]
    assert line.startswith("1,images/page_1.png")


def test_evidence_is_on_its_page_in_words():
    from ohr.metrics.lcs import lcs

    bench = FinCriticalED(root="sample")
    texts = {document.name: bench.pages(document)[0].text for document in bench.documents()}
    kept = [lcs(texts[q.document], q.evidence[0]) for q in bench.questions() if q.asked]
    assert sum(share > 0.95 for share in kept) == 162  # the others have a footnote or tags inside a number
    assert min(kept) > 0.8


@pytest.mark.parametrize(("protocol", "headline", "facts"), [("clean", "ffa_strict", 2), ("reference", "ffa", 0)])
def test_the_protocols_differ_in_their_headline_and_the_last_page(own, protocol, headline, facts):
    bench = own(TAGGED, columns=["id"], rows=[["858"]], protocol=protocol)
    gold = bench.root / "gold_annotation_html"
    (gold / "gold_0.txt").rename(gold / "gold_858.txt")
    assert bench.scoring.page[0] == headline
    assert len(bench.questions()) == 1 + facts
    assert any("the facts of page 858 are left out" in note for note in bench.notes()) == (protocol == "reference")


@pytest.mark.parametrize(
    ("total", "found", "correct", "rates"),
    [
        (800, 799, 1, (0.0013, 0.0013, 0.0012)), (9481, 7290, 6796, (0.7168, 0.9322, 0.2311)),
        (7, 6, 5, (0.7142, 0.8333, 0.1429)), (3, 0, 0, (0, 0, 1)),
    ],
)  # fmt: skip
def test_published_rates_have_the_published_rounding(total, found, correct, rates):
    known = {one.name: one.combine for one in FinCriticalED(root="sample", protocol="reference").aggregates()}
    parts, counts = np.array([correct / total, found / total]), np.array([total, total])
    found_rates = [float(known[name](parts, counts)) for name in ("ffa", "acc_found", "missing_rate")]
    assert found_rates == pytest.approx(rates, abs=1e-12)
    assert known["ffa"](parts, counts) == pytest.approx(correct / total, abs=0.000101)
    assert isnan(known["ffa"](np.array([np.nan, np.nan]), np.array([0, 0])))


def test_accuracy_among_found_facts_is_undefined_where_none_is_found():
    (accuracy,) = [one for one in FinCriticalED(root="sample").aggregates() if one.name == "acc_found"]
    assert accuracy.combine(np.array([0.25, 0.5]), np.array([4, 4])) == 0.5
    assert isnan(accuracy.combine(np.array([0.0, 0.0]), np.array([4, 4])))


def test_the_older_version_has_numbers_and_dates(own):
    bench = own("<p>Costs of <number>5</number> in <date>2023</date></p>")
    (bench.root / "raw_input_859.csv").rename(bench.root / "raw_input.csv")
    assert [dict(question.groups)["type"] for question in bench.questions() if question.asked] == ["Number", "Temporal"]
    assert [(one.what, one.found, one.published) for one in bench.verify()] == [
        ("pages (arXiv v1)", 1, 500),
        ("facts (arXiv v1)", 2, 739),
    ]


def test_a_gold_file_that_changed_is_read_again(own):
    bench = own(TAGGED)
    assert len(bench.questions()) == 3
    path = bench.root / "gold_annotation_html/gold_0.txt"
    path.write_text(TAGGED.replace("<temporal>2024</temporal>", "2024"))
    utime(path, ns=(1, 1))
    assert len(bench.questions()) == 2


def test_other_contents_have_other_fingerprints(own):
    bench = own(TAGGED, TAGGED.replace("25,700", "25,701"))
    first, second = bench.documents()
    assert bench.fingerprint(first, images=False) != bench.fingerprint(second, images=False)


def test_predictions_in_the_published_layout_are_texts_of_pages(own, tmp_path):
    bench = own(TAGGED, TAGGED, TAGGED)
    folder = tmp_path / "predictions"
    folder.mkdir()
    (folder / "pred_0.txt").write_text("<td>25,700</td>")
    (folder / "pred_2.txt").write_text("")
    (folder / "pred_9.txt").write_text("of no page")
    assert bench.results(folder) == {"filings/0": ["<td> 25,700 </td>"], "filings/2": ["\n"]}
    (tmp_path / "document.json").write_text("[]")
    assert bench.results(tmp_path) is None
    for name in ("pred_0.txt", "pred_2.txt"):
        (folder / name).unlink()
    with pytest.raises(DataError, match=r"none of its 1 prediction is of a page of"):
        bench.results(folder)
    (folder / "pred_9.txt").unlink()
    with pytest.raises(DataError, match=r"holds no pred_<i>\.txt"):
        bench.results(folder)


def test_annotators_are_compared_where_their_export_is_there(own):
    compared = "Fleiss' kappa of 3 annotators is 0.7901 by the published keys of spans (published: .8837 of 4)"
    assert compared in FinCriticalED(root="sample").notes()[-1]
    bench = own(TAGGED)
    assert bench.notes() == ()
    for name, said in (
        ("annotation_export.json", f"annotation_export.json: {compared}"),
        ("annotations.json", "annotations.json: no two annotators of one page"),
    ):
        content = (SAMPLE / "annotations.json").read_text("utf-8") if "export" in name else '[{"annotations": []}]'
        (bench.root / name).write_text(content)
        assert bench.notes()[-1].startswith(said)


def test_counts_are_compared_with_the_published_ones():
    found = CliRunner().invoke(app, ["data", "verify", str(SAMPLE), "--benchmark", "fincriticaled", "--json"])
    assert found.exit_code == 1
    tallies = {one["what"]: (one["found"], one["published"]) for one in json.loads(found.stdout)["tallies"]}
    assert tallies["pages"] == (6, 859)
    assert tallies["facts"] == (176, 9481)
    assert tallies["pages: legal"] == (2, 637)
    assert sum(number for what, (_, number) in tallies.items() if what.startswith("facts: ")) == 9481
    assert sum(number for what, (_, number) in tallies.items() if what.startswith("pages: ")) == 859


def test_types_of_documents_that_the_table_does_not_name_are_not_counted(own):
    assert {one.found for one in own(TAGGED).verify() if one.what.startswith("pages: ")} == {None}


def test_a_file_of_answers_is_scored_by_type(tmp_path):
    asked = [question for question in FinCriticalED(root="sample").questions() if question.asked]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({question.id: question.answers[0] for question in asked}))
    command = ["score", "answers", str(path), "--benchmark", "fincriticaled", "--set", "root=sample", "--json"]
    found = CliRunner().invoke(app, command)
    report = json.loads(found.stdout)
    assert (found.exit_code, report["missing"]) == (0, [])  # a page's own question is not asked
    assert {group: row["mean"] for group, row in report["scores"]["em"]["type"].items()} == dict.fromkeys(
        ("Number", "Temporal", "Monetary Unit", "Reporting Entity", "Financial Concepts", "all"), 1.0
    )


@pytest.mark.parametrize("name", ["annotations.json", "gold_annotation_html/other.txt"])
def test_links_to_nothing_beside_the_pages_are_no_fault(own, tmp_path, name):
    bench = own(TAGGED)
    (tmp_path / name).symlink_to("nothing")
    assert len(bench.documents()) == 1
    assert [note for note in bench.notes() if "cannot be read" in note] == (
        [f"{tmp_path / name}: cannot be read: No such file or directory; so the annotators are not compared"]
        if name == "annotations.json"
        else []
    )


# --- fetching -------------------------------------------------------------------------------------------


FILES = {
    str(path.relative_to(SAMPLE)): path.read_bytes()
    for folder in ("images", "gold_annotation_html")
    for path in sorted((SAMPLE / folder).iterdir())
}
TABLE = {"raw_input_859.csv": (SAMPLE / "raw_input.csv").read_bytes()}


@pytest.mark.parametrize("place", ["", "data/", "FinCriticalED/data/"])
def test_the_folder_with_the_table_is_the_root(hub, tmp_path, place):
    hub.files = {
        "README.md": b"",
        "pages.zip": archive({f"{place}{name}": content for name, content in (FILES | TABLE).items()}),
    }
    first, second = fetched(tmp_path / "copy", endpoint=hub.url)
    assert first == f"2 files of {REPOSITORY} at commit {'a' * 40}, {len(FILES) + 1} unpacked"
    root = tmp_path / "copy" / place.partition("data/")[0]
    assert second == f"root: {root}"
    bench = FinCriticalED(root=root)
    assert len(bench.questions()) == 182
    assert bench.page_image(bench.documents()[0], 0).shape == (1210, 935, 3)


def test_a_data_set_without_the_table_says_what_there_is(hub, tmp_path):
    hub.files = {"data/train-0.parquet": b"", "README.md": b""}
    _, second = fetched(tmp_path, endpoint=hub.url)
    assert second.startswith("no raw_input_859.csv or raw_input.csv among them (README.md, data/train-0.parquet)")
    with pytest.raises(DataError, match=r"no raw_input_859\.csv"):
        FinCriticalED(root=tmp_path).check()
