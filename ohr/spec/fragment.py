"""Noise by itself, written as in a knowledge base: on a command line, or in a file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ohr.contracts import Correction, Medium, PageOrder, Treatment
from ohr.errors import SpecError
from ohr.messages.wording import quoted
from ohr.registry import Registry, choices
from ohr.spec.build import Builder, Built
from ohr.spec.source import Source, Where, parse, read_text
from ohr.treatments import SHORT


@dataclass(frozen=True, slots=True)
class NoiseChain:
    """Treatments of images or of texts, noise as a rule, applied in order."""

    medium: Medium
    noises: tuple[Treatment, ...]


def read_noise(given: str, registry: Registry | None = None) -> NoiseChain:
    """Read a noise or a chain of noises.

    Args:
        given: YAML, such as `{kind: formatting, rate: 0.3}`, or the name of a file with it. The noise may be alone,
            in a list, or under the key that a knowledge base has for it.
        registry: the plugins that may be named; the installed ones.

    Raises:
        SpecError: it is no noise, or more than one strength of it.
    """
    is_file = given.endswith((".yaml", ".yml")) or ("{" not in given and Path(given).is_file())
    source = parse(read_text(Path(given)), given) if is_file else parse(given, "--noise")
    builder = Builder(source, registry or Registry())
    where, entry = _entry(source)
    chain = list(_chain(builder, entry, where))
    builder.refuse()
    if any(built.aim for variants in chain for built in variants):
        raise SpecError(f"{source.file}: a target is found for a spec, by its questions: see `ohr noise calibrate`")
    if any(len(variants) != 1 for variants in chain):
        swept = sorted({name for variants in chain for built in variants for name, _ in built.swept})
        raise SpecError(f"{source.file}: one level at a time: give {', '.join(swept)} one value")
    stages = tuple(variants[0].stage for variants in chain)
    whole = [stage.kind for stage in stages if isinstance(stage, PageOrder | Correction)]
    if whole:
        raise SpecError(f"{source.file}: {whole[0]} is about whole documents, and is for a knowledge base only")
    if len({stage.takes for stage in stages}) > 1:
        raise SpecError(f"{source.file}: either noise of images or of texts: they are made from different things")
    return NoiseChain(stages[0].takes, stages)


def _entry(source: Source) -> tuple[Where, Any]:
    data: Any = source.data
    where: Where = ()
    if isinstance(data, Mapping):
        named = [name for name in (*SHORT, "treatments") if name in data and name != "ocr"]
        if len(named) == 2:
            raise SpecError(f"{source.file}: either {named[1]} or {named[0]}: they are made from different things")
        if named:
            where, data = (named[0],), data[named[0]]
    if isinstance(data, Mapping) and data:
        return where, data
    if isinstance(data, list) and data and all(isinstance(item, Mapping) for item in data):
        return where, data
    wanted = "a mapping with a `kind`, as in '{kind: formatting, rate: 0.3}', or a list of them"
    raise SpecError(f"{source.file}: must be {wanted} (got {quoted(data)})")


def _chain(builder: Builder, entry: Any, where: Where) -> Iterator[list[Built]]:
    """Build each treatment of a chain; a key with the name of a family allows no other."""
    kinds = {kind: families[0] for kind, families in builder.registry.treatments().items() if families[0] != "ocr"}
    for place, keys in enumerate(entry if isinstance(entry, list) else [entry]):
        here = (*where, place) if isinstance(entry, list) else where
        kind = keys.get("kind")
        if kind in kinds and where in ((), ("treatments",), (kinds[kind],)):
            yield builder.spread(kinds[kind], keys, here)
        else:
            builder.note((*here, "kind"), f"{choices(str(kind), list(kinds))} (got {quoted(kind)})")
