"""FinMMDocR as a benchmark of ohr: documents, questions, their facts and groups, and a copy that lacks something."""

import json
from math import isnan

import pytest

from ohr.benchmarks.finmmdocr import FinMMDocR, fetched
from ohr.benchmarks.finmmdocr.metrics import Executed, PotAccuracy
from ohr.benchmarks.finmmdocr.published_numbers import tallies
from ohr.benchmarks.finmmdocr.release_records import survey
from ohr.contracts import Case
from ohr.errors import DataError
from ohr.testing import check_benchmark

from ..hub_server import archive

SAMPLE = FinMMDocR(root="sample")


def made(copy, *records, **fields):
    return FinMMDocR(root=copy.write(*records), **fields)


@pytest.mark.parametrize("protocol", ["clean", "reference"])
def test_it_keeps_the_contract(protocol):
    check_benchmark(FinMMDocR(root="sample", protocol=protocol), images=2)


def test_a_document_belongs_to_its_type(copy):
    document = made(copy, copy.record(doc_type="Financial Report (10-Q)", doc_id="complong_1")).documents()[0]
    assert (document.name, document.domain) == ("financial_report_10_q/complong_1", "financial_report_10_q")
    assert (document.language, document.pages) == ("en", 3)
    (other,) = made(copy, copy.record(doc_type="Futures & Options", evidence={})).documents()
    assert (other.domain, other.language) == ("futures_and_options", "zh")
    check_benchmark(FinMMDocR(root=copy.root))


def test_pages_count_from_0_and_evidence_is_their_text(copy):
    (question,) = made(copy, copy.record(evidence={"table": [3, 2, 3]})).questions()
    assert (question.pages, question.evidence) == ((1, 2), ("two", "three"))
    assert (question.evidence_source, question.answers) == ("table", ("75.0",))
    assert [page.text for page in FinMMDocR(root=copy.root).pages(FinMMDocR(root=copy.root).documents()[0])] == [
        "one",
        "two",
        "three",
    ]


@pytest.mark.parametrize(
    ("evidence", "source"),
    [
        ({"plain_text": [1]}, "text"),
        ({"pie_chart": [1], "image": [2]}, "chart"),
        ({"table": [1], "image": [2]}, "multi"),
    ],
)
def test_kinds_of_evidence_are_evidence_sources(copy, evidence, source):
    assert made(copy, copy.record(evidence=evidence)).questions()[0].evidence_source == source


def test_facts_are_the_numbers_of_the_gold_program_that_its_pages_have():
    facts = {question.id: question.facts for question in SAMPLE.questions()}
    assert facts["test-0"] == ("84312", "78945")  # not 100, nor the 2 of round(growth, 2)
    assert facts["test-5"] == ("5.80", "9850", "8240")  # not 0.42: the page has 42 %


def test_groups_are_the_published_bins_in_words():
    groups = dict(SAMPLE.questions()[3].groups)
    assert groups["doc_length"] == "<=30 pages"
    assert groups["extract"] == ">=5 values"
    assert groups["compute"] == ">=5 steps"
    assert groups["scenario"] == "w/ scenario"
    assert {name for name, value in groups.items() if value == "yes"} == {
        "scenario FSA",
        "scenario CF&CM",
        "scenario IA&RM",
    }


def test_a_scenario_may_have_its_long_name(copy):
    (question,) = made(copy, copy.record(scenarios=["Portfolio Management", "a=b"])).questions()
    assert {name for name, value in question.groups if value == "yes"} == {"scenario PM", "scenario a-b"}


def test_labels_that_were_derived_are_noted(copy):
    notes = made(copy, copy.record(0), copy.record(1, extract_steps=1, calc_steps=1, scenarios=[])).notes()
    assert any("1 of 2 questions without labels of steps" in note for note in notes)
    assert any("1 of 2 questions without labels of scenarios" in note for note in notes)
    assert SAMPLE.notes() == []


def test_the_origin_of_a_question_is_its_file_and_record(copy):
    benchmark = made(copy, copy.record(0), copy.record(1))
    assert benchmark.origin(benchmark.questions()[1]) == f"{copy.root}/test.json record 1"


def test_languages_and_types_of_documents_can_be_chosen():
    english = FinMMDocR(root="sample", languages=("en",))
    assert {question.id for question in english.questions()} == {"test-0", "test-1", "test-2", "test-3"}
    assert "left out 1 document (other languages or domains): company_research/lichuan_research" in english.notes()[0]
    chosen = FinMMDocR(root="sample", domains=("company_research",))
    chosen.check()
    assert [document.language for document in chosen.documents()] == ["zh"]
    with pytest.raises(DataError, match=r"no document of domain 'company_reserch'.*Did you mean 'company_research'"):
        FinMMDocR(root="sample", domains=("company_reserch",)).check()


def test_questions_are_there_without_any_image_or_text(copy):
    copy.put("test.json", [copy.record(0), copy.record(1)])
    benchmark = FinMMDocR(root=copy.root)
    assert [question.evidence for question in benchmark.questions()] == [("", ""), ("", "")]
    assert benchmark.questions()[0].facts == ()
    assert benchmark.pages(benchmark.documents()[0]) == []
    notes = " ".join(benchmark.notes())
    assert "1 document whose page images are missing" in notes
    assert "company_research/report (3 images: images/report/page_1.png" in notes
    assert "1 document without usable texts" in notes
    with pytest.raises(DataError, match=r"page_2\.png: no such file \(test\.json record 0\)"):
        benchmark.page_image(benchmark.documents()[0], 1)
    prints = [benchmark.fingerprint(benchmark.documents()[0], images=shown) for shown in (True, False)]
    assert len(set(prints)) == 2


