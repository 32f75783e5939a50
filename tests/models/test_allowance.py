"""Limits per minute: none is exceeded, next to nothing of them is lost, and what servers say of them is followed."""

import json
import logging
from itertools import pairwise
from multiprocessing import get_context

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.errors import PluginError
from ohr.models.allowance import Allowance, Meter, Sent, allowance
from ohr.models.tries import left, seconds


class Clock:
    """A time that passes only where a test says so."""

    def __init__(self):
        self.now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def opened(tmp_path, clock, requests=None, tokens=None):
    return Allowance(tmp_path / "account.json", requests, tokens, clock)


def sent(account, clock, prompt=10, longest=10, turn="a"):
    """Wait for room, by the test's clock; returns the request."""
    while not isinstance(request := account.wait(prompt, longest, turn), Sent):
        clock.now += min(request, 0.25)
    return request


def most_in_a_minute(arrivals):
    """Return the most that came in any 60 seconds."""
    return max(sum(cost for at, cost in arrivals if start <= at < start + 60) for start, _ in arrivals)


@given(st.integers(1, 120), st.lists(st.floats(0, 0.9), min_size=10, max_size=10))
def test_no_minute_has_more_requests_than_the_limit_and_few_are_lost(limit, delays):
    meter, now, arrivals = Meter(), 5_000.3, []
    while now < 5_000 + 200:
        now += meter.wait(now, 1, limit)
        meter.take(now, 1, limit)
        arrivals.append((now + delays[len(arrivals) % 10], 1))
    assert most_in_a_minute(arrivals) <= limit
    assert len(arrivals) >= 0.9 * limit * 200 / 60


@given(st.lists(st.integers(1, 300), min_size=5, max_size=20), st.integers(300, 5000))
def test_no_minute_has_more_tokens_than_the_limit_and_few_are_lost(sizes, limit):
    meter, now, arrivals = Meter(), 5_000.3, []
    while now < 5_000 + 200:
        size = sizes[len(arrivals) % len(sizes)]
        now += meter.wait(now, size, limit)
        meter.take(now, size, limit)
        arrivals.append((now, size))
    assert most_in_a_minute(arrivals) <= limit
    # what does not fit into the rest of a minute leaves that rest
    assert sum(size for _, size in arrivals) >= 0.9 * (limit - max(sizes)) * 200 / 60


def test_requests_are_spread_over_the_minute(tmp_path, clock):
    account, began = opened(tmp_path, clock, requests=60), clock.now
    times = [sent(account, clock).at - began for _ in range(10)]
    assert max(later - earlier for earlier, later in pairwise(times)) < 1.5
    assert 7 < times[-1] < 9


def test_a_reply_returns_what_it_did_not_take(tmp_path, clock):
    account = opened(tmp_path, clock, tokens=1000)
    first = sent(account, clock, prompt=100, longest=900)
    assert account.wait(100, 900, "b") > 50
    account.settle(first, (100, 20), {})
    second = sent(account, clock, prompt=100, longest=900, turn="b")
    assert second.tokens == 124  # the mean reply, and a fifth
    assert second.at - first.at < 10


def test_the_servers_count_of_a_prompt_corrects_later_ones(tmp_path, clock):
    account = opened(tmp_path, clock, tokens=1_000_000)
    for _ in range(60):
        account.settle(sent(account, clock, prompt=100), (200, 1), {})
    assert sent(account, clock, prompt=100).tokens == pytest.approx(201, abs=2)


def test_a_prompt_larger_than_the_limit_is_sent_alone_with_a_warning(tmp_path, clock, caplog):
    account = opened(tmp_path, clock, tokens=1000)
    small = sent(account, clock, prompt=90, longest=10)
    assert account.wait(5000, 10, "large") > 50
    assert account.wait(10, 10, "small") > 0  # it must not be overtaken again and again
    with caplog.at_level(logging.WARNING, "ohr"):
        large = sent(account, clock, prompt=5000, longest=10, turn="large")
    assert large.at - small.at > 60
    assert "a prompt of 5010 tokens, with its reply, is more than tokens_per_minute (1000)" in caplog.text
    account.settle(large, (5000, 10), {})
    assert sent(account, clock, prompt=10, longest=10, turn="next").at - large.at > 60


def test_the_turn_of_a_large_request_whose_process_is_gone_is_over_soon(tmp_path, clock):
    account = opened(tmp_path, clock, tokens=1000)
    sent(account, clock, prompt=90, longest=10)
    account.wait(5000, 10, "gone")
    before = clock.now
    assert sent(account, clock, prompt=10, longest=10, turn="b").at - before < 10


