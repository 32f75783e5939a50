"""The strength of a fitted channel: between what fits all words and what fits the questions."""

import numpy as np
import pytest

from ohr.contracts import Question
from ohr.registry import Registry
from ohr.workbench.readings import Reading
from ohr.workbench.strengths import PART, TRIED, strengths

CHANNEL = Registry().load("text_noise", "channel")
WORDS = ["harbour", "company", "month", "ferry", "berth", "summer", "paid", "tomorrow", "was", "open", "rent", "keel"]


def asked_and_read(spared: bool, domains=("law",), source="text") -> tuple[list[Reading], list[Question]]:
    """60 pages of ten lines for each domain, three of which lose half their words: never the one asked for, or it."""
    rng, readings, questions = np.random.default_rng(0), [], []
    for number in range(60 * len(domains)):
        lines = [rng.choice(WORDS, 20).tolist() for _ in range(10)]
        wanted, *others = rng.permutation(10).tolist()
        lost = others[:3] if spared else [wanted, *others[:2]]
        name = f"{domains[number % len(domains)]}/{number // 4 // len(domains)}"
        page = sum(reading.document == name for reading in readings)
        read = "\n".join(" ".join(line[:10] if place in lost else line) for place, line in enumerate(lines))
        truth = [" ".join(line) for line in lines]
        readings.append(Reading(name, page, "\n".join(truth), read))
        domain = name.split("/")[0]
        questions.append(Question(str(number), "Which?", ("x",), name, (page,), (truth[wanted],), source, domain))
    return readings, questions


@pytest.mark.parametrize(("spared", "least"), [(True, TRIED[0]), (False, TRIED[-1])])
def test_a_channel_is_weaker_where_what_is_asked_for_is_spared_and_stronger_where_it_is_hit(spared, least):
    found = strengths(CHANNEL, *asked_and_read(spared))
    assert set(found.groups) == {"", "law"} and not found.kinds
    assert found.groups[""] == found.groups["law"] == pytest.approx(PART * least, abs=1e-3)


def test_domains_have_strengths_of_their_own():
    spared, hit = asked_and_read(True, ("law",)), asked_and_read(False, ("news",))
    found = strengths(CHANNEL, spared[0] + hit[0], spared[1] + hit[1])
    assert found.groups["law"] < 0 < found.groups["news"]


def test_questions_about_tables_determine_the_strength_of_their_lines_only():
    tables, text = asked_and_read(True, ("law",), "table"), asked_and_read(False, ("news",))
    found = strengths(CHANNEL, tables[0] + text[0], tables[1] + text[1])
    assert set(found.groups) == {"", "news"} and set(found.kinds) == {"table"}
    assert found.kinds["table"] < 0 < found.groups["news"]


def test_without_enough_questions_there_is_no_strength():
    readings, questions = asked_and_read(True)
    assert strengths(CHANNEL, readings, ()) == strengths(CHANNEL, readings, questions[:49]) == ({}, {})
    elsewhere = [Question(q.id, q.text, q.answers, "law/none", q.pages, q.evidence, "text", "law") for q in questions]
    assert strengths(CHANNEL, readings, elsewhere) == ({}, {})


def made(path, text, rate=0.5):
    return CHANNEL(profile=str(path), rate=rate).perturb(text, [(0, len(text))], np.random.default_rng(0))


def profiles(tmp_path, **strengths_of):
    readings, _ = asked_and_read(True)
    profile = CHANNEL.fitted([(one.document, one.truth, one.read) for one in readings], "toy")
    for name, (groups, kinds) in strengths_of.items():
        (tmp_path / name).write_text(profile.strengthened(groups, kinds).dumps())
    return readings[0].truth, *(tmp_path / name for name in strengths_of)


def test_a_strength_moves_the_odds_of_the_rate_for_words_of_lines_that_are_read(tmp_path):
    text, plain, weak = profiles(tmp_path, plain=({}, {}), weak=({"": -1.0}, {}))
    odds = np.exp(-1.0)
    assert made(weak, text).edits == made(plain, text, odds / (1 + odds)).edits
    assert 0 < len(made(weak, text).edits) < len(made(plain, text).edits)
    assert made(weak, text, 1).text == made(plain, text, 1).text and made(weak, text, 0).text == text


def test_lines_and_pages_that_are_lost_whole_are_lost_at_any_strength(tmp_path):
    page = "\n".join(" ".join(WORDS) for _ in range(8))
    kept = "\n".join(page.split("\n")[::2])
    profile = CHANNEL.fitted([(f"law/{n}", page, kept if n % 2 else "") for n in range(20)], "toy")
    (tmp_path / "plain").write_text(profile.dumps())
    (tmp_path / "weak").write_text(profile.strengthened({"": -3.0}, {}).dumps())
    assert made(tmp_path / "weak", page).text == made(tmp_path / "plain", page).text != page


def with_table(text: str) -> str:
    rows = " \\\\\n".join(" & ".join(line.split()) for line in text.split("\n"))
    return f"{text}\n\\begin{{tabular}}{{l}}\n{rows}\n\\end{{tabular}}\n{text}"


def test_tables_and_formulas_have_strengths_of_their_own(tmp_path):
    readings, _ = asked_and_read(True)
    profile = CHANNEL.fitted([(one.document, with_table(one.truth), with_table(one.read)) for one in readings], "toy")
    (tmp_path / "plain").write_text(profile.dumps())
    (tmp_path / "weak").write_text(profile.strengthened({}, {"table": -9.0}).dumps())
    page = with_table(readings[0].truth)
    start, end = page.index("\\begin"), page.index("\\end")

    def where(path):
        touched = {edit.start for edit in made(path, page).edits}
        return {at for at in touched if start < at < end}, {at for at in touched if not start < at < end}

    plain, weak = where(tmp_path / "plain"), where(tmp_path / "weak")
    assert plain[0] and not weak[0] and plain[1] == weak[1] != set()
