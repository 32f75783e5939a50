"""Noise by itself, written as under `text_noise` or `image_noise`: on a command line, or in a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ohr.contracts import ImageNoise, TextNoise
from ohr.errors import SpecError
from ohr.messages.wording import quoted
from ohr.registry import Registry, choices
from ohr.spec.build import Builder
from ohr.spec.source import Source, Where, parse, read_text

Family = Literal["text_noise", "image_noise"]


@dataclass(frozen=True, slots=True)
class NoiseChain:
    """Noises of one family, applied in order."""

    family: Family
    noises: tuple[TextNoise, ...] | tuple[ImageNoise, ...]


def read_noise(given: str, registry: Registry | None = None) -> NoiseChain:
    """Read a noise or a chain of noises.

    Args:
        given: YAML, such as `{kind: formatting, rate: 0.3}`, or the name of a file with it. The noise may be alone,
            in a list, or under `text_noise` or `image_noise`.
        registry: the plugins that may be named; the installed ones.

    Raises:
        SpecError: it is no noise, or more than one strength of it.
    """
    is_file = given.endswith((".yaml", ".yml")) or ("{" not in given and Path(given).is_file())
    source = parse(read_text(Path(given)), given) if is_file else parse(given, "--noise")
    builder = Builder(source, registry or Registry())
    where, entry = _entry(source)
    family = _family(builder, entry, where)
    chain = builder.chain(family, entry, where) if family else []
    builder.refuse()
    assert family is not None  # as it has no faults
    if any(built.aim for variants in chain for built in variants):
        raise SpecError(f"{source.file}: a target is found for a spec, by its questions: see `ohr noise calibrate`")
    if any(len(variants) != 1 for variants in chain):
        swept = sorted({name for variants in chain for built in variants for name, _ in built.swept})
        raise SpecError(f"{source.file}: one level at a time: give {', '.join(swept)} one value")
    return NoiseChain(family, tuple(variants[0].stage for variants in chain))


def _entry(source: Source) -> tuple[Where, Any]:
    data: Any = source.data
    where: Where = ()
    if isinstance(data, Mapping):
        named = [name for name in ("text_noise", "image_noise") if name in data]
        if len(named) == 2:
            raise SpecError(f"{source.file}: either text_noise or image_noise: they are made from different things")
        if named:
            where, data = (named[0],), data[named[0]]
    if isinstance(data, Mapping) and data:
        return where, data
    if isinstance(data, list) and data and all(isinstance(item, Mapping) for item in data):
        return where, data
    wanted = "a mapping with a `kind`, as in '{kind: formatting, rate: 0.3}', or a list of them"
    raise SpecError(f"{source.file}: must be {wanted} (got {quoted(data)})")


def _family(builder: Builder, entry: Any, where: Where) -> Family | None:
    kind = (entry[0] if isinstance(entry, list) else entry).get("kind")
    families: tuple[Family, ...] = ("text_noise", "image_noise")
    for family in families:
        if kind in builder.registry.names(family) and where in ((), (family,)):
            return family
    allowed = [name for family in families for name in builder.registry.names(family)]
    builder.note((*where, "kind"), f"{choices(str(kind), allowed)} (got {quoted(kind)})")
    return None
