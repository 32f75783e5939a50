"""The sandbox's processes, seen from the user's: their start, their report, their end."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Collection
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ohr.errors import DataError

from .isolating import Isolation
from .values import Limits, SandboxError

_BOOT = "import sys; sys.path.append(sys.argv[1]); from inside.starter import main; main()"
_OPTIONS = ("-s", "-S", "-P", "-B")
"""No site-packages but those of the modules, nothing from the working folder, nothing written. `-I` would be shorter,
and would ignore PYTHONHASHSEED."""

_ENVIRONMENT = {
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "TZ": "UTC",
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
}
_KEPT = ("LD_LIBRARY_PATH", "PYTHONHOME", "SYSTEMROOT")
"""Variables without which some interpreters do not start; no other one is passed on."""

_PATIENCE = 60.0
"""Seconds that loading the modules may take; numpy takes 0.1, a cold network drive far more."""
_ENDING = 2.0
_MOST_OF_REPORT = 1 << 16


@dataclass
class Processes:
    """The processes of one sandbox.

    Args:
        starter: their first, which starts the others.
        name: a word in the command line of each.
        lines: the lines to the lanes; `free` are those that run no program.
    """

    starter: subprocess.Popen[bytes]
    name: str
    lines: list[socket.socket]
    free: list[socket.socket]
    isolation: Isolation

    def end(self) -> None:
        """End all processes; no trouble if some are gone. A line that is in use is closed by its user."""
        for line in self.lines:
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
        for line in self.free:
            line.close()
        try:
            self.starter.wait(_ENDING)
        except subprocess.TimeoutExpired:
            os.killpg(self.starter.pid, signal.SIGKILL)
            self.starter.wait()
        if self.starter.stderr:
            self.starter.stderr.close()


def start(limits: Limits, function: str, workers: int, without: Collection[str]) -> Processes:
    """Start the processes of a sandbox.

    Raises:
        DataError: when a module of the limits cannot be imported.
        SandboxError: when the processes do not start.
    """
    if not hasattr(os, "fork") or not sys.executable:
        raise SandboxError("programs cannot be run here: the sandbox needs a Unix system with a Python interpreter")
    name = f"ohr-sandbox-{secrets.token_hex(8)}"
    command = [sys.executable, *_OPTIONS, "-c", _BOOT, str(Path(__file__).parent), name]
    environment = {**_ENVIRONMENT, **{name: os.environ[name] for name in _KEPT if name in os.environ}}
    (control, its), *pairs = [socket.socketpair() for _ in range(workers + 1)]
    lines, others = [line for line, _ in pairs], [its, *(other for _, other in pairs)]
    paths = [str(Path(path).absolute()) for path in sys.path]
    task = {**asdict(limits), "function": function, "paths": paths, "without": [*without]}
    with control:
        try:
            starter = subprocess.Popen(
                command, stdin=its.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/",
                env=environment, start_new_session=True,
            )  # fmt: skip
            with suppress(OSError):  # an interpreter that has ended is noticed when it does not report
                socket.send_fds(control, [json.dumps(task).encode()], [other.fileno() for other in others[1:]])
        except OSError as error:
            for line in lines:
                line.close()
            raise SandboxError(f"the sandbox's interpreter does not start: {error}") from None
        finally:
            for other in others:
                other.close()
        processes = Processes(starter, name, lines, [*lines], Isolation((), {}))
        try:
            processes.isolation = _report(control, starter)
        except BaseException:
            processes.end()
            raise
    return processes


def _report(control: socket.socket, starter: subprocess.Popen[bytes]) -> Isolation:
    control.settimeout(_PATIENCE)
    try:
        message = control.recv(_MOST_OF_REPORT)
    except TimeoutError:
        raise SandboxError(f"the sandbox's interpreter did not start within {_PATIENCE:g} seconds") from None
    except OSError:
        message = b""
    if not message:
        raise SandboxError(f"the sandbox's interpreter ended at its start: {_last_words(starter)}")
    report = json.loads(message)
    if fault := report.get("fault"):
        raise DataError(f"limits of programs: modules: {fault}; install it or leave it out")
    return Isolation(**{**report, "works": tuple(report["works"])})


def _last_words(starter: subprocess.Popen[bytes]) -> str:
    with suppress(ProcessLookupError):
        os.killpg(starter.pid, signal.SIGKILL)
    lines = starter.stderr.read().decode("utf-8", "replace").splitlines() if starter.stderr else []
    return lines[-1] if lines else "it printed no reason"
