import json
import os
from pathlib import Path

import pytest
from PIL import Image

from ohr.errors import DataError, PluginError, SpecError
from ohr.report.leaderboard.ocr_results import score_ocr
from ohr.report.leaderboard.result_folders import is_searched, ocr_spec
from ohr.report.leaderboard.standings import leaderboard
from ohr.results.tables.read_table import read_rows
from ohr.spec.read import make_benchmark

pytestmark = pytest.mark.usefixtures("one_process")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """One store: the ground truth of all tests is the same."""
    return tmp_path_factory.mktemp("store")


def of(folder, keys, **more):
    return ocr_spec({folder.name: folder}, keys, **more)


@pytest.fixture
def score(store, tmp_path, keys):
    """Score a folder; the runs are the test's own."""

    def run(folder, name=None, **benchmark):
        spec = ocr_spec({name or folder.name: folder}, {**keys, **benchmark})
        return score_ocr(spec, store=store, runs=tmp_path / "runs", workers=1)

    return run


def test_the_ground_truth_as_ocr_has_no_distance_and_loses_nothing(score, base, tmp_path, texts):
    found = score(base(tmp_path / "perfect", texts))
    assert found.doses["perfect"]["edit_distance"] == 0
    assert repr(found.retrieval["perfect"]) == repr(found.retrieval["gt"])
    assert found.lost["mean"] == 0
    assert not found.failures


