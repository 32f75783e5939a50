"""Making results again: discards the stored results of some phases and of everything after them."""

from collections.abc import Iterable, Iterator, Sequence

from ohr.errors import SpecError
from ohr.graph.graph import Graph
from ohr.registry import choices
from ohr.steps.agents.run_agent import RunAgent
from ohr.steps.answers.prompts import PreparePrompts
from ohr.steps.answers.scoring import ScoreAnswers, ScorePages, ScoreRetrieval, ScoreShown
from ohr.steps.documents.damage import MeasureDamage
from ohr.steps.documents.make_document import CutChunks, MakeDocument
from ohr.steps.documents.page_images import RenderPage
from ohr.steps.documents.read_pages import ReadDocument, ReadPages
from ohr.steps.retrieval.retrieve import Retrieve
from ohr.steps.systems.run_system import RunSystem
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Step

STAGES: dict[str, tuple[type, ...]] = {
    "all": (ReadPages, ReadDocument, RenderPage, MakeDocument, PreparePrompts, RunAgent, RunSystem),
    "pages": (ReadPages, ReadDocument, RenderPage),
    "documents": (MakeDocument,),
    "chunks": (CutChunks,),
    "damage": (MeasureDamage,),
    "retrieval": (Retrieve, RunAgent, RunSystem),
    "answers": (PreparePrompts, RunAgent, RunSystem),
    "scores": (ScoreAnswers, ScoreRetrieval, ScorePages, ScoreShown),
}
"""Values of `ohr run --fresh`, and the steps that each makes again, with all that depend on them."""


def check_fresh(stage: str) -> None:
    """Raise a SpecError if there is no such stage."""
    if stage not in STAGES:
        raise SpecError(f"--fresh {stage}: {choices(stage, tuple(STAGES))}")


def forget(graph: Graph, store: Store, stage: str) -> set[str]:
    """Remove the outputs of a stage's steps, and of all that depend on them; returns the keys of these steps."""
    stale = _with_dependents(graph, [step for step in _steps(graph) if isinstance(step.work, STAGES[stage])])
    names = [name for step in stale for name in step.outputs]
    names += [index for step in stale if isinstance(step.work, Retrieve) for index in step.work.scope.indexes]
    if stage in ("all", "pages", "documents", "chunks", "retrieval"):
        work = [step.work for step in stale if isinstance(step.work, RunAgent)]
        scopes = [scope for each in work for shelf in each.shelves for _, scope, _, _ in shelf.searched]
        names += [index for scope in scopes for index in scope.indexes]
    if stage != "answers":  # which are asked of what was ingested before
        names += [step.work.ingested for step in stale if isinstance(step.work, RunSystem)]
    if asks_again(stage):
        names += [key for step in stale for key in _grown(step, store)]
    names += _steps_of_agents(stale, store, ("search",) if stage == "retrieval" else ("search", "ask"))
    store.discard(names)
    return {step.key for step in stale}


def asks_again(stage: str | None) -> bool:
    """Report whether a stage asks generators and judges again."""
    return stage in ("all", "answers")


def _steps_of_agents(stale: Sequence[Step], store: Store, kinds: Sequence[str]) -> list[str]:
    """Return the keys of the calls and queries behind trajectories; only these know them."""
    outputs = [name for step in stale if isinstance(step.work, RunAgent) for name in step.outputs]
    found = (step for kept in read_sound(store, outputs, "answer").values() for step in kept["steps"])
    return [step["key"] for step in found if step["kind"] in kinds]


def _steps(graph: Graph) -> list[Step]:
    return list({step.key: step for step in graph.steps.values()}.values())


def _grown(step: Step, store: Store) -> Iterator[str]:
    """Yield the keys of the steps that a step has asked for."""
    if step.work.grows:
        for output in read_sound(store, [step.key], step.work.shape).values():
            yield from step.work.grown(output)


def _with_dependents(graph: Graph, steps: Iterable[Step]) -> list[Step]:
    users: dict[str, list[Step]] = {}
    for step in _steps(graph):
        for name in step.inputs:
            users.setdefault(name, []).append(step)
    found: dict[str, Step] = {}
    stack = list(steps)
    while stack:
        step = stack.pop()
        if step.key not in found:
            found[step.key] = step
            stack += [user for name in step.outputs for user in users.get(name, ())]
    return list(found.values())
