"""Rules for keys of a spec, hypotheses among them, that are right by themselves and must fit together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import AnyRetriever, Benchmark, PageJudgeMetric, PageMetric, RankingMetric, ScoringProtocol
from ohr.messages.wording import quoted
from ohr.metrics.rankings import SHOWN_METRICS
from ohr.registry import Registry, choices
from ohr.results.tables.groups import GROUPS
from ohr.spec.file_keys import Hypothesis, SpecFile
from ohr.spec.model import KnowledgeBase, Named, fault_of, names
from ohr.spec.servers import Plugins, limits_that_differ
from ohr.spec.source import Note, Where

Entry = tuple[Where, Mapping[str, Any]]
"""A plugin's mapping, and where it is written."""


def prescribed(benchmark: Benchmark | None, family: str) -> dict[str, Mapping[str, Any]]:
    """Return a family's plugins that the protocol prescribes, by kind; none where the benchmark could not be read."""
    plugins = benchmark.scoring.prescribed if benchmark else ()
    return {plugin.kind: {"kind": plugin.kind, **plugin.fields} for plugin in plugins if plugin.family == family}


def breaches(benchmark: Benchmark | None, family: str, entries: Iterable[Entry], registry: Registry) -> Iterator[Note]:
    """Yield what a family's entries have otherwise than the benchmark's protocol; unknown kinds are left out."""
    allowed = prescribed(benchmark, family)
    if benchmark is None or not allowed:
        return
    protocol = f"protocol {benchmark.scoring.name} of benchmark {benchmark.kind}"
    for where, keys in entries:
        kind = str(keys.get("kind"))
        if kind not in allowed and kind in registry.names(family):
            yield (*where, "kind"), f"is not of {protocol}. {choices('', list(allowed))} (got {kind!r})"
        for name, value in allowed.get(kind, {}).items():
            given = keys.get(name, value)
            if given not in (value, [value]):
                yield (*where, name), f"must be {value!r}, as {protocol} has it (got {quoted(given)})"


def misfits(
    file: SpecFile,
    benchmark: Benchmark | None,
    bases: Sequence[KnowledgeBase],
    named: Plugins,
    *,
    searches: bool,
) -> Iterator[Note]:
    """Yield what a spec evaluates, scores or attributes and does not have.

    Args:
        benchmark: None where it could not be read.
        named: the plugins of the spec, by key, such as `retrievers`.
        searches: the spec has retrievers, or the protocol prescribes them; those with faults count.
    """
    yield from _of_stages(set(file.evaluate), file, named, searches)
    yield from _of_metrics(set(file.evaluate), benchmark, named["metrics"])
    yield from limits_that_differ(
        [*(base.ocr for base in bases), *(item.stage for items in named.values() for item in items)]
    )
    conditions = {base.condition: base for base in bases}
    for place, name in enumerate(file.attribution.of if file.attribution else ()):
        base = conditions.get(name)
        if base is None:
            yield ("attribution", "of", place), f"{choices(name, tuple(conditions))} (got {quoted(name)})"
        elif file.attribution and (wrong := fault_of(base, file.attribution.methods)):
            yield ("attribution", "of", place), f"{name} {wrong}"


def _of_stages(stages: set[str], file: SpecFile, named: Plugins, searches: bool) -> Iterator[Note]:
    """Yield stages with nothing to evaluate; agents and systems retrieve and answer by themselves."""
    alone = bool(file.agents or file.systems) and not file.generators
    if {"retrieval", "overall"} & stages and not (searches or alone):
        yield ("evaluate",), "retrieval and overall need at least one entry under `retrievers`"
    if {"generation", "overall"} & stages and not (file.generators or file.agents or file.systems):
        yield ("evaluate",), "generation and overall need at least one entry under `generators`"
    others = {*names(named["retrievers"]), *names(named["generators"])}
    for key in ("agents", "systems"):
        if named[key] and not stages & {"overall", *(["retrieval"] if key == "systems" else [])}:
            also = "retrieval or " if key == "systems" else ""
            yield (key,), f"{key} are evaluated in the stage {also}overall: `evaluate` must have it"
        elif "retrieval" not in stages and not all(getattr(item.stage, "answers", True) for item in named[key]):
            yield (key,), "systems without answers are evaluated in the stage retrieval: `evaluate` must have it"
    answering = [item for item in named["systems"] if item.stage.answers]
    if "overall" in stages and named["systems"] and not (answering or file.generators or file.agents):
        yield ("systems",), "give no answers: set `answer`, or `evaluate: [retrieval]`"
    for key in ("agents", "systems"):
        for name in sorted(others.intersection(names(named[key]))):
            yield (key,), f"{quoted(name)} is a retriever or generator too: give the {key[:-1]} another `name`"
    for name in sorted({*names(named["agents"])}.intersection(names(named["systems"]))):
        yield ("systems",), f"{quoted(name)} is an agent too: give the system another `name`"


