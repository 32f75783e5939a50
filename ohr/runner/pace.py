"""The pace of stages on this machine, kept in the store so that a plan can estimate the time left."""

from ohr.contracts import Stage
from ohr.engine.ledger import Ledger
from ohr.keys import key
from ohr.store import Store
from ohr.work.shapes import read_sound


def remember(store: Store, ledger: Ledger) -> None:
    """Keep the mean seconds per item of every stage that this run used."""
    means = {_key(*stage): {"seconds": seconds / items} for stage, (seconds, items) in ledger.pace.items()}
    if means:
        store.put_many(means)


def recall(store: Store, stage: Stage) -> float | None:
    """Return the seconds that one item took, if known."""
    name = _key(type(stage).family, stage.kind)
    found = read_sound(store, [name], "pace").get(name)
    return float(found["seconds"]) if found else None


def _key(family: str, kind: str) -> str:
    return key("timing", family, kind)
