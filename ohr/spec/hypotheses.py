"""Checks that hypotheses name conditions and parts that a spec has."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import RankingMetric, ScoringProtocol
from ohr.messages.wording import quoted
from ohr.metrics.rankings import SHOWN_METRICS
from ohr.registry import choices
from ohr.results.tables.groups import GROUPS
from ohr.spec.file_keys import Hypothesis, SpecFile
from ohr.spec.model import KnowledgeBase, Named, names
from ohr.spec.source import Note, Where

_USED: Mapping[str, tuple[str, ...]] = {
    "retrieval": ("chunker", "retriever"),
    "generation": ("generator",),
    "overall": ("chunker", "retriever", "generator"),
}
"""The parts of a pipeline by stage."""

Plugins = Mapping[str, Sequence[Named[Any]]]
"""The named plugins of a spec, by key: `chunkers`, `retrievers`, `generators`, `agents`, `metrics`."""


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
