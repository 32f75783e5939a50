"""The samples of the finance benchmarks and all published tables are frozen: they were proved once.

The proofs (statements add up, golds follow from the pages, published percentages are shares of whole numbers) are in
`tests/benchmarks/*/test_sample.py` at 0d50ad4, and in `test_tables.py` beside them and
`tests/report/leaderboard/test_published.py` at f37359b. Who changes a file runs them again before writing its new
digest here. The programs that make the samples are tested by making them again.
"""

import json
from hashlib import sha256
from importlib.resources import files
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from pyarrow import parquet

from ohr.benchmarks.finmmdocr import FinMMDocR
from ohr.benchmarks.finmmdocr.release_records import page_image_file, page_texts, survey
from ohr.errors import DataError
from ohr.report.leaderboard.answers import read_answers, score_answers
from samples import fcmbench, fincriticaled, finmmdocr, page_corpus, parsed_pages, tablequest

BENCHMARKS = Path(str(files("ohr.benchmarks")))
FCMBENCH = BENCHMARKS / "fcmbench/sample"
DOCUMENTS = {record.doc_id: record for record in survey(finmmdocr.SAMPLE).records}
typeset = pytest.mark.skipif(not (find_spec("typst") and find_spec("matplotlib")), reason="needs the extra mini")
in_chinese = pytest.mark.skipif(not fcmbench.NOTO.is_dir(), reason="needs Debian's fonts-noto-cjk")
DIGESTS = {
    "beir/sample": "7f68da1eafacda1b3ed5dbeeff02956a3c77e9591a396ec14a6b12ca7e2b7dd2",
    "fcmbench/sample": "8633351a56b63a3d00e54e91461eb4c534dc8ab3ac60d7814681c1e7ae71758e",
    "fcmbench/published": "955a41ed8ccc6615932321c745ba7ae5b090c805e49d9b2c2da98d73d3c7b277",
    "fincriticaled/sample": "f70a72aba55bf10acc17df1db93fa411df5f3d63467cc52f5dd0c4bcf8cf8594",
    "fincriticaled/published": "a6cb69e33a2c4ef3feb064df134942e9f3665376d6bad94d0879da52e9b8b156",
    "finmmdocr/sample": "c15250578d22d489163927a7cef366e68907ee247b2ee87088f128b1e45a788c",
    "finmmdocr/published": "e878d8e5747b5481165943de5d0b797c897853df1ccc6e38ad59b4cf362957dc",
    "finqa_tablequest/sample": "df905a0b8bbe5f2d13b588751600d31e63f64f0bff1bb98386e79a31d9a7f4d3",
    "finqa_tablequest/published": "0f225d891007b6421a32b91a0681a8be04017cc3407ad262b0eca7c1d6b1a0f8",
    "ohrbench/published": "c1f7b3801e39634dcb81c853d68f03472698f29571840a99edac35ab06da4fdf",
    "omnidocbench/published": "ce10959824cba7ccbbf46f9ba4070777889a94dc47f50807b0e915095c316958",
    "olmocr_bench/published": "d51075060491956502d2f3fd91b4347ce76fe9ec706a0ea0c2ab97270ad724ac",
    "tablequest/sample": "0be2799e5ca66d136428e2305b9ef7343ae215e963f8cbc8e46b5d5694cbda01",
    "tablequest/published": "edea1919d78617631635bfa7a03c4d052a77fde63e12237c0278150d778dd348",
}


@pytest.mark.parametrize(("folder", "digest"), DIGESTS.items())
def test_a_folder_has_the_files_that_were_proved(folder, digest):
    content = sha256()
    for path in sorted(path for path in (BENCHMARKS / folder).rglob("*") if path.is_file()):
        name = path.relative_to(BENCHMARKS / folder).as_posix()
        content.update(name.encode() + sha256(path.read_bytes()).digest())
    assert content.hexdigest() == digest


def differ(first, second):
    """Return the mean difference of the pixels of two images."""
    one, other = (np.asarray(Image.open(image).convert("RGB"), dtype=float) for image in (first, second))
    return np.abs(one - other).mean()


def made_again(built, shipped, rounding):
    """Compare two folders: texts to the letter, and images up to what other versions of libraries round."""
    names = {path.relative_to(shipped) for path in shipped.rglob("*") if path.is_file()}
    assert {path.relative_to(built) for path in built.rglob("*") if path.is_file()} == names
    for name in names:
        if name.suffix in (".jpg", ".png"):
            assert differ(built / name, shipped / name) <= rounding, name
        else:
            assert (built / name).read_bytes() == (shipped / name).read_bytes(), name


@typeset
@in_chinese
def test_a_certificate_of_fcmbench_is_drawn_as_shipped():
    name = next(iter(fcmbench.PHOTOGRAPHED))
    shipped = min(FCMBENCH.glob(f"images/*/{name}/001_正常.jpg"))
    assert differ(BytesIO(fcmbench._encoded(fcmbench.drawn(name), ".jpg")), shipped) <= 2


@pytest.mark.acceptance
@typeset
@in_chinese
def test_the_sample_of_fcmbench_is_what_its_sources_give(tmp_path):
    fcmbench.build(tmp_path)
    made_again(tmp_path, FCMBENCH, rounding=2)


