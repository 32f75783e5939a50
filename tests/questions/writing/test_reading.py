"""Prompts, and the questions that are read from whatever a model replies."""

import json
import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import Completion
from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.writing.assignments import FORMS, LEVELS, ONE_PAGE, TASKS, Asked, Passage, assigned, joined, parts_of
from ohr.questions.writing.reading import candidates_of, items_in

PLACEHOLDER = re.compile(r"\{\w+\}")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_combination_is_a_prompt_of_its_own_without_placeholders(language):
    prompts = set()
    for source, task, level, form, count in product((*ONE_PAGE, "multi"), TASKS, LEVELS, FORMS, (1, 2, 3)):
        passages = tuple(
            Passage(index, 0, f"text {index}") for index in range(1 + (source in ("reading_order", "multi")))
        )
        prompt = assigned(
            "law/x", passages, Asked(source, task, level, form, language, count, "Ardwen"), "Title"
        ).prompt
        assert not PLACEHOLDER.search(prompt.system + prompt.user)
        assert all(passage.text in prompt.user for passage in passages)
        prompts.add((prompt.system, prompt.user, prompt.opening))
    assert len(prompts) == 6 * 2 * 3 * 4 * 3


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_examples_are_replies_that_can_be_read_with_evidence_of_their_passage(language):
    for kind, example in parts_of(language).example.items():
        (item,) = items_in(example)
        before = example[: example.index("JSON")]
        assert item.question
        assert item.answer
        assert all(quote in before for quote in item.evidence)
        assert bool(item.evidence) == (kind != "joined")


def test_the_openings_are_how_the_examples_begin():
    parts = parts_of("zh")
    for kind, opening in (("reasoning", "opening"), ("pair", "opening_pair"), ("joined", "opening_joined")):
        assert getattr(parts, opening) in parts.example[kind]


def test_a_document_without_a_title_has_its_name():
    asked = Asked("text", "understanding", "easy", "String", "en", 1)
    assert assigned("law/ferry_lease-2", (Passage(0, 0, "text"),), asked).prompt.user.startswith(
        "Document: ferry lease 2\n"
    )


def test_braces_in_a_passage_stay_as_they_are():
    asked = Asked("formula", "understanding", "easy", "String", "en", 1)
    assert "\\frac{title}{form}" in assigned("a", (Passage(0, 0, "\\frac{title}{form}"),), asked, "T").prompt.user


def test_a_prompt_to_join_names_both_questions_and_the_entity():
    first = Candidate("1", "Who drew the pier?", ("Ina Moss",), "a", (Evidence(0, "x"),))
    second = Candidate("2", "When was Ina Moss born?", ("1871",), "a", (Evidence(1, "y"),))
    prompt = joined(first, second, "Ina Moss").prompt
    assert all(text in prompt.user for text in ("Who drew the pier?", "When was Ina Moss born?", "1871", '"Ina Moss"'))
    assert not PLACEHOLDER.search(prompt.system + prompt.user)


PAGE = (
    "The harbor of Ardwen opened in 1904. Its first pier, which the\nengineer Ina Moss drew, is 212 meters long.\n\n"
    "\\begin{tabular}{|l|c|}\n\\hline \\textbf{Pier} & Length (m) \\\\\n\\hline North & 212 \\\\\n\\hline South & "
    "$180.5$ \\\\\n\\hline\n\\end{tabular}\n\n$$\nn = \\frac{212}{2} \\times 3 \\tag{1}\n$$\n\n"
    "Each pier has a “lamp” at its end."
)
PASSAGE = Passage(3, 100, PAGE)
ASKED = Asked("text", "understanding", "easy", "String", "en", 2)
ASSIGNMENT = assigned("law/harbor", (PASSAGE,), ASKED)
ITEM = {
    "evidence": "The harbor of Ardwen opened in 1904.",
    "question": "When did the harbor of Ardwen open?",
    "answer": "1904",
    "answer_form": "Numeric",
}
OTHER = {
    "evidence": "Each pier has a “lamp” at its end.",
    "question": "What is at the end of Ardwen's piers?",
    "answer": "a lamp",
}


def read(text, assignment=ASSIGNMENT, **keys):
    candidates, faults = candidates_of(assignment, Completion(text, **keys), "scripted")
    return [(each.question, each.answers[0]) for each in candidates], [fault.name for fault in faults]


