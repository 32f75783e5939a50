from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ohr.contracts import Completion, Page
from ohr.questions.candidate import Candidate, Evidence, Model
from ohr.questions.judging.judge_prompts import Bound, Settings, prompts_bound, shared
from ohr.questions.judging.model_rules import model_rules, parts, shown
from ohr.questions.truth_texts import Texts

ROW = "\\hline Berth 3 & 1,200,000 \\\\"
HEAD = "\\begin{tabular}{|l|r|}\n\\hline Berth & Rent (florins) \\\\"
TABLE = f"{HEAD}\n\\hline Berth 2 & 900 \\\\\n{ROW}\n\\end{{tabular}}"
TWO = "The lease of Berth 3 ends in June.\n\nThe lessee then pays a twelfth of the rent."
TEXTS = Texts({"law/lease": [Page("law/lease", 0, f"Rents\n\n{TABLE}\n\nEnd."), Page("law/lease", 1, TWO)]})
RENT = Candidate(
    "rent", "What is the rent of Berth 3?", ("1.2 million florins",), "law/lease", (Evidence(0, ROW),), "table",
    answer_form="Numeric",
)  # fmt: skip
OPEN = replace(RENT, id="open", question="Is Berth 3 let?", answers=("Yes",), answer_form="Yes/No")
BOTH = replace(
    RENT, id="both", evidence=(Evidence(0, ROW), Evidence(1, "a twelfth of the rent")), answers=("100,000",),
    question="What is paid for Berth 3 in the end?", task="reasoning",
)  # fmt: skip
ORDER = replace(RENT, id="order", evidence=(Evidence(1, TWO),), source="reading_order", answers=("in June",))


class Scripted:
    """Replies with what a function of a prompt returns; keeps the prompts of each call."""

    def __init__(self, reply, name="scripted"):
        self.reply, self.calls, self.model = reply, [], Model(name, self.ask)

    def ask(self, prompts):
        self.calls.append(list(prompts))
        replies = [self.reply(prompt) for prompt in prompts]
        return [reply if isinstance(reply, Completion) else Completion(reply) for reply in replies]


def removed(rule, candidates, *models, **settings):
    """Run one rule; return its removals by candidate."""
    own = [scripted.model for scripted in models]
    (chosen,) = (each for each in model_rules(own, own, Settings(**settings)) if each.name == rule)
    assert chosen.runs
    return {removal.candidate: removal for removal in chosen.check(candidates, TEXTS)}


def always(*replies):
    """Return a model with the replies in turn, by the number of the try."""
    return Scripted(lambda prompt: replies[prompt.attempt % len(replies)])


def test_a_judge_removes_questions_that_need_their_page():
    judge = Scripted(lambda prompt: "none" if "rent" in prompt.user else "Names: Berth 3")
    assert set(removed("judged_context_dependent", [RENT, OPEN], judge)) == {"rent"}
    assert len(judge.calls) == 1
    assert judge.calls[0][0].passages == ()


def test_most_judges_decide_and_a_tie_is_undecided():
    names, none, unclear = always("Berth 3"), always("none"), always("who knows")
    assert removed("judged_context_dependent", [RENT], names, none, names) == {}
    assert not removed("judged_context_dependent", [RENT], none, unclear, none)["rent"].undecided
    tie = removed("judged_context_dependent", [RENT], names, none)["rent"]
    assert (tie.undecided, tie.reason) == (True, "judges disagree: 1 names, 1 none")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [("<think>yes", "the reply is empty"), ("lorem ipsum", "the reply has no verdict: 'lorem ipsum'")],
)
def test_replies_that_cannot_be_used_leave_a_candidate_undecided(reply, reason):
    removal = removed("judged_context_dependent", [RENT], always(reply))["rent"]
    assert (removal.undecided, removal.reason) == (True, reason)


def test_a_failed_model_leaves_candidates_of_all_rules_undecided():
    failed = always(Completion("", finish="error", error="no connection"))
    for rule in model_rules([failed.model], [failed.model]):
        removals = list(rule.check([RENT, OPEN, BOTH], TEXTS))
        assert removals
        assert all(removal.undecided and "no connection" in removal.reason for removal in removals)


