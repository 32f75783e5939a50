"""What a stage's items took here before, so that a plan can say how long the rest will take."""

from typing import Any

from ohr.contracts import Stage
from ohr.engine.ledger import Ledger
from ohr.keys import key
from ohr.spec.model import Spec
from ohr.store import Store


def remember(store: Store, spec: Spec, ledger: Ledger) -> None:
    """Keep the mean seconds per page and per answer of this run."""
    engines = {base.ocr.kind: base.ocr for base in spec.knowledge_bases if base.ocr.reads_images}
    for kind, engine in engines.items():
        seconds = ledger.seconds.get(f"ocr {kind} (worker)", 0.0)
        if len(engines) == 1 and ledger.calls["pages"] and seconds:
            store.put(_key(engine), {"seconds": seconds / ledger.calls["pages"]})
    if len(spec.generators) == 1 and ledger.calls["answers"]:
        store.put(_key(spec.generators[0].stage), {"seconds": ledger.seconds["generation"] / ledger.calls["answers"]})


def recall(store: Store, stage: Stage) -> float | None:
    """Give the seconds one item took, if known."""
    found: dict[str, Any] | None = store.get(_key(stage))
    return float(found["seconds"]) if found else None


def _key(stage: Stage) -> str:
    return key("timing", type(stage).family, stage.kind)
