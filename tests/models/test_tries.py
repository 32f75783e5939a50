"""The rule of tries: docs/dev/tries.md in numbers."""

import pytest

from ohr.contracts import Permanent
from ohr.models.tries import Failure, Policy, of_reply


@pytest.mark.parametrize(
    ("status", "text", "tried_again", "permanent", "refused"),
    [
        (408, "", True, False, False),
        (409, "", True, False, False),
        (429, "", True, False, False),
        (429, "insufficient_quota", False, False, True),
        (429, "the prompt is too long", True, False, False),
        (500, "", True, False, False),
        (500, "the prompt is too long", False, True, False),
        (503, "the prompt is too long", True, False, False),
        (400, "", False, True, False),
        (404, "", False, True, False),
        (401, "", False, False, True),
        (403, "", False, False, True),
    ],
)
def test_a_status_says_whether_a_request_is_tried_again(status, text, tried_again, permanent, refused):
    failure = of_reply("problem", status, text, {})
    assert (failure.wait is not None, failure.permanent, failure.refused) == (tried_again, permanent, refused)
    assert isinstance(failure.reason, Permanent) == permanent


@pytest.mark.parametrize(("status", "tried_again"), [(429, True), (503, True), (500, False), (409, False)])
def test_what_must_not_be_carried_out_twice_is_tried_again_where_it_was_not_carried_out(status, tried_again):
    assert (of_reply("problem", status, "", {}, repeatable=False).wait is not None) == tried_again


@pytest.mark.parametrize(
    ("turn", "wait", "most", "pause"),
    [(0, 0.0, 9, 2.0), (1, 0.0, 9, 4.0), (1, 7.5, 9, 7.5), (2, 0.0, 9, None), (1, 0.0, 1, None), (0, 10.0, 9, None)],
)
def test_pauses_double_heed_the_server_and_end_with_the_tries_and_the_time(turn, wait, most, pause):
    assert Policy(retries=2, backoff=2.0).pause(turn, Failure("x", wait=wait, most=most), left=10.0) == pause
    assert Policy(retries=2, backoff=2.0).pause(turn, Failure("x"), left=10.0) is None


def test_an_item_is_tried_again_unless_it_would_fail_the_same_way():
    policy = Policy(retries=2)
    assert [policy.is_over(attempts) for attempts in (0, 1, 2, 3)] == [False, False, False, True]
    assert policy.attempts("it broke") == 1
    assert policy.is_over(policy.attempts(Permanent("it broke"))) and policy.is_over(policy.attempts("x", once=True))
