import os
import random
import subprocess
import sys
import time

import pytest

from ohr.contracts import Prompt
from ohr.generators import passages, spans
from ohr.generators.extractive import Extractive

HARBOUR = (
    "## Port of Ostrel\n\n"
    "The fuel dock sells diesel for € 1.85 per litre. The mole was built by Berta Klandt in 1931 and is 640 m long. "
    "In 2019 the harbour took 3.2 million crowns in dues, of which 14 % came from yachts. "
    "Boats may bring in herring, cod and mussels. No dogs are allowed on the pontoons. "
    "Fires are forbidden because the sheds are made of tarred wood.\n"
)
BERTHS = r"""Table 2. Berths and dues

\begin{tabular}{|l|r|r|}
\hline \textbf{Quay} & Berths & Dues (crowns) \\
\hline \multirow{2}{*}{North quay} & 40 & 310 \\
\hline South quay & 12 & 455 \\
\hline Old basin & 75 & 120 \\
\hline
\end{tabular}
"""


def ask(question, *texts):
    (completion,) = Extractive().answer([Prompt(question, texts, "", question)])
    return completion.text


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much does diesel cost at the fuel dock?", "€ 1.85"),
        ("How long is the mole of Ostrel?", "640 m"),
        ("Who built the mole?", "Berta Klandt"),
        ("When was the mole built?", "1931"),
        ("What percentage of the dues came from yachts?", "14 %"),
        ("How much did the harbour take in dues in 2019?", "3.2 million crowns"),
        ("Which catches may boats bring in?", "herring, cod, mussels"),
        ("Are dogs allowed on the pontoons?", "no"),
        ("Why are fires forbidden?", "the sheds are made of tarred wood"),
    ],
)
def test_a_sentence_gives_the_span_of_the_asked_kind(question, answer):
    assert ask(question, HARBOUR) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many berths has the South quay?", "12"),
        ("What are the dues at the South quay?", "455"),
        ("Which quay has the most berths?", "Old basin"),
        ("What is the lowest rate of dues?", "120"),
        ("Which quays have more than 30 berths?", "North quay, Old basin"),
        ("How many quays have less than 50 berths?", "2"),
        ("Does the South quay have more berths than the North quay?", "no"),
        ("Does the South quay have fewer berths than the North quay?", "yes"),
    ],
)
def test_a_table_gives_the_cell_its_extreme_or_what_passes_a_threshold(question, answer):
    assert ask(question, BERTHS) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("海港里有多少条船？", "58条"),
        ("码头是哪一年建成的？", "1931年"),
        ("海港里可以养狗吗？", "否"),
        ("海港里是否有船？", "是"),
    ],
)
def test_chinese_questions(question, answer):
    assert ask(question, "码头建成于1931年，由当地石匠修建。海港里有58条船。海港里不可以养狗。") == answer


def test_answers_have_no_latex():
    row = r"\begin{tabular}{|l|l|} \hline Keeper & Tower \\ \hline \multirow{2}{*}{\textbf{Ines Orr}} & West tower \\"
    assert ask("Who is the keeper of the West tower?", row + r" \hline \end{tabular}") == "Ines Orr"


def test_a_formula_gives_its_result_or_the_operand():
    text = "The slope is therefore\n\n$$\nS = \\frac{2.5}{1000} = 0.0025. \\tag{2.1}\n$$\n\n"
    assert ask("What slope is worked out?", text) == "0.0025"
    fee = "The fee follows the formula\n\n$$\nF = 3.5 (P - 42)^{1.5}\n$$\n\nwhere $P$ is the price."
    assert ask("In the formula of the fee, what is subtracted from the price?", fee) == "42"
    assert ask("To what power is the difference raised in the formula of the fee?", fee) == "1.5"


@pytest.mark.parametrize("question", ["", "?", "the", "How many?"])
@pytest.mark.parametrize("text", ["", " ", "&", r"\\", "$$", "|\n|", "Nothing here."])
def test_nothing_to_say_is_no_error(question, text):
    assert isinstance(ask(question, text), str)
    assert ask(question) == ""


def test_markdown_html_and_bare_tables_are_read_too():
    wanted = ("South quay", "12", "455")
    for text in (
        "| Quay | Berths | Dues |\n|---|---|---|\n| North quay | 40 | 310 |\n| South quay | 12 | 455 |",
        "<table><tr><td>North quay</td><td>40</td><td>310</td></tr>"
        "<tr><td>South quay</td><td>12</td><td>455</td></tr></table>",
        "North quay 40 310\nSouth quay 12 455",
    ):
        assert wanted in [unit.cells for unit in passages.units(text)], text


def test_a_cell_over_rows_and_columns_stands_in_each():
    text = (
        r"\hline & \multicolumn{2}{c|}{Berths} \\ \hline & 2019 & 2020 \\ \hline \multirow{2}{*}{North} & 4 & 5 \\ "
        r"\hline & 6 & 7 \\"
    )
    first, second = passages.units(text)
    assert second.cells == ("North", "6", "7")
    assert first.head(2) == "Berths 2020"
    assert first.head(9) == ""


def test_an_ampersand_in_a_name_makes_no_table():
    assert all(not unit.cells for unit in passages.units("Orr & Sons sell rope. They also sell tar."))


@pytest.mark.parametrize(
    "text", ["12,400 crowns", "€ 3.2 million", "3.2\u00a0million", "14 %", "forty-three days", "58人", "EUR 108.02"]
)
def test_a_number_is_copied_with_its_unit(text):
    assert spans.NUMBER.search(f" {text} ")[0].strip() == text


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
        for seed in ("1", "2", "3")
    ]
    assert len({run.stdout for run in seeded}) == 1


def test_damaged_words_cost_answers():
    rng = random.Random(7)
    damaged = "".join("#" if sign.isalnum() and rng.random() < 0.5 else sign for sign in HARBOUR)
    assert ask("Who built the mole?", damaged) != "Berta Klandt"


@pytest.mark.parametrize(
    "text", ["1 " + "1" * 5000 + "x", "$" * 5000, "a, " * 2000, "| a | b |\n" * 500, "A of the " * 1500]
)
def test_degenerate_text_takes_no_time(text):
    started = time.perf_counter()
    ask("How many names of the A are there?", text)
    assert time.perf_counter() - started < 2
