"""A build from documents to a set that a study reads."""

import json
from collections import Counter

import pytest

from ohr.builder.build_set import estimate
from ohr.dataset.inputs import read_inputs
from ohr.engine.progress import Quiet
from ohr.errors import DataError, PluginError, SpecError
from ohr.questions.candidate import read_records
from ohr.questions.human_review import FILE, Decision, add_decision, candidate_digest
from ohr.spec.read import make_spec


def study(out):
    """Read the set as a study does."""
    keys = {
        "benchmark": {"kind": "ohrbench", "root": str(out)},
        "knowledge_bases": [{"name": "clean"}],
        "retrievers": [{"kind": "bm25"}],
        "evaluate": ["retrieval"],
    }
    return read_inputs(make_spec(keys, "test"))


def test_a_build_makes_a_benchmark_of_documents(place):
    built = place.build()
    assert len(built.questions) >= 8
    assert built.too_weak == ""
    inputs = study(place.out)
    assert [question.id for question in inputs.questions] == [question.id for question in built.questions]
    assert [question.text for question in inputs.questions] == [question.question for question in built.questions]
    assert {document.name for document in inputs.documents} == {
        "documents/drumlow_lantern",
        "documents/timber_annual_report",
    }
    for question in inputs.questions:
        (page,) = (page for page in inputs.truth[question.document] if page.index == question.pages[0])
        assert question.evidence[0] in page.text
        assert question.answers[0] in question.evidence[0]
    assert {path.name for path in place.out.iterdir()} >= {
        "README.md", "candidates.jsonl", "funnel.json", "pdfs", "qas_v2.json", "retrieval_base", "set.json",
        "study.yaml",
    }  # fmt: skip
    funnel = built.funnel.rows
    assert funnel[0].entered == len(built.sources.candidates)
    assert funnel[-1].left == len(built.questions)
    assert all(row.runs for row in funnel)


def test_nothing_is_asked_twice(place):
    first = place.build()
    asked = place.asked
    assert Counter(asked).most_common(1)[0][1] == 1
    assert sum(cost.calls for cost in first.costs_now) == len(asked)
    second = place.build()
    assert place.asked == asked
    assert second.questions == first.questions
    assert sum(cost.calls for cost in second.costs_now) == 0
    assert [cost.calls for cost in second.costs] == [cost.calls for cost in first.costs]


def test_a_larger_build_asks_only_what_is_new(place):
    place.build("questions.total=4")
    asked = set(place.asked)
    place.build("questions.total=8")
    again = place.asked
    assert Counter(again).most_common(1)[0][1] == 1
    assert asked < set(again)


def test_questions_that_the_model_knows_are_removed(place):
    built = place.build("answerers=[{kind: quizmaster, name: knowing, knows: true}]", "verification.closed_book=2")
    known = {row.rule: row.removed for row in built.funnel.rows}["answerable_without_documents"]
    assert known == sum("42" in candidate.answers for candidate in built.sources.candidates)


@pytest.mark.parametrize("says", ["As an AI, I would love to help!", "<think>Hm.", "[{", " ", "[]"])
def test_a_model_that_answers_nonsense_is_counted(place, says):
    with pytest.raises(DataError, match=r"none of \d+ questions was written: \d+ "):
        place.build(f"writer={json.dumps({'kind': 'quizmaster', 'says': says})}")
    assert not place.out.exists()


def test_a_model_that_is_too_small_is_called_so_with_what_its_questions_lack(place):
    reply = [{"evidence": "It reached Skelby.", "question": "When did the line get to Skelby?", "answer": "May 1911"}]
    built = place.build(f"writer={json.dumps({'kind': 'quizmaster', 'says': json.dumps(reply)})}")
    written = len(built.sources.candidates)
    assert written and not built.questions
    assert {row.rule: row.removed for row in built.funnel.rows}["copies_the_example"] == written
    assert built.too_weak == (
        "the model is too small for this: name a larger one under `writer` "
        f"(of {built.sources.asked} questions asked for 0 passed; most often {written} copies the example)"
    )


