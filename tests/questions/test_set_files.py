"""A set as files: it comes back as it was written, and says where it comes from."""

import json
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest
from PIL import Image

from ohr.contracts import Document, Page
from ohr.errors import DataError
from ohr.files.built_set import read_set
from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.human_review import ReviewerAgreement
from ohr.questions.page_truth import survey, with_silver
from ohr.questions.set_files import About, ModelUse, write_set
from ohr.questions.verification import FunnelRow
from ohr.spec.read import make_benchmark
from tests.paper import Paper, photographed, prose

ABOUT = About("Harbors")
ONE = Candidate(
    "q1", "Who enters the readings?", ("the clerk",), "law/a", (Evidence(0, "the clerk enters them", 3, 24),)
)
TWO_PAGES = replace(
    ONE,
    id="q2",
    answers=("spring", "in spring"),
    evidence=(Evidence(1, "The ferry"), Evidence(0, "The harbor"), Evidence(1, "in spring")),
    source="reading_order",
    task="reasoning",
    answer_form="List",
)


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    Paper().page(prose("harbor")).page(prose("ferry")).save(folder / "law" / "a.pdf")
    return folder


@pytest.fixture
def out(tmp_path):
    return tmp_path / "out"


def opened(out):
    return make_benchmark({"kind": "ohrbench", "root": str(out)}, "test")


def test_pages_and_questions_come_back(docs, out):
    truth = with_silver(survey(docs))
    write_set(out, truth, [ONE, TWO_PAGES], ABOUT)
    benchmark = opened(out)
    (document,) = benchmark.documents()
    assert document == Document("law/a", "law", "en", 2)
    assert list(benchmark.pages(document)) == truth.texts["law/a"]
    first, second = benchmark.questions()
    assert (first.id, first.text, first.answers) == ("q1", "Who enters the readings?", ("the clerk",))
    assert (first.document, first.pages, first.evidence) == ("law/a", (0,), ("the clerk enters them",))
    assert (first.evidence_source, first.task_type, first.answer_form) == ("text", "understanding", "String")
    assert (second.answers, second.pages) == (("spring", "in spring"), (0, 1))
    assert second.evidence == ("The harbor", "The ferry\nin spring")
    assert (second.evidence_source, second.task_type, second.answer_form) == ("reading_order", "reasoning", "List")


def test_the_file_has_the_official_keys_and_forms(docs, out):
    several = replace(ONE, id="q3", evidence=(Evidence(0, "the clerk"), Evidence(0, "the ledger")))
    write_set(out, with_silver(survey(docs)), [ONE, TWO_PAGES, several], ABOUT)
    one, two, three = json.loads((out / "qas_v2.json").read_text())
    assert one == {
        "doc_name": "law/a",
        "ID": "q1",
        "questions": "Who enters the readings?",
        "answers": "the clerk",
        "doc_type": "law",
        "answer_form": "String",
        "evidence_source": "text",
        "evidence_context": "the clerk enters them",
        "evidence_page_no": 0,
        "task_type": "understanding",
    }
    assert (two["evidence_page_no"], two["evidence_context"]) == ([0, 1], ["The harbor", "The ferry\nin spring"])
    assert (three["evidence_page_no"], three["evidence_context"]) == (0, ["the clerk", "the ledger"])


def test_minis_questions_come_back_as_they_are(tmp_path, out):
    from ohr.benchmarks.mini import Mini
    from ohr.questions.imports import of_question

    mini = Mini(domains=("newspaper",))
    folder = mini.truth.parents[1] / "pdfs" / "newspaper"
    corrected = mini.truth / "newspaper"
    truth = with_silver(survey(folder, corrected))
    asked = [
        replace(question, document=question.document.replace("newspaper", "documents"), domain="documents")
        for question in mini.questions()
    ]
    write_set(out, truth, [of_question(question) for question in asked], ABOUT)
    assert list(opened(out).questions()) == asked
    languages = {document.name: document.language for document in opened(out).documents()}
    assert languages["documents/linlan_evening"] == "zh" and languages["documents/marren_mercury"] == "en"


def test_pdfs_are_copied_and_images_become_a_pdf_without_loss(docs, out):
    picture = np.random.default_rng(31).integers(0, 256, (90, 70, 3), dtype=np.uint8)
    (docs / "law" / "photo").mkdir()
    Image.fromarray(picture).save(docs / "law" / "photo" / "1.png")
    silver = {"law/photo": {0: Page("law/photo", 0, "Gulls")}}
    write_set(out, with_silver(survey(docs), silver, "tesseract 5.3.4"), [ONE], ABOUT)
    assert (out / "pdfs/law/a.pdf").read_bytes() == (docs / "law/a.pdf").read_bytes()
    benchmark = opened(out)
    photo = next(document for document in benchmark.documents() if document.name == "law/photo")
    assert np.array_equal(benchmark.page_image(photo, 0), picture)


