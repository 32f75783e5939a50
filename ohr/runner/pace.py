"""The pace of stages and the length of replies, kept in the store so that a plan can estimate time and money."""

from ohr.contracts import Stage
from ohr.engine.ledger import Ledger
from ohr.keys import key
from ohr.prices import Payee
from ohr.store import Store
from ohr.work.shapes import read_sound


def remember(store: Store, ledger: Ledger, benchmark: str) -> None:
    """Keep the mean seconds of an item of every stage that this run used, and the mean tokens of replies."""
    means = {_key(*stage): {"seconds": seconds / items} for stage, (seconds, items) in ledger.pace.items()}
    lengths = {_length_key(payee, benchmark): {"tokens": mean} for payee, mean in ledger.usage.lengths().items()}
    if means or (ledger.calls and lengths):  # a run that finds everything writes nothing: a store may be read-only
        store.put_many(means | lengths)


def recall(store: Store, stage: Stage) -> float | None:
    """Return the seconds that one item took, if known."""
    name = _key(type(stage).family, stage.kind)
    found = read_sound(store, [name], "pace").get(name)
    return float(found["seconds"]) if found else None


def recall_length(store: Store, payee: Payee, benchmark: str) -> float | None:
    """Return the mean tokens of the replies of a model on a benchmark, if known."""
    name = _length_key(payee, benchmark)
    found = read_sound(store, [name], "length").get(name)
    return float(found["tokens"]) if found else None


def _length_key(payee: Payee, benchmark: str) -> str:
    return key("reply length", payee.use, payee.names, payee.role, benchmark)


def _key(family: str, kind: str) -> str:
    return key("timing", family, kind)