def only(text, assignment=ASSIGNMENT):
    candidates, faults = candidates_of(assignment, Completion(text), "scripted")
    assert not faults
    (candidate,) = candidates
    return candidate


SOUND = [(ITEM["question"], "1904"), (OTHER["question"], "a lamp")]
JSON = json.dumps([ITEM, OTHER])


def test_a_candidate_has_what_its_assignment_and_its_reply_say():
    candidate = only(json.dumps([ITEM]))
    assert (candidate.question, candidate.answers, candidate.answer_form) == (ITEM["question"], ("1904",), "Numeric")
    assert (candidate.document, candidate.pages, candidate.source) == ("law/harbor", (3,), "text")
    assert (candidate.task, candidate.language, candidate.origin) == ("understanding", "en", "written")
    assert (candidate.made_by, candidate.notes) == ("scripted", {"pages": "single"})
    (evidence,) = candidate.evidence
    assert (evidence.page, evidence.text, evidence.start, evidence.end) == (3, ITEM["evidence"], 100, 136)


@pytest.mark.parametrize(
    "reply",
    [
        JSON,
        f"Sure! Here are the questions:\n```json\n{JSON}\n```\nI hope that they help.",
        f'<think>Maybe {{"question": "Which?", "answer": "no"}}.</think>\n{JSON}',
        JSON.removeprefix('[{"evidence": "'),  # the generator began the reply with the opening
        JSON.replace("}", ",}").replace("]", ",]"),
        json.dumps({"questions": [ITEM, OTHER]}, indent=2),
        f"{json.dumps(ITEM)}\n{json.dumps(OTHER)}",
        JSON.replace('"question"', '"Question"').replace('"answer"', '"ANSWER"'),
        JSON.replace('"1904"', "1904"),
        JSON.replace('"', "'")
        .replace("Ardwen's", "Ardwen\\'s")
        .replace("'s piers", "\\'s piers")
        .replace("\\\\", "\\"),
        JSON.replace('{"evidence"', '{"id": 1, "evidence"'),
        "\n\n".join(
            f"**Evidence:** {item['evidence']}\n**Question 1:** {item['question']}\n**Answer 1:** {item['answer']}"
            for item in (ITEM, OTHER)
        ),
        f"{JSON[:-1]}, ",
    ],
)
def test_replies_in_many_forms_are_read(reply):
    assert read(reply) == (SOUND, [])


@pytest.mark.parametrize(
    ("reply", "faults"),
    [
        ("", ["no JSON"]),
        ("I cannot help with that.", ["no JSON"]),
        ("[]", ["no question"]),
        ("```json\n[]\n```", ["no question"]),
        ("None.", ["no question"]),
        ('[{"question": null, "answer": null}]', ["no question"]),
        ('[{"question": "None", "answer": "x"}]', ["no question"]),
        ('[{"question": "Who drew the pier of Ardwen?", "answer": ""}]', ["no answer"]),
        ('[{"question": "Who drew the pier of Ardwen?"}]', ["no answer"]),
        ('[{"question": "Who drew the pier of Ardwen?", "answer": "N/A"}]', ["no answer"]),
        ('{"question": "Who drew the pier', ["cut"]),
        (parts_of("en").example["understanding"], ["copies the example"]),
        ("<think>I wonder", ["no JSON"]),
        ("[" * 100_000, ["no JSON"]),
        ('{"question": ' + "[" * 100_000, ["cut"]),
    ],
)
def test_replies_that_are_no_questions_are_faults_by_name(reply, faults):
    assert read(reply) == ([], faults)


def test_what_is_whole_before_the_cut_counts():
    cut = JSON[: JSON.index("a lamp")]
    assert read(cut, finish="length") == (SOUND[:1], ["cut"])
    assert read(JSON[:-1], finish="length") == (SOUND, [])
    assert read("I think", finish="length") == ([], ["cut"])


def test_a_reply_that_failed_is_a_fault_with_its_error():
    assert read("", finish="error", error="HTTP 500") == ([], ["no reply: HTTP 500"])


