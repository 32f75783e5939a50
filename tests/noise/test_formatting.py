import itertools
import re
import string

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.contracts import FAMILIES
from ohr.edits import undo
from ohr.noise.formatting import Formatting
from ohr.noise.markup import regions

pieces = st.lists(
    st.sampled_from(
        [
            *(
                "The lease began in 1964. ",
                "See below. ",
                "It ends. ",
                "Rent is due each May of the year ",
                "word ",
                "\n",
                "\n\n",
            ),
            *(
                "$a_1 + b$ ",
                "\\(x^2\\) ",
                "\n$$\\frac{a}{b}$$\n",
                "# Heading one\n",
                "- item one\n",
                "| a | b |\n|---|---|\n",
            ),
            *(
                "\\begin{tabular}{l} a b c & d \\\\ \\end{tabular}\n",
                "<chart>\n| x | y z w |\n</chart>\n",
                "\\textbf{so} ",
            ),
            *("今年的租金。", "好。", "租金是三百元。", "$5 ", "_x_ ", "**b** "),
        ]
    ),
    max_size=25,
).map("".join)
seeds = st.integers(0, 2**32)
rates = st.sampled_from([0.05, 0.1, 0.3, 0.6, 1.0])

PROSE = " ".join(
    f"The tenant of berth number {number} shall pay the rent on the first day of each month without delay."
    for number in range(400)
)


def perturb(text, rate, seed=0, **how):
    return Formatting(rate=rate, **how).perturb(text, [(0, len(text))] if text else [], np.random.default_rng(seed))


def open_braces(text):
    return len(re.findall(r"(?<!\\)\{", text)) - len(re.findall(r"(?<!\\)\}", text))


@given(pieces, rates, seeds)
def test_undoing_gives_the_text_back(text, rate, seed):
    noisy = perturb(text, rate, seed)
    assert undo(noisy.text, noisy.edits) == text


@given(pieces, rates, seeds)
def test_formulas_tables_and_charts_are_left_alone(text, rate, seed):
    kept = [(region.start, region.end) for region in regions(text) if region.kind != "text"]
    for edit in perturb(text, rate, seed).edits:
        assert not any(max(start, edit.start) < min(end, edit.end) or start < edit.start < end for start, end in kept)


@given(pieces, rates, seeds)
def test_braces_stay_balanced(text, rate, seed):
    assert open_braces(perturb(text, rate, seed).text) == open_braces(text)


@given(pieces, rates, seeds)
def test_only_white_space_is_taken_away(text, rate, seed):
    assert all(not edit.removed.strip() for edit in perturb(text, rate, seed).edits)


@given(pieces, rates, seeds)
def test_markdown_styles_leave_the_words_alone(text, rate, seed):
    def words(given):
        return "".join(given.translate(str.maketrans("", "", "*_#")).split())

    assert words(perturb(text, rate, seed, markdown=1.0).text) == words(text)


@given(pieces, seeds)
def test_edits_at_a_lower_rate_are_among_those_at_a_higher(text, seed):
    levels = [perturb(text, rate, seed).edits for rate in (0.1, 0.3, 0.6, 1.0)]
    assert all(set(low) <= set(high) for low, high in itertools.pairwise(levels))


@pytest.mark.parametrize("rules", [("style",), ("title",), ("paragraph",), ("style", "title")])
@given(text=pieces, seed=seeds)
def test_edits_of_these_rules_at_a_lower_rate_are_among_those_at_a_higher(rules, text, seed):
    levels = [perturb(text, rate, seed, rules=rules).edits for rate in (0.1, 0.3, 0.6, 1.0)]
    assert all(set(low) <= set(high) for low, high in itertools.pairwise(levels))


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.6])
def test_the_published_levels_touch_that_share_of_the_runs(rate):
    styled = sum(edit.rule == "style" for edit in perturb(PROSE, rate, rules=("style",)).edits) / 2
    every = sum(edit.rule == "style" for edit in perturb(PROSE, 1.0, rules=("style",)).edits) / 2
    assert styled / every == pytest.approx(rate, abs=0.04)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.6])
def test_the_published_levels_break_that_share_of_the_word_gaps(rate):
    broken = len(perturb(PROSE, rate, rules=("paragraph",)).edits)
    assert broken / (len(PROSE.split()) - 1) == pytest.approx(rate, abs=0.02)


def test_runs_have_two_to_five_words():
    noisy = perturb(PROSE, 1.0, rules=("style",), markdown=1.0)
    marks = [edit.start for edit in noisy.edits]
    lengths = {len(PROSE[start:end].split()) for start, end in zip(marks[::2], marks[1::2], strict=True)}
    assert lengths == {2, 3, 4, 5}


def test_every_style_of_both_notations_is_used():
    marks = {edit.text for edit in perturb(PROSE, 1.0, rules=("style",)).edits}
    assert marks == {"**", "*", "_", "\\textbf{", "\\textit{", "\\underline{", "}"}


@pytest.mark.parametrize(
    ("text", "is_title"),
    [
        ("It ends here today.", True),
        ("One two three four five.", True),
        ("One two three four five six.", False),
        ("It ends here today", False),
        ("Does it end?", False),
        ("租金三百元。", True),
        ("Costs {5}.", False),
        ("# A heading.", False),
    ],
)
def test_short_sentences_become_titles(text, is_title):
    assert bool(perturb(text, 1.0, rules=("title",)).edits) == is_title


def test_neighbouring_titles_do_not_cross():
    noisy = [perturb("好的。来吧。", 1.0, seed, rules=("title",), markdown=0.0).text for seed in range(20)]
    assert all(re.fullmatch(r"\\\w+\{好的。\}\\\w+\{来吧。\}", text) for text in noisy)


@pytest.mark.parametrize("text", ["- one two", "1. one two", "+ one two", "> one two"])
def test_a_lists_mark_is_not_wrapped(text):
    assert all(edit.start > 0 for seed in range(20) for edit in perturb(text, 1.0, seed, rules=("style",)).edits)


def test_the_rules_do_not_disturb_each_others_draws():
    alone = set(perturb(PROSE, 0.3, rules=("paragraph",)).edits)
    assert alone == {edit for edit in perturb(PROSE, 0.3).edits if edit.rule == "paragraph"}


@given(st.text(st.sampled_from(string.punctuation + "ab \n"), max_size=60))
def test_regions_cover_the_text_once(text):
    found = regions(text)
    assert "".join(text[region.start : region.end] for region in found) == text


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("plain", ["text"]),
        ("a $x$ b", ["text", "inline_formula", "text"]),
        ("costs $5 and $6", ["text"]),
        ("$$x$$", ["block_formula"]),
        (r"\[ x \]", ["block_formula"]),
        ("<chart>| a |</chart>", ["chart"]),
        ("| a | b |\n|---|---|\n", ["table"]),
        ("a | b", ["text"]),
        (r"\begin{tabular}{l} a \end{tabular} x", ["table", "text"]),
        (r"\begin{tabular}{l} never closed", ["text"]),
        ("<table><tr></tr></table>", ["table"]),
    ],
)
def test_regions_are_found(text, kinds):
    assert [region.kind for region in regions(text)] == kinds


def test_formatting_noise_says_so():
    assert Formatting.noise_type == "formatting"
    assert FAMILIES["text_noise"][0].knob == "rate"
