"""The memory of a run does not grow with its answers."""

import gc

from ohr.runner.tabulate import Tabulator
from ohr.steps.answers.generate import Answer

SPEC = """\
benchmark: {kind: tiny, size: 2}
knowledge_bases: [{name: clean}, {name: formatting, text_noise: {kind: formatting, rate: [0.1, 0.6]}}]
chunker: {kind: page}
retrievers: [{kind: bm25}]
generators: [{kind: parrot}]
"""


def steps():
    return [found for found in gc.get_objects() if type(found) is Answer]  # `isinstance` would ask other objects


def test_prompts_are_freed_once_their_answers_are_in_the_tables(home, monkeypatch):
    others = list(map(id, steps()))  # what earlier tests left in this process
    held = []

    def constant(_):  # called after the last answer
        gc.collect()
        held.extend(step for step in steps() if id(step) not in others)

    monkeypatch.setattr(Tabulator, "constant", constant)
    home.run(SPEC)
    assert held == []
