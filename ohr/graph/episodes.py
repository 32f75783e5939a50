"""The steps in which agents answer: the questions of a knowledge base in batches, whatever their scope."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ohr.contracts import QueryRetriever
from ohr.graph.cache_keys import Keys
from ohr.graph.cells import AgentWork
from ohr.graph.graph import Batch, Graph
from ohr.graph.indexes import Scope, add_images, add_source
from ohr.steps.agents.run_agent import RunAgent, Shelf
from ohr.work.step import Step

_BATCH = 128
"""Questions of one step: twice those in flight, so that models are busy while its last questions end, and few enough
for progress to be seen, since steps are counted."""


@dataclass
class _Inputs:
    """The inputs of a step, each once, and their places."""

    places: dict[str, int] = field(default_factory=dict)

    def of(self, keys: Sequence[str]) -> tuple[int, ...]:
        return tuple(self.places.setdefault(key, len(self.places)) for key in keys)


@dataclass
class _Shelved:
    """A scope, the key of what may be looked at in it, and the keys of its parts."""

    scope: Scope
    texts: tuple[str, ...]
    searched: tuple[tuple[str, Any], ...]
    desk: str


def add_episodes(
    graph: Graph,
    keys: Keys,
    scopes: Sequence[Scope],
    work: AgentWork,
    documents: Mapping[str, str],
    indexes: Mapping[str, str],
) -> list[Batch]:
    """Add the steps in which an agent answers all questions of a knowledge base.

    Args:
        documents: keys of the knowledge base's documents, by name.
        indexes: for indexes that retrievers of the spec search too, the step that makes them.

    Returns:
        the questions, with the keys of their trajectories.
    """
    shelved = [_shelved(graph, keys, scope, work, documents) for scope in scopes]
    base, _, agent = work
    # others, such as `oracle`, find by the question's truth
    truth = not all(isinstance(part, QueryRetriever) for part in agent.stage.retrievers().values())
    identity, again = keys.agent(agent.stage), base.again_of is not None
    asked: list[tuple[int, str, int]] = []
    for place, shelf in enumerate(shelved):
        for number in shelf.scope.questions:
            question = keys.inputs.questions[number]
            name = keys.episode(identity, shelf.desk, question, truth=truth, again=again)
            asked.append((number, name, place))
    batches = [asked[start : start + _BATCH] for start in range(0, len(asked), _BATCH)]
    for batch in batches:
        _add_step(graph, keys, work, shelved, batch, indexes)
    return [
        Batch(
            tuple(number for number, _, _ in batch),
            episodes={keys.inputs.questions[number].id: name for number, name, _ in batch},
        )
        for batch in batches
    ]


def _shelved(graph: Graph, keys: Keys, scope: Scope, work: AgentWork, documents: Mapping[str, str]) -> _Shelved:
    base, chunker, agent = work
    stage = agent.stage
    searched = tuple(
        (role, add_source(graph, keys, scope, (base, None if part.reads_images else chunker, part), documents))
        for role, part in stage.retrievers().items()
    )
    texts = tuple(documents[name] for name in scope.names) if "text" in stage.reads else ()
    images = add_images(graph, keys, base, scope.documents) if "image" in stage.reads else ()
    found = {role: source.searched.index for role, source in searched}
    return _Shelved(scope, texts, searched, keys.desk(texts, images, found))


def _add_step(
    graph: Graph,
    keys: Keys,
    work: AgentWork,
    shelved: Sequence[_Shelved],
    batch: Sequence[tuple[int, str, int]],
    indexes: Mapping[str, str],
) -> None:
    """Add the step of some questions; those whose key is in the graph are left out."""
    base, _, agent = work
    new = {name: (number, place) for number, name, place in batch if name not in graph.steps}
    if not new:
        return
    inputs, used = _Inputs(), list(dict.fromkeys(place for _, place in new.values()))
    shelves = tuple(
        Shelf(
            shelf.scope.names,
            inputs.of(shelf.texts),
            tuple(
                (role, source.searched, inputs.of((*source.texts, *source.images)), inputs.of(source.apart))
                for role, source in shelf.searched
            ),
        )
        for shelf in (shelved[place] for place in used)
    )
    made_by = tuple(
        (role, (keys.identity(model), keys.files, *(["again"] if base.again_of else [])))
        for role, model in agent.stage.models().items()
    )
    questions = tuple((number, keys.inputs.questions[number].id, used.index(place)) for number, place in new.values())
    images = keys.images(base) if "image" in agent.stage.reads else None
    step = RunAgent(
        agent.stage, agent.name, base.name, questions, shelves, images, made_by, keys.instruction(agent.stage)
    )
    searched = (source.searched.index for place in used for _, source in shelved[place].searched)
    after = dict.fromkeys(indexes[index] for index in searched if index in indexes)
    graph.add(Step(step, tuple(new), tuple(inputs.places), tuple(after)))
