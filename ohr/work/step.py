"""A step: one piece of work, the store keys it reads and the store keys it writes."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from ohr.contracts import Stage
from ohr.dataset.inputs import Inputs
from ohr.store import Store
from ohr.work.time_limit import Watch


@dataclass(frozen=True, slots=True)
class Context:
    """Objects that every step may use, in whichever process it runs.

    Args:
        store: where inputs are read and outputs are written.
        inputs: documents, questions and ground truth of the run.
        watch: the time limit of an item.
        say: reports how many files of prompts are at servers, how many replies are there, and how many there will be.
        asks_again: replies are made again, whatever earlier runs have under way.
    """

    store: Store
    inputs: Inputs
    watch: Watch = field(default_factory=Watch)
    say: Callable[[int, int, int], None] = lambda *_: None
    asks_again: bool = False


@dataclass(frozen=True, slots=True)
class Ready:
    """The keys of a step that is about to run.

    Args:
        inputs: aligned with `Step.inputs`; None where the input failed.
        outputs: aligned with `Step.outputs`.
        skip: outputs that failed too often to be tried again.
        whole: no input failed, directly or further up.
        alone: a worker was lost with the step: outputs that are otherwise made together are to be made one by one.
        needs: aligned with `Report.needs` of the step's last run, as `inputs` is; None in its first run.
    """

    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    skip: frozenset[str] = frozenset()
    whole: bool = True
    alone: bool = False
    needs: tuple[str | None, ...] | None = None


@dataclass
class Report:
    """The report of a finished step.

    Args:
        calls: counts of work done, by name.
        tokens: prompt and reply tokens, under `in` and `out`.
        errors: reasons, by output key, of the outputs that could not be made.
        seconds: wall time in the worker.
        values: outputs of a short step, by key, which the worker stores together with those of others.
        steps: further steps that the step asks for.
        needs: keys of further inputs: of those steps, or of others that are in the graph. When all of them are settled,
            the step runs again, unless the store has its outputs by then.
    """

    calls: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    errors: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    values: dict[str, Any] = field(default_factory=dict)
    steps: Sequence["Step"] = ()
    needs: tuple[str, ...] = ()


class Work(ABC):
    """The work of a step: a small frozen value that can be pickled; it holds no text of pages."""

    __slots__ = ()
    kind: ClassVar[str]
    """The phase of a run that it belongs to, as progress bars name it."""
    shape: ClassVar[str] = ""
    """Name of the shape of its outputs in `ohr.work.shapes`; "" where any value will do."""
    role: ClassVar[str]
    """The part that fails when it fails, as the list of failures names it."""
    named: ClassVar[str] = ""
    """Its name for messages, with fields of the work (`0`) in braces; for works that do not have their own `item`."""
    one_by_one: ClassVar[bool] = False
    """Its outputs are made in order, each kept at once: a crash is the fault of the first that is missing."""

    grows: ClassVar[bool] = False
    """It asks for more steps: once it is planned it runs, even where its outputs are there."""

    together: ClassVar[bool] = False
    """Its outputs are made together: when a worker is lost, nobody is to blame, and they are made one by one."""

    @property
    def stage(self) -> Stage | None:
        """The stage whose model the work needs; None where it needs none."""
        return None

    @property
    def item(self) -> str:
        """Name of the work, for messages."""
        return self.named.format(self)

    def label(self, place: int) -> str:  # noqa: ARG002 # for works with several outputs
        """Name one output, by its place in `Step.outputs`, for messages."""
        return self.item

    def parts(self, ready: Ready) -> int:
        """Return how many items the work has at most, each with the time limit of one."""
        return len(ready.outputs)

    @property
    def window(self) -> int:
        """Return how many works of its kind and stage run in one call, at most; 0 where each runs by itself."""
        return 0

    @property
    def posted(self) -> bool:
        """Whether it waits for hours: it runs in a thread of the run's process, and what failed is not tried again."""
        return False

    @property
    def length(self) -> int:
        """Return the characters that it holds in memory; works that run in one call are sorted by them."""
        return 0

    def grown(self, output: Any) -> Collection[str]:  # noqa: ARG002 # for works that grow
        """Return the keys of the steps that the work has asked for, from its output."""
        return ()

    @classmethod
    def run_together(cls, jobs: Sequence[tuple[Self, Ready]], context: Context) -> list[Report]:
        """Run works of one kind and stage in one call; returns their reports, in order."""
        return [work.run(ready, context) for work, ready in jobs]

    @abstractmethod
    def run(self, ready: Ready, context: Context) -> Report:
        """Make the outputs that the store does not have and that are not in `ready.skip`.

        Raises:
            Exception: anything; every output that is not in the store then counts as failed.
        """


@dataclass(frozen=True, slots=True)
class Step:
    """One piece of work in a graph; its edges are keys.

    Args:
        outputs: keys that it writes; it is done when the store has all of them.
        inputs: keys that it reads, each an output of another step.
        after: keys of steps that should run first, as both would otherwise make the same index at once.
    """

    work: Work
    outputs: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The first output, which names the step."""
        return self.outputs[0]


def missing(outputs: Sequence[str], ready: Ready, store: Store) -> list[str]:
    """List the outputs that are still to be made."""
    there = store.has_many(outputs)
    return [key for key in outputs if key not in there and key not in ready.skip]