def test_no_more_questions_than_asked_for_and_none_twice():
    third = {**ITEM, "question": "Where did Ina Moss draw the pier of Ardwen?"}
    assert read(json.dumps([ITEM, ITEM, OTHER, third])) == (SOUND, [])


@pytest.mark.parametrize(
    ("answer", "text", "form"),
    [
        ("1904", "1904", "Numeric"),
        (180.50, "180.5", "Numeric"),
        (True, "Yes", "Yes/No"),
        ("No.", "No.", "Yes/No"),
        (["North", "South"], "North, South", "List"),
        (["North"], "North", "String"),
        ("Ina Moss", "Ina Moss", "String"),
        ("the engineer who drew the first pier in 1904", "the engineer who drew the first pier in 1904", "String"),
        ({"North": 212}, "North: 212", "Numeric"),
    ],
)
def test_answers_of_each_type_become_text_with_their_form(answer, text, form):
    candidate = only(json.dumps([{**ITEM, "answer": answer, "answer_form": "Other"}]))
    assert (candidate.answers, candidate.answer_form) == ((text,), form)


@pytest.mark.parametrize(
    ("quote", "own"),
    [
        (
            "Its first pier, which the engineer Ina Moss drew, is 212 meters long.",
            "Its first pier, which the\nengineer Ina Moss drew, is 212 meters long.",
        ),
        ('Each pier has a "lamp" at its end', "Each pier has a “lamp” at its end"),
        ("North | 212", "North & 212"),
        ("Pier Length (m)", r"\textbf{Pier} & Length (m)"),
        ("South & 180.5", "South & \n$180.5".replace("\n", "")),
        (
            "Pier, Length (m), North, 212, South, 180.5",
            "Pier} & Length (m) \\\\\n\\hline North & 212 \\\\\n\\hline South & $180.5",
        ),
        ("$n = \\frac{212}{2} \\times 3$", "n = \\frac{212}{2} \\times 3"),
        (
            "The harbor of Ardwen ... drew, is 212 meters long.",
            PAGE[: PAGE.index(" long.") + 6],
        ),
        (
            "The first pier, which the engineer Ina Moss drew, is 212 meters long!",
            "Its first pier, which the\nengineer Ina Moss drew, is 212 meters long.",
        ),
    ],
)
def test_evidence_becomes_the_pages_own_words(quote, own):
    (evidence,) = only(json.dumps([{**ITEM, "evidence": quote}])).evidence
    assert evidence.text.strip("|$ ") == own.strip("|$ ")
    assert PAGE[evidence.start - 100 : evidence.end - 100] == evidence.text


@pytest.mark.parametrize(
    ("about", "question", "added"),
    [
        ("harbor of Ardwen", "When did it open?", True),
        ("harbor of Ardwen", "When did Ardwen's port open?", False),
        ("harbor of Ferrol", "When did it open?", False),  # the passage has no such name
        ("Ardwen opened in 1904", "When was the port ready?", False),  # it holds the answer
        ("", "When did it open?", False),
    ],
)
def test_a_question_without_the_name_of_what_it_is_about_gets_it(about, question, added):
    candidate = only(json.dumps([{**ITEM, "about": about, "question": question}]))
    assert candidate.question == (f"{about}: {question}" if added else question)
    assert candidate.notes == {"pages": "single", **({"name_added": about} if added else {})}


def test_latex_with_single_backslashes_is_read():
    reply = '[{"evidence": "n = \\frac{212}{2} \\times 3", "question": "Which n has Ardwen\'s pier?", "answer": "318"}]'
    assert only(reply).evidence[0].text == "n = \\frac{212}{2} \\times 3"


@pytest.mark.parametrize(
    ("quote", "answer", "own"),
    [
        ("North", "212", "\\hline North & 212 \\\\"),
        ("The harbor of Ardwen", "1904", "The harbor of Ardwen opened in 1904."),
        ("The harbor of Ardwen", "1931", "The harbor of Ardwen"),
        ("opened in 1904", "1904", "opened in 1904"),
    ],
)
def test_a_quote_without_the_answer_becomes_its_row_or_sentence_that_has_it(quote, answer, own):
    (evidence,) = only(json.dumps([{**ITEM, "evidence": quote, "answer": answer}])).evidence
    assert evidence.text == own
    assert PAGE[evidence.start - 100 : evidence.end - 100] == own