def test_a_damaged_image_is_a_blank_page_so_that_others_keep_their_number(docs, out):
    folder = docs / "law" / "photo"
    folder.mkdir()
    (folder / "1.png").write_bytes(b"no image")
    Image.fromarray(np.full((90, 70, 3), 9, dtype=np.uint8)).save(folder / "2.png")
    silver = {"law/photo": {1: Page("law/photo", 1, "Gulls")}}
    write_set(out, with_silver(survey(docs), silver, "tesseract 5.3.4"), [ONE], ABOUT)
    photo = next(document for document in opened(out).documents() if document.name == "law/photo")
    assert opened(out).page_image(photo, 0).min() == 255
    assert opened(out).page_image(photo, 1).max() == 9


def test_deep_folders_and_unicode_get_names_of_two_levels(docs, out):
    names = ("law/Mietvertrag für 2020/a b.pdf", "law/x/y.pdf", "law/x__y.pdf", "合同/租约.pdf", "law/cafe\u0301.pdf")
    for name in names:
        Paper().page(prose("harbor")).save(docs / name)
    truth = with_silver(survey(docs))
    deep = replace(ONE, document="law/Mietvertrag für 2020/a b")
    write_set(out, truth, [deep], ABOUT)
    benchmark = opened(out)
    assert {document.name for document in benchmark.documents()} == {
        "law/a", "law/Mietvertrag für 2020__a b", "law/x__y", "law/x__y-2", "合同/租约", "law/café",
    }  # fmt: skip
    (question,) = benchmark.questions()
    assert question.document == "law/Mietvertrag für 2020__a b"
    assert not [note for note in benchmark.notes() if "absent" in note]
    assert json.loads((out / "set.json").read_text())["documents"]["law/x__y"]["source"] == "law/x/y"


class TestBuiltSet:
    @pytest.fixture
    def truth(self, docs, tmp_path):
        scan = photographed(prose("harbor", 30), tmp_path)
        Paper().page(prose("lighthouse")).page(picture=scan).page(picture=scan).save(docs / "law" / "scan.pdf")
        read = "\n".join(prose("quay"))
        return with_silver(survey(docs), {"law/scan": {1: Page("law/scan", 1, read)}}, "tesseract 5.3.4")

    def test_it_says_where_each_page_comes_from_and_the_benchmark_how_much_is_silver(self, truth, out):
        write_set(out, truth, [ONE], ABOUT)
        built = read_set(out)
        assert built.engine == "tesseract 5.3.4"
        assert built.languages == {"law/a": "en", "law/scan": "en"}
        pages = built.pages["law/scan"]
        assert {index: pages[index].origin for index in pages} == {0: "text_layer", 1: "silver"}
        content = json.loads((out / "set.json").read_text())
        assert content["truth"]["pages"] == {"text_layer": 3, "silver": 1}
        assert content["pages_without_truth"][0]["reason"] == "it has no text layer, and no engine read it"
        assert content["questions"]["q1"]["spans"] == [[0, 3, 24]]
        assert opened(out).notes() == [
            "ground truth of 1 of 4 pages is silver: read by tesseract 5.3.4, not corrected; scores against it measure "
            "agreement with that engine",
        ]
        assert opened(out).verify() == () and opened(out).published() == ()

    def test_a_page_that_was_changed_since_is_reported_and_counts_as_corrected(self, docs, truth, out):
        write_set(out, truth, [ONE], ABOUT)
        path = out / "retrieval_base/gt/law/scan.json"
        path.write_text(path.read_text().replace("quay", "wharf"))
        assert opened(out).notes() == [
            "1 page whose ground truth was changed after the set was built: law/scan page 2",
        ]
        again = survey(docs, out / "retrieval_base" / "gt")
        assert [each.origin for each in again.pages["law/scan"]] == ["text_layer", "corrected"]
        assert [each.origin for each in again.pages["law/a"]] == ["text_layer", "text_layer"]
        write_set(out, with_silver(again), [ONE], ABOUT)
        third = survey(docs, out / "retrieval_base" / "gt")
        assert [each.origin for each in third.pages["law/scan"]] == ["text_layer", "corrected"]

    def test_a_damaged_file_is_reported_and_another_of_that_name_is_none(self, docs, out):
        write_set(out, with_silver(survey(docs)), [ONE], ABOUT)
        (out / "set.json").write_text("{")
        with pytest.raises(DataError, match=r"set\.json: not readable as JSON"):
            opened(out).notes()
        (out / "set.json").write_text('["mine"]')
        assert read_set(out) is None
        assert opened(out).verify()