def test_the_builder_refuses_items_without_a_picture_or_a_subtask(tmp_path):
    lines = (FCMBENCH / "items.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "images").symlink_to(FCMBENCH / "images")
    (tmp_path / "items.jsonl").write_text("".join(line for line in lines if "rea_chk" not in line), encoding="utf-8")
    (tmp_path / "replies.jsonl").write_text('{"id": "num_cal_005_01", "response": ""}\n', encoding="utf-8")
    with pytest.raises(DataError, match="no item of rea_chk_001, rea_chk_003, rea_chk_004"):
        fcmbench.check(tmp_path)
    (tmp_path / "items.jsonl").write_text("".join(lines), encoding="utf-8")
    fcmbench.check(tmp_path)
    (tmp_path / "replies.jsonl").write_text('{"id": "strange", "response": ""}\n', encoding="utf-8")
    with pytest.raises(DataError, match="no item has the id strange"):
        fcmbench.check(tmp_path)


@pytest.mark.acceptance
@typeset
def test_the_sample_of_fincriticaled_is_what_its_sources_give(tmp_path):
    assert fincriticaled.main(["--into", str(tmp_path)]) == 0
    made_again(tmp_path, fincriticaled.SAMPLE, rounding=2)


def test_questions_of_finmmdocr_are_those_of_its_sources():
    asked = finmmdocr.read_yaml(finmmdocr.SOURCE / "questions.yaml")
    built = [
        finmmdocr.record(q, asked["documents"][q["doc_id"]], DOCUMENTS[q["doc_id"]].pages_num)
        for q in asked["questions"]
    ]
    assert built == json.loads((finmmdocr.SAMPLE / "test.json").read_text("utf-8"))
    outputs = json.loads((finmmdocr.SAMPLE / "outputs.json").read_text("utf-8"))
    assert list(finmmdocr.outputs(asked["questions"])) == outputs


@pytest.mark.slow
@in_chinese
@pytest.mark.parametrize(
    "name", ["complong_tolvane_10q", pytest.param("lichuan_research", marks=pytest.mark.acceptance)]
)
def test_the_build_of_finmmdocr_gives_the_shipped_bytes(name):
    record, pdf = DOCUMENTS[name], finmmdocr.compile_pdf(name)
    assert finmmdocr.page_texts(pdf) == page_texts(finmmdocr.SAMPLE, record)
    for index, content in enumerate(finmmdocr.page_images(pdf)):
        assert content == page_image_file(finmmdocr.SAMPLE, record, index).read_bytes()


@pytest.mark.acceptance
@pytest.mark.parametrize("protocol", ["clean", "reference"])
def test_replies_of_finmmdocr_score_as_their_cases_say(protocol):
    replies = read_answers(finmmdocr.SAMPLE / "replies.jsonl")
    scored = score_answers(FinMMDocR(root="sample", protocol=protocol), replies, "replies")
    assert scored.aggregates["acc"][1].mean == pytest.approx(5 / 8)
    assert scored.missing == []


def test_questions_of_tablequest_are_those_of_its_sources():
    lines = (tablequest.SAMPLE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == tablequest.questions()


@typeset
@pytest.mark.parametrize(
    ("report", "image"),
    [
        pytest.param("brindlemere_2023", "tablequest/sample/pages/brindlemere_2023.png", marks=pytest.mark.acceptance),
        pytest.param("callowridge_2022", "tablequest/sample/pages/callowridge_2022.png", marks=pytest.mark.acceptance),
        ("pennistow_2023", "tablequest/sample/pages/pennistow_2023.png"),
        ("callowridge_2022", "finqa_tablequest/sample/sampled_pages/medium/CALLOWRIDGE_2022_10K_p81.png"),
    ],
)
def test_the_build_of_tablequest_draws_the_shipped_page(report, image):
    drawn = BytesIO(tablequest.page_png(report, tablequest.DPI))
    assert differ(drawn, BENCHMARKS / image) == 0


@pytest.mark.acceptance
def test_the_sample_of_page_corpus_is_what_its_sources_give():
    for name, built in page_corpus.tables().items():
        shipped = parquet.read_table(page_corpus.SAMPLE / name)
        if name == "corpus":
            images = [table["image"].to_pylist() for table in (built, shipped)]
            assert all(
                differ(BytesIO(one["bytes"]), BytesIO(other["bytes"])) <= 2 for one, other in zip(*images, strict=True)
            )
            built, shipped = built.drop_columns("image"), shipped.drop_columns("image")
        assert built.equals(shipped), name


def test_the_sample_of_page_corpus_is_small():
    assert sum(path.stat().st_size for path in page_corpus.SAMPLE.rglob("*.parquet")) < 600_000


@typeset
def test_the_samples_of_parsed_pages_are_what_their_sources_give(tmp_path):
    parsed_pages.write(tmp_path)
    for benchmark in ("omnidocbench", "olmocr_bench", "induocrbench"):
        made_again(tmp_path / benchmark / "sample", BENCHMARKS / benchmark / "sample", rounding=2)
