"""Records of olmOCR-bench as tests."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from .page_tests import (
    BaselineTest,
    FootnoteTest,
    FormatTest,
    MathTest,
    OrderTest,
    Outcome,
    PageTest,
    PresenceTest,
    TableTest,
)

KINDS: dict[str, type[PageTest]] = {
    "present": PresenceTest,
    "absent": PresenceTest,
    "order": OrderTest,
    "format": FormatTest,
    "table": TableTest,
    "baseline": BaselineTest,
    "math": MathTest,
    "footnote": FootnoteTest,
}
"""The class of each type of test."""


def read_test(record: Mapping[str, Any]) -> PageTest:
    """Return the test that a line of a JSON Lines file describes.

    Raises:
        ValueError: For an unknown type of test or key, a missing key, and a value of a wrong type or without sense, in
            one sentence that begins with the key.
    """
    kind = record.get("type")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"type: {kind!r} is no type of test; there are {', '.join(KINDS)}")
    try:
        return KINDS[kind].model_validate(dict(record))
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        message = first["msg"].removeprefix("Value error, ")
        given = "" if first["type"] == "missing" else f", not {first['input']!r:.80}"
        raise ValueError(f"{first['loc'][0]}: {message}{given}" if first["loc"] else message) from None


def run(test: PageTest, text: str) -> Outcome:
    """Return whether the text of a page passes a test, why not, and by whose definition."""
    return test.outcome(text)
