"""For the process that forks workers, which imports this first: how a worker ends that cannot begin."""

import sys
from pickle import UnpicklingError
from types import TracebackType


def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print why a worker could not begin, unless its run has ended meanwhile.

    A semaphore of the run is then gone, which is a file without a name, or what the run sends to the worker is cut.
    """
    is_semaphore = isinstance(error, FileNotFoundError) and error.filename is None
    if not (is_semaphore or isinstance(error, EOFError | UnpicklingError)):
        sys.__excepthook__(kind, error, trace)


sys.excepthook = report
