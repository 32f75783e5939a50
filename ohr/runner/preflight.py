"""Checks that every stage can run here, before anything is spent."""

from collections.abc import Iterable, Iterator

from ohr.contracts import FAMILIES, Agent, Stage
from ohr.errors import MissingKey, OhrError, PluginError, SpecError
from ohr.spec.model import Spec
from ohr.spec.protocol_metrics import protocol_metrics
from ohr.steps.answers.prompt_templates import read_prompt


def check_stages(spec: Spec, *, asks: bool = True) -> list[str]:
    """Raise one PluginError that lists everything that is missing.

    Args:
        asks: the stages are about to run; else the keys of servers may be missing, and are returned as warnings.
    """
    faults = []
    protocol = spec.benchmark.scoring
    for name in dict.fromkeys((protocol.prompt, *(named.stage.prompt for named in spec.generators))):
        try:
            if read_prompt(name or protocol.prompt) != read_prompt(protocol.prompt) and protocol.name != "clean":
                faults.append(f"protocol {protocol.name} asks with the prompt {protocol.prompt!r}, not with {name!r}")
        except SpecError as error:
            faults.append(str(error))
    if protocol.name != "clean" and spec.index_scope != protocol.index_scope:
        faults.append(f"protocol {protocol.name} searches by {protocol.index_scope}, not by {spec.index_scope}")
    try:
        names = [one.name for one in spec.benchmark.aggregates()]
        faults += [
            f"benchmark {spec.benchmark.kind}: two aggregates {name!r}" for name in names if names.count(name) > 1
        ]
    except OhrError as error:  # as its check says it, once
        faults.append(f"benchmark {spec.benchmark.kind}: {error}")
    except Exception as error:  # a foreign plugin may raise anything
        faults.append(f"benchmark {spec.benchmark.kind}: `aggregates` raised {type(error).__name__}: {error}")
    faults += [f"agent {named.name}: {fault}" for named in spec.agents if (fault := _fault_of_reads(named.stage))]
    unready, keys = _unready(_stages(spec), asks=asks)
    if faults := [*faults, *unready]:
        raise PluginError("\n".join(dict.fromkeys(faults)))
    return list(dict.fromkeys(keys))


def refuse_unready(stages: Iterable[Stage]) -> None:
    """Raise one PluginError that lists the stages that cannot run here, each with the reason."""
    if faults := _unready(stages, asks=True)[0]:
        raise PluginError("\n".join(dict.fromkeys(faults)))


def _unready(stages: Iterable[Stage], *, asks: bool) -> tuple[list[str], list[str]]:
    """Return why stages cannot run, and which lack a key of a server if they are not about to ask it."""
    faults, keys = [], []
    for stage in dict.fromkeys(stages):
        try:
            stage.check()
        except Exception as error:  # a foreign plugin's check may raise anything
            reason = str(error) if isinstance(error, OhrError) else f"{type(error).__name__}: {error}"
            if isinstance(error, MissingKey) and not asks:
                keys.append(f"{reason}; a run needs it")
                continue
            # that of a part names the part; several agents may have it
            named = reason.split(" ")[0] in FAMILIES
            faults.append(reason if named else f"{type(stage).family} {stage.kind}: {reason}")
    return faults, keys


def _fault_of_reads(agent: Agent) -> str | None:
    """Explain why an agent cannot look at what it says; noise would be taken to reach it, or not to."""
    if not agent.reads:
        return "`reads` must name what it looks at: text, image, or both"
    for role, retriever in agent.retrievers().items():
        if not retriever.reads_images and "text" not in agent.reads:
            return f"reads page images only, and its retriever {role!r} searches text"
        if retriever.reads_images and "image" not in agent.reads:
            return f"reads text only, and its retriever {role!r} looks at page images"
    return None


def _stages(spec: Spec) -> Iterator[Stage]:
    """List every plugin of a spec, and the metrics of its protocol; those of answers where there are some."""
    yield from spec.stages()
    protocol = spec.benchmark.scoring
    for name, metric in protocol_metrics(spec).items():
        if spec.generators or spec.whole or name not in protocol.answer:
            yield metric
