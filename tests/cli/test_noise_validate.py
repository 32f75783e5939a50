"""`ohr noise validate`: twins that another command has made, and sides that are no twins."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from PIL import Image

from ohr.registry import Registry

TRUTH = Registry().load("benchmark", "mini")(languages=("en",)).truth
NOISE = "{kind: table_format, to: markdown}"


def test_noise_that_was_applied_is_found(ohr, home):
    assert ohr("noise", "apply", TRUTH / "law", "noisy", "--noise", NOISE, "--workers", 1).exit_code == 0
    given = ("noise", "validate", "--gt", TRUTH / "law", "--ocr", "noisy", "--noise", NOISE)
    done = ohr(*given, "--json")
    assert done.exit_code == 0, done.output
    (found,) = json.loads(done.stdout)["noises"]
    assert found["matched"] and found["severity"] == pytest.approx(1, abs=0.05)
    assert found["noise"] == {"to": "markdown"}
    assert "looks like table_format" in ohr(*given).output


def test_equal_sides_have_no_noise(ohr):
    done = ohr("noise", "validate", "--gt", TRUTH, "--ocr", TRUTH)
    assert done.exit_code == 0 and "the two sides are equal: no noise, or severity 0 of any" in done.output


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--gt", "nowhere", "--ocr", TRUTH), "nowhere: no such folder"),
        (("--gt", TRUTH, "--ocr", "."), ".: holds no text"),
        (("--gt", TRUTH, "--ocr", TRUTH, "--noise", "{kind: rotation}"), "must be one noise of texts"),
        (("--gt", TRUTH, "--ocr", TRUTH, "--noise", "blur"), "--noise blur: is no noise that can"),
        (("--gt", TRUTH, "--ocr", TRUTH / "law"), "have no document with clean text in common"),
        (("--gt", "mini", "--ocr", TRUTH, "--format", "nothing"), "nothing"),
        (("--gt", TRUTH, "--ocr", TRUTH, "--benchmark", "mini"), "both name the clean pages"),
        (("--gt", TRUTH, "--ocr", TRUTH, "--domains", "law"), "--domains: not used with the folder of --gt"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(ohr, given, said):
    done = ohr("noise", "validate", *given)
    assert done.exit_code != 0 and said in done.output


def test_a_page_that_cannot_be_read_is_not_taken_for_one_that_is_absent(ohr, home):
    shutil.copytree(TRUTH / "law", "damaged")
    path = next(path for path in sorted(home.glob("damaged/*.json")) if len(json.loads(path.read_text("utf-8"))) > 1)
    pages = json.loads(path.read_text("utf-8"))
    pages[0]["text"] = None
    path.write_text(json.dumps(pages), encoding="utf-8")
    done = ohr("noise", "validate", "--gt", TRUTH / "law", "--ocr", "damaged", "--json")
    twins = json.loads(done.stdout)["twins"]
    assert (twins["changed_pages"], twins["left_out"][-1]) == (0, f"{path.stem} page 1 (text is null, not a string)")
    pages[1]["page_idx"] = pages[0]["page_idx"]
    path.write_text(json.dumps(pages), encoding="utf-8")
    done = ohr("noise", "validate", "--gt", TRUTH / "law", "--ocr", "damaged")
    assert done.exit_code == 2 and "listed again: " in done.output and "the first counts" not in done.output


def test_a_format_that_tidies_results_tidies_both_sides(ohr, home):
    for folder in ("clean", "read"):
        for number in range(4):
            path = home / folder / f"{number}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"\nPage {number} has\n\n\n\nblank lines.\n\n")
    (home / "read/3.md").write_text("Page 3 lost its lines.")
    for words in ((), ("--format", "markdown")):
        done = ohr("noise", "validate", "--gt", "clean", "--ocr", "read", "--noise", "drop_pages", *words)
        assert "4 documents, 4 pages, 1 of them changed" in done.output


def test_results_in_a_benchmarks_own_layout_are_compared(ohr):
    sample = Registry().load("benchmark", "omnidocbench").__module__
    results = Path(sys.modules[sample].SAMPLE) / "results" / "careful"
    given = ("--benchmark", "omnidocbench", "--root", "sample", "--ocr", results, "--noise", "drop_pages", "--no-cost")
    done = ohr("noise", "validate", *given)
    assert done.exit_code == 0 and "4 documents, 4 pages" in done.output


def test_folders_of_images_are_compared_as_images(ohr, home):
    for folder in ("clean", "noisy"):
        (home / folder).mkdir()
        for number in range(4):
            Image.new("RGB", (90, 80 + number), "white").save(home / folder / f"{number}.png")
    done = ohr("noise", "validate", "--gt", "clean", "--ocr", "noisy")
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (
        0,
        "the two sides are equal: no noise, or severity 0 of any",
    )
    for noise in ("defocus", "{kind: defocus}"):
        assert ohr("noise", "validate", "--gt", "clean", "--ocr", "noisy", "--noise", noise).exit_code == 0
    for noise, said in (
        ("formatting", "Choose one of: "),
        ("{kind: formatting}", "must be a kind of image noise"),
        ("{kind: watermark, camera: handheld}", "--noise"),
    ):
        done = ohr("noise", "validate", "--gt", "clean", "--ocr", "noisy", "--noise", noise)
        assert done.exit_code == 2 and said in done.output
    (home / "noisy/3.png").unlink()
    done = ohr("noise", "validate", "--gt", "clean", "--ocr", "noisy")
    assert done.exit_code == 2 and "4" in done.output