@pytest.mark.parametrize("quote", ["The harbor of Ardwen opened in 1905.", "Nobody knows when the harbor opened."])
def test_other_evidence_stays_without_a_place(quote):
    (evidence,) = only(json.dumps([{**ITEM, "evidence": quote}])).evidence
    assert (evidence.page, evidence.text, evidence.start, evidence.end) == (3, quote, -1, -1)


def test_evidence_of_two_passages_is_found_on_the_page_of_each():
    second = Passage(5, 0, "The lamps of Ardwen burn whale oil until 1931.")
    assignment = assigned("law/harbor", (PASSAGE, second), ASKED._replace(source="multi", questions=1, entity="Ardwen"))
    quotes = [ITEM["evidence"], "The lamps of Ardwen burn whale oil"]
    for item in (
        {**ITEM, "evidence": quotes},
        {"question": ITEM["question"], "answer": "1904", "evidence_a": quotes[0], "evidence_b": quotes[1]},
    ):
        candidate = only(json.dumps([item]), assignment)
        assert candidate.pages == (3, 5)
        assert [passage.start for passage in candidate.evidence] == [100, 0]
        assert candidate.notes == {"pages": "several"}
    assert read(json.dumps([{**ITEM, "evidence": quotes[:1]}]), assignment) == ([], ["evidence of one page"])
    assert read(json.dumps([{**ITEM, "evidence": "invented"}]), assignment)[1] == []


def test_ids_are_the_same_again_and_differ_between_assignments():
    first, again = only(json.dumps([ITEM])), only(f"Here: {json.dumps([ITEM])}")
    assert first.id == again.id
    other = assigned("law/harbor", (PASSAGE,), ASKED._replace(level="hard"))
    assert only(json.dumps([ITEM]), other).id != first.id


def test_a_joined_question_has_the_answer_and_the_evidence_of_its_parents():
    parents = [only(json.dumps([item])) for item in (ITEM, OTHER)]
    assignment = joined(*parents, "the lamp")
    reply = json.dumps([{"question": "What is at the ends in the harbor of 1904's town?", "answer": "wrong"}])
    assert read(reply, assignment)[1] == ["names the entity"]  # 1904 is the first answer
    candidate = only(reply.replace("1904's", "the oldest"), assignment)
    assert (candidate.answers, candidate.origin, candidate.source) == (("a lamp",), "joined", "multi")
    assert candidate.parents == (parents[0].id, parents[1].id)
    assert candidate.evidence == (*parents[0].evidence, *parents[1].evidence)


def test_halves_of_characters_and_control_characters_do_not_survive():
    candidate = only('[{"question": "Who \\ud800 drew \\u0000 it?", "answer": "x\\udfff"}]')
    assert candidate.question.encode("utf-8")
    assert "\x00" not in candidate.question


PIECES = st.sampled_from(
    [*'{}[]",:\\\n\'“”', '"question"', '"answer": ', '"evidence": ', "Question: ", "Answer:", "```json", "<think>",
     "</think>", "null", "true", "1e999", "-", "...", "\\u12", "\\frac", "\ud800", "The harbor of Ardwen opened", "$$"]
)  # fmt: skip
VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=20), st.lists, max_leaves=4)
ITEMS = st.dictionaries(st.sampled_from(["question", "answer", "evidence", "answer_form", "x"]), VALUES)
REPLIES = st.text() | st.lists(PIECES, max_size=40).map("".join) | st.lists(ITEMS, max_size=3).map(json.dumps)


@given(REPLIES, st.sampled_from(["stop", "length"]))
def test_no_text_broken_json_or_json_of_other_types_raises(text, finish):
    candidates, faults = candidates_of(ASSIGNMENT, Completion(text, finish=finish))
    assert candidates or faults


@given(
    st.lists(
        st.tuples(st.text("abcäß 工,.\"'\\{}[]:", min_size=3), st.text("xyz 12", min_size=1)), min_size=1, max_size=3
    )
)
def test_sound_json_is_read_as_json_reads_it(pairs):
    items = [{"question": f"q{question}q", "answer": f"a{answer}a"} for question, answer in pairs]
    assert [(each.question, each.answer) for each in items_in(json.dumps(items))] == [
        (item["question"], item["answer"]) for item in items
    ]