def test_lost_words_cost_retrieval_and_every_mean_can_be_traced(score, base, tmp_path, texts):
    halved = {name: [text[: len(text) // 2] for text in pages] for name, pages in texts.items()}
    found = score(base(tmp_path / "half", halved))
    assert found.doses["half"]["edit_distance"] == pytest.approx(0.5, abs=0.01)
    mine, clean = (found.retrieval[name]["evidence_source"]["all"] for name in ("half", "gt"))
    assert found.lost["mean"] == pytest.approx(clean.mean - mine.mean, abs=1e-5)  # six digits
    assert found.lost["mean"] > 0
    values = [
        row["value"] for row in read_rows(found.run / "scores.parquet", stage="retrieval", kb="half", metric="lcs")
    ]
    assert mine.mean == pytest.approx(sum(values) / len(values))
    assert mine.n == len(values) == sum(e.n for name, e in found.retrieval["half"]["domain"].items() if name != "all")
    domains = [e.mean for name, e in found.retrieval["half"]["domain"].items() if name != "all"]
    assert found.macro["half"] == pytest.approx(sum(domains) / 3)


def test_a_missing_document_is_counted_and_its_questions_score_0(score, base, tmp_path, texts, mini):
    gone = next(iter(texts))
    folder = base(tmp_path / "part", {name: pages for name, pages in texts.items() if name != gone})
    found = score(folder)
    asked = sum(question.document == gone for question in mini.questions())
    assert asked
    assert [failure.item for failure in found.failures] == [f"part: {gone} page 1"]
    assert found.retrieval["part"]["evidence_source"]["all"].failed == asked
    assert found.retrieval["part"]["evidence_source"]["all"].n == len(mini.questions())


def test_a_file_with_a_wrong_name_is_reported(score, base, tmp_path, texts):
    folder = base(tmp_path / "ocr", {**texts, "law/lesae": ["x"], "poetry/sonnet": ["y"]})
    warnings = score(folder).warnings
    assert "1 file of no document of the benchmark: law/lesae" in warnings
    assert "1 file of domains that are not evaluated, left out" in warnings


def test_a_damaged_file_fails_its_document_only(score, base, tmp_path, texts):
    folder = base(tmp_path / "ocr", texts)
    name = next(iter(texts))
    (folder / f"{name}.json").write_text("{not json")
    found = score(folder)
    assert [failure.item for failure in found.failures if name in failure.item]
    assert found.retrieval["ocr"]["evidence_source"]["all"].failed > 0


@pytest.mark.parametrize("content", [None, [], ["note.txt"]])
def test_a_folder_without_results_is_refused(tmp_path, keys, content):
    folder = tmp_path / "ocr"
    if content is not None:
        folder.mkdir()
        for name in content:
            (folder / name).write_text("x")
    with pytest.raises(PluginError, match=r"no such folder|holds no <domain>/<document>\.json"):
        of(folder, keys)


@pytest.mark.parametrize("suffix", [".txt", ".md"])
def test_a_folder_of_texts_is_scored_by_its_format(tmp_path, keys, texts, suffix):
    folder = tmp_path / "ocr"
    folder.mkdir()
    for name, pages in texts.items():  # all in one folder, as an engine's script writes them
        (folder / f"{name.rpartition('/')[2]}{suffix}").write_text("\f".join(pages), encoding="utf-8")
    with pytest.raises(PluginError, match=r"<document>\.json, but results that `format: markdown` reads$"):
        of(folder, keys)
    spec = of(folder, keys, format="markdown")
    result = score_ocr(spec, store=tmp_path / "store", runs=tmp_path / "runs", workers=1)
    assert result.doses["ocr"]["edit_distance"] == pytest.approx(0, abs=1e-3)
    assert repr(result.retrieval["ocr"]) == repr(result.retrieval["gt"])
    assert not result.failures


def test_texts_of_another_benchmark_are_refused(tmp_path, keys):
    (tmp_path / "ocr").mkdir()
    (tmp_path / "ocr/sonnet.txt").write_text("Shall I compare thee")
    spec = of(tmp_path / "ocr", keys, format="markdown")
    with pytest.raises(DataError, match=r"no file is a document of benchmark mini \(a file is 'ocr/sonnet'"):
        score_ocr(spec, store=tmp_path / "store", runs=tmp_path / "runs", workers=1)


def test_a_benchmark_without_ground_truth_is_refused_and_the_key_to_set_is_named(tmp_path):
    (tmp_path / "docs").mkdir()
    Image.new("RGB", (9, 9)).save(tmp_path / "docs/lease.png")
    (tmp_path / "q.json").write_text('[{"question": "When?", "page": 1, "evidence": "in 1964"}]')
    keys = {"kind": "folder", "root": str(tmp_path / "docs"), "questions": str(tmp_path / "q.json")}
    with pytest.raises(DataError, match=r"no ground truth here.*`ohr plugins show benchmark folder`"):
        is_searched(make_benchmark(keys, "ohr score"))


def test_a_key_that_the_benchmark_does_not_have_is_reported(base, keys, tmp_path, texts):
    folder = base(tmp_path / "ocr", texts)
    with pytest.raises(SpecError, match=r"^ohr score: benchmark\.protocol: unknown key"):
        of(folder, {**keys, "protocol": "reference"})


def test_a_folder_named_gt_does_not_hide_the_ground_truth(score, base, tmp_path, texts):
    found = score(base(tmp_path / "gt", texts))
    assert (found.name, found.truth) == ("gt", "ground_truth")


def ohrbench(base, root: Path) -> dict[str, object]:
    """Write a benchmark of two domains with six documents each."""
    asked, texts = [], {}
    for number in range(12):
        name = f"{('law', 'manual')[number % 2]}/{number}"
        sentence = f"The office number {number} opened in the year {1900 + number} near the river."
        texts[name] = [sentence]
        asked.append(
            {"ID": f"q{number}", "doc_name": name, "questions": f"When did office number {number} open?",
             "answers": str(1900 + number), "evidence_source": ("text", "table")[number % 3 == 0],
             "evidence_page_no": 0, "evidence_context": sentence, "doc_type": name.split("/")[0]}
        )  # fmt: skip
    base(root / "retrieval_base/gt", texts)
    base(root / "retrieval_base/bad", {name: [text.replace("opened", "0pcned")] for name, [text] in texts.items()})
    (root / "qas.json").write_text(json.dumps(asked))
    return {"kind": "ohrbench", "root": str(root)}


@pytest.mark.parametrize("protocol", ["clean", "reference"])
def test_the_row_is_listed_among_the_published_ones(base, tmp_path, protocol):
    spec = of(tmp_path / "retrieval_base/bad", {**ohrbench(base, tmp_path), "protocol": protocol})
    found = score_ocr(spec, store=tmp_path / "store", runs=tmp_path / "runs", workers=1)
    sources, domains = found.leaderboards
    assert sources.table.startswith("Results of the repository, github.com/opendatalab/OHR-Bench, commit 1f421eb")
    assert (sources.groups[-1], domains.groups) == ("all", ("law", "manual", "mean"))
    # the twelve questions are not the published 8,498: own rows come last, and have no rank
    assert [row.system for row in sources.rows][-2:] == ["gt", "bad"]
    assert [row.system for row in sources.rows if not row.ranked] == ["gt", "bad"]
    (view, _) = leaderboard(found.leaderboards)
    assert [row[0] for row in view.rows] == [*map(str, range(1, len(view.rows) - 1)), "", ""]
    assert "Not to be compared: your rows, which have no rank" in view.how
    (own,) = [row for row in domains.rows if row.system == "bad"]
    assert own.setting.endswith("; 12 questions of law, manual")
    retrieval = found.retrieval["bad"]
    assert own.scores["mean"] == pytest.approx(found.macro["bad"])
    assert own.edit_distance == found.doses["bad"]["edit_distance"]
    assert own.of_truth == pytest.approx(retrieval["domain"]["all"].mean / found.retrieval["gt"]["domain"]["all"].mean)
    published = {row.system: row for row in domains.rows if not row.own}
    assert published["MinerU"].scores["mean"] == pytest.approx((0.710 + 0.604) / 2)
    assert published["MinerU"].of_truth == pytest.approx((0.710 + 0.604) / (0.812 + 0.791))
    assert found.protocol == protocol


@pytest.fixture
def real_data() -> Path:
    if "OHRBENCH_DATA" not in os.environ:
        pytest.skip("OHRBENCH_DATA names no folder")
    return Path(os.environ["OHRBENCH_DATA"])


@pytest.mark.ohrbench
@pytest.mark.acceptance
def test_mineru_on_the_real_data_scores_what_the_published_code_gives(tmp_path, real_data):
    benchmark = {"kind": "ohrbench", "root": str(real_data), "domains": ["manual"], "protocol": "reference"}
    spec = of(real_data / "retrieval_base/MinerU", benchmark)
    found = score_ocr(spec, store=tmp_path / "store", runs=tmp_path / "runs", workers=1)
    assert round(100 * found.macro["MinerU"], 2) == 76.76
    assert round(100 * found.macro["gt"], 2) == 89.78
    assert found.doses["MinerU"]["edit_distance"] == pytest.approx(0.255, abs=0.0005)
    assert found.doses["MinerU"]["r_noise"] == pytest.approx(0.306, abs=0.0005)
