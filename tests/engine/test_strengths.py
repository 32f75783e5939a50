"""The strength of a fitted channel: between what fits all words and what fits the questions."""

import numpy as np
import pytest

from ohr.contracts import Question
from ohr.engine.readings import Reading
from ohr.engine.strengths import PART, TRIED, strengths
from ohr.registry import Registry

CHANNEL = Registry().load("text_noise", "channel")
WORDS = ["harbour", "company", "month", "ferry", "berth", "summer", "paid", "tomorrow", "was", "open", "rent", "keel"]


def asked_and_read(spared: bool, domains=("law",)) -> tuple[list[Reading], list[Question]]:
    """60 pages of ten lines for each domain, of which three are lost: never the one asked for, or always."""
    rng, readings, questions = np.random.default_rng(0), [], []
    for number in range(60 * len(domains)):
        lines = [" ".join(rng.choice(WORDS, 20)) for _ in range(10)]
        wanted, *others = rng.permutation(10).tolist()
        lost = others[:3] if spared else [wanted, *others[:2]]
        name = f"{domains[number % len(domains)]}/{number // 4 // len(domains)}"
        page = sum(reading.document == name for reading in readings)
        read = "\n".join(line for place, line in enumerate(lines) if place not in lost)
        readings.append(Reading(name, page, "\n".join(lines), read))
        domain = name.split("/")[0]
        questions.append(Question(str(number), "Which?", ("x",), name, (page,), (lines[wanted],), "text", domain))
    return readings, questions


@pytest.mark.parametrize(("spared", "least"), [(True, TRIED[0]), (False, TRIED[-1])])
def test_a_channel_is_weaker_where_what_is_asked_for_is_spared_and_stronger_where_it_is_hit(spared, least):
    found = strengths(CHANNEL, *asked_and_read(spared))
    assert set(found) == {"", "law"}
    assert found[""] == found["law"] == pytest.approx(PART * least, abs=1e-3)


def test_domains_have_strengths_of_their_own():
    spared, hit = asked_and_read(True, ("law",)), asked_and_read(False, ("news",))
    found = strengths(CHANNEL, spared[0] + hit[0], spared[1] + hit[1])
    assert found["law"] < 0 < found["news"]


def test_without_enough_questions_there_is_no_strength():
    readings, questions = asked_and_read(True)
    assert strengths(CHANNEL, readings, ()) == strengths(CHANNEL, readings, questions[:49]) == {}
    elsewhere = [Question(q.id, q.text, q.answers, "law/none", q.pages, q.evidence, "text", "law") for q in questions]
    assert strengths(CHANNEL, readings, elsewhere) == {}


def test_a_strength_moves_the_odds_of_the_rate(tmp_path):
    readings, _ = asked_and_read(True)
    profile = CHANNEL.fitted([(one.document, one.truth, one.read) for one in readings], "toy")
    plain, weak = tmp_path / "plain.json", tmp_path / "weak.json"
    plain.write_text(profile.dumps())
    weak.write_text(profile.strengthened({"": -1.0}).dumps())

    def made(path, rate):
        noise, text = CHANNEL(profile=str(path), rate=rate), readings[0].truth
        return noise.perturb(text, [(0, len(text))], np.random.default_rng(0)).edits

    odds = np.exp(-1.0)
    assert made(weak, 0.5) == made(plain, odds / (1 + odds))
    assert made(weak, 1) == made(plain, 1) and made(weak, 0) == made(plain, 0)
    assert len(made(weak, 0.5)) < len(made(plain, 0.5))
