"""The first code of a worker process: it imports nothing heavy, as libraries read the environment when they load."""

import os
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def begin(environment: Mapping[str, str], plugin_files: Sequence[Path], setup: bytes, *of_run: Any) -> None:
    """Set the environment, then set the process up.

    Args:
        environment: all variables of the worker.
        plugin_files: loaded first, as the setup may hold values of their classes.
        setup: a pickled Setup: unpickled here, after the environment is set.
        of_run: further arguments of `ohr.engine.worker.begin`.
    """
    os.environ.clear()
    os.environ.update(environment)
    from ohr.engine.worker import begin as begin_work
    from ohr.registry import load_file

    for path in plugin_files:
        load_file(path)
    begin_work(pickle.loads(setup), *of_run)  # from the parent process, not from a file


def nothing() -> None:
    """Do nothing, in a worker: the pool has started when this has ended."""