def test_any_sample_that_knows_the_answer_removes_a_question():
    assert set(removed("answerable_without_documents", [RENT], always("unknown", "1,200,000"))) == {"rent"}
    assert removed("answerable_without_documents", [RENT], always("unknown", "900")) == {}
    assert set(removed("answerable_without_documents", [RENT], always("900"), always("1.2 million"))) == {"rent"}


def test_models_share_the_samples():
    one, two = always("unknown"), always("unknown")
    removed("answerable_without_documents", [RENT], one)
    assert [prompt.attempt for prompt in one.calls[0]] == [0, 1]
    removed("answerable_without_documents", [RENT], one, two, closed_book=3)
    assert (len(one.calls[1]), len(two.calls[0])) == (1, 2)
    assert shared(2, 3) == (1, 1, 1)


def test_yes_and_no_are_known_only_by_a_model_that_also_judges_both_claims():
    def knows(prompt):
        return "Yes" if "answer:" not in prompt.user else "right" if "answer: Yes" in prompt.user else "wrong"

    def agrees_with_all(prompt):
        return "Yes" if "answer:" not in prompt.user else "right"

    assert set(removed("answerable_without_documents", [OPEN], Scripted(knows))) == {"open"}
    assert removed("answerable_without_documents", [OPEN], Scripted(agrees_with_all)) == {}
    assert removed("answerable_without_documents", [OPEN], always("Yes")) == {}
    unsure = always("unknown")
    assert removed("answerable_without_documents", [OPEN], unsure) == {}
    assert [len(call) for call in unsure.calls] == [2]  # about the claims only who answers is asked


def test_a_question_of_another_task_is_removed_and_imported_ones_are_not_judged():
    judge = always("reasoning")
    imported = replace(RENT, id="imported", origin="imported")
    removals = removed("unfaithful_to_task", [RENT, BOTH, imported], judge)
    assert {name: removal.reason for name, removal in removals.items()} == {
        "rent": "written as a question of understanding, judged to be one of reasoning"
    }
    assert [prompt.id for prompt in judge.calls[0]] == ["rent", "both"]


def test_a_question_that_one_page_answers_is_removed():
    def from_second_page(prompt):
        return "100,000" if prompt.passages == ("a twelfth of the rent",) else "unknown"

    model = Scripted(from_second_page)
    removals = removed("answerable_from_one_page", [RENT, BOTH], model)
    assert {name: removal.reason for name, removal in removals.items()} == {
        "both": "a model answers from part 2 of the evidence alone"
    }
    assert len(model.calls) == 1
    assert removed("answerable_from_one_page", [RENT, BOTH], always("unknown")) == {}


def test_no_model_is_asked_where_there_is_nothing_to_ask():
    model = always("yes")
    assert removed("answerable_from_one_page", [RENT], model) == {}
    assert model.calls == []


def test_parts_of_evidence_are_its_pages_or_paragraphs():
    assert [len(part) for part in parts(BOTH, TEXTS)] == [1, 1]
    assert parts(ORDER, TEXTS) == [
        ("The lease of Berth 3 ends in June.",),
        ("The lessee then pays a twelfth of the rent.",),
    ]
    assert parts(replace(ORDER, source="text"), TEXTS) == []


def test_a_row_is_shown_with_the_head_of_its_table():
    (passage,) = shown(RENT, TEXTS)
    assert passage == f"{HEAD}\n{ROW}"
    assert shown(replace(RENT, evidence=(Evidence(1, "in June"),)), TEXTS) == ("in June",)


