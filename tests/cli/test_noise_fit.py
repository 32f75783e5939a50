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
    about = json.loads(done.output)
    assert about["engine"] == "toy" and about["pages"] == 38 and 0 < about["lost"] < about["words"] / 3
    confusions = json.loads((home / "fitted.json").read_text())["confusions"]
    assert {(c["true"], c["read"]) for c in confusions} <= {
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


def test_the_same_files_give_the_same_profile_by_the_name_mini_which_has_questions_too(ohr, home, read):
    profiles = []
    for gt, out in ((MINI.truth, "a.json"), ("mini", "b.json")):
        assert ohr("noise", "fit", "--gt", gt, "--ocr", "read", "--out", out).exit_code == 0
        profiles.append(json.loads((home / out).read_text()))
    without, asked = ((profile["groups"][""].pop("strength"), profile.pop("kinds")) for profile in profiles)
    assert profiles[0] == profiles[1] and without == (0, {})
    assert asked[0] != 0 and set(asked[1]) == {"table"}


def test_questions_are_read_from_a_file_and_too_few_of_them_are_reported(ohr, home, read):
    asked = [q for q in MINI.questions() if q.document in {d.name for d in DOCUMENTS}]
    rows = [
        {"ID": q.id, "questions": q.text, "answers": q.answers[0], "doc_name": q.document, "doc_type": q.domain,
         "evidence_page_no": list(q.pages), "evidence_context": list(q.evidence), "evidence_source": q.evidence_source,
         "answer_form": q.answer_form}
        for q in asked
    ]  # fmt: skip
    for count, message in ((len(rows), "strength"), (3, "r_noise left aside: too few of 3 questions")):
        (home / "qas.json").write_text(json.dumps(rows[:count]), encoding="utf-8")
        fit = ("noise", "fit", "--gt", MINI.truth, "--ocr", "read", "--out", f"{count}.json", "--questions", "qas.json")
        done = ohr(*fit)
        assert done.exit_code == 0 and message in done.output, done.output
    assert ohr("noise", "fit", "--gt", "mini", "--ocr", "read", "--out", "mini.json").exit_code == 0
    assert (home / "mini.json").read_bytes() == (home / f"{len(rows)}.json").read_bytes()


@pytest.mark.parametrize(
    ("gt", "ocr", "message"),
    [
        ("nowhere", ".", "nowhere: no such folder"),
        (".", "nowhere", "nowhere: no such folder"),
        (".", ".", "no page of"),
        ("mini", "ground_truth", "no engine that reads images"),
    ],
)
def test_mistakes_are_reported(ohr, home, gt, ocr, message):
    done = ohr("noise", "fit", "--gt", gt, "--ocr", ocr, "--out", "x.json")
    assert done.exit_code == 2 and message in done.output


def test_a_question_file_is_looked_at_before_any_page_is_read(ohr, home):
    (home / "bad.json").write_text('{"a": 1}')
    for name, message in (("nowhere.json", "nowhere.json: no such file"), ("bad.json", "must be a list of questions")):
        done = ohr("noise", "fit", "--gt", "mini", "--ocr", "tesseract", "--out", "x.json", "--questions", name)
        assert done.exit_code == 2 and message in done.output


def test_a_profile_that_cannot_be_written_is_reported_before_any_page_is_read(ohr, home):
    (home / "file").write_text("")
    done = ohr("noise", "fit", "--gt", "mini", "--ocr", "tesseract", "--out", "file/a.json")
    assert done.exit_code != 0 and "OCR" not in done.output and "file" in done.output
