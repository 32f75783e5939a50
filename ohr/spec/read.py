"""From a spec's file to a Spec, or to all its faults."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.contracts import AnyMetric, AnyOcr, Benchmark, PageJudgeMetric, PageMetric, RankingMetric
from ohr.messages.wording import quoted
from ohr.registry import Registry, choices
from ohr.spec.build import Builder
from ohr.spec.conditions import knowledge_bases, repeated
from ohr.spec.decompose import check_swaps, noisy_conditions
from ohr.spec.file_keys import SpecFile
from ohr.spec.hypotheses import check_hypotheses
from ohr.spec.model import KnowledgeBase, Named, Spec, names, written
from ohr.spec.noise_chain import fault_of
from ohr.spec.protocol_rules import Entry, held, prescribed
from ohr.spec.source import Source, read_source, refuse

_PLAIN = (
    "name", "seed", "replicates", "limit", "questions", "sample", "max_failures", "retries", "limits", "attribution",
)  # fmt: skip
_WRITTEN = {
    "name", "seed", "replicates", "evaluate", "limit", "questions", "sample", "attribution", "decompose", "margin",
    "strata", "aa", "hypotheses", "index_scope", "measure",
}  # fmt: skip
"""Plain keys that the manifest has, and the run's key: those that can change a result."""


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
    made: Benchmark = _made("benchmark", keys, label)
    return made


def make_ocr(keys: dict[str, Any], label: str) -> AnyOcr:
    """Make an OCR backend alone, as `make_spec` makes a spec."""
    made: AnyOcr = _made("ocr", keys, label)
    return made


def _made(family: str, keys: dict[str, Any], label: str) -> Any:
    return Builder(Source({family: keys}, label, {(): (label, 0)}), Registry()).alone(family, keys)


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
    entries = _plugins(builder, benchmark, searches)
    named: dict[str, Any] = {f"{family}s": builder.named(family, entries[family]) for family in entries}
    draws = (file.replicates + file.aa) if file else 1
    bases = knowledge_bases(builder, _entries(data, "knowledge_bases"), _readers(named), draws)
    bases = repeated(builder, bases) if file and file.aa else bases
    sizes = {"knowledge_bases": len({base.condition for base in bases})}
    sizes |= {key: len(named[key]) for key in ("chunkers", "retrievers", "generators", "agents") if named[key]}
    builder.is_few(sizes, ("knowledge_bases",), "cells")
    if file:
        _check_stages(builder, file, bool(entries["retriever"]), named)
        _check(builder, file, benchmark, bases, named["metrics"])
        check_swaps(builder, file, bases, named["retrievers"])
        check_hypotheses(builder, file, benchmark and benchmark.scoring, bases, named)
    refuse(builder.faults)
    assert file is not None and benchmark is not None  # as they have no faults
    return Spec(
        **named,
        **{key: getattr(file, key) for key in _PLAIN},
        benchmark=benchmark,
        knowledge_bases=bases,
        index_scope=file.index_scope or benchmark.scoring.index_scope,
        decompose=noisy_conditions(bases) if file.decompose else (),
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


def _readers(named: Mapping[str, Sequence[Named[Any]]]) -> dict[str, bool]:
    """Report for each retriever whether it reads images; under "" the same of what looks at pages by itself."""
    agents = ["text" not in item.stage.reads for item in named["agents"]]
    found = {item.name: item.stage.reads_images for item in named["retrievers"]}
    if found:
        return found | ({} if all(agents) else {"": False})
    sees = [item.stage.reads_images for item in named["generators"]] + agents
    return {"": bool(sees) and all(sees)}


def _plugins(builder: Builder, benchmark: Benchmark | None, searches: bool) -> dict[str, list[Entry]]:
    """List the entries of each family of named plugins, with those that the protocol or a default fills in."""
    keys = {"chunker": "chunker"} | {name: f"{name}s" for name in ("retriever", "generator", "agent", "metric")}
    found = {family: _entries(builder.source.data, key) for family, key in keys.items()}
    default = {"chunker": [*prescribed(benchmark, "chunker").values(), {"kind": "tokens"}]}
    alone = bool(found["agent"]) and not found["generator"]  # agents bring retrievers of their own
    default |= {"retriever": [*prescribed(benchmark, "retriever").values()]} if searches and not alone else {}
    for family, plugins in default.items():
        found[family] = found[family] or [((keys[family],), plugin) for plugin in plugins[:1]]
    return {family: held(builder, benchmark, family, entries) for family, entries in found.items()}


def _entries(data: Mapping[str, Any], key: str) -> list[Entry]:
    """List the mappings under a key; what has another shape is SpecFile's to report."""
    value = data.get(key)
    if key in ("benchmark", "chunker"):
        return [((key,), value)] if isinstance(value, Mapping) else []
    items = enumerate(value) if isinstance(value, list) else ()
    return [((key, place), item) for place, item in items if isinstance(item, Mapping)]


def _check_stages(
    builder: Builder, file: SpecFile, has_retrievers: bool, named: Mapping[str, Sequence[Named[Any]]]
) -> None:
    """Note stages of evaluation that have nothing to evaluate; agents retrieve and answer by themselves."""
    wanted = set(file.evaluate)
    alone = bool(file.agents) and not file.generators
    if {"retrieval", "overall"} & wanted and not (has_retrievers or alone):
        builder.fault(("evaluate",), "retrieval and overall need at least one entry under `retrievers`")
    if {"generation", "overall"} & wanted and not (file.generators or file.agents):
        builder.fault(("evaluate",), "generation and overall need at least one entry under `generators`")
    if file.agents and "overall" not in wanted:
        builder.fault(("agents",), "agents are evaluated in the stage overall: `evaluate` must have it")
    others = {item.name for key in ("retrievers", "generators") for item in named[key]}
    for name in sorted(others & {item.name for item in named["agents"]}):
        builder.fault(("agents",), f"{quoted(name)} is a retriever or generator too: give the agent another `name`")


def _check(
    builder: Builder,
    file: SpecFile,
    benchmark: Benchmark | None,
    bases: Sequence[KnowledgeBase],
    metrics: Sequence[Named[AnyMetric]],
) -> None:
    """Note what does not fit together, though each key by itself is right."""
    answers = bool({"generation", "overall"} & set(file.evaluate))
    rankings = [metric.name for metric in metrics if isinstance(metric.stage, RankingMetric)]
    pages = [metric.name for metric in metrics if isinstance(metric.stage, PageMetric | PageJudgeMetric)]
    if len(rankings) + len(pages) < len(metrics) and not answers:
        builder.fault(("metrics",), "metrics score answers: `evaluate` must have generation or overall")
    if rankings and "retrieval" not in file.evaluate:
        builder.fault(("metrics",), f"{rankings[0]!r} scores rankings: `evaluate` must have retrieval")
    own = benchmark.scoring.metrics if benchmark else ()
    for name in sorted(set(names(metrics)) & set(own)):
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
