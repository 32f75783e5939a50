"""Checks that hypotheses name conditions and parts that a spec has."""

from collections.abc import Mapping, Sequence
from typing import Any

from ohr.contracts import RankingMetric, ScoringProtocol
from ohr.messages.wording import quoted
from ohr.metrics.rankings import SHOWN_METRICS
from ohr.registry import choices
from ohr.results.tables.groups import GROUPS
from ohr.spec.build import Builder
from ohr.spec.file_keys import Hypothesis, SpecFile
from ohr.spec.model import KnowledgeBase, Named
from ohr.spec.source import Where

_USED: Mapping[str, tuple[str, ...]] = {
    "retrieval": ("chunker", "retriever"),
    "generation": ("generator",),
    "overall": ("chunker", "retriever", "generator"),
}
"""The parts of a pipeline by stage."""


def check_hypotheses(
    builder: Builder,
    file: SpecFile,
    scoring: ScoringProtocol | None,
    bases: Sequence[KnowledgeBase],
    named: Mapping[str, Sequence[Named[Any]]],
) -> None:
    """Note what a hypothesis names that the spec does not have, and parts that it must name.

    Args:
        scoring: the benchmark's protocol; None if the benchmark has faults.
        bases: of the spec.
        named: its plugins, by key: `chunkers`, `retrievers`, `generators`, `agents`, `metrics`.
    """
    by_condition = {base.condition: base for base in bases}
    seen: set[str] = set()
    for place, wanted in enumerate(file.hypotheses):
        where: Where = ("hypotheses", place)
        if wanted.name in seen:
            builder.fault((*where, "name"), f"{quoted(wanted.name)} is listed twice")
        seen.add(wanted.name)
        for number, condition in enumerate(wanted.compare):
            _known(builder, (*where, "compare", number), condition, tuple(by_condition))
        _known(builder, (*where, "group"), wanted.group, tuple(GROUPS))
        if scoring and wanted.metric is not None:
            _known(builder, (*where, "metric"), wanted.metric, _metrics(wanted, scoring, named))
        if wanted.stage not in file.evaluate:
            builder.fault((*where, "stage"), f"`evaluate` does not have {wanted.stage}")
        compared = [by_condition[name] for name in wanted.compare if name in by_condition]
        _check_parts(builder, where, wanted, compared, named)


def _check_parts(
    builder: Builder,
    where: Where,
    wanted: Hypothesis,
    compared: Sequence[KnowledgeBase],
    named: Mapping[str, Sequence[Named[Any]]],
) -> None:
    agents = [item.name for item in named["agents"]] if wanted.stage == "overall" else []
    if _is_about_agent(builder, where, wanted, named):
        return
    searching = [item for item in named["retrievers"] if wanted.retriever in (None, item.name)]
    has_chunks = any(not item.stage.reads_images for item in searching)
    for part in ("chunker", "retriever", "generator"):
        given, there = getattr(wanted, part), [item.name for item in named[f"{part}s"]]
        there += agents if part == "generator" else []
        used = part in _USED[wanted.stage] and (has_chunks or part != "chunker")
        if given is not None and not used:
            what = (
                f"the stage {wanted.stage}" if part not in _USED[wanted.stage] else f"the retriever {wanted.retriever}"
            )
            builder.fault((*where, part), f"{what} has no {part}")
        elif given is not None:
            _known(builder, (*where, part), given, there)
        elif used and len(there) > 1:
            builder.fault(where, f"name one {part} of {', '.join(there)}")
    for base in compared if "retriever" in _USED[wanted.stage] else ():
        if searching and not any(base.uses(item.name) for item in searching):
            builder.fault((*where, "compare"), f"no search of {quoted(base.condition)} has this retriever")


def _is_about_agent(
    builder: Builder, where: Where, wanted: Hypothesis, named: Mapping[str, Sequence[Named[Any]]]
) -> bool:
    """Report whether a hypothesis is about an agent, and check it then.

    An agent has retrievers of its own: it is named as the generator of its answers, or as the retriever of the pages
    that it looked at.
    """
    agents = [item.name for item in named["agents"]]
    if wanted.stage == "retrieval" and wanted.retriever in agents:
        if wanted.metric is None:
            builder.fault((*where, "metric"), f"is required for an agent. {choices('', SHOWN_METRICS)}")
        return True
    if "retriever" in _USED[wanted.stage] and not named["retrievers"] and wanted.stage != "overall":
        builder.fault((*where, "stage"), f"nothing is evaluated in {wanted.stage} but agents")
        return True
    alone = bool(agents) and not named["generators"]
    if wanted.stage != "overall" or not (wanted.generator in agents or alone):
        return False
    if wanted.retriever is not None:
        builder.fault((*where, "retriever"), f"the agent {quoted(wanted.generator or agents[0])} has its own")
    if wanted.generator is not None:
        _known(builder, (*where, "generator"), wanted.generator, agents)
    elif len(agents) > 1:
        builder.fault(where, f"name one generator of {', '.join(agents)}")
    return True


def _metrics(
    wanted: Hypothesis, scoring: ScoringProtocol, named: Mapping[str, Sequence[Named[Any]]]
) -> tuple[str, ...]:
    """Name the metrics of a hypothesis's stage."""
    ranks = wanted.stage == "retrieval"
    if ranks and wanted.retriever in [item.name for item in named["agents"]]:
        return SHOWN_METRICS
    own = [item.name for item in named["metrics"] if isinstance(item.stage, RankingMetric) == ranks]
    cuts = [item.stage.top_k for item in named["retrievers"] if wanted.retriever in (None, item.name)]
    known = [name for top_k in cuts for name in scoring.retrieval_metrics(top_k)] if ranks else scoring.answer
    return tuple(dict.fromkeys((*known, *own)))


def _known(builder: Builder, where: Where, name: str, allowed: Sequence[str]) -> None:
    if name not in allowed:
        builder.fault(where, f"{choices(name, allowed)} (got {quoted(name)})")
