import itertools
import re
from bisect import bisect

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from ohr.contracts import FAMILIES, Edit
from ohr.markup.regions import regions
from ohr.markup.tabular import tabulars
from ohr.noise.formatting import ALL, Formatting, Rules
from ohr.text.edits import undo

from ..texts import anything, parsable, parses, pieces

NAMES = tuple(Rules.model_fields)
TEXT_RULES = ("bold", "italic", "underline", "title", "paragraph")
STYLES = dict.fromkeys(TEXT_RULES[:3], 1)
seeds = st.integers(0, 2**32)
rates = st.sampled_from([0.05, 0.1, 0.3, 0.6, 1.0])
weights = st.dictionaries(st.sampled_from(NAMES), st.sampled_from([0.0, 0.3, 0.5, 1.0]), min_size=1)

PROSE = " ".join(
    f"The tenant of berth number {number} shall pay the rent on the first day of each month without delay."
    for number in range(400)
)


def perturb(text, rate, seed=0, eligible=None, **how):
    spans = ([(0, len(text))] if text else []) if eligible is None else eligible
    return Formatting(rate=rate, **how).perturb(text, spans, np.random.default_rng(seed))


def only(*rules):
    return dict.fromkeys(rules, 1)


def lines(text):
    """Join what the rules broke, to compare the words."""
    return " ".join(text.split())


# --- properties -------------------------------------------------------------------------------------------


@given(pieces | anything, rates, seeds, weights)
def test_undoing_gives_the_text_back(text, rate, seed, rules):
    noisy = perturb(text, rate, seed, rules=rules)
    assert undo(noisy.text, noisy.edits) == text


@given(pieces | anything, seeds, weights)
def test_edits_at_a_lower_rate_are_among_those_at_a_higher_whatever_rules_are_on(text, seed, rules):
    levels = [perturb(text, rate, seed, rules=rules).edits for rate in (0.1, 0.3, 0.6, 1.0)]
    assert all(set(low) <= set(high) for low, high in itertools.pairwise(levels))


@given(pieces, rates, seeds, st.sampled_from(NAMES))
def test_a_rule_that_is_off_edits_nothing(text, rate, seed, rule):
    rest = {name: 1 for name in NAMES if name != rule}
    assert rule not in {edit.rule for edit in perturb(text, rate, seed, rules=rest).edits}


@given(pieces, rates, seeds)
def test_the_rules_do_not_disturb_each_others_draws(text, rate, seed):
    every = perturb(text, rate, seed).edits
    for rule in ("paragraph", "formula_conversion", "equivalent_symbols", "table_lines", "cell_content"):
        assert set(perturb(text, rate, seed, rules=only(rule)).edits) == {e for e in every if e.rule == rule}


@given(pieces, seeds, st.data())
def test_edits_stay_in_the_eligible_spans_and_are_those_of_the_whole_page(text, seed, data):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    spans = list(zip(cuts[::2], cuts[1::2], strict=False))
    made = perturb(text, 0.6, seed, spans, rules=only("paragraph", "cell_content", "equivalent_symbols")).edits
    assert all(any(low <= edit.start and edit.end <= high for low, high in spans) for edit in made)
    assert set(made) <= set(
        perturb(text, 0.6, seed, rules=only("paragraph", "cell_content", "equivalent_symbols")).edits
    )


@given(pieces, rates, seeds)
def test_rules_of_plain_text_leave_formulas_tables_and_charts_alone(text, rate, seed):
    kept = [(region.start, region.end) for region in regions(text) if region.kind != "text"]
    for edit in perturb(text, rate, seed, rules=only(*TEXT_RULES)).edits:
        assert not any(max(start, edit.start) < min(end, edit.end) or start < edit.start < end for start, end in kept)


def test_a_formula_between_angle_brackets_is_no_tag():
    assert [region.kind for region in regions("n <a$x_1$> m")] == ["text", "inline_formula", "text"]


@given(pieces, rates, seeds)
def test_rules_of_plain_text_take_only_white_space_away(text, rate, seed):
    assert all(not edit.removed.strip() for edit in perturb(text, rate, seed, rules=only(*TEXT_RULES)).edits)


