"""From the keys of a knowledge base's entry to its treatments, in order: built, and fit for each other."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import AnyOcr, Treatment
from ohr.ocr.ground_truth import GroundTruth
from ohr.registry import Registry, choices
from ohr.spec.build import Builder, Built
from ohr.spec.source import Note, Where
from ohr.treatments import SHORT, KnowledgeBaseEntry

Slot = tuple[str | int, ...]
"""The key of a treatment in its entry, such as (`ocr`,) or (`treatments`, 2)."""


def read_treatments(builder: Builder, entry: KnowledgeBaseEntry, where: Where) -> dict[Slot, list[Built]]:
    """Build the variants of each treatment, in the order in which they act, and note what does not fit together."""
    slots: dict[Slot, list[Built]] = {}
    given = [key for key in SHORT if key in entry.model_fields_set]
    if entry.treatments and given:
        builder.note((*where, given[0]), "either `treatments`, which holds all in their order, or this")
    engines: list[tuple[Slot, Mapping[str, Any]]] = []
    for slot, family, keys in entry.placed():
        family = family or _family(builder, keys, (*where, *slot))
        if family is None:
            slots[slot] = []
            continue
        if engines and family == "ocr" and _chooses(builder.registry, keys):
            keys = {**keys, "parts": [dict(engine) for _, engine in engines]}
            for place, _ in engines:
                del slots[place]
            engines = []
        engines += [(slot, keys)] * (family == "ocr")
        slots[slot] = builder.spread(family, keys, (*where, *slot))
    if all(slots.values()):
        faults = [((*where, *slot), message) for slot, message in _faults(slots)]
        builder.notes += faults
        if not faults:
            return _with_engine(slots)
    return slots


def _family(builder: Builder, keys: Mapping[str, Any], where: Where) -> str | None:
    """Return the family of a treatment, which its kind alone says; None, and a note, where it does not."""
    kinds = builder.registry.treatments()
    families = kinds.get(str(keys.get("kind")), ())
    if len(families) == 1:
        return families[0]
    if families:
        message = f"is the kind of plugins of several families: {', '.join(families)}"
    else:
        message = f"{choices(str(keys.get('kind', '')), sorted(kinds))} (got {keys.get('kind')!r})"
    builder.note((*where, "kind"), message)
    return None


def _chooses(registry: Registry, keys: Mapping[str, Any]) -> bool:
    """Report whether an engine chooses among others, and its keys leave these to the list before it."""
    kind = str(keys.get("kind"))
    return "parts" not in keys and kind in registry.names("ocr") and "parts" in registry.load("ocr", kind).model_fields


def _faults(slots: Mapping[Slot, Sequence[Built]]) -> Iterator[Note]:
    """Yield the treatments that find something else than they need."""
    stages: list[Treatment] = [variants[0].stage for variants in slots.values()]
    reader: Treatment | None = None
    for place, (slot, stage) in enumerate(zip(slots, stages, strict=True)):
        if stage.takes == "image" and reader is not None:
            hint = ": let a kind that chooses, such as best_of, follow two engines" if stage.family == "ocr" else ""
            yield slot, f"{stage.kind} needs an image, but {reader.family} `{reader.kind}` gives text{hint}"
        later = [each for each in stages[place + 1 :] if isinstance(each, AnyOcr)]
        too_early = stage.takes == "text" and reader is None and bool(later)
        if too_early:
            yield slot, f"{stage.kind} needs text, but no engine has read the pages yet: put it after `{later[0].kind}`"
        reader = stage if stage.gives == "text" and not too_early else reader


def _with_engine(slots: dict[Slot, list[Built]]) -> dict[Slot, list[Built]]:
    """Let the ground truth be read before the first treatment that needs text, where no engine is named."""
    if any(variants[0].stage.family == "ocr" for variants in slots.values()):
        return slots
    texts = [place for place, variants in enumerate(slots.values()) if variants[0].stage.takes == "text"]
    read = [*slots.items()]
    read.insert((*texts, len(read))[0], (("ocr",), [Built(GroundTruth(), [], None)]))
    return dict(read)