def _of_metrics(stages: set[str], benchmark: Benchmark | None, metrics: Sequence[Named[Any]]) -> Iterator[Note]:
    rankings = [metric.name for metric in metrics if isinstance(metric.stage, RankingMetric)]
    pages = [metric.name for metric in metrics if isinstance(metric.stage, PageMetric | PageJudgeMetric)]
    if len(rankings) + len(pages) < len(metrics) and not {"generation", "overall"} & stages:
        yield ("metrics",), "metrics score answers: `evaluate` must have generation or overall"
    if rankings and "retrieval" not in stages:
        yield ("metrics",), f"{rankings[0]!r} scores rankings: `evaluate` must have retrieval"
    for name in sorted(set(names(metrics)).intersection(benchmark.scoring.metrics if benchmark else ())):
        yield ("metrics",), f"{name!r} is one of the benchmark's own metrics: give it another `name`"


def to_decompose(asked: bool | Sequence[str], bases: Sequence[KnowledgeBase]) -> list[str]:
    """List the conditions whose loss is split: all with noise, or those that are asked for, by name or by noise."""
    noisy = [base for base in bases if base.noise_type != "none" and not base.again_of]
    names = [] if isinstance(asked, bool) else asked
    return list(
        dict.fromkeys(base.condition for base in noisy if asked is True or {base.condition, base.noise} & {*names})
    )


def fault_of_swaps(
    file: SpecFile, bases: Sequence[KnowledgeBase], retrievers: Sequence[Named[AnyRetriever]]
) -> str | None:
    """Explain why the texts of a spec with `decompose` cannot be swapped; None when they can."""
    clean = [base for base in bases if base.noise_type == "none"]
    noisy = [base for base in bases if base.noise_type != "none"]
    if not {"retrieval", "overall"} & set(file.evaluate):
        return "splits the loss of retrieval and overall: `evaluate` must have one of them"
    if not clean:
        return (
            "compares with a knowledge base without noise, and there is none: add `- name: ground_truth` under "
            "`knowledge_bases`"
        )
    if not noisy:
        return "splits the loss to noise: `knowledge_bases` must have one with noise"
    for name in [] if isinstance(file.decompose, bool) else file.decompose:
        if not to_decompose([name], bases):
            possible = dict.fromkeys(known for base in noisy for known in (base.noise, base.condition))
            return f"no condition with noise is named {quoted(name)}. {choices(name, tuple(possible))}"
    texts = [item.name for item in retrievers if not item.stage.reads_images]
    if retrievers and not texts:
        return "swaps the text that is read: it needs a retriever that does not look at page images"
    if retrievers and not any(all(any(base.uses(name) for base in side) for side in (clean, noisy)) for name in texts):
        return "needs a retriever that searches a knowledge base with noise and the one without"
    return None


_USED: Mapping[str, tuple[str, ...]] = {
    "retrieval": ("chunker", "retriever"),
    "generation": ("generator",),
    "overall": ("chunker", "retriever", "generator"),
}
"""The parts of a pipeline by stage."""


def faults_of_hypotheses(
    file: SpecFile, scoring: ScoringProtocol | None, bases: Sequence[KnowledgeBase], named: Plugins
) -> Iterator[Note]:
    """Yield what a hypothesis names that the spec does not have, and parts that it must name.

    Args:
        scoring: the benchmark's protocol; None if the benchmark has faults.
    """
    by_condition = {base.condition: base for base in bases}
    seen: set[str] = set()
    for place, hypothesis in enumerate(file.hypotheses):
        where: Where = ("hypotheses", place)
        if hypothesis.name in seen:
            yield (*where, "name"), f"{quoted(hypothesis.name)} is listed twice"
        seen.add(hypothesis.name)
        for number, condition in enumerate(hypothesis.compare):
            yield from _unknown((*where, "compare", number), condition, tuple(by_condition))
        yield from _unknown((*where, "group"), hypothesis.group, tuple(GROUPS))
        if scoring and hypothesis.metric is not None:
            yield from _unknown((*where, "metric"), hypothesis.metric, _metrics(hypothesis, scoring, named))
        if hypothesis.stage not in file.evaluate:
            yield (*where, "stage"), f"`evaluate` does not have {hypothesis.stage}"
        of_agent = _faults_of_agent(where, hypothesis, named)
        compared = [by_condition[name] for name in hypothesis.compare if name in by_condition]
        yield from _faults_of_parts(where, hypothesis, compared, named) if of_agent is None else of_agent


