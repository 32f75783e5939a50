"""From a spec's file to a Spec, or to all its faults."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.contracts import AnyOcr, Benchmark
from ohr.prices import faults_of_prices
from ohr.registry import Registry
from ohr.spec.build import Builder, fault_of_name
from ohr.spec.conditions import knowledge_bases, repeated
from ohr.spec.file_keys import SpecFile
from ohr.spec.model import KnowledgeBase, Named, Spec, written
from ohr.spec.payees import payees, tokenless
from ohr.spec.rules import Entry, breaches, fault_of_swaps, faults_of_hypotheses, misfits, prescribed, to_decompose
from ohr.spec.source import Source, read_source, refuse
from ohr.spec.sweep import fault_of_size

_PLAIN = (
    "name", "seed", "replicates", "limit", "questions", "sample", "max_failures", "retries", "limits", "attribution",
    "prices", "currency",
)  # fmt: skip
_WRITTEN = {
    "name", "seed", "replicates", "evaluate", "limit", "questions", "sample", "attribution", "decompose", "margin",
    "strata", "aa", "hypotheses", "index_scope", "measure",
}  # fmt: skip
"""Plain keys that the manifest has, and the run's key: those that can change a result."""

_PAID = {"knowledge_bases", "generators", "agents", "systems", "metrics", ""}
"""Keys of parts that may have a price; a fault of the whole file has none."""


def read_spec(
    path: Path | str, overrides: Sequence[str] = (), *, trust_plugins: bool = False, allow_env: Sequence[str] = ()
) -> Spec:
    """Read a spec.

    Args:
        path: the YAML file.
        overrides: `key.path=value`, applied on top.
        trust_plugins: run the plugin files that the spec names.
        allow_env: environment variables that may be sent to a server though their names do not end in `_API_KEY`.

    Raises:
        SpecError: it has faults; the message lists all of them at once, the first 20 in words.
    """
    source = read_source(Path(path), overrides)
    if "benchmark" not in source.data:
        says = "a file of `ohr data build`: that command reads it with --spec, and writes a study that names its set"
        refuse([source.fault((key,), says) for key in ("writer", "silver") if key in source.data][:1])
    return _spec(Builder(source, registry_of(source, trust_plugins), frozenset(allow_env)))


def make_spec(keys: dict[str, Any], label: str) -> Spec:
    """Make a spec from a mapping of its keys, without a file; relative paths start at the working folder.

    Args:
        label: what messages have in place of the file's name.

    Raises:
        SpecError: as `read_spec`.
    """
    return _spec(_without_file(keys, label))


def make_benchmark(keys: dict[str, Any], label: str) -> Benchmark:
    """Make a benchmark alone, as `make_spec` makes a spec."""
    benchmark: Benchmark = _without_file({}, label).alone("benchmark", keys)
    return benchmark


def make_ocr(keys: dict[str, Any], label: str) -> AnyOcr:
    """Make an OCR backend alone, as `make_spec` makes a spec."""
    ocr: AnyOcr = _without_file({}, label).alone("ocr", keys)
    return ocr


def _without_file(keys: dict[str, Any], label: str) -> Builder:
    return Builder(Source(keys, label, {(): (label, 0)}), Registry())


def _plugin_files(source: Source) -> list[Path]:
    files = source.data.get("plugins") or []
    return [source.home(("plugins", i)) / str(file) for i, file in enumerate(files)] if isinstance(files, list) else []


def registry_of(source: Source, trusted: bool) -> Registry:
    """Return the registry with the plugin files that a YAML file names.

    Raises:
        SpecError: it names some and is not trusted, or one is not there.
    """
    files = _plugin_files(source)
    if files and not trusted:
        refuse([source.fault(("plugins",), "this spec runs code of its own; allow it with --trust-plugins")])
    missing = [(place, file) for place, file in enumerate(files) if not file.is_file()]
    refuse(source.fault(("plugins", place), f"no such file: {file.absolute()}") for place, file in missing)
    return Registry(tuple(file.resolve() for file in files), trusted)


