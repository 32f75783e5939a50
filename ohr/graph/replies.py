"""The steps in which systems reply: one for each knowledge base, which ingests its documents and asks all questions."""

from collections.abc import Mapping

from ohr.graph.cache_keys import Keys
from ohr.graph.cells import SystemWork
from ohr.graph.graph import Batch, Graph
from ohr.graph.indexes import Scope
from ohr.keys import key
from ohr.steps.systems.locate_contexts import LocateContexts
from ohr.steps.systems.run_system import RunSystem
from ohr.work.step import Step

_SHORT = 8
"""Digits of a key that tell two conditions of one name apart, such as those of two runs."""


def add_replies(graph: Graph, keys: Keys, work: SystemWork, documents: Mapping[str, str]) -> list[Batch]:
    """Add the steps in which a system answers all questions about a knowledge base.

    Args:
        documents: keys of the knowledge base's documents, by name.

    Returns:
        the questions, with the keys of their replies, and of the places of their contexts.
    """
    (base, _, system), inputs = work, keys.inputs
    recipe = None if system.stage.documents == "text" else keys.images(base)
    texts = tuple(documents.values()) if recipe is None else ()
    pages = (
        [
            recipe.page(document, index, inputs.leaf(document, images=True)).key
            for document in inputs.documents
            for index in range(document.pages)
        ]
        if recipe
        else []
    )
    ingested = keys.ingested(system.stage, base, texts, pages)
    replies = {place: keys.system_reply(ingested, inputs.questions[place]) for place in inputs.asked}
    places = {name: place for place, name in reversed(replies.items())}  # equal words are asked once
    asked = dict(sorted(places.items(), key=lambda item: item[1]))
    labels = tuple(inputs.questions[place].id for place in asked.values())
    name = f"{base.name.replace('#', '-')}-{key('handle', ingested)[:_SHORT]}"
    run = RunSystem(
        system.stage, system.name, base.name, name, tuple(asked.values()), labels, inputs.documents, recipe, ingested
    )
    if asked:
        graph.add(Step(run, tuple(asked), texts))
    batches = []
    for batch in Scope("", (), inputs.asked).batches():
        ids = tuple(inputs.questions[place].id for place in batch)
        given = {question: replies[place] for question, place in zip(ids, batch, strict=True)}
        unique = tuple(dict.fromkeys(given.values()))
        searched = tuple(documents.values())
        located = keys.located(unique, searched, system.stage, ids)
        step = LocateContexts(
            system.stage, system.name, base.name, batch, tuple(unique.index(given[question]) for question in ids)
        )
        graph.add(Step(step, (located,), (*unique, *searched)))
        batches.append(Batch(batch, hits=located, episodes=given))
    return batches
