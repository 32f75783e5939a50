"""The steps in which systems reply: one for each knowledge base, which ingests its documents and asks all questions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ohr.graph.cache_keys import Keys, again
from ohr.graph.cells import SystemWork
from ohr.graph.graph import Batch, Graph
from ohr.graph.indexes import Scope
from ohr.keys import key
from ohr.steps.systems.locate_contexts import LOCATE_VERSION, LocateContexts
from ohr.steps.systems.run_system import RunSystem
from ohr.work.step import Step

_INGEST_VERSION = 1
"""Raised when documents are handed over differently."""


def add_replies(graph: Graph, keys: Keys, work: SystemWork, documents: Mapping[str, str]) -> list[Batch]:
    """Add the steps in which a system answers all questions about a knowledge base.

    Args:
        documents: keys of the knowledge base's documents, by name.

    Returns:
        the questions, with the keys of their replies, and of the places of their contexts.
    """
    (base, _, system), inputs = work, keys.inputs
    run, texts = _system(keys, work, documents)
    asked = [run.ingested, keys.identity(system.stage, "first_page")]
    replies = {place: key("system reply", asked, inputs.questions[place].text) for place in inputs.asked}
    first = {name: place for place, name in reversed(replies.items())}  # equal words are asked once
    _add(graph, run, {name: first[name] for name in dict.fromkeys(replies.values())}, keys, texts)
    batches, searched = [], tuple(documents.values())
    for batch in Scope("", (), inputs.asked).batches():
        ids = tuple(inputs.questions[place].id for place in batch)
        given = {question: replies[place] for question, place in zip(ids, batch, strict=True)}
        unique = tuple(dict.fromkeys(given.values()))
        places = tuple(unique.index(given[question]) for question in ids)
        located = key(
            "located", LOCATE_VERSION, system.stage.top_k, system.stage.first_page, *map(list, (unique, searched, ids))
        )
        images = keys.images(base) if base.orders else None
        step = LocateContexts(system.stage, system.name, base.name, batch, places, images)
        graph.add(Step(step, (located,), (*unique, *searched)))
        batches.append(Batch(batch, hits=located, episodes=given))
    return batches


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
    return key("ingested", _INGEST_VERSION, identity, list(documents), list(images), *again(base))