def _spec(builder: Builder) -> Spec:
    data = builder.source.data
    file = _drawn_once(builder.validated(SpecFile, data, ()))
    benchmark = next((builder.one("benchmark", keys, where) for where, keys in _entries(data, "benchmark")), None)
    entries = _plugins(builder, benchmark, file)
    named: dict[str, Any] = {f"{family}s": builder.named(family, entries[family]) for family in entries}
    draws = (file.replicates + file.aa) if file else 1
    bases = knowledge_bases(builder, _entries(data, "knowledge_bases"), _readers(named), draws)
    bases = repeated(builder, bases) if file and file.aa else bases
    sizes = {"knowledge_bases": len({base.condition for base in bases})}
    sizes |= {key: len(named[key]) for key in named if named[key] and key != "metrics"}
    builder.note(("knowledge_bases",), fault_of_size(sizes, "cells"))
    if file:
        _check(builder, file, benchmark, bases, named, searches=bool(entries["retriever"]))
    builder.refuse()
    assert file is not None and benchmark is not None  # as they have no faults
    return Spec(
        **named,
        **{key: getattr(file, key) for key in _PLAIN},
        benchmark=benchmark,
        knowledge_bases=bases,
        index_scope=file.index_scope or benchmark.scoring.index_scope,
        decompose=tuple(to_decompose(file.decompose, bases)),
        evaluate=tuple(dict.fromkeys(file.evaluate)),
        hypotheses=tuple(file.hypotheses),
        measure=tuple(dict.fromkeys(file.measure)),
        plugin_digests=tuple(sorted(builder.registry.digests().items())),
        plugin_files=builder.registry.files,
        resolved={
            **file.model_dump(mode="json", include=_WRITTEN),
            "plugins": _plugin_files(builder.source),
            "benchmark": written(benchmark),
            "knowledge_bases": [base.written() for base in bases],
            **{key: [{"name": item.name, **written(item.stage)} for item in found] for key, found in named.items()},
        },
    )


def _check(
    builder: Builder,
    file: SpecFile,
    benchmark: Benchmark | None,
    bases: Sequence[KnowledgeBase],
    named: Mapping[str, Sequence[Named[Any]]],
    *,
    searches: bool,
) -> None:
    """Note what is right by itself and does not fit together."""
    builder.notes += misfits(file, benchmark, bases, named, searches=searches)
    # a part with a fault may be what seems to be missing
    if file.decompose and not (builder.notes or builder.source.faults):
        builder.note(("decompose",), fault_of_swaps(file, bases, named["retrievers"]))
    builder.notes += faults_of_hypotheses(file, benchmark.scoring if benchmark else None, bases, named)
    builder.note(("currency",), fault_of_name(file.currency))
    places = [where for where, _ in builder.notes] + [fault.key.split(".") for fault in builder.source.faults]
    # a part with a fault may be what has the name
    if _PAID.isdisjoint(str(part) for where in places for part in where[:1]):
        wrong = faults_of_prices(file.prices, payees(bases, named), tokenless(bases))
        builder.notes += [(("prices", name), message) for name, message in wrong.items()]


def _drawn_once(file: SpecFile | None) -> SpecFile | None:
    """Draw each noise once where systems ingest every draw, unless the spec says otherwise."""
    if file is None or not file.systems or "replicates" in file.model_fields_set:
        return file
    return file.model_copy(update={"replicates": 1})


def _readers(named: Mapping[str, Sequence[Named[Any]]]) -> dict[str, bool]:
    """Report for each retriever whether it reads images; under "" the same of what looks at pages by itself."""
    whole = (*named["agents"], *named["systems"])
    agents = ["text" not in item.stage.reads for item in whole]
    readers = {item.name: item.stage.reads_images for item in named["retrievers"]}
    if readers:
        return readers | ({} if all(agents) else {"": False})
    sees = [item.stage.reads_images for item in named["generators"]] + agents
    return {"": bool(sees) and all(sees)}


def _plugins(builder: Builder, benchmark: Benchmark | None, file: SpecFile | None) -> dict[str, list[Entry]]:
    """List the entries of each family of named plugins, with those and the fields that the protocol or a default has.

    What breaks the protocol is noted.
    """
    keys = {"chunker": "chunker"} | {
        name: f"{name}s" for name in ("retriever", "generator", "agent", "system", "metric")
    }
    entries = {family: _entries(builder.source.data, key) for family, key in keys.items()}
    # agents and systems bring retrievers of their own
    alone = bool(entries["agent"] or entries["system"]) and not entries["generator"]
    searches = file is not None and not alone and not {"retrieval", "overall"}.isdisjoint(file.evaluate)
    for family, key in keys.items():
        known = prescribed(benchmark, family)
        default = {"chunker": [*known.values(), {"kind": "tokens"}], "retriever": [*known.values()] if searches else []}
        entries[family] = entries[family] or [((key,), plugin) for plugin in default.get(family, [])[:1]]
        builder.notes += breaches(benchmark, family, entries[family], builder.registry)
        entries[family] = [(where, {**known.get(str(each.get("kind")), {}), **each}) for where, each in entries[family]]
    return entries


def _entries(data: Mapping[str, Any], key: str) -> list[Entry]:
    """List the mappings under a key; what has another shape is SpecFile's to report."""
    value = data.get(key)
    if key in ("benchmark", "chunker"):
        return [((key,), value)] if isinstance(value, Mapping) else []
    items = enumerate(value) if isinstance(value, list) else ()
    return [((key, place), item) for place, item in items if isinstance(item, Mapping)]
