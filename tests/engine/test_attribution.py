"""The costs of a noise's parts add up, are paired, and are made like any other level."""

import csv
import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.errors import SpecError
from ohr.noise.formatting import Formatting
from ohr.ocr.ground_truth import GroundTruth
from ohr.results.run import Run
from ohr.runner.attribution import coalitions, orders, weights
from ohr.runner.plan import plan
from ohr.spec.model import KnowledgeBase, parts, with_only
from ohr.spec.read import read_spec

from .conftest import continued, doses, rows

NAMES = "abcdefgh"

MINI = """\
benchmark: {kind: mini, domains: [law], languages: [en], max_pages: 1}
knowledge_bases:
  - {name: f, text_noise: {kind: formatting, rate: 0.2, markdown: 0, rules: {bold: 1, paragraph: 1, cell_content: 1}}}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""
CHAIN = """\
benchmark: {kind: tiny}
knowledge_bases:
  - name: c
    image_noise: [{kind: salt_and_pepper, severity: 0.4}, {kind: rotation, severity: 0}]
    ocr: {kind: pixels}
    text_noise: {kind: formatting, rate: 0.5, rules: {bold: 1}}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
attribution: {of: [c]}
"""


LEFT_OUT = MINI + "attribution: {of: [f]}\n"


@pytest.fixture(scope="module")
def left_out(once):
    """A run in which each part is left out."""
    return once(LEFT_OUT, "replicates=2")


@pytest.fixture(scope="module")
def chain(once):
    return once(CHAIN)


def share(worth, names, permutations=6):
    return {
        name: sum(weight * worth(kept) for kept, weight in terms.items())
        for name, terms in weights(names, permutations, 0).items()
    }


@given(st.integers(1, 8), st.integers(2, 9), st.randoms(use_true_random=False))
def test_shares_add_up_to_the_whole(size, permutations, random):
    worths = {frozenset(c): random.random() for n in range(size + 1) for c in combinations(NAMES[:size], n)}
    shares = share(worths.__getitem__, NAMES[:size], permutations)
    assert sum(shares.values()) == pytest.approx(worths[frozenset(NAMES[:size])] - worths[frozenset()])


@pytest.mark.parametrize("size", [3, 8])
def test_parts_that_do_not_interact_have_their_own_worth(size):
    own = {name: place for place, name in enumerate(NAMES[:size])}
    shares = share(lambda kept: sum(own[name] for name in kept), NAMES[:size])
    assert shares == pytest.approx(own)


def test_exact_shares_are_those_of_all_orders():
    from itertools import permutations

    def worth(kept):
        return len(kept) ** 2 + ("a" in kept) * ("c" in kept)

    exact = share(worth, "abcd")
    for name in "abcd":
        gains = []
        for order in permutations("abcd"):
            before = frozenset(order[: order.index(name)])
            gains.append(worth(before | {name}) - worth(before))
        assert exact[name] == pytest.approx(np.mean(gains))


def test_every_weighted_coalition_is_made():
    for names in (NAMES[:4], NAMES):
        made = set(coalitions(names, 6, 0))
        assert all(set(terms) <= made for terms in weights(names, 6, 0).values())
        assert {frozenset(), frozenset(names)} <= made


def test_orders_come_with_their_reverse():
    drawn = orders(NAMES, 6, 0)
    assert len(drawn) == 6 and all(drawn[place + 1] == drawn[place][::-1] for place in (0, 2, 4))


def base(**rules):
    noise = Formatting.model_validate({"rate": 0.3, "rules": rules})
    return KnowledgeBase("f", "f", (GroundTruth(), noise))


def test_rules_are_parts_and_can_be_left_out():
    whole = base(bold=1, title=0.5)
    assert [part.name for part in parts(whole)] == ["bold", "title"]
    (kept,) = with_only(whole, frozenset({"title"}), equal_dose=True).text_treatments
    assert kept.parts() == ("title",) and kept.rules.title == 0.5 and kept.rate == 0.3
    (none,) = with_only(whole, frozenset(), equal_dose=True).text_treatments
    assert none.rate == 0


def table(finished):
    with (finished.folder / "attribution.csv").open() as opened:
        return list(csv.DictReader(opened))


def trial_doses(finished):
    with (finished.folder / "attribution_doses.csv").open() as opened:
        return {row["condition"]: row for row in csv.DictReader(opened)}


def cost(finished, **wanted):
    return {
        row["part"]: float(row["cost"])
        for row in table(finished)
        if all(row[name] == value for name, value in {"evidence_source": "all", **wanted}.items())
    }


def test_a_part_left_out_costs_what_a_run_without_it_gains(left_out, home):
    costs = cost(left_out, method="leave_one_out", metric="damaged", stage="page")
    without = continued(home, left_out).run(MINI.replace(", cell_content: 1", ""), "replicates=2")
    damage = [np.mean([d["r_noise"] for d in doses(run)]) for run in (left_out, without)]
    assert costs["cell_content"] == pytest.approx(damage[0] - damage[1], abs=1e-6)
    assert set(costs) == {"bold", "paragraph", "cell_content"} and max(costs.values()) > 0
    # its own levels stay out of the run's tables, and are the store's as any other
    assert {row["kb"] for row in rows(left_out)} == {"f#0", "f#1"}
    assert not without.ledger.calls["documents"]


def test_shapley_shares_add_up_at_an_equal_dose(home):
    finished = home.run(MINI + "attribution: {of: [f], methods: [shapley]}\n")
    for metric, stage, sign in (("damaged", "page", 1), ("lcs", "retrieval", -1)):
        shares = cost(finished, method="shapley", metric=metric, stage=stage)
        all_of = [r["value"] for r in rows(finished) if r["metric"] == metric and r["stage"] == stage]
        none = [
            r["value"]
            for r in rows(finished, "attribution_scores")
            if r["metric"] == metric and r["stage"] == stage and r["noise"] == "f shapley nothing"
        ]
        assert sum(shares.values()) == pytest.approx(sign * (np.mean(all_of) - np.mean(none)), abs=1e-5)
    found = trial_doses(finished)
    whole = doses(finished)[0]["edits"]
    assert len(found) == 2**3 - 1 and whole > 100
    assert all(int(row["edits_aimed"]) == whole for name, row in found.items() if "nothing" not in name)
    assert abs(int(found["f shapley bold+paragraph"]["edits"]) - whole) <= 0.02 * whole
    assert int(found["f shapley nothing"]["edits"]) == 0


def test_a_chain_of_image_and_text_noise_is_reported_apart(chain):
    costs = cost(chain, method="leave_one_out", metric="lcs_kb", stage="page")
    assert set(costs) == {"salt_and_pepper", "rotation", "formatting"}
    assert costs["rotation"] == 0 < costs["salt_and_pepper"]


def test_the_costs_are_printed_a_line_for_each_part(chain, capsys):
    from ohr.cli.display.console import say_views
    from ohr.report.views.sections import for_screen

    say_views(for_screen(Run(chain.folder)))
    header, *lines = capsys.readouterr().out.strip().splitlines()
    assert header.split("  ")[-1].strip() == "retrieval lcs bm25"
    parts = {words[4]: words for words in map(str.split, lines[:3])}
    assert set(parts) == {"salt_and_pepper", "rotation", "formatting"}
    damage = cost(chain, metric="damaged")
    assert {part: words[5] for part, words in parts.items()} == {part: f"{damage[part]:.2f}" for part in parts}
    assert "gained without it (leave one out)" in " ".join(lines)


def test_an_attribution_is_planned_and_not_done_twice(left_out, home):
    before = plan(read_spec(home.write(LEFT_OUT), ["replicates=2"], trust_plugins=True), home.store, 1)
    assert before.steps["documents to build"].total == left_out.ledger.calls["documents"]
    assert not continued(home, left_out).run(LEFT_OUT, "replicates=2").fresh
    assert json.loads((left_out.folder / "manifest.json").read_text())["spec"]["attribution"]["of"] == ["f"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("{of: [g]}", "attribution.of.0: Choose one of: f."),
        ("{of: []}", "attribution.of"),
        ("{of: [f], methods: [shaply]}", "Did you mean 'shapley'?"),
        ("{of: [f], permutations: 1}", "attribution.permutations"),
        ("{of: [f], on: 1}", "unknown key"),
        ("{}", "attribution.of: is required"),
    ],
)
def test_a_wrong_attribution_is_reported(home, keys, message):
    with pytest.raises(SpecError) as raised:
        read_spec(home.write(f"{MINI}attribution: {keys}\n"), trust_plugins=True)
    assert message in str(raised.value)


def test_noise_that_cannot_be_attributed_is_reported(home):
    one = MINI.replace(", paragraph: 1, cell_content: 1", "")
    with pytest.raises(SpecError, match="f has one part only"):
        read_spec(home.write(one + "attribution: {of: [f]}\n"), trust_plugins=True)
    with pytest.raises(SpecError, match="c is not one text noise with several rules"):
        read_spec(home.write(CHAIN.replace("[c]", "[c], methods: [shapley]")), trust_plugins=True)
