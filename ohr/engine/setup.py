"""Settings of a worker process."""

from dataclasses import dataclass
from pathlib import Path

from ohr.dataset.inputs import Inputs
from ohr.errors import OhrError


@dataclass(frozen=True, slots=True)
class Setup:
    """Settings that each worker receives once, when it starts.

    Args:
        store: URL of the store; None where calls need no store.
        inputs: of the run.
        plugin_files: loaded before any work.
        seconds: longest time for one item; None for no limit.
        memory: most bytes of data of one worker; None for no limit.
    """

    store: str | None = None
    inputs: Inputs | None = None
    plugin_files: tuple[Path, ...] = ()
    seconds: float | None = None
    memory: int | None = None


def reason(error: BaseException) -> str:
    """Put an exception in one sentence."""
    return str(error) if isinstance(error, OhrError) else f"{type(error).__name__}: {error}"
