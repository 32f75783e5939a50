"""From a spec's file to a Spec, or to all its faults."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from ohr.contracts import Benchmark, Stage
from ohr.errors import SpecError
from ohr.registry import Registry, choices
from ohr.spec.build import Builder, Built
from ohr.spec.faults import told
from ohr.spec.model import KnowledgeBase, KnowledgeBaseEntry, Named, Spec, SpecFile, Target, names, written
from ohr.spec.parts import fault_of
from ohr.spec.protocol import Protocol
from ohr.spec.source import Source, Where, read_source
from ohr.spec.sweep import shown, suffix


def read_spec(path: Path, overrides: Sequence[str] = (), *, trust_plugins: bool = False) -> Spec:
    """Read a spec, or raise a SpecError that names every fault at once.

    Args:
        path: the YAML file.
        overrides: `key.path=value`, applied on top.
        trust_plugins: run the plugin files that the spec names.
    """
    source = read_source(path, overrides)
    registry = _registry(source, trust_plugins)
    builder = Builder(source, registry)
    spec = _resolve(source, builder)
    if builder.faults or spec is None:
        raise SpecError("\n".join(str(fault) for fault in sorted(set(builder.faults))))
    return spec


def make_spec(keys: dict[str, Any], label: str) -> Spec:
    """Make a spec from a mapping of its keys, without a file; relative paths start at the working folder.

    Args:
        label: stands in messages where the file's name would.

    Raises:
        SpecError: as `read_spec`.
    """
    source = Source(keys, label, {(): (label, 0)})
    builder = Builder(source, Registry())
    spec = _resolve(source, builder)
    if builder.faults or spec is None:
        raise SpecError("\n".join(str(fault) for fault in sorted(set(builder.faults))))
    return spec


def make_benchmark(keys: dict[str, Any], label: str) -> Benchmark:
    """Make a benchmark alone, as `make_spec` makes a spec."""
    builder = Builder(Source({"benchmark": keys}, label, {(): (label, 0)}), Registry())
    benchmark = builder.one("benchmark", keys, ("benchmark",))
    if builder.faults or not isinstance(benchmark, Benchmark):
        raise SpecError("\n".join(str(fault) for fault in sorted(set(builder.faults))))
    return benchmark


def _plugin_files(source: Source) -> list[Path]:
    files = source.data.get("plugins") or []
    return [source.home(("plugins", i)) / str(file) for i, file in enumerate(files)] if isinstance(files, list) else []


def _registry(source: Source, trusted: bool) -> Registry:
    files = source.data.get("plugins") or []
    if not isinstance(files, list) or not files:
        return Registry(trusted=trusted)
    if not trusted:
        raise SpecError(
            str(source.fault(("plugins",), "this spec runs code of its own; allow it with --trust-plugins"))
        )
    found = [file.resolve() for file in _plugin_files(source)]
    missing = [
        source.fault(("plugins", i), f"no such file: {file}") for i, file in enumerate(found) if not file.is_file()
    ]
    if missing:
        raise SpecError("\n".join(map(str, missing)))
    return Registry(tuple(found), trusted)


def _resolve(source: Source, builder: Builder) -> Spec | None:
    file = _validated(SpecFile, source.data, source, (), builder)
    shape = file or _salvaged(source)
    benchmark = builder.one("benchmark", shape.benchmark, ("benchmark",))
    protocol = Protocol(benchmark, builder)
    searching = bool({"retrieval", "overall"} & set(file.evaluate)) if file else False
    chunker = protocol.one("chunker", shape.chunker, ("chunker",), default={"kind": "tokens"})
    asked = protocol.listed("retriever", shape.retrievers, ("retrievers",), needed=searching)
    chunkers = builder.named("chunker", [chunker], ("chunker",))
    retrievers = builder.named("retriever", asked, ("retrievers",))
    generators = builder.named("generator", shape.generators, ("generators",))
    metrics = builder.named("metric", shape.metrics, ("metrics",))
    known = names(retrievers)
    readers = {named.name: named.stage.reads_images for named in retrievers}
    if not shape.retrievers:  # then generators alone look at the pages
        readers = {"": bool(generators) and all(named.stage.reads_images for named in generators)}
    bases = _knowledge_bases(source, builder, shape, known, readers)
    if file:
        _check_stages(builder, file, asked)
        _check_attribution(builder, file, bases)
        _check_metrics(builder, file, benchmark, names(metrics))
    if file is None or benchmark is None or builder.faults:
        return None
    return Spec(
        name=file.name,
        seed=file.seed,
        benchmark=benchmark,
        knowledge_bases=bases,
        chunkers=chunkers,
        retrievers=retrievers,
        generators=generators,
        metrics=metrics,
        evaluate=tuple(dict.fromkeys(file.evaluate)),
        replicates=file.replicates,
        limit=file.limit,
        questions=file.questions,
        sample=file.sample,
        max_failures=file.max_failures,
        retries=file.retries,
        attribution=file.attribution,
        plugin_digests=tuple(sorted(builder.registry.digests().items())),
        plugin_files=builder.registry.files,
        resolved=_written_out(file, _plugin_files(source), benchmark, bases, chunkers, retrievers, generators, metrics),
    )


def _validated(model: type[BaseModel], data: Any, source: Source, where: Where, builder: Builder) -> Any:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        builder.faults += [told(source, where, detail, model) for detail in error.errors(include_url=False)]
        return None


def _salvaged(source: Source) -> SpecFile:
    """Keep the plugin keys that have the right shape, so that their faults are told with the others."""
    data = source.data

    def mappings(key: str) -> list[Any]:
        value = data.get(key)
        if not isinstance(value, list):
            return []
        return [item if isinstance(item, dict) else None for item in value]  # None keeps the others' places

    return SpecFile.model_construct(
        benchmark=data["benchmark"] if isinstance(data.get("benchmark"), dict) else {},
        chunker=data["chunker"] if isinstance(data.get("chunker"), dict) else None,
        knowledge_bases=mappings("knowledge_bases"),
        retrievers=mappings("retrievers"),
        generators=mappings("generators"),
        metrics=mappings("metrics"),
        replicates=1,
        name="",
    )


def _knowledge_bases(
    source: Source, builder: Builder, file: SpecFile, retrievers: Sequence[str], readers: Mapping[str, bool]
) -> tuple[KnowledgeBase, ...]:
    """Make the knowledge bases; `readers` tells which retrievers read images."""
    bases: list[KnowledgeBase] = []
    for place, data in enumerate(file.knowledge_bases):
        where: Where = ("knowledge_bases", place)
        if data is None:  # not a mapping, which is told already
            continue
        entry = _validated(KnowledgeBaseEntry, data, source, where, builder)
        if entry is not None:
            for unknown in [name for name in entry.retrievers or () if name not in retrievers]:
                builder.fault(
                    (*where, "retrievers"), f"no retriever is named {unknown!r}. {choices(unknown, retrievers)}"
                )
            used = [looks for name, looks in readers.items() if entry.retrievers is None or name in entry.retrievers]
            if all(used) or not _is_unread(builder, entry, where):
                bases += _levels(builder, entry, where, file.replicates)
    _refuse_repeats(builder, "knowledge_bases", [base.name for base in bases])
    labels = {base.name for base in bases}
    levels = Counter((base.noise, base.knob, base.knob_value, base.replicate) for base in bases)
    for (noise, knob, value, _), count in levels.items():
        if count > 1 and len(labels) == len(bases):  # equal names are told above
            level = f"{noise!r} with {knob} {shown(value)}" if knob else repr(noise)
            builder.fault(("knowledge_bases",), f"{count} entries are {level}: give each noise a `name` of its own")
    return tuple(bases)


def _is_unread(builder: Builder, entry: KnowledgeBaseEntry, where: Where) -> bool:
    """Refuse image noise that nobody looks at."""
    kind = entry.ocr.get("kind")
    known = builder.registry.names("ocr")
    if not entry.image_noise or kind not in known or getattr(builder.plugin("ocr", kind), "reads_images", False):
        return False
    engines = ", ".join(name for name in known if getattr(builder.plugin("ocr", name), "reads_images", False))
    told = f"image noise needs an `ocr` that reads images, such as {engines}, or retrievers that all read images"
    builder.fault((*where, "image_noise"), told)
    return True


def _levels(builder: Builder, entry: KnowledgeBaseEntry, where: Where, replicates: int) -> list[KnowledgeBase]:
    """Spread one entry over its sweeps and replicates."""
    image = builder.chain("image_noise", entry.image_noise, (*where, "image_noise"))
    text = builder.chain("text_noise", entry.text_noise, (*where, "text_noise"))
    ocr = builder.spread("ocr", entry.ocr, (*where, "ocr"))
    aimed = [built for chain in (image, text) for built in (chain[0] if chain else ()) if built.aim]
    if len(aimed) > 1:
        builder.fault(where, "only one noise of a knowledge base can have a target")
        return []
    if any(built.aim for chain in image for built in chain) and any(b.stage.kind == "ground_truth" for b in ocr):
        builder.fault((*where, "image_noise"), "a target needs an `ocr` that reads the images: the dose is of text")
        return []
    levels = []
    for images, engine, texts in product(image, ocr, text):
        noises = (*images, *texts)
        swept = [pair for built in (*images, engine, *texts) for pair in built.swept]
        label = entry.name or _default_name(images, engine, texts)
        # without strength, or without noise, every draw is the same
        draws = replicates if any(getattr(built.stage, built.stage.knob) for built in noises) else 1
        knob, value, rest = _knob(noises, swept)
        target = _target(images, texts)
        for draw in range(draws):
            levels.append(
                KnowledgeBase(
                    name=label + suffix(swept) + (f"#{draw}" if draws > 1 else ""),
                    noise=label + rest,
                    image_noise=tuple(built.stage for built in images),
                    ocr=engine.stage,
                    text_noise=tuple(built.stage for built in texts),
                    knob=knob,
                    knob_value=value,
                    replicate=draw,
                    retrievers=tuple(entry.retrievers) if entry.retrievers is not None else None,
                    target=target,
                )
            )
    return levels


def _target(images: Sequence[Built], texts: Sequence[Built]) -> Target | None:
    chains: dict[Literal["image_noise", "text_noise"], Sequence[Built]] = {"image_noise": images, "text_noise": texts}
    for family, chain in chains.items():
        for place, built in enumerate(chain):
            if built.aim:
                return Target(built.aim.measure, built.aim.value, built.aim.source, family, place)
    return None


def _default_name(images: Sequence[Built], engine: Built, texts: Sequence[Built]) -> str:
    parts = [built.stage.kind for built in images]
    if engine.stage.kind != "ground_truth" or not (images or texts):
        parts.append(engine.stage.kind)
    return "+".join(parts + [built.stage.kind for built in texts])


def _knob(noises: Sequence[Built], swept: Sequence[tuple[str, Any]]) -> tuple[str | None, Any, str]:
    """Name the field that sets a level's strength, its value, and what else was swept.

    A swept knob of a noise comes first, then any swept number, then the fixed knob of the first noise. What else was
    swept makes a noise of its own: the levels of one noise differ in one thing only, and no curve joins values that
    have no order.
    """
    knobs = [pair for built in noises for pair in built.swept if pair[0] == built.stage.knob]
    aims = [(f"target_{built.aim.measure}", built.aim.value) for built in noises if built.aim]
    if aims:
        rest = [pair for pair in swept if pair not in aims]
        return *aims[0], "".join(f" {field}={shown(value)}" for field, value in rest)
    numbers = [pair for pair in swept if isinstance(pair[1], int | float) and not isinstance(pair[1], bool)]
    first = noises[0].stage if noises else None
    fixed: tuple[str | None, Any] = (first.knob, getattr(first, first.knob)) if first else (None, None)
    chosen = (*knobs, *numbers, fixed)[0]
    rest = list(swept)
    if chosen in rest:
        rest.remove(chosen)
    return *chosen, "".join(f" {field}={shown(value)}" for field, value in rest)


def _refuse_repeats(builder: Builder, key: str, given: Sequence[str]) -> None:
    for name, count in Counter(given).items():
        if count > 1:
            builder.fault((key,), f"{count} entries are named {name!r}: give each a `name` of its own")


def _check_stages(builder: Builder, file: SpecFile, retrievers: Sequence[object]) -> None:
    if {"retrieval", "overall"} & set(file.evaluate) and not retrievers:
        builder.fault(("evaluate",), "retrieval and overall need at least one entry under `retrievers`")
    if {"generation", "overall"} & set(file.evaluate) and not file.generators:
        builder.fault(("evaluate",), "generation and overall need at least one entry under `generators`")


def _check_metrics(builder: Builder, file: SpecFile, benchmark: Benchmark | None, given: Sequence[str]) -> None:
    if given and not {"generation", "overall"} & set(file.evaluate):
        builder.fault(("metrics",), "metrics score answers: `evaluate` must have generation or overall")
    own = (benchmark.scoring.retrieval, *benchmark.scoring.answer) if benchmark else ()
    for name in sorted(set(given) & set(own)):
        builder.fault(("metrics",), f"{name!r} is one of the benchmark's own metrics: give it another `name`")


def _check_attribution(builder: Builder, file: SpecFile, bases: Sequence[KnowledgeBase]) -> None:
    levels = {base.name.partition("#")[0]: base for base in bases}
    for place, name in enumerate(file.attribution.of if file.attribution else ()):
        base = levels.get(name)
        if base is None:
            builder.fault(("attribution", "of", place), f"{choices(name, tuple(levels))} (got {name!r})")
        elif file.attribution and (told := fault_of(base, file.attribution.methods)):
            builder.fault(("attribution", "of", place), f"{name} {told}")


def _written_out(
    file: SpecFile,
    plugins: Sequence[Path],
    benchmark: Stage,
    bases: Sequence[KnowledgeBase],
    chunkers: Sequence[Named[Any]],
    retrievers: Sequence[Named[Any]],
    generators: Sequence[Named[Any]],
    metrics: Sequence[Named[Any]],
) -> dict[str, Any]:
    """Write a spec out with its defaults, for the manifest; secrets stay masked, and paths stay paths."""

    def dumped(named: Sequence[Named[Any]]) -> list[dict[str, Any]]:
        return [{"name": item.name, **written(item.stage)} for item in named]

    plain = file.model_dump(
        mode="json",
        include={"name", "seed", "replicates", "evaluate", "limit", "questions", "sample", "attribution"},
    )
    return plain | {
        "plugins": plugins,
        "benchmark": written(benchmark),
        "knowledge_bases": [base.written() for base in bases],
        "chunkers": dumped(chunkers),
        "retrievers": dumped(retrievers),
        "generators": dumped(generators),
        "metrics": dumped(metrics),
    }