@given(pieces, rates, seeds)
def test_markdown_styles_leave_the_words_alone(text, rate, seed):
    def letters(given):
        return "".join(given.translate(str.maketrans("", "", "*_#")).split())

    assert letters(perturb(text, rate, seed, rules=only(*TEXT_RULES), markdown=1.0).text) == letters(text)


@given(parsable, rates, seeds)
def test_latex_that_parsed_still_parses(text, rate, seed):
    assert parses(text)
    noisy = perturb(text, rate, seed, markdown=0.0).text
    assert parses(noisy)


@pytest.mark.parametrize("dollars", ["$", "$$"])
@pytest.mark.parametrize("seed", range(9))
def test_formulas_within_dollars_around_a_table_stay_within_them(seed, dollars):
    table = "\\begin{tabular}{ll} $a$ & $b$ \\\\ \\end{tabular}"
    text = f"{dollars}\n\\caption{{Of $P$ and $n=5$}}\n{table}\n{dollars}\n"
    assert parses(text)
    assert parses(perturb(text, 1.0, seed, markdown=0.0).text)


@given(parsable, rates, seeds)
def test_tables_keep_their_cells(text, rate, seed):
    noisy = perturb(text, rate, seed).text
    assert shape(noisy) == shape(text)


def shape(text):
    return [
        [row.columns for row in table.rows]
        for region in regions(text)
        if region.kind == "table"
        for table in tabulars(text, region.start, region.end)
    ]


# --- plain text -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.6])
def test_the_published_levels_touch_that_share_of_the_runs(rate):
    styled, every = (len(perturb(PROSE, level, rules=STYLES).edits) for level in (rate, 1.0))
    assert styled / every == pytest.approx(rate, abs=0.04)


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.6])
def test_the_published_levels_break_that_share_of_the_word_gaps(rate):
    broken = len(perturb(PROSE, rate, rules=only("paragraph")).edits)
    assert broken / (len(PROSE.split()) - 1) == pytest.approx(rate, abs=0.02)


def test_a_weight_scales_the_rate():
    assert perturb(PROSE, 0.6, rules={"paragraph": 0.5}).edits == perturb(PROSE, 0.3, rules={"paragraph": 1}).edits


def test_runs_have_two_to_five_words():
    noisy = perturb(PROSE, 1.0, rules=STYLES, markdown=1.0)
    marks = [edit.start for edit in noisy.edits]
    lengths = {len(PROSE[start:end].split()) for start, end in zip(marks[::2], marks[1::2], strict=True)}
    assert lengths == {2, 3, 4, 5}


def test_every_style_of_both_notations_is_used():
    marks = {edit.text for edit in perturb(PROSE, 1.0, rules=STYLES).edits}
    assert marks == {"**", "*", "_", "\\textbf{", "\\textit{", "\\underline{", "}"}


@pytest.mark.parametrize("style", TEXT_RULES[:3])
def test_one_style_alone_takes_all_runs(style):
    alone, every = perturb(PROSE, 0.5, rules=only(style)).edits, perturb(PROSE, 0.5, rules=STYLES).edits
    assert [(edit.start, edit.rule) for edit in alone] == [(edit.start, style) for edit in every]


def test_styles_have_the_ratio_of_their_weights():
    made = perturb(PROSE, 1.0, rules={"bold": 1, "italic": 0.25}).edits
    assert sum(edit.rule == "bold" for edit in made) / len(made) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("markdown", [0.0, 0.25, 1.0])
def test_notations_have_the_ratio_that_was_asked_for(markdown):
    opened = perturb(PROSE, 1.0, rules=STYLES, markdown=markdown).edits[::2]
    assert sum(not edit.text.startswith("\\") for edit in opened) / len(opened) == pytest.approx(markdown, abs=0.05)


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
        ("where $x$ is so.", False),  # prose: ok
        ("wide, and 22 (24\nyards) deep.", False),
        ("the rest of a line.", False),
        ("Defined in (the Agreement.", False),
        ("Recycling statements .....", False),
        ("Appears alert . .", False),
        ("7.", False),
        ("- It ends here.", False),
        ("Mr. Smith left.", True),
        ("He saw Mr. Smith leave the house early.", False),
    ],
)
def test_short_sentences_become_titles(text, is_title):
    assert bool(perturb(text, 1.0, rules=only("title")).edits) == is_title