class TestDatasheet:
    def test_it_has_sources_counts_models_and_the_funnel(self, docs, out):
        about = About(
            "Harbors",
            [ModelUse("qwen", "writes", "2.5", {"temperature": 0.7})],
            [FunnelRow("near_duplicate", 3, 1)],
            [ReviewerAgreement(("Ann", "Bo"), 8, 6, 0.5), ReviewerAgreement(("Ann", "Cy"), 0, 0, float("nan"))],
            limits=["Only one harbor."],
        )
        write_set(out, with_silver(survey(docs)), [ONE, TWO_PAGES], about)
        text = (out / "README.md").read_text()
        digest = sha256((docs / "law/a.pdf").read_bytes()).hexdigest()
        for line in (
            "# Harbors",
            f"| law/a | law/a | en | 2 | `{digest}` |",
            "| the PDF's own text layer | 2 |",
            "| text | 1 |",
            "| near_duplicate | 3 | 1 | 0 | 2 |",
            "| qwen | writes | 2.5 | temperature: 0.7 |",
            "| Ann and Bo | 8 | 6 | 0.50 |",
            "| Ann and Cy | 0 | 0 |  |",
            "- Only one harbor.",
            "- Contact: TODO",
        ):
            assert line in text.splitlines()

    def test_it_says_what_is_silver_and_what_is_missing(self, docs, tmp_path, out):
        scan = photographed(prose("harbor", 30), tmp_path)
        Paper().page(picture=scan).page(picture=scan).page(["Notes"]).save(docs / "law" / "scan.pdf")
        truth = with_silver(survey(docs), {"law/scan": {0: Page("law/scan", 0, "Gulls")}}, "tesseract 5.3.4")
        on_silver = replace(ONE, document="law/scan", evidence=(Evidence(0, "Gulls"),))
        write_set(out, truth, [on_silver], ABOUT)
        lines = (out / "README.md").read_text().splitlines()
        for line in (
            "| read by an OCR engine, not corrected | 1 |",
            "The ground truth of 1 of 4 pages is silver: read by tesseract 5.3.4, not corrected; scores against it "
            "measure agreement with that engine.",
            "- 1 page without a good text layer, read by no engine, left out: law/scan page 2 (it has no text layer)",
            "| few_words | 2 |",
            "| unread | 1 |",
            "- 1 question with evidence on silver pages: the engine's errors are in them.",
            "No model took part.",
            "The questions were not verified.",
        ):
            assert line in lines

    def test_what_people_filled_in_survives_another_build(self, docs, out):
        truth = with_silver(survey(docs))
        write_set(out, truth, [ONE], ABOUT)
        readme = out / "README.md"
        readme.write_text(readme.read_text().replace("Contact: TODO", "Contact: Ann"))
        write_set(out, truth, [ONE, TWO_PAGES], ABOUT)
        assert readme.read_text().startswith("# Harbors\n\n2 questions about 1 document with 2 pages")
        assert readme.read_text().endswith("- Contact: Ann\n- Version and date: TODO\n")


class TestFolder:
    def test_a_file_in_the_place_of_the_folder_is_reported(self, docs, out):
        out.write_text("x")
        with pytest.raises(DataError, match="out: cannot be written"):
            write_set(out, with_silver(survey(docs)), [ONE], ABOUT)

    def test_questions_that_the_set_cannot_hold_are_all_reported(self, docs, out):
        changes = {"question": " "}, {"answers": ("",)}, {"evidence": ()}, {"evidence": (Evidence(7, "x"),)}
        wrong = [ONE, ONE, *(replace(ONE, id=f"q{number}", **change) for number, change in enumerate(changes, 2))]
        with pytest.raises(DataError) as caught:
            write_set(out, with_silver(survey(docs)), wrong, ABOUT)
        assert str(caught.value) == (
            "the set cannot be written: 1 id used more than once: q1; 1 question without a text: q2; 1 question with "
            "an empty answer: q3; 1 question without evidence: q4; 1 question with evidence on a page without ground "
            "truth: q5 (page 8 of law/a)"
        )
        assert not out.exists()
