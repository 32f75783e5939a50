"""The parts of a spec that may have a price: engines, generators, judges, agents and systems."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Agent, AnyMetric, CaseJudgeMetric, Correction, Generator, PageJudgeMetric, Stage, System
from ohr.prices import Payee, Use, names_of
from ohr.spec.model import KnowledgeBase, Named

Plugins = Mapping[str, Sequence[Named[Any]]]
"""The named plugins of a spec, by key: `generators`, `agents`, `systems`, `metrics`."""


def payees(bases: Sequence[KnowledgeBase], named: Plugins) -> list[Payee]:
    """List everybody whom these parts of a spec may pay, each once."""
    engines = (reading(base) for base in bases if base.ocr.kind != "ground_truth")
    repairs = (
        correcting(base, each) for base in bases for each in base.text_treatments if isinstance(each, Correction)
    )
    return list(dict.fromkeys([*engines, *repairs, *_models(named)]))


def _models(named: Plugins) -> Iterator[Payee]:
    yield from map(answering, named["generators"])
    for metric in named["metrics"]:
        if isinstance(metric.stage, CaseJudgeMetric | PageJudgeMetric):
            yield judging(metric)
    for agent in named["agents"]:
        yield from models_of(agent).values()
    yield from map(serving, named["systems"])


def reading(base: KnowledgeBase) -> Payee:
    """Return the OCR engine of a knowledge base, which is called as its entry is."""
    return _payee("reading", base.noise, base.ocr)


def correcting(base: KnowledgeBase, correction: Correction) -> Payee:
    """Return the model that corrects the pages of a knowledge base, which is called as its entry is."""
    return _payee("repairs", base.noise, correction.model)


def answering(generator: Named[Generator], stage: str = "") -> Payee:
    """Return a generator that answers; in the stage `reference`, which is paid for apart, floors and ceilings."""
    return _payee("references" if stage == "reference" else "answers", generator.name, generator.stage)


def tokenless(bases: Sequence[KnowledgeBase]) -> list[Payee]:
    """List the OCR engines that count no tokens."""
    return [reading(base) for base in bases if not base.ocr.counts_tokens]


def judging(metric: Named[AnyMetric]) -> Payee:
    """Return the generator of a metric that asks one."""
    assert isinstance(metric.stage, CaseJudgeMetric | PageJudgeMetric)
    return _payee("judging", metric.name, metric.stage.judge)


def models_of(agent: Named[Agent]) -> dict[str, Payee]:
    """Return the models of an agent by role."""
    return {role: _payee("agents", agent.name, model, role) for role, model in agent.stage.models().items()}


def serving(system: Named[System]) -> Payee:
    """Return a system."""
    return _payee("systems", system.name, system.stage)


def _payee(use: Use, name: str, stage: Stage, role: str = "") -> Payee:
    return Payee(use, name, role, names_of(name, getattr(stage, "model", None), stage.kind))
