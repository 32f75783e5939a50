from dataclasses import replace
from decimal import Decimal

import pytest

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.candidate_rules import EXAMPLE_NAMES, RULES
from ohr.questions.number_readings import numbers
from ohr.questions.truth_texts import Texts, letters
from ohr.questions.verification import verify
from ohr.questions.writing.assignments import parts_of

LEASE = (
    "The rent of Berth 3 is 1,200,000 florins a year.\n\n"
    "It is due in twelve instal-\nments. 租期为十二年，到2030年为止。"
)
TABLE = "| Ship | Fee |\n| --- | --- |\n| Aldrunn | 45.0 |\n| Merula | (38) |\n\nNobody else pays a fee at the quay."
TRUTH = {
    "law/lease": [Page("law/lease", 0, LEASE), Page("law/lease", 1, TABLE)],
    "law/copy": [Page("law/copy", 0, "Nobody else pays a fee at the quay.")],
    "law/other": [Page("law/other", 0, "The rent is due."), Page("law/other", 1, "", error="no page")],
    "law/third": [Page("law/third", 0, "The rent is due.")],
}
RENT = Candidate(
    id="rent",
    question="How much is the rent of Berth 3 a year?",
    answers=("1.2 million florins",),
    document="law/lease",
    evidence=(Evidence(0, "The rent of Berth 3 is 1,200,000 florins"),),
)
FEE = replace(
    RENT,
    id="fee",
    question="Which fee does the Aldrunn pay?",
    answers=("45",),
    evidence=(Evidence(1, "| Aldrunn | 45.0 |"),),
    source="table",
)


def removed(*candidates):
    return {removal.candidate: removal.rule for removal in verify(candidates, TRUTH).removals}


def test_sound_candidates_survive_with_the_places_of_their_evidence():
    funnel = verify([RENT, FEE], TRUTH)
    assert [candidate.id for candidate in funnel.survivors] == ["rent", "fee"]
    first = funnel.survivors[0].evidence[0]
    assert LEASE[first.start : first.end] == first.text
    assert all(row.removed == 0 and row.left == 2 for row in funnel.rows)


def test_a_question_about_the_example_of_the_prompt_is_removed_unless_its_document_has_the_name():
    asked = replace(RENT, question="How much is the rent of Berth 3 at SKELBY a year?")
    assert removed(asked) == {"rent": "copies_the_example"}
    assert removed(replace(asked, origin="imported")) == {}
    there = {**TRUTH, "law/lease": [replace(TRUTH["law/lease"][0], text=f"{LEASE} Skelby"), TRUTH["law/lease"][1]]}
    assert not verify([asked], there).removals


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_names_of_each_example_are_known(language):
    for example in parts_of(language).example.values():
        assert sum(letters(name).text in letters(example).text for name in EXAMPLE_NAMES), example


def test_passages_are_the_words_of_their_page_and_those_that_overlap_one():
    quoted = (Evidence(0, "BERTH 3 is 1,"), Evidence(0, "ments. 租期"), Evidence(0, "is 1,200,000 florins"))
    (survivor,) = verify([replace(RENT, evidence=quoted)], TRUTH).survivors
    assert [passage.text for passage in survivor.evidence] == [
        "Berth 3 is 1,200,000 florins",
        "instal-\nments. 租期",
    ]


def test_the_reason_for_a_question_in_another_language_says_which_are_verified():
    reasons = [
        verify([replace(RENT, question=question)], TRUTH).removals[0].reason
        for question in ("Wie hoch ist der Preis?", "What is the total amount of xyzzy?")
    ]
    assert reasons == [
        "has no word of its document but question words; questions are verified in English and Chinese",
        "has no word of its document but question words",
    ]


def test_a_copy_of_a_document_makes_its_words_no_less_rare_and_its_evidence_no_less_clear():
    copies = TRUTH | {
        f"law/copy-{at}": [replace(page, document=f"law/copy-{at}") for page in TRUTH["law/lease"]] for at in range(3)
    }
    brought = replace(RENT, document="law/copy-1")
    assert verify([RENT], copies).survivors and verify([brought], copies).survivors
    part = TRUTH | {"law/part": [replace(TRUTH["law/lease"][0], document="law/part")]}
    assert [removal.reason for removal in verify([RENT], part).removals] == ["all of its evidence is also in law/part"]