def test_a_server_that_says_less_is_left_is_followed(tmp_path, clock):
    account = opened(tmp_path, clock, requests=6000, tokens=1_000_000)
    first, second = sent(account, clock), sent(account, clock)
    says = {"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "20s"}
    account.settle(first, (10, 10), says)
    assert account.wait(10, 10, "b") == pytest.approx(20, abs=1)  # the one that is left is under way
    clock.now += 20
    assert isinstance(account.wait(10, 10, "b"), Sent)
    says = {"x-ratelimit-remaining-tokens": "500", "x-ratelimit-reset-tokens": "6m0s"}
    account.settle(second, (10, 10), says)
    assert account.wait(600, 10, "c") == pytest.approx(60, abs=1)  # no server is waited for longer than a minute
    assert isinstance(account.wait(10, 10, "d"), Sent)


def test_a_server_that_asks_to_wait_stops_all(tmp_path, clock):
    account = opened(tmp_path, clock, requests=6000)
    account.settle(sent(account, clock), (0, 0), {"retry-after": "7"}, busy=True)
    clock.now += 1
    assert account.wait(10, 10, "b") == pytest.approx(6)


SPANS = {"1s": 1, "6m0s": 360, "20ms": 0.02, "2m59.56s": 179.56, "1h2m": 3720, "12": 12}
NO_SPANS = ("", "soon", "-1", "nan", "1e999", "<html>", "5x")


@pytest.mark.parametrize("text, span", [*SPANS.items(), *((text, None) for text in NO_SPANS)])
def test_a_span_of_time(text, span):
    assert seconds(text) == (None if span is None else pytest.approx(span))


@pytest.mark.parametrize(
    "remaining, reset", [("-1", "0"), ("", "1s"), ("5", ""), ("<b>5</b>", "1s"), ("5", "tomorrow")]
)
def test_headers_that_say_nothing(tmp_path, clock, remaining, reset):
    says = {"x-ratelimit-remaining-requests": remaining, "x-ratelimit-reset-requests": reset}
    assert left(says, "requests") is None
    account = opened(tmp_path, clock, requests=6000)
    account.settle(sent(account, clock), (0, 0), says)
    clock.now += 1
    assert isinstance(account.wait(10, 10, "b"), Sent)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"turn": 5}', '{"requests": {"spent": {"x": "y"}}}', "\0" * 20])
def test_a_damaged_account_is_empty_again(tmp_path, clock, content):
    account = opened(tmp_path, clock, requests=1)
    account.path.write_text(content)
    assert isinstance(account.wait(10, 10, "a"), Sent)
    assert account.wait(10, 10, "b") > 50
    assert json.loads(account.path.read_text())["requests"]["spent"] == {"1000000": 1.0}


def test_a_clock_that_went_back_stops_nothing(tmp_path, clock):
    account = opened(tmp_path, clock, requests=60)
    sent(account, clock)
    clock.now -= 1e6
    assert isinstance(account.wait(10, 10, "b"), Sent) or account.wait(10, 10, "b") < 63


def _spend(path, count):
    account = Allowance(path, 10_000_000, None)
    for _ in range(count):
        while not isinstance(account.wait(0, 1, "x"), Sent):
            pass


def test_processes_share_one_account(tmp_path):
    context = get_context("spawn")
    workers = [context.Process(target=_spend, args=(tmp_path / "account.json", 200)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sum(json.loads((tmp_path / "account.json").read_text())["requests"]["spent"].values()) == 400


def test_each_key_model_and_server_has_an_account_and_no_limit_has_none(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = [("http://a/v1", "m", "k"), ("http://b/v1", "m", "k"), ("http://a/v1", "n", "k"), ("http://a/v1", "m", "l")]
    assert len({allowance(*each, (1, None)).path for each in asked}) == 4
    assert allowance("http://a/v1/", "m", "k", (None, 5)).path == allowance("http://a/v1", "m", "k", (1, None)).path
    assert allowance("http://a/v1", "m", "k", (None, None)) is None


def test_a_cache_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    (tmp_path / "ohr").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(PluginError, match=r"limits per minute are counted in .*ohr/limits, which cannot be made"):
        allowance("http://a/v1", "m", "k", (1, None))


def test_absurd_usage_blocks_for_a_minute_at_most(tmp_path, clock):
    account = opened(tmp_path, clock, tokens=1000)
    account.settle(sent(account, clock), (10, 10), {})
    account.settle(sent(account, clock), (10**15, 10**15), {})
    began = clock.now
    times = [sent(opened(tmp_path, clock, tokens=1000), clock, longest=None).at - began for _ in range(5)]
    assert 50 < times[0] < 65
    assert times[-1] - times[0] < 20


def test_absurd_usage_is_forgotten_where_there_is_no_limit_of_tokens(tmp_path, clock):
    account = opened(tmp_path, clock, requests=1000)
    account.settle(sent(account, clock), (10**15, 10**15), {})
    clock.now += 65
    assert sent(opened(tmp_path, clock, tokens=3000), clock, longest=None).tokens < 2000


@pytest.mark.parametrize(
    "content", ["[" * 100_000, '{"turn": ["", 0], "reply": 1' + "0" * 400 + "}"], ids=["deep", "large"]
)
def test_an_account_that_no_version_writes_is_empty_again(tmp_path, clock, content):
    account = opened(tmp_path, clock, requests=60)
    account.path.write_text(content)
    assert isinstance(account.wait(10, 10, "a"), Sent)