@pytest.mark.parametrize("mark", ["2. ", "b) ", "(iv) ", "12.3. "])
def test_a_title_has_its_number(mark):
    noisy = [perturb(f"It was so\n{mark}It ends.", 1.0, seed, rules=only("title")).text for seed in range(20)]
    assert all(re.fullmatch(rf"It was so\n(\n#+ |\\\w+{{){re.escape(mark)}It ends\.[\n}}]", text) for text in noisy)


def test_a_title_of_five_words_and_its_number_is_too_long():
    assert perturb("2. One two three four five.", 1.0, rules=only("title")).edits == ()


def test_neighboring_titles_do_not_cross():
    noisy = [perturb("好的。来吧。", 1.0, seed, rules=only("title"), markdown=0.0).text for seed in range(20)]
    assert all(re.fullmatch(r"\\\w+\{好的。\}\\\w+\{来吧。\}", text) for text in noisy)


def test_a_title_is_never_broken():
    made = perturb("It ends here today. The tenant shall pay the rent.", 1.0, rules=only("paragraph")).edits
    assert min(edit.start for edit in made) >= len("It ends here today.")


@pytest.mark.parametrize("text", ["- one two", "1. one two", "+ one two", "> one two"])
def test_a_lists_mark_is_not_wrapped(text):
    assert all(edit.start > 0 for seed in range(20) for edit in perturb(text, 1.0, seed, rules=STYLES).edits)


@pytest.mark.parametrize("text", ["one - two", "one # two", "one 1. two", "one > two", "one | two"])
def test_no_break_makes_a_list_or_a_heading(text):
    made = perturb(text, 1.0, rules=only("paragraph")).edits
    assert [edit.start for edit in made if not text[edit.end :].startswith("two")] == []


@pytest.mark.parametrize("mark", ["-", "+ x", ">", "#", "1.", "10)", "|"])
def test_no_title_brings_a_mark_to_the_beginning_of_a_line(mark):
    assert perturb(f"It ends. {mark} one two", 1.0, rules=only("title")).edits == ()
    assert perturb(f"It ends. One {mark} two", 1.0, rules=only("title")).edits != ()


MARKS = ["##", "-", "*", "1.", "10)", "(a)", ">", "•", "> -", "# 5.", "- 1."]


@pytest.mark.parametrize("before", ["", "one\n", "$x$\n"])
@pytest.mark.parametrize("mark", MARKS)
def test_no_line_is_broken_behind_a_mark(mark, before):
    text = f"{before}  {mark} one two"
    assert perturb(text, 1.0, rules=only("paragraph")).text == f"{before}  {mark} one\ntwo"


@pytest.mark.parametrize("text", ["| one two | three four |", "one two | three four"])
def test_no_line_is_broken_within_a_row(text):
    noisy = perturb(f"{text}\nfive six", 1.0, rules=only("paragraph")).text
    assert noisy == f"{text}\nfive\nsix"


WORDS = (
    "The lease began in 1964. ",
    "It ends. ",
    "word ",
    "好。",
    "$x$ ",
    "<b>",
    "\n",
    "\N{NO-BREAK SPACE}",
    "\v",
    "\r\n",
)
around_marks = st.lists(st.sampled_from((*WORDS, "- ", "+ ", "* ", "> ", "## ", "12. ", "3) ", "| ")), max_size=12).map(
    "".join
)


@given(pieces | around_marks, rates, seeds)
@example("The lease began in 1964. The lease began in 1964. The lease began in 1964. - item one\n", 0.3, 1)
@example("It ends. - item one\n", 1.0, 2)
@example("It ends. 12. item one\n", 1.0, 2)
@example("It ends. 1) It ends.\n", 1.0, 2)
@example("It ends. > quoted words\n", 1.0, 2)
@example("It ends. ## words here\n", 1.0, 2)
@example("好。12. item one", 1.0, 2)
@example("-\N{NO-BREAK SPACE}item", 1.0, 0)
@example("- \vIt ends.", 1.0, 2)
def test_no_mark_is_left_alone_on_its_line(text, rate, seed):
    alone = re.compile(r"^[^\S\n]*(?:#{1,6}|[-+*>]|\d+[.)])[^\S\n]*$", re.MULTILINE)
    noisy = perturb(text, rate, seed, rules=only("paragraph", "title")).text
    assert len(alone.findall(noisy)) <= len(alone.findall(text))


