import os
import random
import subprocess
import sys
import time

import pytest

from ohr.contracts import Prompt
from ohr.generators.extractive import Extractive

LEASE = "The lease of the ferry berth began in May 1964. It runs for ninety years. Odo Marren signed it for the canton."
HARBOUR = (
    "## Port of Ostrel\n\n"
    "The fuel dock sells diesel for € 1.85 per litre. The mole was built by Berta Klandt in 1931 and is 640 m long. "
    "In 2019 the harbour took 3.2 million crowns in dues, of which 14 % came from yachts. "
    "No dogs are allowed on the pontoons.\n"
)
BERTHS = r"""Table 2. Berths and dues

\begin{tabular}{|l|r|r|}
\hline \textbf{Quay} & Berths & Dues (crowns) \\
\hline North quay & 40 & 310 \\
\hline South quay & 12 & 455 \\
\hline
\end{tabular}
"""
OSTREL = "码头建成于1931年，由当地石匠修建。海港里有58条船。海港里不可以养狗。"


def answer(question, *passages):
    (given,) = Extractive().answer([Prompt(question, passages, "", " ".join(passages))])
    return given.text


@pytest.mark.parametrize(
    ("question", "passages", "expected"),
    [
        ("How much does diesel cost at the fuel dock?", (HARBOUR,), "€ 1.85"),
        ("What percentage of the dues came from yachts in 2019?", (HARBOUR,), "14 %"),
        ("How many metres long is the mole that Berta Klandt built in 1931?", (HARBOUR,), "640 m"),
        ("When was the mole built?", (HARBOUR,), "1931"),
        ("In what year did the harbour take its dues?", (HARBOUR,), "2019"),
        ("Are dogs allowed on the pontoons?", (HARBOUR,), "no"),
        ("Was the mole built by Berta Klandt?", (HARBOUR,), "yes"),
        ("Who sells diesel?", (HARBOUR,), "The fuel dock sells diesel for € 1.85 per litre."),
        ("When did the lease begin?", (HARBOUR, LEASE), "May 1964"),
        # a number that the question has is no answer
        ("How many berths beside berth 7?", ("Berth 7 is small. There are 9 berths beside berth 7.",), "9 berths"),
        # a table is read row by row, without its markup
        ("How many berths has the South quay?", (BERTHS,), "12"),
        ("Who owns the North quay?", (BERTHS,), "North quay 40 310"),
        ("海港里有多少条船？", (OSTREL,), "58条"),
        ("码头是哪一年建成的？", (OSTREL,), "1931年"),
        ("海港里可以养狗吗？", (OSTREL,), "否"),
        ("海港里是否有船？", (OSTREL,), "是"),
        ("谁修建了码头？", (OSTREL,), "码头建成于1931年，由当地石匠修建。"),
        ("Who signed the lease?", (), ""),
        ("", (LEASE,), ""),
        ("Who?", ("",), ""),
        ("?", (LEASE,), ""),
    ],
)
def test_the_nearest_figure_of_the_best_sentence_or_the_sentence_itself(question, passages, expected):
    assert answer(question, *passages) == expected


@pytest.mark.parametrize("question", ["the", "How many?", "When?", "Is it?"])
@pytest.mark.parametrize("text", [" ", "&", r"\\", "$$", "|\n|", "Nothing here."])
def test_odd_text_is_no_error(question, text):
    assert isinstance(answer(question, text), str)


def test_an_answer_does_not_depend_on_the_other_prompts():
    prompts = [Prompt(question, (LEASE,), "", LEASE) for question in ("When did the lease begin?", "Who signed it?")]
    assert [given.text for given in Extractive().answer(prompts)] == [answer(one.question, LEASE) for one in prompts]


def test_the_order_of_sets_decides_nothing():
    # words hash differently in each process; sums and ties must not follow that order
    program = (
        "import sys; from ohr.contracts import Prompt; from ohr.generators.extractive import Extractive\n"
        "asked = ['Which quay is cheap?', 'What is sold at the dock in the harbour?', 'How much are dues on yachts?']\n"
        "given = Extractive().answer([Prompt(question, tuple(sys.argv[1:]), '', '') for question in asked])\n"
        "print([completion.text for completion in given])"
    )
    command = [sys.executable, "-c", program, HARBOUR, BERTHS]
    seeded = [
        subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True)
        for seed in ("1", "2")
    ]
    assert len({run.stdout for run in seeded}) == 1


def test_damaged_words_cost_answers():
    rng = random.Random(7)
    damaged = "".join("#" if sign.isalnum() and rng.random() < 0.5 else sign for sign in HARBOUR)
    assert answer("How much does diesel cost at the fuel dock?", damaged) != "€ 1.85"


@pytest.mark.parametrize(
    "text",
    [
        "1 " + "1" * 5000 + "x",
        "$" * 5000,
        "a, " * 2000,
        "| a | b |\n" * 500,
        "A of the " * 1500,
        "12 " * 9000,
        "many 12 " * 5000,
    ],
)
def test_degenerate_text_takes_no_time(text):
    started = time.process_time()
    answer("How many names of the A are there?", text)
    assert time.process_time() - started < 10
