"""When hypotheses were first run, and whether their scores were known by then."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ohr.graph.cache_keys import Keys
from ohr.graph.graph import CellPart, Graph
from ohr.keys import key
from ohr.store import Store
from ohr.work.shapes import read_sound


def register(keys: Keys, graph: Graph, store: Store) -> Mapping[str, Any] | None:
    """Record the first run with these hypotheses on this data; None where a spec has none.

    Args:
        keys: of the run.
        graph: its steps, none of which has been carried out by this run.
        store: where the record is kept.

    Returns:
        `first_run` (key and time), and `scores_before`: whether any score of this run was in the store by then.
    """
    wanted = keys.spec.hypotheses
    if not wanted:
        return None
    name = key("hypotheses", [one.model_dump(mode="json") for one in wanted], list(keys.inputs.digests.values()))
    found: dict[str, Any] | None = read_sound(store, [name], "record").get(name)
    if found is None:
        scores = [
            step
            for part in graph.parts
            if isinstance(part, CellPart)
            for batch in part.batches
            for step in (batch.scores, batch.prompts.key if batch.prompts else None)
            if step is not None
        ]
        now = datetime.now(UTC).isoformat(timespec="seconds")
        found = {"first_run": keys.run, "time": now, "scores_before": bool(store.has_many(scores))}
        store.put(name, found)
    return found
