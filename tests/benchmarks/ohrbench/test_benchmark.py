import json
from unicodedata import normalize

import pytest

from ohr.benchmarks.ohrbench import OhrBench
from ohr.contracts import Document, Question
from ohr.errors import DataError
from ohr.testing import check_benchmark, check_stage

LEASE = Document("law/lease", "law", "en", 2)


def notes(folder, **fields):
    return list(OhrBench(root=folder.root, **fields).notes())[1:]


def test_documents_and_questions_are_read(folder):
    bench = OhrBench(root=folder.root)
    assert bench.documents() == (LEASE,)
    assert [page.text for page in bench.pages(LEASE)] == ["The lease began in 1964.", "Rent is due in May."]
    assert bench.questions() == (
        Question(
            "q1",
            "When did the lease begin?",
            ("1964",),
            "law/lease",
            (0,),
            ("began in 1964",),
            "text",
            "law",
            "Numeric",
        ),
    )
    assert bench.notes() == ["questions of qas.json, protocol clean"]
    check_stage(bench)


def test_the_protocol_is_named_as_in_a_spec(folder):
    bench = OhrBench.model_validate({"kind": "ohrbench", "root": folder.root, "protocol": "reference"})
    assert bench.scoring.name == "reference"
    assert bench.scoring.index_scope == "domain"
    assert bench.notes()[0] == "questions of qas.json, protocol reference"


def test_documents_come_in_the_order_of_their_paths(folder):
    for name in ("law/lease (1)", "law/Lease", "finance/z", "law/b/a"):
        folder.document("gt", name, "text")
    names = [document.name for document in OhrBench(root=folder.root).documents()]
    assert names == ["finance/z", "law/Lease", "law/b/a", "law/lease (1)", "law/lease"]


def test_hidden_files_are_no_documents(folder):
    folder.document("gt", "law/.lease", "text")
    folder.document("gt", ".cache/lease", "text")
    assert OhrBench(root=folder.root).documents() == (LEASE,)


def test_documents_and_pages_of_other_bases_count(folder):
    composed, parted = (normalize(form, "law/Frédéric") for form in ("NFC", "NFD"))  # names of one document
    folder.document("gt", composed, "text")
    folder.document("MinerU", parted, "text")
    folder.document("MinerU", "law/lease", "a", "b", "c")
    folder.document("MinerU", "law/extra", "a")
    bench = OhrBench(root=folder.root)
    found = {document.name: document.pages for document in bench.documents()}
    assert found == {composed: 1, "law/extra": 1, "law/lease": 3}
    assert bench.pages(Document("law/extra", "law", "en", 1)) == ()
    assert notes(folder) == ["1 document of MinerU without ground truth, indexed all the same: law/extra"]


PAGE = {"page_idx": 0, "text": "a"}
NOT_WRITABLE = (
    "1 file whose name has control characters or is not UTF-8, left out: gt/law/caf\N{REPLACEMENT CHARACTER}.json"
)


@pytest.mark.parametrize(
    ("name", "content", "note"),
    [
        ("will", "[{", "1 file not readable as JSON: gt/law/will"),
        ("will", PAGE, "1 file not a list of pages: gt/law/will"),
        ("will", [{**PAGE, "text": None}],
         "1 page with a text that is not a string, counted as failed: gt/law/will page 1"),
        ("will", [{**PAGE, "page_idx": "0"}], "1 page number in quotes, read without them: gt/law/will page 1"),
        ("will", [{"text": "x"}, PAGE],
         "1 page without a page number, left out: gt/law/will entry 0 (it has text)"),
        ("will", [{**PAGE, "text": " "}], "1 page without text in gt: gt/law/will page 1"),
        ("will", [{"page_idx": place, "text": ""} for place in range(5)],
         "5 pages without text in gt: gt/law/will page 1, gt/law/will page 2, gt/law/will page 3 and 2 more"),
        ("will", [PAGE, PAGE], "1 page listed again, of which the first counts: gt/law/will page 1"),
        ("will", [{"page_no": 1, "text": "second"}, {"page_no": 0, "text": "first"}],
         "1 file with pages out of order, put in order: gt/law/will"),
        ("will", [], "1 document without a page, left out: law/will"),
        ("caf\udce9", [PAGE], NOT_WRITABLE),
    ],
)  # fmt: skip
def test_faults_of_a_file_are_reported_and_the_rest_is_read(folder, name, content, note):
    folder.file("gt", f"law/{name}", content)
    assert note in notes(folder)
    documents = {document.name: document for document in OhrBench(root=folder.root).documents()}
    assert documents["law/lease"] == LEASE
    assert not documents.keys() - {"law/lease", "law/will"}
    if "out of order" in note:
        pages = OhrBench(root=folder.root).pages(documents["law/will"])
        assert [page.text for page in pages] == ["first", "second"]


