"""States of batches as servers describe them; some are odd."""

from collections.abc import Mapping
from typing import Any

from ohr.messages.wording import counted
from ohr.models.completions import excerpt
from ohr.models.tries import Failure

_ENDED = frozenset({"completed", "failed", "expired", "cancelled", "canceled"})


def has_ended(state: Mapping[str, Any]) -> bool:
    """Report whether a batch has ended.

    Raises:
        Failure: it is not the state of a batch.
    """
    status = state.get("status")
    if not isinstance(status, str):
        raise Failure("not the state of a batch: its `status` is no text")
    return status in _ENDED


def requests(state: Mapping[str, Any], *kinds: str) -> int:
    """Return how many requests of a batch were `completed` or `failed`; 0 where the server does not say."""
    counts = state.get("request_counts")
    done = [counts.get(kind) for kind in kinds] if isinstance(counts, dict) else []
    return sum(count for count in done if isinstance(count, int) and count > 0)


def ending(state: Mapping[str, Any]) -> str:
    """Return why a batch that has ended has no reply to a prompt."""
    status = str(state.get("status"))
    if status == "completed":
        return "has no line for this prompt in its files"
    errors = state.get("errors")
    listed = errors.get("data") if isinstance(errors, dict) else None
    known = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    reasons = [str(each.get("message") or each.get("code")) for each in known]
    more = f" (and {counted(len(reasons) - 1, 'further error')})" if len(reasons) > 1 else ""
    return f"{'was ' if status.startswith('cancel') else ''}{status}" + (
        f": {excerpt(reasons[0])}{more}" if reasons else ""
    )
