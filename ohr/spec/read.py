"""From a spec's file to a Spec, or to all its faults."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.contracts import Benchmark
from ohr.messages.wording import quoted
from ohr.registry import Registry, choices
from ohr.spec.build import Builder
from ohr.spec.conditions import knowledge_bases
from ohr.spec.model import KnowledgeBase, Spec, SpecFile, names, written
from ohr.spec.parts import fault_of
from ohr.spec.protocol import Entry, held, prescribed
from ohr.spec.source import Source, read_source, refuse

_PLAIN = (
    "name", "seed", "replicates", "limit", "questions", "sample", "max_failures", "retries", "limits", "attribution",
)  # fmt: skip
_WRITTEN = {"name", "seed", "replicates", "evaluate", "limit", "questions", "sample", "attribution"}
"""Plain keys that the manifest has, and the run's key: those that can change a result."""


def read_spec(
    path: Path, overrides: Sequence[str] = (), *, trust_plugins: bool = False, allow_env: Sequence[str] = ()
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
    source = read_source(path, overrides)
    return _spec(Builder(source, _registry(source, trust_plugins), frozenset(allow_env)))


def make_spec(keys: dict[str, Any], label: str) -> Spec:
    """Make a spec from a mapping of its keys, without a file; relative paths start at the working folder.

    Args:
        label: what messages have in place of the file's name.

    Raises:
        SpecError: as `read_spec`.
    """
    return _spec(Builder(Source(keys, label, {(): (label, 0)}), Registry()))


def make_benchmark(keys: dict[str, Any], label: str) -> Benchmark:
    """Make a benchmark alone, as `make_spec` makes a spec."""
    builder = Builder(Source({"benchmark": keys}, label, {(): (label, 0)}), Registry())
    benchmark = builder.one("benchmark", keys, ("benchmark",))
    refuse(builder.faults)
    assert isinstance(benchmark, Benchmark)  # as it has no faults
    return benchmark


def _plugin_files(source: Source) -> list[Path]:
    files = source.data.get("plugins") or []
    return [source.home(("plugins", i)) / str(file) for i, file in enumerate(files)] if isinstance(files, list) else []


def _registry(source: Source, trusted: bool) -> Registry:
    files = _plugin_files(source)
    if files and not trusted:
        refuse([source.fault(("plugins",), "this spec runs code of its own; allow it with --trust-plugins")])
    missing = [(place, file) for place, file in enumerate(files) if not file.is_file()]
    refuse(source.fault(("plugins", place), f"no such file: {file.absolute()}") for place, file in missing)
    return Registry(tuple(file.resolve() for file in files), trusted)


def _spec(builder: Builder) -> Spec:
    data = builder.source.data
    file = builder.validated(SpecFile, data, ())
    benchmark = next((builder.one("benchmark", keys, where) for where, keys in _entries(data, "benchmark")), None)
    searches = file is not None and bool({"retrieval", "overall"} & set(file.evaluate))
    chunker = (*prescribed(benchmark, "chunker").values(), {"kind": "tokens"})[0]
    own = list(prescribed(benchmark, "retriever").values())[: int(searches)]
    cut = _entries(data, "chunker") or [(("chunker",), chunker)]
    asked = _entries(data, "retrievers") or [(("retrievers",), keys) for keys in own]
    chunkers = builder.named("chunker", held(builder, benchmark, "chunker", cut))
    retrievers = builder.named("retriever", held(builder, benchmark, "retriever", asked))
    generators = builder.named("generator", _entries(data, "generators"))
    metrics = builder.named("metric", _entries(data, "metrics"))
    readers = {named.name: named.stage.reads_images for named in retrievers}
    if not asked:  # then generators alone look at the pages
        readers = {"": bool(generators) and all(named.stage.reads_images for named in generators)}
    bases = knowledge_bases(builder, _entries(data, "knowledge_bases"), readers, file.replicates if file else 1)
    conditions = len({base.condition for base in bases})
    parts = {"chunker": len(chunkers), "retrievers": len(retrievers), "generators": len(generators)}
    sizes = {"knowledge_bases": conditions} | {key: size for key, size in parts.items() if size}
    builder.is_few(sizes, ("knowledge_bases",), "cells")
    if file:
        _check(builder, file, benchmark, bases, asked, names(metrics))
    refuse(builder.faults)
    assert file is not None and benchmark is not None  # as they have no faults
    families = {"chunkers": chunkers, "retrievers": retrievers, "generators": generators, "metrics": metrics}
    plain: dict[str, Any] = families | {key: getattr(file, key) for key in _PLAIN}
    return Spec(
        **plain,
        benchmark=benchmark,
        knowledge_bases=bases,
        evaluate=tuple(dict.fromkeys(file.evaluate)),
        plugin_digests=tuple(sorted(builder.registry.digests().items())),
        plugin_files=builder.registry.files,
        resolved={
            **file.model_dump(mode="json", include=_WRITTEN),
            "plugins": _plugin_files(builder.source),
            "benchmark": written(benchmark),
            "knowledge_bases": [base.written() for base in bases],
            **{key: [{"name": item.name, **written(item.stage)} for item in found] for key, found in families.items()},
        },
    )


def _entries(data: Mapping[str, Any], key: str) -> list[Entry]:
    """List the mappings under a key; what has another shape is SpecFile's to report."""
    value = data.get(key)
    if key in ("benchmark", "chunker"):
        return [((key,), value)] if isinstance(value, Mapping) else []
    items = enumerate(value) if isinstance(value, list) else ()
    return [((key, place), item) for place, item in items if isinstance(item, Mapping)]


def _check(
    builder: Builder,
    file: SpecFile,
    benchmark: Benchmark | None,
    bases: Sequence[KnowledgeBase],
    retrievers: Sequence[object],
    metrics: Sequence[str],
) -> None:
    """Note what does not fit together, though each key by itself is right."""
    answers = bool({"generation", "overall"} & set(file.evaluate))
    if {"retrieval", "overall"} & set(file.evaluate) and not retrievers:
        builder.fault(("evaluate",), "retrieval and overall need at least one entry under `retrievers`")
    if answers and not file.generators:
        builder.fault(("evaluate",), "generation and overall need at least one entry under `generators`")
    if metrics and not answers:
        builder.fault(("metrics",), "metrics score answers: `evaluate` must have generation or overall")
    own = (benchmark.scoring.retrieval, *benchmark.scoring.answer) if benchmark else ()
    for name in sorted(set(metrics) & set(own)):
        builder.fault(("metrics",), f"{name!r} is one of the benchmark's own metrics: give it another `name`")
    wanted = file.attribution
    conditions = {base.condition: base for base in bases}
    for place, name in enumerate(wanted.of if wanted else ()):
        base = conditions.get(name)
        if base is None:
            message = f"{choices(name, tuple(conditions))} (got {quoted(name)})"
            builder.fault(("attribution", "of", place), message)
        elif wanted and (wrong := fault_of(base, wanted.methods)):
            builder.fault(("attribution", "of", place), f"{name} {wrong}")
