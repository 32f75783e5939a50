"""A step: one piece of work, the store keys it reads and the store keys it writes."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

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
        given_up: models that this process has given up during the run, with the time and the reason.
    """

    store: Store
    inputs: Inputs
    watch: Watch = field(default_factory=Watch)
    given_up: dict[str, tuple[float, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ready:
    """The keys of a step that is about to run.

    Args:
        inputs: aligned with `Step.inputs`; None where the input failed.
        outputs: aligned with `Step.outputs`.
        skip: outputs that failed too often to be tried again.
        whole: no input failed, directly or further up.
        alone: a worker was lost with the step: outputs that are otherwise made together are to be made one by one.
    """

    inputs: tuple[str | None, ...]
    outputs: tuple[str, ...]
    skip: frozenset[str] = frozenset()
    whole: bool = True
    alone: bool = False


@dataclass
class Report:
    """The report of a finished step.

    Args:
        calls: counts of work done, by name.
        tokens: prompt and reply tokens, under `in` and `out`.
        errors: reasons, by output key, of the outputs that could not be made.
        seconds: wall time in the worker.
        values: outputs of a short step, by key, which the worker stores together with those of others.
        asked: prompts that the step has made and that have no answer yet, by the answer's key.
    """

    calls: Counter[str] = field(default_factory=Counter)
    tokens: Counter[str] = field(default_factory=Counter)
    errors: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    values: dict[str, Any] = field(default_factory=dict)
    asked: dict[str, Any] = field(default_factory=dict)


class Work(ABC):
    """The work of a step: a small frozen value that can be pickled; it holds no text of pages."""

    __slots__ = ()
    kind: ClassVar[str]
    """The phase of a run that it belongs to, as progress bars name it."""
    shape: ClassVar[str] = ""
    """Name of the shape of its outputs in `ohr.work.shapes`; "" where any value will do."""
    role: ClassVar[str]
    """The part that fails when it fails, as the list of failures names it."""
    one_by_one: ClassVar[bool] = False
    """Its outputs are made in order, each kept at once: a crash is the fault of the first that is missing."""

    reports: ClassVar[bool] = False
    """Its report has more than the store keeps: once it is planned it runs, even where its outputs are there."""

    together: ClassVar[bool] = False
    """Its outputs are made together: when a worker is lost, nobody is to blame, and they are made one by one."""

    @property
    def stage(self) -> Stage | None:
        """The stage whose model the work needs; None where it needs none."""
        return None

    @property
    @abstractmethod
    def item(self) -> str:
        """Name of the work, for messages."""

    def label(self, place: int) -> str:  # noqa: ARG002 # for works with several outputs
        """Name one output, by its place in `Step.outputs`, for messages."""
        return self.item

    def parts(self, ready: Ready) -> int:
        """Return how many items the work has at most, each with the time limit of one."""
        return len(ready.outputs)

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
