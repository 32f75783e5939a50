import json
import re
from collections import Counter

import pytest
from PIL import Image

from ohr.contracts import Page
from ohr.dataset.inputs import _repeated, find_copies, read_inputs
from ohr.errors import SpecError
from ohr.messages.wording import sized
from ohr.spec.read import read_spec

ENGINES = """\
benchmark: {kind: tiny, language: zh}
knowledge_bases:
  - {name: one, ocr: {kind: tesseract}}
  - {name: two, ocr: {kind: tesseract, languages: [eng, chi_sim]}}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


def read(home, *overrides, text=ENGINES):
    return read_inputs(read_spec(home.write(text), overrides, trust_plugins=True))


def test_engines_that_read_the_language_are_fine(home):
    assert len(read(home, "knowledge_bases.0.ocr.languages=[eng, chi_sim]").documents) == 4


NUMBERS = """\
benchmark: {kind: mini, languages: [en], max_pages: 1}
knowledge_bases: [{name: ground_truth}]
retrievers: [{kind: bm25}]
evaluate: [retrieval]
questions: {answer_form: Numeric, evidence_source: [table, chart]}
"""


def test_questions_are_chosen_by_their_kinds_and_documents_stay(home):
    every, chosen = read(home, "questions={}", text=NUMBERS), read(home, text=NUMBERS)
    kinds = {(q.answer_form, q.evidence_source) for q in chosen.questions}
    assert kinds == {("Numeric", "table"), ("Numeric", "chart")}
    assert chosen.questions == tuple(
        q for q in every.questions if q.answer_form == "Numeric" and q.evidence_source in ("table", "chart")
    )
    assert chosen.documents == every.documents
    left, all_of_them = len(chosen.questions), len(every.questions)
    assert f"asked {left} of {all_of_them} questions: those chosen by `questions`" in chosen.warnings


def test_few_questions_of_each_document_are_asked_and_a_sample_is_drawn_of_those(home):
    def asked(*overrides):
        return read(home, "questions={}", *overrides, text=NUMBERS).questions

    every, two = asked(), asked("per_document=2")
    counts = {each.document: [q.document for q in every].count(each.document) for each in every}
    assert max(counts.values()) > 2
    assert Counter(q.document for q in two) == {name: min(2, count) for name, count in counts.items()}
    assert two == tuple(q for q in every if q in two)
    (one, same) = (asked(f"per_document={most}") for most in (1, max(counts.values())))
    assert set(one) < set(two) and same == every  # a larger design asks the questions of a smaller one again
    sampled = asked("per_document=1", "sample=5")
    assert len(sampled) == 5 and set(sampled) < set(one)
    assert asked("per_document=2", "seed=1") != two


def test_a_limit_takes_documents_with_questions_first(tmp_path):
    (tmp_path / "docs").mkdir()
    for number in range(12):
        Image.new("RGB", (40, 40), "white").save(tmp_path / f"docs/page{number}.png")
    asked = [{"question": "What?", "answers": ["that"], "document": f"page{n}", "page": 1} for n in (4, 7, 9)]
    (tmp_path / "questions.json").write_text(json.dumps(asked))
    spec = tmp_path / "study.yaml"
    spec.write_text(
        "benchmark: {kind: folder, root: docs, questions: questions.json}\n"
        "knowledge_bases: [{name: one, ocr: {kind: precomputed, root: docs}}]\n"
        "retrievers: [{kind: bm25}]\nevaluate: [retrieval]\n"
    )
    for limit, expected in ((2, 2), (3, 3), (5, 3)):
        inputs = read_inputs(read_spec(spec, [f"limit={limit}"]))
        assert (len(inputs.documents), inputs.documents_asked) == (limit, expected)
    assert sized(12, 3, 3) == "12 documents (3 with questions), 3 questions"
    assert sized(1, 1, 4) == "1 document, 4 questions"


@pytest.mark.parametrize(
    ("text", "overrides", "message"),
    [
        (ENGINES, (), r"ocr tesseract: no language pack for zh \(4 documents, e.g. law/0\)\. .*"),
        (
            ENGINES,
            ("benchmark.size=0", "benchmark.language=en"),
            "benchmark tiny: nothing left: 0 documents, 0 questions",
        ),
        (
            NUMBERS,
            ("questions={evidence_source: chart, answer_form: List, task_type: understanding}",),
            r"questions: none of \d+ has all of these attributes together",
        ),
        (
            NUMBERS,
            ("questions.answer_form=Numerical",),
            r"questions.answer_form: no question has 'Numerical'. Choose one of: List, Numeric, String, Yes/No. "
            r"Did you mean 'Numeric'\?",
        ),
    ],
    ids=["no engine reads the language", "nothing to ask", "kinds that are never together", "an unknown kind"],
)
def test_inputs_without_what_a_run_needs_are_refused(home, text, overrides, message):
    with pytest.raises(SpecError) as caught:
        read(home, *overrides, text=text)
    assert re.fullmatch(message, str(caught.value), re.DOTALL)


def test_a_document_that_is_there_twice_is_reported_with_one_pair():
    truth = {"a": ["The rent is 300 pounds a month.", "7"], "b": ["A ferry sails at nine in the morning.", "7"]}
    truth["copy"] = [" The rent is  300 pounds a month.\n", "7"]
    pages = {name: tuple(Page(name, place, text) for place, text in enumerate(texts)) for name, texts in truth.items()}
    copies = find_copies(pages)
    assert copies == {("a", 0): ("a", 0), ("copy", 0): ("a", 0)}
    assert _repeated(copies) == [
        "2 pages with the text of another, e.g. copy page 1 and a page 1: a hit on either counts"
    ]
