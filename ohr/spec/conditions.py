"""From the entries of `knowledge_bases` to treatments that fit each other, conditions and their draws."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from ohr.contracts import AnyOcr, Correction, Generator, ImageTreatment, Treatment
from ohr.messages.wording import quoted
from ohr.ocr.ground_truth import GroundTruth
from ohr.registry import Registry, choices
from ohr.spec.build import Builder, Built, fault_of_name, repeats
from ohr.spec.model import MOST, KnowledgeBase, Target
from ohr.spec.source import Note, Where
from ohr.spec.sweep import Swept, fault_of_size, shown, suffix
from ohr.treatments import SHORT, KnowledgeBaseEntry

Slot = tuple[str | int, ...]
"""The key of a treatment in its entry, such as (`ocr`,) or (`treatments`, 2)."""


def knowledge_bases(
    builder: Builder, entries: Sequence[tuple[Where, Mapping[str, Any]]], readers: Mapping[str, bool], replicates: int
) -> tuple[KnowledgeBase, ...]:
    """Build the knowledge bases, and note their faults.

    Args:
        readers: for each retriever, whether it reads images; under "" the same of what looks at pages by itself.
        replicates: draws of each condition with noise.
    """
    note = builder.note
    bases: list[KnowledgeBase] = []
    for where, data in entries:
        entry = builder.validated(KnowledgeBaseEntry, data, where)
        if entry is None:
            continue
        for name in entry.retrievers or ():
            if name not in readers:
                message = f"no retriever is named {quoted(name)}. {choices(name, [n for n in readers if n])}"
                note((*where, "retrievers"), message)
        searching = readers if entry.retrievers is None else ("", *entry.retrievers)
        used = [reads for name, reads in readers.items() if name in searching]
        bases += _draws(builder, entry, where, all(used), replicates)
        if len(bases) > MOST:
            note(("knowledge_bases",), f"make more than {MOST:,}, with {replicates} replicates of each noisy one")
            break
    own = [base for base in bases if not base.again_of]
    names = [base.name for base in own]
    for message in repeats(names) if len(set(names)) < len(names) else _equal_points(own):
        note(("knowledge_bases",), message)
    return tuple(bases)


def repeated(bases: Sequence[KnowledgeBase]) -> tuple[KnowledgeBase, ...]:
    """Return the bases with a second copy of every condition that nothing is drawn for: its scores must be the same."""
    known = {base.again_of for base in bases} | {base.condition for base in bases if base.again_of}
    return *bases, *(
        copy for base in bases if base.replicates == 1 and base.condition not in known for copy in copies(base, 2)
    )


def faults_of_repeats(bases: Sequence[KnowledgeBase]) -> Iterator[str]:
    """Yield what is wrong with the names of repeats: another condition has one of them."""
    own = {base.condition for base in bases if not base.again_of}
    for base in bases:
        if base.again_of and base.condition in own:
            yield f"{quoted(base.condition)} is what `aa` and `repeats` call a repeat of {quoted(base.again_of)}"


def copies(base: KnowledgeBase, times: int) -> Iterator[KnowledgeBase]:
    """Yield what repeats a knowledge base, so that it is there so many times; each has results of its own."""
    for turn in range(1, times):
        name = "again" if turn == 1 else f"again {turn}"
        condition, noise = f"{base.condition} {name}", f"{base.noise} {name}"
        yield replace(base, condition=condition, noise=noise, again_of=base.condition, turn=turn)


def _draws(
    builder: Builder, entry: KnowledgeBaseEntry, where: Where, is_seen: bool, replicates: int
) -> Iterator[KnowledgeBase]:
    """Spread one entry over its sweeps and replicates; `is_seen`: every retriever that is used reads images."""
    before, note = len(builder.notes), builder.note
    slots = read_treatments(builder, entry, where)
    misfits = [note((*where, *key), message) for key, message in _misfits(slots, builder.registry, is_seen)]
    fields = {slot: [field for built in variants[:1] for field, _ in built.swept] for slot, variants in slots.items()}
    factors = {".".join([*map(str, slot), *fields[slot]]): len(variants) for slot, variants in slots.items()}
    if misfits or note(where, fault_of_size(factors, "conditions")) or len(builder.notes) > before:
        return
    for chosen in product(*slots.values()):
        others = [built for built in chosen if built.stage.family != "ocr"]
        swept = [pair for built in chosen for pair in built.swept]
        kinds = [built.stage.kind for built in chosen if not (others and built.stage.kind == "ground_truth")]
        label = "+".join(kinds) if entry.name is None else entry.name
        knob, value, rest = _knob([built for built in others if built.stage.purpose == "noise"], swept)
        treatments = tuple(built.stage for built in chosen)
        condition = label + suffix(swept)
        note((*where, "name"), fault_of_name(condition))
        # where nothing is drawn, every draw is the same
        draws = replicates if any(stage.draws for stage in treatments) else 1
        for draw in range(draws):
            base = KnowledgeBase(
                condition=condition,
                noise=label + rest,
                treatments=treatments,
                knob=knob,
                knob_value=value,
                replicate=draw,
                replicates=draws,
                retrievers=None if entry.retrievers is None else tuple(entry.retrievers),
                target=_target(chosen),
            )
            yield base
            yield from copies(base, entry.repeats)


def _target(chosen: Sequence[Built]) -> Target | None:
    for place, built in enumerate(chosen):
        if aim := built.aim:
            before = [each.stage.family for each in chosen[:place]].count(built.stage.family)
            return Target(aim.measure, aim.value, aim.target_source, built.stage.family, before)
    return None


def _misfits(slots: Mapping[Slot, Sequence[Built]], registry: Registry, is_seen: bool) -> Iterator[Note]:
    """Yield what does not fit together in an entry, and at which of its keys."""
    first = {slot: variants[0].stage for slot, variants in slots.items() if variants}
    aimed = [slot for slot, variants in slots.items() if any(built.aim for built in variants)]
    if len(aimed) > 1:
        yield (), "only one noise of a knowledge base can have a target"
    for slot, stage in first.items():
        if isinstance(stage, Correction) and not isinstance(stage.model, Generator):
            yield slot, f"the model of {stage.kind} must be a generator, not {type(stage.model).__name__}"
        if aimed and isinstance(stage, Correction):
            yield slot, f"a target cannot be searched through {stage.kind}: its model would be asked at every strength"
    images = [(slot, stage) for slot, stage in first.items() if isinstance(stage, ImageTreatment)]
    engines = [built.stage for slot, stage in first.items() if stage.family == "ocr" for built in slots[slot]]
    if not images or not engines:
        return
    slot, stage = images[0]
    place = slot if slot[0] == "treatments" else slot[:1]
    blind = any(not engine.reads_images for engine in engines)
    if blind and not is_seen:
        plugins: dict[str, Any] = {kind: registry.load("ocr", kind) for kind in registry.names("ocr")}
        # of engines made of others, what they read depends on the parts
        reading = [kind for kind, each in plugins.items() if each.reads_images and each.reads_original is not True]
        where = "an engine after it" if slot[0] == "treatments" else "an `ocr`"
        example = f"{where} that reads images, such as {', '.join(reading)}"
        what = "image noise" if stage.purpose == "noise" else stage.kind
        yield place, f"{what} needs {example}, or retrievers and agents that all read images"
    elif blind and any(isinstance(first[slot], ImageTreatment) for slot in aimed if slot in first):
        yield place, "a target needs an `ocr` that reads the images: the dose is of text"
    original = [engine.kind for engine in engines if engine.reads_original]
    if original:
        message = f"cannot reach `ocr: {original[0]}`, which reads the documents' own files and not their page images"
        yield place, message


def _knob(noises: Sequence[Built], swept: Swept) -> tuple[str | None, Any, str]:
    """Name the field that sets a condition's strength, its value, and what else was swept.

    A swept knob of a noise comes first, then any swept number, then the fixed knob of the first noise. What else was
    swept makes a noise of its own: the conditions of one noise differ in one thing only, and no curve joins values
    that have no order.
    """
    aims = [(f"target_{built.aim.measure}", built.aim.value) for built in noises if built.aim]
    knobs = [pair for built in noises for pair in built.swept if pair[0] == built.stage.knob]
    numbers = [pair for pair in swept if isinstance(pair[1], int | float) and not isinstance(pair[1], bool)]
    fixed = [(knob, getattr(built.stage, knob)) for built in noises if (knob := built.stage.knob)]
    chosen: tuple[str | None, Any] = (*aims, *knobs, *numbers, *fixed, (None, None))[0]
    rest = list(swept)
    if chosen in rest:
        rest.remove(chosen)
    return *chosen, "".join(f" {field}={shown(value)}" for field, value in rest)


def _equal_points(bases: Sequence[KnowledgeBase]) -> Iterator[str]:
    """Yield a message for conditions that would be one point of a curve."""
    points = Counter((base.noise, base.knob, base.knob_value, base.replicate) for base in bases)
    for (noise, knob, value, _), count in points.items():
        if count > 1:
            point = f"{quoted(noise)} with {knob} {shown(value)}" if knob else quoted(noise)
            yield f"{count} entries are {point}: give each noise a `name` of its own"


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
        if engines and "parts" in keys and _chooses(builder.registry, {"kind": keys.get("kind")}):
            builder.note((*where, *slot, "parts"), "either `parts`, or the engines before it in the list")
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
