"""From the entries of `knowledge_bases` to conditions and their draws."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from ohr.contracts import ImageTreatment
from ohr.messages.wording import quoted
from ohr.registry import Registry, choices
from ohr.spec.build import Builder, Built, fault_of_name, repeats
from ohr.spec.model import MOST, KnowledgeBase, Target
from ohr.spec.read_treatments import Slot, read_treatments
from ohr.spec.source import Note, Where
from ohr.spec.sweep import Swept, fault_of_size, shown, suffix
from ohr.treatments import KnowledgeBaseEntry


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
    names = [base.name for base in bases]
    for message in repeats(names) if len(set(names)) < len(names) else _equal_points(bases):
        note(("knowledge_bases",), message)
    return tuple(bases)


def repeated(builder: Builder, bases: Sequence[KnowledgeBase]) -> tuple[KnowledgeBase, ...]:
    """Return the bases with a second copy of every condition that nothing is drawn for: its scores must be the same."""
    names = {base.condition: f"{base.condition} again" for base in bases}
    for condition, again in names.items():
        if again in names:
            builder.note(("knowledge_bases",), f"{quoted(again)} is what `aa` calls the repeat of {quoted(condition)}")
    return *bases, *(
        replace(base, condition=names[base.condition], noise=f"{base.noise} again", again_of=base.condition)
        for base in bases
        if base.replicates == 1
    )


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
            yield KnowledgeBase(
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
        example = f"an `ocr` that reads images, such as {', '.join(reading)}"
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