@pytest.mark.parametrize(
    ("table", "row", "head"),
    [
        ("| Berth | Rent |\n|---|---:|\n| 2 | 900 |\n| 3 | 1,200 |", "| 3 | 1,200 |", "| Berth | Rent |\n|---|---:|"),
        (
            "<table><tr><th>Berth</th></tr>\n<tr><td>2</td></tr>\n<tr><td>Berth 3</td></tr></table>",
            "<td>Berth 3</td>",
            "<table><tr><th>Berth</th></tr>",
        ),
    ],
)
def test_heads_of_tables_in_other_markup(table, row, head):
    texts = Texts({"law/lease": [Page("law/lease", 0, f"Rents\n\n{table}\n\nEnd.")]})
    assert shown(replace(RENT, evidence=(Evidence(0, row),)), texts) == (f"{head}\n{row}",)


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        (["1,200,000", "1.2 million", "1200000", "900", "900"], ""),
        (["1,200,000", "1.2 million", "900", "800", "unknown"], "2 of 5 answers from the evidence agree"),
        (["900", "900 florins", "900", "1.2 million", "900"], "most often the model says '900' (4 of 5)"),
        (["1,200,000"], ""),
    ],
)
def test_enough_answers_from_the_evidence_must_be_the_accepted_one(replies, reason):
    removals = removed("answer_not_confirmed", [RENT], always(*replies))
    assert reason in removals["rent"].reason if reason else removals == {}


def test_as_many_other_answers_that_agree_remove_a_question():
    model = always("1,200,000", "1,200,000", "1,200,000", "900", "900", "900")
    assert set(removed("answer_not_confirmed", [RENT], model, samples=6)) == {"rent"}


def test_too_few_usable_answers_are_undecided():
    cut = Completion("The rent", finish="length")
    removal = removed("answer_not_confirmed", [RENT], always("1.2 million", "1.2 million", cut, cut, cut))["rent"]
    assert (removal.undecided, removal.reason) == (True, "2 replies can be used: the reply was cut")


def test_rules_without_a_model_or_switched_off_do_not_run():
    model = always("yes").model
    assert [rule.runs for rule in model_rules([], [])] == [False] * 5
    assert [rule.runs for rule in model_rules([model], [])] == [True, False, True, False, False]
    rules = model_rules([model], [model], Settings(off=("answer_not_confirmed",)))
    assert [rule.name for rule in rules if not rule.runs] == ["answer_not_confirmed"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"samples": 2}, "confirmed must be at most samples"),
        ({"closed_book": 1}, "greater than or equal to 2"),
        ({"off": ["near_duplicate"]}, "judged_context_dependent"),
        ({"sample": 3}, "Extra inputs"),
    ],
)
def test_settings_that_cannot_be_are_refused(given, message):
    with pytest.raises(ValidationError, match=message):
        Settings.model_validate(given)


def test_no_more_is_asked_than_the_bound():
    candidates = [replace(each, id=f"{each.id}-{number}") for each in (RENT, OPEN, BOTH) for number in range(4)]
    one, two = always("unknown"), always("unknown")
    longest = max(sum(len(text) for text in shown(each, TEXTS)) + 100 for each in candidates)
    bounds = prompts_bound(12, Settings(), 1, 2, longest)
    for rule in model_rules([one.model], [one.model, two.model]):
        before = sum(map(len, one.calls + two.calls))
        list(rule.check(candidates, TEXTS))
        asked = sum(map(len, one.calls + two.calls)) - before
        assert 0 < asked <= bounds[rule.name].prompts
    characters = sum(len(p.system) + len(p.user) for scripted in (one, two) for call in scripted.calls for p in call)
    assert characters <= sum(bound.characters for bound in bounds.values())


def test_bounds_leave_out_what_does_not_run():
    bounds = prompts_bound(10, Settings(off=("unfaithful_to_task",)), 1, 0, 0)
    assert list(bounds) == ["judged_context_dependent"]
    assert bounds["judged_context_dependent"].prompts == 10
    assert prompts_bound(0, Settings(), 1, 1)["answer_not_confirmed"] == Bound(0, 0)


@given(st.text())
def test_no_reply_makes_a_rule_fail(text):
    model = always(text).model
    for rule in model_rules([model], [model]):
        list(rule.check([RENT, OPEN, BOTH, ORDER], TEXTS))
