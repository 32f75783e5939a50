"""Noise goes where it is sent, with as many edits as it would make everywhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Edit, Page, Question
from ohr.noise.formatting import Formatting
from ohr.steps.documents.treat import TreatedPages, aligned, count, eligible, treat
from ohr.text import edits

from .conftest import doses, rows

FILLER = "Many words are printed around here without any question about them, and they continue for a while longer. "
EVIDENCE = "The old ferry berth was leased to the harbour company for ninety nine years by the town council."
TEXT = f"{FILLER * 8}\n\n{EVIDENCE}\n\n{FILLER * 8}"


def question(text="Who leased the ferry berth?", evidence=(EVIDENCE,), pages=(0,)):
    return Question("q", text, ("the town",), "law/lease", pages, evidence, "text", "law")


def said(text, spans):
    return [text[start:end] for start, end in spans]


@pytest.mark.parametrize(
    ("where", "text", "index", "asked", "found"),
    [
        ("evidence", TEXT, 0, question(), [EVIDENCE]),
        ("evidence", TEXT, 1, question(), []),
        ("evidence", EVIDENCE, 1, question(evidence=(EVIDENCE, "Another passage of the page."), pages=(0, 1)), []),
        ("distractors", TEXT, 0, question(), TEXT.split(EVIDENCE)),
        ("query_terms", TEXT, 0, question("Who leased the Ferry Berth, and to whom?"), ["ferry berth", "leased"]),
    ],
    ids=["verbatim", "of another page", "each page has its own", "all but the evidence", "without common words"],
)
def test_a_place_is_what_its_name_says(where, text, index, asked, found):
    assert said(text, eligible(where, text, index, [asked])) == found


def test_evidence_is_found_in_what_an_engine_misread():
    read = TEXT.replace("ferry berth", "fcrry bcrth").replace("ninety", "n1nety")
    (found,) = said(read, eligible("evidence", read, 0, [question()]))
    assert found.startswith("The old fcrry") and found.endswith("town council.")


def test_evidence_that_a_page_does_not_have_is_not_found():
    assert list(aligned(FILLER, "Quarterly revenue rose 14.2% to 3,100 million euros in 2021.")) == []


def test_chinese_query_terms_are_found_without_spaces():
    text = "该港口公司于一九六四年租用了渡轮泊位。"
    found = said(text, eligible("query_terms", text, 0, [question("渡轮泊位是哪一年租用的?")]))
    assert "租用" in found and any("渡轮" in span for span in found)


@pytest.mark.parametrize(
    ("text", "asked", "terms"),
    [
        ("El castillo está en «Granada», cerca.", "¿Granada?", ["Granada"]),
        ("किला दिल्ली। बड़ा", "दिल्ली?", ["दिल्ली"]),
        ("ปราสาทกรุงเทพ", "กรุง", ["กรุ", "รุง"]),
    ],
)
def test_query_terms_of_any_script_are_found_whole(text, asked, terms):
    assert set(said(text, eligible("query_terms", text, 0, [question(asked)]))) <= {*terms, "กรุง"}
    assert eligible("query_terms", text, 0, [question(asked)])


@given(st.text(), st.text(min_size=1), st.sampled_from(["evidence", "distractors", "query_terms"]))
def test_spans_ascend_inside_the_text(text, passage, where):
    spans = eligible(where, text, 0, [question(text=passage, evidence=(passage, text[3:30]), pages=(0, 0))])
    borders = [border for span in spans for border in span]
    assert borders == sorted(borders)
    assert all(0 <= start < end <= len(text) for start, end in spans)


@pytest.mark.parametrize("where", ["everywhere", "evidence", "distractors", "query_terms"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_placed_noise_makes_as_many_edits_as_everywhere(where, seed):
    text = TEXT + "\n\nFerry berth leased, leased ferry berth." * 9  # room for a dose on the words of the question
    pages = [Page("law/lease", index, text) for index in range(4)]
    asked = [question(pages=(index,)) for index in range(4)]
    everywhere = treat(TreatedPages.of(pages), [Formatting(rate=0.02)], asked, seed)
    placed = treat(TreatedPages.of(pages), [Formatting(rate=0.02, where=where)], asked, seed)
    assert placed.aimed == everywhere.aimed == sum(map(len, everywhere.ledgers))
    made = sum(map(len, placed.ledgers))
    assert abs(made - placed.aimed) <= 1  # one unit of formatting is a pair of edits
    for page in placed.ledgers:
        spans = eligible(where, text, 0, [question()])
        assert all(any(low <= e["start"] and e["end"] <= high for low, high in spans) for e in page)


def test_a_dose_that_finds_no_room_is_reported():
    pages = [Page("law/lease", 0, TEXT)]
    placed = treat(TreatedPages.of(pages), [Formatting(rate=0.9, where="query_terms")], [question()], 0)
    assert placed.aimed > 50 > sum(map(len, placed.ledgers))


def test_a_chains_ledger_takes_each_step_back():
    pages = [Page("law/lease", 0, TEXT)]
    made = treat(
        TreatedPages.of(pages), [Formatting(rate=0.2), Formatting(rate=0.5, where="evidence")], [question()], 0
    )
    text = made.pages[0].text
    steps = [[edit for edit in made.ledgers[0] if edit["step"] == step] for step in (0, 1)]
    for step in reversed(steps):
        text = edits.undo(text, [Edit(*(edit[name] for name in Edit._fields)) for edit in step])
    assert text == TEXT
    assert made.ledgers[0] == [*steps[0], *steps[1]]


def test_noise_draws_the_same_whatever_other_kinds_are_in_the_chain():
    from ohr.steps.documents.treat import numbered

    a, b = Formatting(), Formatting(kind="formatting", rate=0.2)
    assert [place for _, place in numbered([a, b, a])] == [0, 1, 2]
    assert count([]) == 0


SPEC = """\
benchmark: {kind: tiny}
knowledge_bases:
  - {name: f, text_noise: {kind: formatting, rate: 0.3, where: [everywhere, evidence, distractors]}}
evaluate: [retrieval]
retrievers: [{kind: bm25}]
"""


def test_a_run_sweeps_the_place_and_says_what_dose_was_reached(home):
    finished = home.run(SPEC)
    found = {dose["noise"].removeprefix("f where="): dose for dose in doses(finished)}
    assert {dose["knob_value"] for dose in found.values()} == {"0.3"}
    assert set(found) == {"everywhere", "evidence", "distractors"}
    assert len({dose["edits_aimed"] for dose in found.values()}) == 1
    assert found["everywhere"]["edits"] == found["everywhere"]["edits_aimed"] > 0
    damaged = {v: sum(r["value"] for r in rows(finished, metric="damaged", noise=f"f where={v}")) for v in found}
    assert damaged["distractors"] == 0 < damaged["evidence"]


def test_another_question_makes_another_key_only_where_noise_is_placed(home):
    def keys(*overrides):
        made = home.keys(SPEC, *overrides)
        return [[made.document(base, d, ()) for d in made.inputs.documents] for base in made.spec.knowledge_bases]

    before, after = keys(), keys("sample=3")
    assert before[0] == after[0]
    assert before[1] != after[1] and before[2] != after[2]
