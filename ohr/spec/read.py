"""From a spec's file, a mapping, a manifest or the YAML of a noise to what it names, or to all its faults."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ohr.contracts import AnyOcr, Benchmark, Correction, Medium, PageOrder, Treatment
from ohr.errors import DataError, SpecError
from ohr.messages.wording import quoted
from ohr.metrics.references import REFERENCES
from ohr.prices import faults_of_prices
from ohr.registry import Registry, choices
from ohr.spec.build import Builder, Built, fault_of_name
from ohr.spec.conditions import faults_of_repeats, knowledge_bases, repeated
from ohr.spec.file_keys import QuestionFilter, SpecFile
from ohr.spec.model import KnowledgeBase, Named, Spec, written
from ohr.spec.rules import Entry, breaches, fault_of_swaps, faults_of_hypotheses, misfits, prescribed, to_decompose
from ohr.spec.servers import payees, tokenless
from ohr.spec.source import Source, Where, parse, read_source, read_text, refuse
from ohr.spec.sweep import fault_of_size
from ohr.treatments import SHORT, recorded_treatments

_PLAIN = (
    "name", "seed", "replicates", "limit", "questions", "per_document", "sample", "max_failures", "retries", "limits",
    "attribution", "prices", "currency",
)  # fmt: skip
_WRITTEN = {
    "name", "seed", "replicates", "evaluate", "limit", "questions", "per_document", "sample", "attribution",
    "decompose", "margin", "strata", "aa", "hypotheses", "index_scope", "measure", "references",
}  # fmt: skip
"""Plain keys that the manifest has, and the run's key: those that can change a result."""
_NEW = {"per_document", "references"}
"""Those of them that are left out where they are not set, so that runs from before they came keep their key."""

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
    bases = repeated(bases) if file and file.aa else bases
    for message in faults_of_repeats(bases):
        builder.note(("knowledge_bases",), message)
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
        references=REFERENCES if file.references is None else tuple(dict.fromkeys(file.references)),
        hypotheses=tuple(file.hypotheses),
        measure=tuple(dict.fromkeys(file.measure)),
        plugin_digests=tuple(sorted(builder.registry.digests().items())),
        plugin_files=builder.registry.files,
        resolved={
            **file.model_dump(mode="json", include=_WRITTEN - {key for key in _NEW if getattr(file, key) is None}),
            "plugins": _plugin_files(builder.source),
            "benchmark": written(benchmark),
            "knowledge_bases": [base.written() for base in bases],
            **{key: [{"name": item.name, **written(item.stage)} for item in listed] for key, listed in named.items()},
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


class RecordedSpec:
    """A spec as a manifest has it, from which single plugins are made.

    Args:
        manifest: of a run.
        path: of the manifest: relative paths in it start at its folder.
        trust_plugins: run the plugin files that the spec names.
        allow_env: as of `read_spec`.
    """

    def __init__(
        self, manifest: Mapping[str, Any], path: Path, *, trust_plugins: bool = False, allow_env: Sequence[str] = ()
    ) -> None:
        self._spec, self._path, self._trusted, self._allowed = manifest["spec"], path, trust_plugins, allow_env
        self._bases = {base["condition"]: base for base in reversed(self._spec.get("knowledge_bases") or [])}

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark.

        Raises:
            SpecError: its keys are wrong here: an environment variable is not set, or its plugin is missing.
        """
        benchmark: Benchmark = self._builder.alone("benchmark", self._spec["benchmark"])
        return benchmark

    def treatments(self, condition: str) -> tuple[Treatment, ...]:
        """Return the treatments of a condition, in the order in which they act.

        Raises: as `benchmark`.
        """
        return _treatments(self._builder, self._base(condition))

    def seed(self, condition: str) -> int:
        """Return the seed of a condition's first draw."""
        return int(self._spec["seed"]) + int(self._base(condition).get("replicate") or 0)

    def of_condition(self, name: str) -> Spec:
        """Return the spec with one knowledge base, and without agents and systems: what it makes has the run's keys.

        Args:
            name: of a condition, for its first draw, or of a draw.

        Raises:
            DataError: the run has no such condition.
            SpecError: as `benchmark`.
        """
        spec, builder = self._spec, self._builder
        bases = spec.get("knowledge_bases") or []
        draws = [base for base in bases if name in (base["condition"], base["name"])]
        if not draws:
            known = list(dict.fromkeys(base["condition"] for base in bases))
            lacks = f"has no condition {name!r}" if name else "has several conditions, and none is named"
            raise DataError(f"the run {lacks}. {choices(name, known)}")
        named: dict[str, Any] = {
            f"{family}s": tuple(
                Named(item["name"], builder.alone(family, {key: item[key] for key in item if key != "name"}))
                for item in spec.get(f"{family}s") or ()
            )
            for family in ("chunker", "retriever", "generator")
        }
        return Spec(
            spec["name"],
            spec["seed"],
            self.benchmark,
            (_drawn(builder, name, draws[0]),),
            **named,
            evaluate=("retrieval", "overall"),
            index_scope=spec.get("index_scope") or self.benchmark.scoring.index_scope,
            limit=spec.get("limit"),
            questions=QuestionFilter(**(spec.get("questions") or {})),
            per_document=spec.get("per_document"),
            sample=spec.get("sample"),
            plugin_digests=tuple(sorted(builder.registry.digests().items())),
            plugin_files=builder.registry.files,
        )

    def _base(self, condition: str) -> Mapping[str, Any]:
        base: Mapping[str, Any] = self._bases.get(condition, {})
        return base

    @property
    def _builder(self) -> Builder:
        files = tuple((self._path.parent / name).resolve() for name in self._spec.get("plugins") or ())
        if files and not self._trusted:
            raise SpecError("its spec runs code of its own, which needs --trust-plugins")
        if gone := [file for file in files if not file.is_file()]:
            raise SpecError(f"{gone[0]}: no such plugin file")
        source = Source(dict(self._spec), str(self._path), {(): (str(self._path), 0)})
        return Builder(source, Registry(files, bool(files)), frozenset(self._allowed))


def _drawn(builder: Builder, name: str, keys: Mapping[str, Any]) -> KnowledgeBase:
    """Make a knowledge base from what `KnowledgeBase.written` returned, under another name."""
    return KnowledgeBase(
        name,
        name,
        _treatments(builder, keys),
        replicate=keys["replicate"],
        retrievers=None if keys["retrievers"] is None else tuple(keys["retrievers"]),
        again_of=keys.get("again_of"),
        turn=keys.get("turn", 1),
    )


def _treatments(builder: Builder, base: Mapping[str, Any]) -> tuple[Treatment, ...]:
    return tuple(builder.alone(each.family, each.keys) for each in recorded_treatments(base))


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
