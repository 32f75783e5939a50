import pytest

from ohr.contracts import Prompt
from ohr.generators.extractive import Extractive


def answer(question, *passages):
    (given,) = Extractive().answer([Prompt(question, passages, "", " ".join(passages))])
    return given.text


LEASE = "The lease of the ferry berth began in 1964. It runs for ninety years. Odo Marren signed it for the canton."


@pytest.mark.parametrize(
    ("question", "passages", "expected"),
    [
        ("In what year did the lease of the ferry berth begin?", (LEASE,), "1964"),
        ("When did the lease begin?", ("Nothing here.", LEASE), "1964"),
        ("How much is the rent?", ("The rent is 1250 francs a month.",), "1250"),
        ("What percentage did sales grow by?", ("Sales grew by 12.5% in May.",), "12.5%"),
        ("租金是多少？", ("合同很长。租金是300元。",), "300"),
        ("Who signed the lease for the canton?", (LEASE,), "Odo"),
    ],
)
def test_an_answer_is_a_span_of_the_best_sentence(question, passages, expected):
    assert expected in answer(question, *passages)


def test_a_question_that_asks_for_yes_or_no_gets_one():
    assert answer("Is the lease for ninety years?", LEASE) == "yes"


@pytest.mark.parametrize(("question", "passages"), [("Who signed the lease?", ()), ("", (LEASE,)), ("Who?", ("",))])
def test_nothing_to_read_or_to_ask_gives_no_answer(question, passages):
    assert answer(question, *passages) == ""


def test_a_table_gives_a_cell():
    table = "\\begin{tabular}{|l|l|}\n\\hline Parcel & Owner \\\\\n\\hline 1127 & Odilo Brandspach \\\\\n\\end{tabular}"
    assert "Odilo Brandspach" in answer("Which person has parcel 1127?", table)


def test_an_answer_does_not_depend_on_the_other_prompts():
    prompts = [Prompt(question, (LEASE,), "", LEASE) for question in ("When did the lease begin?", "Who signed it?")]
    assert [given.text for given in Extractive().answer(prompts)] == [answer(one.question, LEASE) for one in prompts]
