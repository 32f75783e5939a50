"""`ohr noise fit`: a profile from two folders, used at once."""

import json

import pytest

from ohr.registry import Registry

MINI = Registry().load("benchmark", "mini")(languages=("en",))
DOCUMENTS = MINI.documents()[:12]


@pytest.fixture
def read(home):
    """Twelve documents, as an engine would read them that knows no digit and skips headings."""
    for document in DOCUMENTS:
        pages = [
            {
                "page_idx": page.index,
                "text": "\n".join(
                    line.replace("0", "O").replace("1", "l")
                    for line in page.text.split("\n")
                    if not line.startswith("#")
                ),
            }
            for page in MINI.pages(document)
        ]
        path = home / "read" / f"{document.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(pages), encoding="utf-8")
    return home / "read"


def test_a_profile_is_fitted_and_used(ohr, home, read):
    done = ohr("noise", "fit", "--gt", MINI.truth, "--ocr", read, "--out", "fitted.json", "--engine", "toy", "--json")
    assert done.exit_code == 0, done.output
    about = json.loads(done.stdout)
    assert about["engine"] == "toy" and about["pages"] == 38 and 0 < about["lost"] < about["words"] / 3
    confusions = json.loads((home / "fitted.json").read_text())["confusions"]
    assert confusions
    assert {(true, read) for _, true, read, _ in confusions} <= {
        ("0", "O"),
        ("1", "l"),
        ("10", "lO"),
        ("00", "OO"),
        ("11", "ll"),
        ("01", "Ol"),
    }
    (home / "page.txt").write_text("Rent of 1,010 dollars is due on the 10th of each month of the year 2010. " * 20)
    done = ohr(
        "noise",
        "apply",
        "page.txt",
        "out",
        "--noise",
        "{kind: channel, profile: fitted.json, rate: 0.8}",
        "--workers",
        1,
    )
    assert done.exit_code == 0, done.output
    assert "O" in (home / "out" / "page.txt").read_text()


def test_the_same_files_give_the_same_profile_by_the_name_mini(ohr, home, read):
    for gt, out in ((MINI.truth, "a.json"), ("mini", "b.json")):
        done = ohr("noise", "fit", "--gt", gt, "--ocr", "read", "--out", out)
        assert done.exit_code == 0 and "groups with donors of their own: " in done.output, done.output
    assert (home / "a.json").read_bytes() == (home / "b.json").read_bytes()


def test_text_files_are_pages_and_what_ohr_wrote_beside_documents_is_none(ohr, home):
    for folder, text in (("clean", "Rent is due on the 10th."), ("read", "Rent is due on the lOth.")):
        (home / folder / "law").mkdir(parents=True)
        (home / folder / "law" / "lease.md").write_text(text * 50)
        (home / folder / "noise.json").write_text('{"seed": 0}')
    done = ohr("noise", "fit", "--gt", "clean", "--ocr", "read", "--out", "fitted.json", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["pages"] == 1


@pytest.mark.parametrize(
    ("gt", "ocr", "message"),
    [
        ("nowhere", ".", "nowhere: no such folder"),
        (".", "nowhere", "nowhere: no such folder"),
        ("empty", "a", "holds no text"),
        ("a", "b", "no page of a is in b"),
        ("mini", "ground_truth", "no engine that reads images"),
    ],
)
def test_mistakes_are_reported(ohr, home, gt, ocr, message):
    (home / "empty").mkdir()
    for folder, name in (("a", "lease"), ("b", "act")):
        (home / folder / "law").mkdir(parents=True)
        (home / folder / "law" / f"{name}.txt").write_text("Rent is due.")
    done = ohr("noise", "fit", "--gt", gt, "--ocr", ocr, "--out", "x.json")
    assert done.exit_code == 2 and message in done.output


def test_a_profile_that_cannot_be_written_is_reported_before_any_page_is_read(ohr, home):
    (home / "file").write_text("")
    done = ohr("noise", "fit", "--gt", "mini", "--ocr", "tesseract", "--out", "file/a.json")
    assert done.exit_code != 0 and "OCR" not in done.output and "file" in done.output
