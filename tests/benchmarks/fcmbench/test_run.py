"""FCMBench in whole runs and commands: the shipped pipeline, answers from a file, a fetched copy, images alone."""

import json
import shutil
from math import isnan
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from ohr.benchmarks.fcmbench import FcmBench
from ohr.benchmarks.fcmbench.item_files import QUESTIONS, SAMPLE, fetch
from ohr.cli.app import app
from ohr.errors import DataError
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows
from ohr.spec.read import read_spec

from ..hub_server import archive
from ..whole_runs import finished, scored

ROOT = Path(__file__).parents[3]
PIPELINE, PLUGINS = ROOT / "pipelines" / "fcmbench-mini.yaml", ROOT / "tests" / "plugins.py"
KINDS = {
    "off_axis", "uneven_illumination", "specular", "defocus", "small_roi", "secondary_capture", "cluttered_background",
    "watermark", "cropped", "multi_doc",
}  # fmt: skip


def values(folder, stage, condition):
    rows = Run(folder).rows_if_any("aggregates", stage=stage, condition=condition)
    return {row["name"]: (row["value"], row["ratio"]) for row in rows}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A copy of the sample, in which all pictures but one are only a dot, and no engine needs long."""
    folder = tmp_path_factory.mktemp("home")
    shutil.copytree(SAMPLE, folder / "copy")
    for path in (folder / "copy/images").rglob("*.*"):
        if path.parts[-2:] != ("property_owner_search_report", "001_正常.jpg"):
            Image.new("RGB", (20, 20), "white").save(path)
    return folder


@pytest.fixture(scope="module")
def mini(home):
    """The shipped pipeline with noise that needs no OCR, and one condition that does."""
    bases = [
        "{name: text}",
        "{name: scrambled, text_noise: {kind: channel, rate: 0.8}}",
        "{name: cropped, image_noise: {kind: cropped, severity: 0.67}, ocr: {kind: tesseract}}",
    ]
    chosen = ["benchmark.languages=[en]", f"knowledge_bases=[{', '.join(bases)}]"]
    return finished(PIPELINE, home, f"benchmark.root={home / 'copy'}", *chosen)


def test_the_shipped_pipeline_has_all_ten_conditions_and_finds_its_data_anywhere():
    spec = read_spec(PIPELINE)
    noises = [noise for base in spec.knowledge_bases for noise in base.image_treatments]
    assert {noise.kind for noise in noises} == KINDS
    assert len({noise.severity for noise in noises}) == 3
    assert spec.knowledge_bases[0].noise_type == "none"
    for generator in spec.generators:
        generator.stage.check()


def test_a_reader_that_knows_the_answers_is_right_on_clean_text(mini):
    clean = values(mini, "generation", "text")
    assert {name: value for name, (value, _) in clean.items()} == dict.fromkeys(clean, 1.0)
    assert clean.keys() == {"DTR", "KIE", "CC", "VC", "NC", "overall"}


def test_noise_leaves_a_share_of_the_clean_score_over_the_same_questions(mini):
    value, ratio = values(mini, "generation", "scrambled")["overall"]
    assert 0 < value == ratio < 1
    rows = read_rows(mini / "scores.parquet", stage="generation", condition="cropped", metric="fcmbench_f1")
    scores = {row["question_id"]: row["value"] for row in rows}
    assert isnan(scores["en.doc_cla_002_01"])  # its example pictures would be cropped, too
    assert scores["en.doc_cla_003_01"] == 0  # no document is whole
    assert scores["en.con_chk_004_01"] == 1
    (overall,) = Run(mini).rows_if_any("aggregates", stage="generation", condition="cropped", name="overall")
    assert (overall["n"], overall["ratio_n"]) == (len(scores) - 1, len(scores) - 1)


def test_pictures_are_found_among_those_of_the_applicant(mini):
    hits = read_rows(mini / "hits.parquet", condition="text")
    owners = {row["question_id"]: row["document"] for row in read_rows(mini / "questions.parquet")}
    assert {row["document"] for row in hits} == {"applicants/01-云未然"}
    assert all(row["document"] == owners[row["question_id"]] for row in hits)


# --- images alone -----------------------------------------------------------------------------------------


def test_a_model_that_sees_images_needs_no_text_and_sees_a_picture_as_often_as_it_is_shown(tmp_path):
    picture = "01-云未然/收入证明/001_正常.jpg"
    (tmp_path / picture).parent.mkdir(parents=True)
    shutil.copy(SAMPLE / "images" / picture, tmp_path / picture)
    item = {"id": "a", "images": [picture, picture], "question": "<image><image>Who?", "response": '{"answer": "x"}'}
    item |= {"task": "KIE", "subtask": "inf_ext_002", "robustness": "Normal Captures"}
    (tmp_path / QUESTIONS).write_text(json.dumps(item, ensure_ascii=False), encoding="utf-8")
    spec = f"plugins: [{PLUGINS}]\nbenchmark: {{kind: fcmbench, root: .}}\nreplicates: 1\nevaluate: [generation]\n"
    spec += "knowledge_bases:\n  - {name: plain}\n  - {name: dark, image_noise: {kind: defocus, severity: 0.5}}\n"
    (tmp_path / "spec.yaml").write_text(f"{spec}generators: [{{kind: gazer, log: ./asked}}]\n")
    folder = finished(tmp_path / "spec.yaml", tmp_path, trust_plugins=True)
    assert "<image><image>Who? 2" in (tmp_path / "asked").read_text().splitlines()
    rows = read_rows(folder / "scores.parquet", stage="generation", metric="fcmbench_f1")
    assert [(row["condition"], row["value"], row["status"]) for row in rows] == [("plain", 0, "ok"), ("dark", 0, "ok")]


def test_without_ground_truth_the_plain_images_as_they_are_read_are_what_noise_is_compared_with(home):
    shutil.copytree(home / "copy", home / "bare")
    (home / "bare/texts.json").unlink()
    bases = "[{name: plain, ocr: {kind: tesseract}}, "
    bases += "{name: far, image_noise: {kind: small_roi, severity: 1}, ocr: {kind: tesseract}}]"
    chosen = ["benchmark.languages=[en]", f"knowledge_bases={bases}", "evaluate=[generation]"]
    folder = finished(PIPELINE, home, f"benchmark.root={home / 'bare'}", *chosen)
    plain, far = (values(folder, "generation", condition)["overall"] for condition in ("plain", "far"))
    assert isnan(plain[1])
    assert far[1] < 1


# --- commands ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("protocol", "overall", "iqe"), [("reference", 77.09, 70.83), ("clean", 68.97, 70.83)])
def test_answers_from_a_file_have_the_scores_that_a_person_counts(protocol, overall, iqe):
    status, report = scored("answers", SAMPLE / "replies.jsonl", "fcmbench", "--protocol", protocol)
    assert status == 1  # one question has no reply
    totals = {name: report["aggregates"][name][1]["mean"] for name in ("overall", "IQE")}
    assert totals == pytest.approx({"overall": overall / 100, "IQE": iqe / 100}, abs=5e-5)
    assert (report["given"], report["missing"], report["stage"]) == (53, ["en.key_ver_003_01"], "generation")
    (board,) = report["leaderboards"]
    assert board["groups"] == ["IQE", "DTR", "KIE", "CC", "VC", "NC", "RR", "overall"]
    assert board["rows"][0]["system"] == "Gemini 3 Pro"
    assert board["rows"][-1]["system"] == "replies"  # of other questions than the published ones: it has no rank


def lines(number):
    about = {"images": ["01-甲/收入证明/001_正常.jpg"], "question": "<image>Who?", "response": '{"answer": "x"}'}
    about |= {"task": "KIE", "subtask": "inf_ext_002", "robustness": "Normal Captures"}
    records = [json.dumps({"id": f"q{place}", **about}, ensure_ascii=False) for place in range(number)]
    return "\n".join(records).encode()


@pytest.fixture
def fcmbench_hub(hub):
    hub.files = {
        "FCMBench_v1.1_Images.zip": archive({"FCMBench_v1.1_Images/01-甲/收入证明/001_正常.jpg": b"x"}),
        "FCMBench-Video_v1.0.zip": archive({"video.mp4": b"x"}),
        "README.md": b"",
    }
    hub.pages = {f"/{QUESTIONS}": lines(2)}
    return hub


def test_images_of_this_version_are_fetched_and_the_questions_that_the_hub_lacks(fcmbench_hub, tmp_path):
    address = f"{fcmbench_hub.url}/{QUESTIONS}"
    printed = fetch(tmp_path, endpoint=fcmbench_hub.url, address=address)
    assert printed == [
        f"1 file of QFIN/FCMBench-Data at commit {'a' * 40}, 1 unpacked",
        f"{QUESTIONS} from {address}",
        "2 questions with answers",
        f"root: {tmp_path}",
    ]
    assert not (tmp_path / "FCMBench-Video_v1.0.zip").exists()
    assert FcmBench(root=tmp_path).notes() == [f"questions of {QUESTIONS}, protocol clean"]
    fcmbench_hub.pages = {}
    assert len(fetch(tmp_path, endpoint=fcmbench_hub.url, address=address)) == 3  # the questions are there


def test_questions_of_the_hub_come_first(fcmbench_hub, tmp_path):
    fcmbench_hub.files[QUESTIONS] = lines(3)
    printed = fetch(tmp_path, endpoint=fcmbench_hub.url, address="http://127.0.0.1:9/")
    assert printed[1] == "3 questions with answers"


def test_questions_that_are_out_of_reach_are_one_sentence(fcmbench_hub, tmp_path):
    with pytest.raises(DataError, match=rf"nowhere/{QUESTIONS}: cannot be fetched \(.*\); run the same command again"):
        fetch(tmp_path, endpoint=fcmbench_hub.url, address=f"{fcmbench_hub.url}/nowhere/{QUESTIONS}")
    assert not (tmp_path / QUESTIONS).exists()


def test_a_copy_is_counted_beside_the_published_numbers(fcmbench_hub, tmp_path):
    fetch(tmp_path, endpoint=fcmbench_hub.url, address=f"{fcmbench_hub.url}/{QUESTIONS}")
    small = {tally.what: (tally.found, tally.published) for tally in FcmBench(root=tmp_path).verify()}
    assert small["images"] == (1, 5198)
    assert (small["small: questions"], small["small: KIE"]) == ((2, 1380), (2, 339))
    assert (small["full: questions"], small["full: Normal Captures"]) == ((None, 13_806), (None, 1219))
    (tmp_path / QUESTIONS.replace("small", "full")).write_bytes(lines(3))
    full = {tally.what: (tally.found, tally.published) for tally in FcmBench(root=tmp_path).verify()}
    assert (full["full: questions"], full["full: DTR"], full["full: KIE"]) == ((3, 13_806), (0, 5030), (3, 3327))
    assert full["full: Normal Captures"] == (3, 1219)
    assert sum(published for what, (_, published) in full.items() if what.startswith("full: ")) == 3 * 13_806
    found = CliRunner().invoke(app, ["data", "verify", str(tmp_path), "--benchmark", "fcmbench"])
    assert found.exit_code == 1
    assert "small: questions" in found.stdout
