"""Progress is counted in the unit of each phase, also within a step that takes long."""

from ohr.engine import progress
from ohr.engine.progress import Tally
from ohr.engine.tasks import Task
from ohr.store import open_store
from ohr.work.step import Step


class Answering:
    kind = "answering"


class Shown:
    def __init__(self):
        self.lines = []

    def update(self, phase, done, total):
        self.lines.append((phase, done, total))


def test_prompts_of_one_step_are_counted_as_they_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    store, shown = open_store(tmp_path), Shown()
    counted, task = Tally(shown), Task(Step(Answering(), ("aaa", "bbb", "ccc")))
    counted.plan([task])
    counted.look(store, [task])
    store.put_many({"aaa": "1", "bbb": "2"})
    counted._next = 0.0
    counted.look(store, [task])
    store.put("ccc", "3")
    counted.finish(task, {})
    assert shown.lines == [("answering", 0, 3), ("answering", 2, 3), ("answering", 3, 3)]