def test_a_page_whose_text_is_null_has_an_error(folder):
    folder.file("gt", "law/lease", [{"page_idx": 0, "text": None}])
    (page,) = OhrBench(root=folder.root).pages(LEASE)
    assert (page.text, page.error) == ("", "text is null, not a string")


@pytest.mark.parametrize(
    ("text", "language"),
    [("租金是三百元。", "zh"), ("The lease of 北京", "en"), ("", "en"), ("租金 $x^2$ rent", "zh"), ("1964", "en")],
)
def test_the_share_of_chinese_decides_the_language(folder, text, language):
    folder.document("gt", "law/lease", text)
    assert OhrBench(root=folder.root).documents()[0].language == language


def test_a_changed_folder_is_read_again(folder):
    bench = OhrBench(root=folder.root)
    before = bench.fingerprint(LEASE, images=False)
    assert len(bench.documents()) == 1
    folder.document("gt", "law/will", "text")
    folder.document("gt", "law/lease", "The lease began in 1965.")
    assert len(bench.documents()) == 2
    assert bench.fingerprint(LEASE, images=False) != before


def test_a_page_image_is_rendered_from_the_pdf(folder):
    bench = OhrBench(root=folder.root, dpi=72)
    before = bench.fingerprint(LEASE, images=True)
    with pytest.raises(DataError) as caught:
        bench.page_image(LEASE, 0)
    pdf = folder.root / "pdfs" / "law" / "lease.pdf"
    assert str(caught.value) == f"{pdf}: no such file; page images need OHRBench's PDFs"
    folder.pdf("law/lease")
    assert bench.page_image(LEASE, 0).shape == (144, 72, 3)
    assert bench.fingerprint(LEASE, images=True) != before


@pytest.mark.parametrize("protocol", ["clean", "reference"])
def test_it_keeps_the_contract_of_benchmarks(folder, protocol):
    folder.document("gt", "finance/report", "Sales fell.")
    folder.pdf("finance/report")
    folder.question("q2", evidence_page_no=[1, 0], evidence_context=["a", "b"], evidence_source="equation")
    check_benchmark(OhrBench(root=folder.root, protocol=protocol))


@pytest.mark.parametrize(
    ("absent", "fields", "message"),
    [
        ("retrieval_base/gt", {}, "/retrieval_base/gt: no such folder; OHRBench has retrieval_base/gt/<domain>/<doc"),
        ("qas.json", {}, ": holds neither qas_v2.json nor qas.json"),
        ("none", {"domains": ("laws",)}, ": ground truth has no domain 'laws'; it has law"),
    ],
)
def test_a_folder_that_lacks_what_is_asked_for_is_refused(folder, absent, fields, message):
    if (folder.root / absent).exists():
        (folder.root / absent).rename(folder.root / "away")
    with pytest.raises(DataError) as caught:
        OhrBench(root=folder.root, **fields).check()
    assert str(caught.value).startswith(f"{folder.root}{message}")


# --- questions ------------------------------------------------------------------------------------------


def only_question(folder, **fields) -> Question:
    return OhrBench(root=folder.root, **fields).questions()[-1]


def test_the_newer_questions_are_preferred(folder):
    folder.question("q2", file="qas_v2.json")
    bench = OhrBench(root=folder.root)
    assert len(bench.questions()) == 2
    assert bench.notes() == ["questions of qas_v2.json, protocol clean"]


@pytest.mark.parametrize(
    ("given", "read"),
    [("May", ("May",)), (5, ("5",)), (2.50, ("2.5",)), (True, ("true",)), (None, ("",)), (["a", 2], ("a", "2"))],
)
def test_answers_of_any_type_are_read(folder, given, read):
    folder.question("q2", answers=given)
    assert only_question(folder).answers == read


def test_half_a_character_is_read_as_a_question_mark(folder):
    folder.question("q\ud83d", questions="Which \ud83d?", answers="\ud83d", evidence_context="a \ud83d\ude00 \ude00")
    question = only_question(folder)
    assert (question.id, question.text, question.answers) == ("q?", "Which ??", ("?",))
    assert question.evidence == ("a \U0001f600 ?",)


