"""Noise of whole pages: a higher rate touches the pages of a lower one, and numbers say where a page comes from."""

import numpy as np
import pytest

from ohr.contracts import Page
from ohr.noise.page_orders import DoublePages, DropPages, ShufflePages
from ohr.steps.documents.treat import TreatedPages, treat

NUMBERS = [*range(40)]


def arranged(order, seed=0):
    return order.arrange(NUMBERS, np.random.default_rng(seed))


@pytest.mark.parametrize("plugin", [DropPages, DoublePages, ShufflePages])
def test_pages_keep_the_numbers_of_their_source_or_are_numbered_as_they_lie(plugin):
    kept = arranged(plugin(rate=0.5))
    assert [number for place, number in kept] == [NUMBERS[place] for place, _ in kept]
    counted = arranged(plugin(rate=0.5, numbers="place"))
    assert [place for place, _ in counted] == [place for place, _ in kept]
    assert [number for _, number in counted] == [*range(len(counted))]
    assert [place for place, _ in arranged(plugin(rate=0))] == NUMBERS


def test_levels_are_coupled():
    low, high = ({place for place, _ in arranged(DropPages(rate=rate))} for rate in (0.3, 0.6))
    assert high < low and arranged(DropPages(rate=1)) == []
    doubled = [[place for place, _ in arranged(DoublePages(rate=rate))] for rate in (0.3, 0.6)]
    twice = [{place for place in places if places.count(place) == 2} for places in doubled]
    assert twice[0] < twice[1] and len(arranged(DoublePages(rate=1))) == 80
    moved = [[n for n, (place, _) in enumerate(arranged(ShufflePages(rate=rate))) if n != place] for rate in (0.3, 1)]
    assert len(moved[0]) < 20 < len(moved[1])
    assert sorted(place for place, _ in arranged(ShufflePages(rate=1))) == NUMBERS


def test_edits_follow_their_page():
    from ohr.noise.formatting import Formatting

    pages = [Page("law/lease", index, f"Page {index} has a few words that may be bold. " * 9) for index in range(6)]
    chain = [Formatting(rate=0.3), ShufflePages(rate=1), DropPages(rate=0.4), DoublePages(rate=0.5)]
    alone = treat(TreatedPages.of(pages), chain[:1], (), 3)
    ledgers = {page.index: ledger for page, ledger in zip(alone.pages, alone.ledgers, strict=True)}
    treated = treat(TreatedPages.of(pages), chain, (), 3)
    assert 0 < len(treated.pages) != 6
    for page, ledger in zip(treated.pages, treated.ledgers, strict=True):
        assert ledger == ledgers[page.index]
    assert treated.aimed == sum(map(len, treated.ledgers))
