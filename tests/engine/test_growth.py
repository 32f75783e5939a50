"""Steps that ask for more steps."""

import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ohr.dataset.inputs import read_inputs
from ohr.engine import tasks as all_tasks
from ohr.engine.executors.inline import Inline
from ohr.engine.executors.local import Local
from ohr.engine.ledger import Ledger
from ohr.engine.progress import Quiet
from ohr.engine.session import Session
from ohr.engine.tasks import Growth, Lane, Task
from ohr.graph.graph import Graph
from ohr.spec.read import read_spec
from ohr.store import open_store
from ohr.work.step import Report, Step, Work

SPEC = "benchmark: {kind: tiny}\nknowledge_bases: [{name: clean}]\nevaluate: [page]\n"


def name(text: str) -> str:
    return text.encode().hex().ljust(64, "0")


@dataclass(frozen=True, slots=True)
class Number(Work):
    """Writes a number."""

    kind: ClassVar[str] = "numbers"
    role: ClassVar[str] = "test"
    number: int
    fails: bool = False

    @property
    def item(self) -> str:
        return f"number {self.number}"

    def run(self, ready, context):
        if self.fails:
            raise ValueError("no such number")
        context.store.put(ready.outputs[0], self.number)
        return Report()


@dataclass(frozen=True, slots=True)
class Sum(Work):
    """Asks for numbers, one after the other, and adds them up; `dies`: a file, without which its process is killed."""

    kind: ClassVar[str] = "sums"
    role: ClassVar[str] = "test"
    grows: ClassVar[bool] = True
    most: int
    dies: str = ""
    fails: bool = False

    @property
    def item(self) -> str:
        return f"sum to {self.most}"

    def run(self, ready, context):
        there = ready.needs or ()
        if self.dies and len(there) == 2 and not Path(self.dies).exists():
            Path(self.dies).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if len(there) < self.most:
            numbers = range(len(there) + 1)
            steps = [Step(Number(number, self.fails), (name(f"number {number}"),)) for number in numbers]
            return Report(steps=steps, needs=tuple(step.key for step in steps))
        context.store.put(ready.outputs[0], sum(context.store.get(key) or 0 for key in there if key))
        return Report()


@dataclass
class Bench:
    session: Session
    scheduler: Any

    def run(self, *works: Work) -> Mapping[str, Any]:
        graph = Graph()
        keys = [graph.add(Step(work, (name(work.item),))).key for work in works]
        self.scheduler.add(graph, keys)
        self.scheduler.settle(keys)
        return self.scheduler.read(keys)


@pytest.fixture(params=["inline", "processes"])
def bench(home, request):
    spec = read_spec(home.write(SPEC), trust_plugins=True)
    executor = Inline() if request.param == "inline" else Local(2)
    session = Session(read_inputs(spec), open_store(home.store), executor, Ledger(100), Quiet())
    with session.started(spec):
        yield Bench(session, session.scheduler(spec))


def test_a_step_may_ask_again_and_again(bench):
    assert bench.run(Sum(5), Sum(3)) == {name("sum to 5"): 10, name("sum to 3"): 3}


def test_a_step_that_asks_without_end_fails_with_the_limit(bench, monkeypatch):
    monkeypatch.setattr(all_tasks, "MOST_GROWN", 40)
    assert bench.run(Sum(1000), Sum(3)) == {name("sum to 3"): 3}
    assert [failure.reason for failure in bench.session.ledger.failures] == [
        "it asked for more than 40 steps: it does not end"
    ]


def test_what_is_made_with_a_gap_is_not_kept_as_the_whole(bench):
    total = bench.run(Sum(2, fails=True))
    assert list(total.values()) == [0] and bench.session.store.get(name("sum to 2")) is None
    assert {failure.item for failure in bench.session.ledger.failures} == {"number 0", "number 1"}


@pytest.mark.parametrize("bench", ["processes"], indirect=True)
def test_a_worker_that_is_lost_while_its_step_grows(bench, tmp_path):
    assert bench.run(Sum(4, dies=str(tmp_path / "died")), Sum(3)) == {name("sum to 4"): 6, name("sum to 3"): 3}
    assert (tmp_path / "died").exists() and not bench.session.ledger.failures


@dataclass(frozen=True, slots=True)
class Letter(Number):
    """A work of which three run in one call."""

    window: ClassVar[int] = 3

    @property
    def length(self) -> int:
        return self.number


def task(work: Work) -> Task:
    return Task(Step(work, (name(work.item),)))


def test_what_steps_ask_for_is_added_in_their_order_whichever_ends_first():
    first, second, third = tasks = [task(Sum(most)) for most in (1, 2, 3)]
    pending, growth = {each.step.key: each for each in tasks}, Growth()
    growth.plan(tasks)
    assert growth.ask(third, Report(steps=[third.step]), pending) == []
    assert growth.ask(first, Report(steps=[first.step]), pending) == [first]
    del pending[second.step.key]  # it ends, and asks for nothing
    assert growth.take_turns("sums", pending) == [third]


def test_a_model_with_a_device_to_itself_gets_whole_batches():
    lane, eager = Lane(alone=True), Lane(alone=False)
    for number in (5, 2, 9, 7):
        lane.push(task(Letter(number)))
        eager.push(task(Letter(number)))
    assert [each.step.work.number for each in lane.take(1, {})] == [2, 5, 9]
    assert lane.take(1, {}) == [] and len(lane) == 1
    assert [each.step.work.number for each in lane.take(1, {}, last=True)] == [7] and not lane.held
    assert [len(eager.take(1, {})) for _ in range(3)] == [3, 1, 0]


def test_no_more_prompts_are_made_while_memory_holds_no_more():
    lane = Lane(alone=False)
    lane.push(task(Sum(3)))
    assert lane.take(1, {}, full=True) == []
    lane.push(task(Letter(4)))
    assert [type(each.step.work) for each in lane.take(1, {}, full=True, last=True)] == [Letter]
    assert lane.take(1, {}, full=True, last=True) == []
