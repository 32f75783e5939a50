"""A plugin's wrong value is a failed item, never a wrong number."""

import json
from dataclasses import asdict
from math import inf, nan

import numpy as np
import pytest

from ohr.contracts import Chunk, Completion, Hit, Page
from ohr.errors import DataError
from ohr.work.plugin_checks import BrokenContract, checked_chunks, checked_completion, checked_hits, checked_image

PAGES = (Page("law/a", 0, "one two"), Page("law/a", 1, "three"))


def chunk(**changes) -> Chunk:
    return Chunk(**{"id": "a", "document": "law/a", "pages": (0,), "start": 0, "end": 3, "text": "one"} | changes)


@pytest.mark.parametrize(
    "hits",
    [
        [Hit(-1, 1.0)],
        [Hit(5, 1.0)],
        [Hit(0, 1.0), Hit(0, 0.5)],
        [Hit(0, 0.5), Hit(1, 1.0)],
        [Hit(0, nan)],
        [Hit(0, 3.0), Hit(1, 2.0), Hit(2, 1.0)],
    ],
    ids=["negative", "beyond the corpus", "twice", "rising", "nan", "too many"],
)
def test_hits_that_break_the_contract_are_refused(hits):
    with pytest.raises(BrokenContract):
        checked_hits(hits, size=3, top_k=2)


def test_scores_of_numpy_are_plain_afterwards():
    (hit,) = checked_hits([Hit(np.int64(1), np.float32(0.5))], size=3, top_k=2)
    assert (type(hit.place), type(hit.score)) == (int, float)


@pytest.mark.parametrize(
    "image",
    [
        np.zeros((4, 4), np.uint8),
        np.zeros((4, 4, 4), np.uint8),
        np.zeros((4, 4, 3)),
        np.zeros((0, 4, 3), np.uint8),
        None,
    ],
    ids=["grey", "rgba", "float", "empty", "none"],
)
def test_images_that_are_not_rgb_bytes_are_refused(image):
    with pytest.raises(BrokenContract):
        checked_image(image)


@pytest.mark.parametrize(
    "chunks",
    [[chunk(pages=(9,))], [chunk(pages=())], [chunk(document="law/b")], [chunk(start=-1)], [chunk(), chunk()], ["one"]],
    ids=["unknown page", "no page", "other document", "negative start", "one id twice", "text"],
)
def test_chunks_that_break_the_contract_are_refused(chunks):
    with pytest.raises(BrokenContract):
        checked_chunks(chunks, PAGES)


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "text",
        Completion(None),
        Completion(b"x"),
        Completion("x", finish=5),
        Completion("x", finish="done"),
        Completion("x", finish=np.array(["stop", "length"])),
        Completion("x", truncated="yes"),
        Completion("x", error=5),
        Completion("x", error=object()),
        Completion("x", finish="error"),
        Completion("word " * 1_000_000),
    ],
)
def test_a_reply_of_the_wrong_type_is_a_failed_completion(reply):
    completion = checked_completion(reply)
    assert completion.finish == "error"
    assert completion.error
    written(completion)


@pytest.mark.parametrize("value", [2**63, 10**400, -1, nan, inf, None, "many", object(), [1]])
def test_a_count_or_a_time_that_is_none_is_0(value):
    completion = checked_completion(Completion("x", tokens_in=value, tokens_out=value, seconds=value))
    assert (completion.tokens_in, completion.tokens_out) == (0, 0)
    assert completion.seconds in (0.0, 2.0**63)
    assert completion.error is None
    written(completion)


def test_counts_and_times_of_numpy_are_plain_afterwards():
    given = Completion("x", tokens_in=np.int32(3), tokens_out=2**63 - 1, seconds=np.float32(0.5))
    completion = checked_completion(given)
    assert (completion.tokens_in, completion.tokens_out, completion.seconds) == (3, 2**63 - 1, 0.5)
    assert (type(completion.tokens_in), type(completion.seconds)) == (int, float)
    written(completion)


def test_control_characters_of_an_error_are_escaped_and_its_length_is_bounded():
    completion = checked_completion(Completion("", error="a\x1b]0;title\x07\nb\ud800 é 港"))
    assert (completion.error, completion.finish) == ("a\\x1b]0;title\\x07\\nb\\ud800 é 港", "error")
    assert len(checked_completion(Completion("", error="x" * 10_000_000)).error) == 2001


def written(completion):
    """Write a completion as the store and the results do."""
    import pyarrow

    json.dumps(asdict(completion), allow_nan=False).encode()
    pyarrow.Table.from_pylist([asdict(completion)])


def test_an_image_larger_than_any_page_is_refused():
    huge = np.broadcast_to(np.uint8(255), (20_000, 20_000, 3))  # takes no memory
    with pytest.raises(DataError, match="20000 x 20000 pixels are too many"):
        checked_image(huge)
