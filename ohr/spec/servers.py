"""Whom a spec asks and pays: servers, the environment variables that are sent to them, and parts with a price."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Agent, AnyMetric, CaseJudgeMetric, Correction, Generator, PageJudgeMetric, Stage, System
from ohr.contracts.stage import within
from ohr.messages.variables import VARIABLE
from ohr.messages.wording import counted, quoted
from ohr.prices import Payee, Use, names_of
from ohr.spec.model import KnowledgeBase, Named, Spec
from ohr.spec.source import Note

_LIMITS = ("requests_per_minute", "tokens_per_minute")


def limits_that_differ(stages: Iterable[Stage]) -> Iterator[Note]:
    """Yield limits that differ for one model of a server: it counts all that ask it with one key."""
    known: dict[tuple[object, ...], tuple[object, ...]] = {}
    for stage in dict.fromkeys(part for each in stages for part in within(each)):
        fields = dict(stage)
        if _LIMITS[0] not in fields:
            continue
        server = fields["base_url"], fields["model"], fields["api_key_env"]
        limits = tuple(fields[name] for name in _LIMITS)
        if known.setdefault(server, limits) != limits:
            names = " and ".join(_LIMITS)
            says = f"is asked with different limits: give {names} the same values wherever it is named"
            yield ((), f"{fields['model']} at {fields['base_url']} {says}")


def sent_singly(spec: Spec) -> Iterator[str]:
    """Report agents whose models have `batch`, which is not used."""
    for agent in spec.agents:
        models = [part for part in within(agent.stage) if isinstance(part, Generator) and part.posts]
        if models:
            yield f"{agent.name}: `batch` is for prompts; the calls of an agent wait for each other and are sent singly"


def left_at_servers(spec: Spec, pins: Callable[[], Collection[str]]) -> Iterator[str]:
    """Report batches under way for models that the spec asks without `batch`: their prompts are sent again, singly.

    Args:
        pins: returns the names of the pins of the store.
    """
    from ohr.models.batches import count_under_way

    generators = [part for stage in spec.stages() for part in within(stage) if isinstance(part, Generator)]
    singly = dict.fromkeys(str(dict(part)["model"]) for part in generators if "batch" in dict(part) and not part.posts)
    for model, count in (count_under_way(pins(), singly) if singly else {}).items():
        verb = "waits" if count == 1 else "wait"
        yield (
            f"{counted(count, 'batch', 'batches')} of prompts for {model} {verb} at the server, of this or of another "
            "study: with `batch` this study takes the replies that it needs; without, it sends its prompts one by one"
        )


_USUAL = "_API_KEY"


def fault_of_variable(name: str, allowed: Collection[str]) -> str | None:
    """Explain why a variable may not be sent to a server; None when it may.

    A spec is often somebody else's. It may name a key for a model's server; with any other variable it could carry off
    what it was never meant to see.
    """
    if name.endswith(_USUAL) or name in allowed:
        return None
    return (
        f"would send the environment variable {quoted(name)} to a server: only those whose names end in {_USUAL} are "
        f"sent unasked. If it holds the key for this server, add --allow-env {name}"
    )


def variables_of(keys: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the variables that a plugin sends to its server, from its keys or fields, each after the key with it."""
    name, headers = keys.get("api_key_env"), keys.get("headers")
    if isinstance(name, str) and ("base_url" in keys or "url" in keys):
        yield "api_key_env", name
    for value in headers.values() if isinstance(headers, Mapping) else ():
        yield from (("headers", variable) for variable in VARIABLE.findall(str(value)))


def sent(spec: Spec) -> Iterator[str]:
    """Say, for each plugin that has a key, which variable goes to which host."""
    values = [value for stage in spec.stages() for _, value in stage]
    parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
    inside = [part for part in parts if isinstance(part, Stage)]
    for stage in dict.fromkeys((*spec.stages(), *inside)):
        fields = dict(stage)
        for _, name in variables_of(fields):
            # host and port, without the user and password that a URL may hold
            url = str(fields.get("url") or fields["base_url"])
            host = re.split(r"[/?#]", url.partition("://")[2])[0].rpartition("@")[2]
            yield f"{stage.family} {stage.kind} sends {name} to {host}"


Plugins = Mapping[str, Sequence[Named[Any]]]
"""The named plugins of a spec, by key: `chunkers`, `retrievers`, `generators`, `agents`, `systems`, `metrics`."""


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