def test_decisions_of_a_review_are_in_the_next_build_and_in_its_record(place):
    first = place.build()
    gone, changed = first.questions[:2]
    add_decision(place.out / FILE, Decision(gone.id, candidate_digest(gone), "ada", "drop", "dull"))
    edit = Decision(changed.id, candidate_digest(changed), "ada", "edit", question="How many pounds does the hall owe?")
    add_decision(place.out / FILE, edit)
    asked = place.asked
    second = place.build()
    assert place.asked == asked
    assert [question.id for question in second.questions] == [question.id for question in first.questions[1:]]
    assert second.questions[0].question == "How many pounds does the hall owe?"
    assert study(place.out).questions[0].text == "How many pounds does the hall owe?"
    left = len(first.questions) - 1
    row = second.funnel.rows[-1]
    assert (row.rule, row.entered, row.removed, row.left) == ("review", left + 1, 1, left)
    about = json.loads((place.out / "set.json").read_text())
    assert about["funnel"][-1]["left"] == about["counts"]["questions"] == left
    (dropped,) = (record for record in read_records(place.out / "candidates.jsonl") if record.candidate.id == gone.id)
    assert (dropped.removal.rule, dropped.removal.reason) == ("review", "dropped by ada: dull")


def test_questions_of_a_file_are_verified_without_a_model(place, tmp_path):
    table = tmp_path / "own.csv"
    table.write_text(
        "question,answers,evidence\n"
        "What did the Drumlow Lantern cost in the shop in this document?,x,costs less than a bun\n"
        "How many birds did the Drumlow Homing Society enter for the Callow Head race?,12,nowhere in any page\n"
    )
    built = place.build("writer=null", imported=table)
    assert built.sources.asked == 0
    assert place.asked == []
    assert {row.rule for row in built.funnel.rows if not row.runs} == {
        "judged_context_dependent",
        "answerable_without_documents",
        "unfaithful_to_task",
        "answerable_from_one_page",
        "answer_not_confirmed",
    }
    assert [repair.fault for repair in built.sources.repairs] == ["evidence not found", "evidence not found"]


def test_the_cost_is_bounded_before_and_counted_after(place):
    place.write("prices: {quizmaster: {in: 1.0, out: 2.0}}\n")
    before = estimate(place.job(), progress=Quiet())
    assert place.asked == []
    after = place.build()
    (cost,) = after.costs
    assert cost.money == pytest.approx((cost.tokens_in + 2 * cost.tokens_out) / 1e6)
    assert cost.calls <= sum(each.calls for each in before.costs)
    assert cost.tokens_in <= sum(each.tokens_in for each in before.costs)
    assert before.costs[0].task == "writing"


def test_models_that_fail_leave_the_older_set(place):
    first = place.build()
    with pytest.raises(PluginError, match=r"generator away: \d+ of \d+ prompts failed, the last since .*out of order"):
        place.build("answerers=[{kind: quizmaster, name: away, fails: out of order}]")
    with pytest.raises(PluginError, match=r"generator quizmaster: \d+ of \d+ prompts failed"):
        place.build("writer={kind: quizmaster, fails: out of order}")
    assert [question.id for question in study(place.out).questions] == [question.id for question in first.questions]


def test_what_a_set_says_of_its_models_is_for_others(place):
    place.build("writer.name=writer")
    about = json.loads((place.out / "set.json").read_text())
    (model,) = about["models"]
    assert model["settings"] == {"kind": "quizmaster", "knows": False, "temperature": 0.0}
    assert str(place.folder) not in (place.out / "README.md").read_text() + (place.out / "set.json").read_text()


@pytest.mark.parametrize("text", ["not json\n", '{"candidate": "q1"}\n'])
def test_mistakes_in_decisions_are_found_before_a_model_is_asked(place, text):
    place.out.mkdir()
    (place.out / FILE).write_text(text)
    (place.out / "set.json").write_text("{}")
    with pytest.raises(DataError, match=r"decisions.jsonl:1: "):
        place.build()
    assert place.asked == []


def test_a_file_that_nobody_completed_is_refused(place):
    place.spec.write_text("writer: {kind: openai, base_url: http://127.0.0.1:9/v1, model: MODEL}\n")
    with pytest.raises(SpecError, match="generator openai: name your model in place of MODEL"):
        place.build()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("writer: {kind: quizmastr}\n", r"build.yaml:1: writer.kind: .*quizmastr"),
        ("writter: {kind: extractive}\n", r"build.yaml:1: writter: .*writer"),
        ("judges: [{kind: extractive}]\n", "nothing writes questions"),
        ("writer: {kind: extractive}\nprices: {gpt: {in: 1, out: 1}}\n", "prices.gpt: nothing has this name"),
        ("writer: {kind: extractive}\nquestions: {totl: 3}\n", r"build.yaml:2: questions.totl"),
        ("writer: {kind: extractive}\nverification: {samples: 2, confirmed: 3}\n", "confirmed must be at most samples"),
        ("writer: {kind: extractive}\nprices: {extractive: {in: -1, out: 1}}\n", "prices.extractive.in"),
    ],
)
def test_mistakes_in_the_settings_have_their_place(place, text, message):
    place.spec.write_text(text)
    with pytest.raises(SpecError, match=message):
        place.build()