def _faults_of_parts(
    where: Where, hypothesis: Hypothesis, compared: Sequence[KnowledgeBase], named: Plugins
) -> Iterator[Note]:
    stage, parts = hypothesis.stage, _USED[hypothesis.stage]
    searching = [item for item in named["retrievers"] if hypothesis.retriever in (None, item.name)]
    has_chunks = any(not item.stage.reads_images for item in searching)
    for part in ("chunker", "retriever", "generator"):
        given, there = getattr(hypothesis, part), names(named[f"{part}s"])
        there += _whole(named) if (part, stage) == ("generator", "overall") else ()
        used = part in parts and (has_chunks or part != "chunker")
        if given is not None and not used:
            what = f"the retriever {hypothesis.retriever}" if part in parts else f"the stage {stage}"
            yield (*where, part), f"{what} has no {part}"
        elif given is not None:
            yield from _unknown((*where, part), given, there)
        elif used and len(there) > 1:
            yield where, f"name one {part} of {', '.join(there)}"
    for base in compared if "retriever" in parts else ():
        if searching and not any(base.uses(item.name) for item in searching):
            yield (*where, "compare"), f"no search of {quoted(base.condition)} has this retriever"


def _faults_of_agent(where: Where, hypothesis: Hypothesis, named: Plugins) -> list[Note] | None:
    """Check a hypothesis about an agent or a system; None when it is about none.

    It has retrievers of its own: it is named as the generator of its answers, or as the retriever of the pages
    that it looked at.
    """
    agents = _whole(named)
    if hypothesis.stage == "retrieval" and hypothesis.retriever in names(named["systems"]):
        return []
    if hypothesis.stage == "retrieval" and hypothesis.retriever in agents:
        message = f"is required for an agent. {choices('', SHOWN_METRICS)}"
        return [((*where, "metric"), message)] if hypothesis.metric is None else []
    if hypothesis.stage == "retrieval" and not (named["retrievers"] or named["systems"]):
        return [((*where, "stage"), "nothing is evaluated in retrieval but agents")]
    alone = bool(agents) and not named["generators"]
    if hypothesis.stage != "overall" or not (hypothesis.generator in agents or alone):
        return None
    faults: list[Note] = []
    if hypothesis.retriever is not None:
        faults.append(((*where, "retriever"), f"{quoted(hypothesis.generator or agents[0])} has its own"))
    if hypothesis.generator is not None:
        faults += _unknown((*where, "generator"), hypothesis.generator, agents)
    elif len(agents) > 1:
        faults.append((where, f"name one generator of {', '.join(agents)}"))
    return faults


def _whole(named: Plugins) -> tuple[str, ...]:
    """Name what retrieves and answers by itself."""
    return (*names(named["agents"]), *names(named["systems"]))


def _metrics(hypothesis: Hypothesis, scoring: ScoringProtocol, named: Plugins) -> tuple[str, ...]:
    """Name the metrics of a hypothesis's stage."""
    ranks = hypothesis.stage == "retrieval"
    if ranks and hypothesis.retriever in names(named["agents"]):
        return SHOWN_METRICS
    own = [item.name for item in named["metrics"] if isinstance(item.stage, RankingMetric) == ranks]
    searching = (*named["retrievers"], *named["systems"])
    cuts = [item.stage.top_k for item in searching if hypothesis.retriever in (None, item.name)]
    known = [name for top_k in cuts for name in scoring.retrieval_metrics(top_k)] if ranks else scoring.answer
    return tuple(dict.fromkeys((*known, *own)))


def _unknown(where: Where, name: str, allowed: Sequence[str]) -> Iterator[Note]:
    if name not in allowed:
        yield where, f"{choices(name, allowed)} (got {quoted(name)})"