def test_the_funnel_counts_what_each_rule_removes():
    broken = replace(RENT, id="broken", question="How much is the rent in this document?")
    funnel = verify([RENT, replace(RENT, id="again"), broken], TRUTH)
    rows = {row.rule: (row.entered, row.removed, row.left) for row in funnel.rows}
    assert list(rows) == [rule.name for rule in RULES]
    assert rows["unusable_length"] == (3, 0, 3)
    assert rows["context_dependent"] == (3, 1, 2)
    assert rows["near_duplicate"] == (2, 1, 1)
    examples = {row.rule: [removal.candidate for removal in row.examples] for row in funnel.rows if row.examples}
    assert examples == {"context_dependent": ["broken"], "near_duplicate": ["again"]}


def test_no_candidates_make_an_empty_funnel():
    assert {row.entered for row in verify([], TRUTH).rows} == {0}


def test_candidates_with_one_id_are_refused():
    with pytest.raises(DataError, match="different ids; used more than once: rent"):
        verify([RENT, RENT], TRUTH)


@pytest.mark.parametrize(
    "question",
    [
        "According to the document, what does Aldrunn pay?",
        "What does Aldrunn pay in this table?",
        "Which ship is last in the table?",
        "What is shown in the above figure for Aldrunn?",
        "Based on the provided context, who pays?",
        "What does the passage say about Aldrunn?",
        "What is the fee of Aldrunn, as shown above?",
        "Does the document specify a fee for Aldrunn?",
        "Which ships are listed in the document with a fee below 40?",
        "Which contradiction does the given proof of Aldrunn show?",
        "From the chart, which ship pays most?",
        "根据本文，租期有多长？",
        "上表中哪艘船付得最多？",
        "在该表格中，费用是多少？",
        "图中哪一项最大？",
        "根据文档，租期到哪一年为止？",
    ],
)
def test_wording_that_needs_the_page_is_removed(question):
    assert removed(replace(RENT, question=question)) == {"rent": "context_dependent"}


@pytest.mark.parametrize(
    "question",
    [
        "Who won the table tennis final at Berth 3?",
        "How much rent does the text of the Berth 3 lease ask for?",
        "In the table of tides at Berth 3, which is highest?",
        "Which document must the tenant of Berth 3 show?",
        "Which fee is due according to the document on Berth 3?",
        "Is a fee given for Berth 3 in the context of the lease?",
        "How many text messages does the text-based terminal of Berth 3 send?",
        "According to Brennholt's article of association, who signs for Berth 3?",
        "Berth 3 本图书馆的租期有多长？",
        "Berth 3 的代表中谁签字？",
    ],
)
def test_wording_that_only_resembles_it_stays(question):
    assert "context_dependent" not in removed(replace(RENT, question=question)).values()


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"question": "  "}, "unusable_length"),
        ({"question": "Berth 3?"}, "unusable_length"),
        ({"question": "Berth " * 81}, "unusable_length"),
        ({"answers": ()}, "unusable_length"),
        ({"answers": (" ",)}, "unusable_length"),
        ({"answers": ("florins " * 61,)}, "unusable_length"),
        ({"answers": ("how much is the rent of Berth 3 a year",)}, "answer_repeats_question"),
        ({"question": "Who is the Harbour Trust?", "answers": ("the Harbour Trust",)}, "answer_repeats_question"),
        ({"evidence": ()}, "evidence_not_on_its_page"),
        ({"evidence": (Evidence(1, RENT.evidence[0].text),)}, "evidence_not_on_its_page"),
        ({"evidence": (Evidence(9, RENT.evidence[0].text),)}, "evidence_not_on_its_page"),
        ({"evidence": (Evidence(0, "rent of Berth 3 is 1,200,00"),)}, "evidence_not_on_its_page"),
        ({"document": "law/absent"}, "evidence_not_on_its_page"),
        ({"source": "table"}, "other_source"),
        ({"answers": ("1.3 million florins",)}, "answer_not_in_evidence"),
        ({"answers": ("a hundred crowns",)}, "answer_not_in_evidence"),
        ({"answers": ("the harbour master",)}, "answer_not_in_evidence"),
        ({"answers": ("1,200",), "evidence": (Evidence(0, "Berth 3 is 1,200,"),)}, "answer_not_in_evidence"),
        ({"answers": ("200,000",), "evidence": (Evidence(0, "200,000 florins"),)}, "answer_not_in_evidence"),
        ({"question": "How much is the rent that is due?"}, "names_no_entity"),
        ({"question": "What is the total amount of xyzzy?"}, "names_no_entity"),
    ],
)
def test_a_broken_candidate_is_removed_by_the_rule_of_its_fault(change, rule):
    assert removed(replace(RENT, **change)) == {"rent": rule}