@pytest.mark.parametrize(
    ("pages", "passages", "read"),
    [
        (0, "one", ((0,), ("one",))),
        ([0, 1], ["one", "two"], ((0, 1), ("one", "two"))),
        ([0], "one", ((0,), ("one",))),
        (0, ["one", "two"], ((0,), ("one\ntwo",))),
        ([1, 0], ["two", "one"], ((0, 1), ("two\none",))),
        ([1, 1], ["one", "two"], ((1,), ("one\ntwo",))),
        ("1", "one", ((1,), ("one",))),
        (None, "one", ((), ("one",))),
        (0, None, ((0,), ("",))),
    ],
)
def test_evidence_is_scalar_or_listed_and_keeps_its_order(folder, pages, passages, read):
    folder.question("q2", evidence_page_no=pages, evidence_context=passages)
    question = only_question(folder)
    assert (question.pages, question.evidence) == read


ONLY_PAGE = "scored 0.5 where the page is found, else 0, as in the published code"


@pytest.mark.parametrize(
    ("other", "note"),
    [
        ({"doc_type": "contracts"}, "1 question whose doc_type is not the folder, which counts: q2 (contracts)"),
        ({"doc_name": "law/none"}, "1 question about an absent document, scored 0 in a run: q2 (law/none)"),
        ({"evidence_page_no": 7}, "1 question with evidence beyond the document, scored 0 in a run: q2 (page 8 of 2)"),
        ({"evidence_page_no": None}, "1 question without an evidence page, scored 0 in a run: q2"),
        ({"evidence_page_no": "0"}, "1 evidence page in quotes, read without them: q2"),
        ({"evidence_context": ""}, "1 question without evidence, not scored in retrieval: q2"),
        ({"answers": None}, "1 question without an answer: q2"),
        ({"answers": 5}, "1 answer other than text, read as in the file: q2"),
        ({"evidence_source": "picture"}, "1 question with an unknown evidence source: q2 ('picture')"),
    ],
)
def test_a_faulty_question_stays_and_is_reported(folder, other, note):
    folder.question("q2", **other)
    assert len(OhrBench(root=folder.root).questions()) == 2
    assert only_question(folder).domain == "law"
    assert notes(folder) == [note]
    if "evidence_context" in other:
        assert notes(folder, protocol="reference") == [f"1 question without evidence, {ONLY_PAGE}: q2"]


def test_an_entry_without_a_question_is_left_out_and_reported(folder):
    folder.question("q2", questions=" ")
    folder.asked.append("noise")
    folder.question("q3", evidence_source="equation")
    assert [question.id for question in OhrBench(root=folder.root).questions()] == ["q1", "q3"]
    assert only_question(folder).evidence_source == "formula"
    assert sorted(notes(folder)) == [
        "1 item other than a question, left out: qas.json entry 2",
        "1 question without a text, left out: q2",
    ]


def test_a_repeated_id_keeps_both_questions(folder):
    folder.question("q1")
    assert [question.id for question in OhrBench(root=folder.root).questions()] == ["q1", "q1 (entry 1)"]
    assert notes(folder) == ["1 question whose ID is listed more than once, renamed: q1"]


def test_questions_of_other_domains_are_left_out_and_reported(folder):
    folder.document("gt", "finance/report", "text")
    folder.question("q2", doc_name="finance/report", doc_type="finance")
    assert only_question(folder, domains=("law",)).id == "q1"
    assert notes(folder, domains=("law",)) == ["1 question outside the chosen domains, left out: q2"]


def test_a_name_in_another_unicode_form_is_matched_and_reported(folder):
    composed, parted = (normalize(form, "law/Frédéric") for form in ("NFC", "NFD"))
    folder.document("gt", composed, "text")
    folder.question("q2", doc_name=parted)
    assert only_question(folder).document == composed
    assert only_question(folder, protocol="reference").document == parted
    about = "question whose document is named in another Unicode form"
    assert notes(folder) == [f"1 {about}, matched: q2 ({parted})"]
    assert notes(folder, protocol="reference") == [
        f"1 {about}, scored 0 in a run as in the published code: q2 ({parted})"
    ]


def test_two_documents_whose_names_differ_in_their_form_are_reported_apart(folder):
    forms = [normalize(form, "law/Frédéric") for form in ("NFC", "NFD")]
    for form in forms:
        folder.document("gt", form, "text")
        folder.question(form, doc_name=form)
    assert [question.document for question in OhrBench(root=folder.root).questions()[1:]] == forms


@pytest.mark.parametrize("content", ["[{", json.dumps({"questions": []})])
def test_questions_that_cannot_be_read_are_refused(folder, content):
    (folder.root / "qas.json").write_text(content)
    with pytest.raises(DataError, match=r"qas\.json: (not readable as JSON|must be a list of questions)"):
        OhrBench(root=folder.root).questions()
