"""Hostile programs, each followed by an honest one in the same lane."""

import platform

import pytest

from ohr.sandbox import Sandbox

from .conftest import HONEST, QUICK, WEAKER, processes, settled
from .hostile import CASES, HARMFUL, KINDS

OUTWARD = [kind for kind in KINDS if kind not in ("memory and crashes", "time", "output", "forged results")]
SLOW = (
    "an endless loop", "a loop that catches all", "a loop that blocks signals", "one slow operation", "a slow pattern",
    "an endless list", "a slow repr", "a slow message", "write to stdout without an end",
)  # fmt: skip
"""Programs that run until the limit of time, as others do that are tried in every run."""

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="hostile programs name the kernel's calls by their numbers on x86_64"
)


def tried(kind, name, text):
    return pytest.param(text, id=f"{kind}: {name}", marks=[pytest.mark.acceptance] if name in SLOW else [])


@pytest.mark.parametrize("text", [tried(*case) for case in CASES])
def test_no_hostile_program_escapes_or_disturbs_the_next_one(text, sandbox, reset):
    before = processes(sandbox)
    hostile, honest = sandbox.run([reset.fill(text), HONEST])
    assert reset.shown(hostile) == []
    assert reset.traces() == []
    assert processes(sandbox) == before
    assert (honest.how, honest.value, honest.number) == ("returned", "42.0", 42.0)


@pytest.fixture(scope="module", params=WEAKER.values(), ids=WEAKER)
def weaker(request, scene):
    """A sandbox with fewer walls, for the programs of all kinds."""
    with Sandbox(QUICK, workers=2, without=request.param) as made:
        yield made


@pytest.mark.parametrize("kind", OUTWARD)
def test_no_hostile_program_escapes_where_the_machine_offers_less(kind, weaker, reset):
    programs = [reset.fill(text) for text in KINDS[kind].values()]
    before = settled(weaker)
    outcomes = list(weaker.run([*programs, HONEST]))
    assert processes(weaker) == before
    shown = {name: reset.shown(outcome) for name, outcome in zip(KINDS[kind], outcomes, strict=False)}
    assert not any(shown.values()), shown
    assert reset.traces() == []
    assert outcomes[-1].number == 42


@pytest.mark.parametrize("name", HARMFUL)
def test_a_hostile_program_does_harm_where_nothing_keeps_it_in(name, unprotected, reset):
    (text,) = [text for _, other, text in CASES if other == name]
    before = settled(unprotected)
    (outcome,) = unprotected.run([reset.fill(text)])
    left = processes(unprotected) != before
    assert [*reset.shown(outcome), *reset.traces(), *(["processes"] if left else [])] != []