def test_a_fingerprint_follows_the_content_of_the_files(copy):
    benchmark = made(copy, copy.record())
    (document,) = benchmark.documents()
    before = [benchmark.fingerprint(document, images=shown) for shown in (True, False)]
    copy.put("texts/report.json", ["one", "two", "3"])
    copy.put("images/report/page_2.png", b"other")
    after = [benchmark.fingerprint(document, images=shown) for shown in (True, False)]
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_a_file_of_questions_that_changed_is_read_again(copy):
    benchmark = made(copy, copy.record(0))
    assert len(benchmark.questions()) == 1
    copy.write(copy.record(0), copy.record(1))
    assert len(benchmark.questions()) == 2


def test_evidence_behind_the_last_page_is_left_out(copy):
    benchmark = made(copy, copy.record(evidence={"table": [2, 9]}))
    assert benchmark.questions()[0].pages == (1,)
    assert "which is not counted: test-0 (test.json record 0): page 9 of 3" in benchmark.notes()[0]


@pytest.mark.parametrize("gold", ["75", float("nan"), None])
def test_a_gold_that_no_answer_meets_has_no_score_or_0_in_the_reference_protocol(copy, gold):
    benchmark = made(copy, copy.record(ground_truth=gold))
    assert "which no answer meets" in benchmark.notes()[0]
    case = Case("?", benchmark.questions()[0].answers, (), "```python\ndef solution():\n    return 75\n```")
    assert isnan(PotAccuracy().score_case(case))
    assert PotAccuracy(protocol="reference").score_case(case) == 0
    assert Executed().score_case(case) == 1


def test_the_reference_protocol_takes_whole_pages_as_chunks():
    (prescribed,) = FinMMDocR(root="sample", protocol="reference").scoring.prescribed
    assert (prescribed.family, prescribed.kind) == ("chunker", "page")
    assert SAMPLE.scoring.prescribed == ()


def test_published_numbers_are_of_metrics_and_groups_that_there_are():
    scoring = SAMPLE.scoring
    known = {*scoring.metrics, *(aggregate.name for aggregate in SAMPLE.aggregates())}
    assert {number.metric for number in SAMPLE.published()} <= known
    of_questions = {"=".join(group) for question in SAMPLE.questions() for group in question.groups}
    assert {"doc_length=<=30 pages", "extract=>=5 values", "scenario=w/ scenario", "doc_type=CR"} <= of_questions
    main = {number.group for number in SAMPLE.published() if number.main}
    assert main - {"all"} <= of_questions


def test_the_words_that_allow_programs_without_isolation_reach_the_metrics():
    words = "I accept that programs run without isolation"
    fields = FinMMDocR(root="sample", unsafe=words).scoring.metric_fields
    assert fields["pot_accuracy"]["unsafe"] == fields["executed"]["unsafe"] == words
    assert "unsafe" not in FinMMDocR(root="sample", unsafe=words).identity()
    with pytest.raises(ValueError, match="unsafe"):
        FinMMDocR(root="sample", unsafe="yes")


def test_it_is_fetched_from_the_hub_and_can_be_read(hub, tmp_path, copy):
    copy.files()
    files = {
        f"images/report/page_{page}.png": (copy.root / f"images/report/page_{page}.png").read_bytes()
        for page in (1, 2, 3)
    }
    hub.files = {
        "test.json": json.dumps([copy.record()]).encode(),
        "texts/report.json": b'["one", "two", "three"]',
        "images.zip": archive(files),
    }
    first, second = fetched(tmp_path / "data", endpoint=hub.url)
    assert first == f"3 files of BUPT-Reasoning-Lab/FinMMDocR at commit {'a' * 40}, 3 unpacked"
    assert second == f"root: {tmp_path / 'data'}"
    check_benchmark(FinMMDocR(root=tmp_path / "data"))


def test_a_copy_is_counted_by_group_only_where_it_has_the_labels(copy):
    assert {one.what: one.found for one in SAMPLE.verify()}["extract: <=4"] == 5
    records = survey(copy.write(copy.record(0), copy.record(1, doc_id="complong_1"))).records
    found = {tally.what: (tally.found, tally.published) for tally in tallies(records)}
    assert found["questions"] == (2, 1200)
    assert found["documents"] == (2, 837)
    assert found["questions: en"] == (1, 600)
    assert found["doc_length: <=30"] == (2, 591)
    assert found["doc_type: MI"] == (0, 24)
    assert found["extract: <=4"] == (None, 632)
    assert found["scenario: w/"] == (None, 795)
    labeled = survey(copy.write(copy.record(0, scenarios=["PM"], extract_steps=2, calc_steps=2))).records
    found = {tally.what: tally.found for tally in tallies(labeled)}
    assert [found["extract: <=4"], found["compute: >=5"], found["scenario: w/"], found["scenario: w/o"]] == [1, 0, 1, 0]
    assert found["visual_extraction: 0"] is None