@pytest.mark.parametrize(
    "change",
    [
        {"evidence": (Evidence(0, "the RENT of\nBerth 3: is 1,200,000 florins"),)},  # wrapped, in capitals
        {"answers": ("1200000",)},
        {"answers": ("£1,200,000.00",)},
        {"answers": ("Yes",)},
        {"answers": ("Nobody knows",), "task": "reasoning"},
        {"answers": ("twelve",), "evidence": (Evidence(0, "It is due in twelve instalments"),)},
        {"answers": ("12 instalments",), "evidence": (Evidence(0, "It is due in twelve instalments"),)},
        {"answers": ("12年",), "evidence": (Evidence(0, "租期为十二年"),)},
        {"source": "formula"},  # the truth marks no formula
    ],
)
def test_other_notations_of_a_sound_candidate_survive(change):
    assert removed(replace(RENT, **change)) == {}


def test_a_negative_number_in_brackets_is_found():
    assert removed(replace(FEE, answers=("38",), evidence=(Evidence(1, "Merula | (38)"),))) == {}


def test_evidence_in_several_documents_is_ambiguous():
    shared = replace(RENT, answers=("Nobody",), evidence=(Evidence(1, "Nobody else pays a fee at the quay."),))
    removal = verify([shared], TRUTH).removals[0]
    assert (removal.rule, removal.reason) == ("ambiguous_document", "all of its evidence is also in law/copy")
    both = replace(shared, evidence=(*shared.evidence, *RENT.evidence))  # one passage is in no other document
    assert removed(both) == {}


def test_several_pages_count_where_the_task_asks_for_one():
    both = replace(RENT, evidence=(*RENT.evidence, *FEE.evidence))
    assert removed(both) == {}
    assert removed(replace(both, notes={"pages": "single"})) == {"rent": "several_pages"}


def test_questions_that_differ_in_a_number_or_answer_are_no_duplicates():
    text = "In 2023 the rent of Berth 4 was 7 florins, in 2024 it was 7 florins, in the harbour of Quay Norrgate."
    truth = TRUTH | {"law/rents": [Page("law/rents", 0, text)]}
    asked = "How many florins was the rent of Quay Norrgate in {}?"
    first = replace(RENT, id="a", document="law/rents", answers=("7 florins",), evidence=(Evidence(0, text),))
    several = [replace(first, id=year, question=asked.format(year)) for year in ("2023", "2024")]
    reworded = replace(first, id="c", question="How many florins was the rent at Quay Norrgate in 2024?")
    removals = verify([*several, reworded], truth).removals
    assert [(removal.candidate, removal.rule) for removal in removals] == [("c", "near_duplicate")]
    assert "asks the same as 2024" in removals[0].reason


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,234.50", {"1234.5"}),
        ("1.2 million", {"1.2", "1200000"}),
        ("1.5万", {"1.5", "15000"}),
        ("twenty-three", {"23"}),
        ("three hundred and five", {"305"}),
        ("two thousand four hundred", {"2400"}),
        ("eleven or twelve", {"11", "12"}),
        ("the seventh", {"7"}),
        ("三百零五", {"305"}),
        ("二〇二四", {"2024"}),
        ("no number", set()),
    ],
)
def test_numbers_are_read_in_any_notation(text, values):
    assert {value for readings in numbers(text) for value in readings} == {Decimal(value) for value in values}


def test_a_passage_is_found_between_whole_words_only():
    texts = Texts({"a/b": [Page("a/b", 0, "2010 and 10 café")]})
    assert texts.span("a/b", 0, "10") == (9, 11)
    assert texts.span("a/b", 0, "($10 ") == (9, 11)  # the page has no such signs
    assert texts.span("a/b", 0, "CAFE\u0301") == (12, 16)
    assert texts.span("a/b", 0, "201") is None
    assert texts.span("a/b", 0, "?!") is None
    assert texts.span("a/b", 1, "10") is None
