"""The steps in which agents and systems answer all questions about a knowledge base.

Agents take them in batches, whatever their scope; a system ingests the documents and is asked once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ohr.contracts import QueryRetriever
from ohr.graph.cache_keys import Keys, again
from ohr.graph.cells import AgentWork, SystemWork
from ohr.graph.graph import Batch, Graph, shared_out
from ohr.graph.indexes import Scope, add_images, add_source
from ohr.keys import key
from ohr.steps.agents.run_agent import RunAgent, Shelf
from ohr.steps.systems.locate_contexts import LOCATE_VERSION, LocateContexts
from ohr.steps.systems.run_system import RunSystem
from ohr.work.step import Step

_BATCH = 128
"""Questions of one step: twice those in flight, so that models are busy while its last questions end, and few enough
for progress to be seen, since steps are counted."""


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
    identity = keys.agent(agent.stage)
    asked: list[tuple[int, str, int]] = []
    for place, shelf in enumerate(shelved):
        for number in shelf.scope.questions:
            question = keys.inputs.questions[number]
            name = keys.episode(identity, shelf.desk, question, truth=truth, repeat=again(base))
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
    inputs, used = dict[str, int](), list(dict.fromkeys(place for _, place in new.values()))

    def places(keys: Sequence[str]) -> tuple[int, ...]:
        return tuple(inputs.setdefault(key, len(inputs)) for key in keys)

    shelves = tuple(
        Shelf(
            shelf.scope.names,
            places(shelf.texts),
            tuple(
                (role, source.searched, places((*source.texts, *source.images)), places(source.apart))
                for role, source in shelf.searched
            ),
        )
        for shelf in (shelved[place] for place in used)
    )
    made_by = tuple(
        (role, (keys.identity(model), keys.files, *again(base))) for role, model in agent.stage.models().items()
    )
    questions = tuple((number, keys.inputs.questions[number].id, used.index(place)) for number, place in new.values())
    images = keys.images(base) if "image" in agent.stage.reads else None
    step = RunAgent(
        agent.stage, agent.name, base.name, questions, shelves, images, made_by, keys.instruction(agent.stage)
    )
    searched = [source.searched for place in used for _, source in shelved[place].searched]
    after = dict.fromkeys(indexes[index] for scope in searched for index in scope.indexes if index in indexes)
    graph.add(Step(step, tuple(new), tuple(inputs), tuple(after)))


_INGEST_VERSION = 1
"""Raised when documents are handed over differently."""


def add_replies(graph: Graph, keys: Keys, work: SystemWork, documents: Mapping[str, str]) -> list[Batch]:
    """Add the steps in which a system answers all questions about a knowledge base.

    Args:
        documents: keys of the knowledge base's documents, by name.

    Returns:
        the questions, with the keys of their replies, and of the places of their contexts.
    """
    system, inputs = work[2], keys.inputs
    run, texts = _system(keys, work, documents)
    asked = [run.ingested, keys.identity(system.stage, "first_page")]
    replies = {place: key("system reply", asked, inputs.questions[place].text) for place in inputs.asked}
    first = {name: place for place, name in reversed(replies.items())}  # equal words are asked once
    _add(graph, run, {name: first[name] for name in dict.fromkeys(replies.values())}, keys, texts)
    batches = [
        Batch(batch, episodes={inputs.questions[place].id: replies[place] for place in batch})
        for batch in Scope("", (), inputs.asked).batches()
    ]
    return [each for some in shared_out(batches) for each in _located(graph, keys, work, documents, some)]


def _located(
    graph: Graph, keys: Keys, work: SystemWork, documents: Mapping[str, str], batches: Sequence[Batch]
) -> Iterator[Batch]:
    """Yield batches with the places of a system's contexts; adds the step that locates them."""
    (base, _, system), searched = work, tuple(documents.values())
    places: dict[str, int] = {}
    replies = tuple(
        tuple(places.setdefault(name, len(places)) for name in batch.episodes.values()) for batch in batches
    )
    made = LOCATE_VERSION, system.stage.top_k, system.stage.first_page, key("documents", searched)
    located = tuple(key("located", *made, list(batch.episodes.items())) for batch in batches)
    images = keys.images(base) if base.orders else None
    asked = tuple(batch.questions for batch in batches)
    step = LocateContexts(system.stage, system.name, base.name, asked, replies, images)
    graph.add(Step(step, located, (*places, *searched)))
    yield from (replace(batch, hits=name) for batch, name in zip(batches, located, strict=True))


def add_given(
    graph: Graph, keys: Keys, work: SystemWork, documents: Mapping[str, str], batches: Sequence[Batch]
) -> list[Batch]:
    """Add the step in which a system answers from given contexts; returns the questions with its replies.

    Args:
        work: with the knowledge base that the system has ingested, whatever it reads.
        documents: keys of that knowledge base's documents, by name.
        batches: the questions, with the keys of the hits that are given.
    """
    run, texts = _system(keys, work, documents)
    replies: dict[str, int] = {}
    parts = []
    for batch in batches:
        questions = {place: keys.inputs.questions[place] for place in batch.questions}
        names = {
            place: key("given reply", run.ingested, str(batch.hits), each.id, each.text)
            for place, each in questions.items()
        }
        replies |= {name: place for place, name in names.items()}
        parts.append(replace(batch, episodes={questions[place].id: name for place, name in names.items()}))
    hits = tuple(str(batch.hits) for batch in batches)
    _add(graph, replace(run, given=hits), replies, keys, (*texts, *hits))
    return parts


def _system(keys: Keys, work: SystemWork, documents: Mapping[str, str]) -> tuple[RunSystem, tuple[str, ...]]:
    """Return how a system works on a knowledge base, without questions, and the keys of the texts that it gets."""
    (base, _, system), inputs = work, keys.inputs
    recipe = None if system.stage.documents == "text" else keys.images(base)
    texts = () if recipe else tuple(documents.values())
    pages = (
        recipe.page(document, page.place, inputs.leaf(document, images=True)).key
        for document in (inputs.documents if recipe else ())
        for page in (recipe.placed(document) if recipe else ())
        if recipe
    )
    ingested = _ingested(keys, work, texts, list(pages))
    return RunSystem(system.stage, system.name, base.name, (), (), inputs.documents, recipe, ingested), texts


def _add(graph: Graph, run: RunSystem, replies: Mapping[str, int], keys: Keys, inputs: tuple[str, ...]) -> None:
    """Add the step that asks a system; `replies` has the place of the question of each reply."""
    if replies:
        labels = tuple(keys.inputs.questions[place].id for place in replies.values())
        work = replace(run, questions=tuple(replies.values()), labels=labels)
        graph.add(Step(work, tuple(replies), inputs))


def _ingested(keys: Keys, work: SystemWork, documents: Sequence[str], images: Sequence[str]) -> str:
    """Return the key of what a system has ingested: the documents as they are handed over.

    Args:
        documents: keys of the texts, where text is handed over; `images` those of the page images elsewhere.
    """
    base, _, system = work
    identity = [keys.identity(system.stage, *system.stage.asking), keys.files]
    # files of images bear the pages' numbers
    numbered = [[keys.placed(base, document) for document in keys.inputs.documents]] if images and base.orders else []
    return key("ingested", _INGEST_VERSION, identity, list(documents), list(images), *numbered, *again(base))