@given(pieces | around_marks, rates, seeds)
def test_no_word_becomes_a_mark(text, rate, seed):
    mark = re.compile(r"^[^\S\n]*(?:[-+*>|]|\d{1,9}[.)](?:\s|$))", re.MULTILINE)
    noisy = perturb(text, rate, seed, rules=only("paragraph", "title")).text
    assert len(mark.findall(noisy)) <= len(mark.findall(text))


@pytest.mark.parametrize("text", ["$x$. One two", "$x$-fold one two", "one two ($x$", "（$x$）。 one two"])
def test_a_formulas_punctuation_is_not_wrapped(text):
    edges = {edit.start for seed in range(20) for edit in perturb(text, 1.0, seed, rules=STYLES).edits}
    assert edges == {text.lower().index("one"), text.lower().index("two") + 3}


def test_chinese_is_cut_into_words():
    made = perturb("今年的租金是三百元，合同从今年开始执行到明年为止", 1.0, rules=only("bold"), markdown=1.0)
    assert made.text.count("**") >= 4
    assert undo(made.text, made.edits) == "今年的租金是三百元，合同从今年开始执行到明年为止"


def test_escaped_signs_are_part_of_a_word():
    text = "It costs \\$5 or 50\\% more."
    assert {edit.start for edit in perturb(text, 1.0, rules=only("paragraph")).edits} >= {8, 12, 15, 20}
    assert any("\\$5" in text[a.start : b.end] for a, b in itertools.pairwise(styled(text)))


def styled(text):
    return [edit for seed in range(9) for edit in perturb(text, 1.0, seed, rules=only("bold")).edits]


# --- formulas ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        ("a $x$ b", "a $$x$$ b"),
        ("a $$x$$ b", "a $x$ b"),
        ("a\n$$\n x + y \n$$\nb", "a\n$x + y$\nb"),
        (r"a \(x\) b", r"a \[x\] b"),
        (r"a \[ x \] b", r"a \( x \) b"),
        ("a $$x$$5", "a $$x$$5"),
        (r"$$ x \tag{1} $$", r"$$ x \tag{1} $$"),
        (r"\begin{align} x \end{align}", r"\begin{align} x \end{align}"),
        ("costs $5 and $6", "costs $5 and $6"),
        (r"\$5 and \$6", r"\$5 and \$6"),
    ],
)
def test_formulas_are_converted(text, converted):
    assert perturb(text, 1.0, rules=only("formula_conversion")).text == converted


def test_extraneous_elements_are_in_the_gaps_of_symbols():
    text = r"$\frac{a}{b} x \leq 4$"
    made = [perturb(text, 1.0, seed, rules=only("extraneous_elements")).edits for seed in range(60)]
    assert {len(edits) for edits in made} == {1, 2, 3, 4, 5}
    assert {edit.text.strip() or edit.text for edits in made for edit in edits} >= {"\\quad", "\\qquad", "\\;", "\\:"}
    assert {edit.start for edits in made for edit in edits} == {13, 15, 20}


@pytest.mark.parametrize("text", ["$x$", "${ }^{*}$", r"$\text{two words}$", "$10.5$", "$.01$"])
def test_a_formula_without_gaps_is_left_alone(text):
    assert perturb(text, 1.0, rules=only("extraneous_elements")).text == text


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (r"$\sigma x$", {"$σ x$"}),
        ("$σx$", {r"$\sigma x$"}),
        (r"$a\leq b$", {"$a ≤ b$", "$a≤ b$"}),
        (r"$\mathbf{xy}$", {r"$\boldsymbol{xy}$"}),
        (r"$\mathbf{A}$", {r"$\boldsymbol{A}$", "$𝐀$"}),
        (r"$\mathcal{LM}$", {rf"$\{name}{{LM}}$" for name in ("mathbb", "pmb", "mathscr", "EuScript")}),
        ("$ℝ$", {r"$\mathbb{R}$"}),
        (r"$\frac\pi2$", {r"$\frac π2$"}),
        (r"$\text{σ}$", {r"$\text{σ}$"}),
    ],
)
def test_symbols_are_replaced_by_equivalent_ones(text, options):
    made = {perturb(text, 1.0, seed, rules=only("equivalent_symbols")).text for seed in range(40)}
    assert made <= options
    assert len(made) == len(options) or text == r"$a\leq b$"


def test_no_letter_joins_a_command_before_it():
    text = r"$x + \beta - \gamma = (\delta)$"
    noisy = (
        perturb(text, 1.0, seed, rules=only("extraneous_elements", "equivalent_symbols")).text for seed in range(60)
    )
    assert not any(re.search(r"\\[a-z]+[^\W\d_a-zA-Z]", text) for text in noisy)


# --- tables -----------------------------------------------------------------------------------------------

TABLE = r"\begin{tabular}{ll} a & b \\ c & $d + e$ \\ \end{tabular}"


def test_lines_are_drawn_at_rows_and_columns():
    made = perturb(TABLE, 1.0, rules=only("table_lines"))
    assert sorted(edit.text.strip() for edit in made.edits) == [r"\cline{1-1}", r"\cline{2-2}", r"\hline", r"\hline"]
    assert re.sub(r" \\(?:hline|cline\{\d-\d\})", "", made.text) == TABLE


def test_a_row_that_has_a_line_gets_no_second():
    made = perturb(r"\begin{tabular}{l} \hline a \\ \hline b \end{tabular}", 1.0, rules=only("table_lines"))
    assert [edit.text.strip() for edit in made.edits] == [r"\cline{1-1}"]


def test_each_cell_gets_one_rule():
    seen = set()
    for seed in range(80):
        made = perturb(TABLE, 1.0, seed, rules=only("cell_content"))
        assert len(shape(made.text)[0]) == 2
        seen |= {
            made.text[14:].split("&")[0].strip()[5:].strip()[:8],
            made.text.split("&")[2].split("\\\\ \\end")[0].strip(),
        }
    assert {"$$d + e$$", r"$d + \quad e$", r"$d \quad + e$"} & seen


def test_the_rate_acts_once_on_a_cell():
    table = "\\begin{tabular}{ll}" + "word one & $a + b$ \\\\\n" * 1000 + "\\end{tabular}"
    columns = [match.end() for match in re.finditer(r"&|\\\\\n", table)]

    def touched(rate):
        return len({bisect(columns, edit.start) for edit in perturb(table, rate, rules=only("cell_content")).edits})

    assert touched(1.0) == 2000
    assert touched(0.3) == pytest.approx(600, abs=60)


@pytest.mark.parametrize(
    "table", ["| one two | $x + y$ |\n|---|---|\n| a | b |\n", "<table><tr><td>one two</td><td>b</td></tr></table>"]
)
def test_cells_of_markdown_and_html_are_touched_too(table):
    made = perturb(table, 1.0, rules=only("cell_content"), markdown=1.0)
    assert any(table[edit.start :].startswith("one") for edit in made.edits)
    assert made.text.count("\n") == table.count("\n")


# --- the field --------------------------------------------------------------------------------------------


def test_all_rules_are_on_by_default_and_only_those_that_are_named_otherwise():
    assert set(ALL.model_dump().values()) == {1}
    assert Formatting(rules={"bold": 0.5}).rules.model_dump() == {**dict.fromkeys(NAMES, 0), "bold": 0.5}


@pytest.mark.parametrize("rules", [{"bald": 1}, {"bold": 1.5}, {"bold": -1}, ["bold"], "bold"])
def test_a_wrong_rule_is_refused(rules):
    with pytest.raises(ValidationError):
        Formatting(rules=rules)


def test_formatting_noise_says_so():
    assert Formatting.noise_type == "formatting"
    assert FAMILIES["text_noise"][0].knob == "rate"


def test_the_ledger_names_the_rule():
    assert perturb("a $x$ b", 1.0, rules=only("formula_conversion")).edits == (
        Edit("formula_conversion", 2, 3, "$$", "$"),
        Edit("formula_conversion", 4, 5, "$$", "$"),
    )
