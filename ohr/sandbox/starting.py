"""The sandbox's processes, seen from the user's: their start, their report, their end."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Collection
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from ohr.errors import DataError

from .values import Isolation, Limits, SandboxError

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
_PASSED_ON = ("LD_LIBRARY_PATH", "PYTHONHOME", "SYSTEMROOT")
"""Variables without which some interpreters do not start; no other one is passed on."""

_PATIENCE = 60.0
"""Seconds that loading the modules may take; numpy takes 0.1, a cold network drive far more."""
_ENDING = 2.0
_MOST_OF_REPORT = 1 << 16


class Processes:
    """The processes of one sandbox.

    Args:
        workers: how many lanes there are.
        without: mechanisms to leave out.

    Attributes:
        starter: their first, which starts the others.
        name: a word in the command line of each.
        isolation: what works here.

    Raises:
        DataError: when a module of the limits cannot be imported.
        SandboxError: when the processes do not start.
    """

    def __init__(self, limits: Limits, function: str, workers: int, without: Collection[str]) -> None:
        if not hasattr(os, "fork") or not sys.executable:
            raise SandboxError("programs cannot be run here: the sandbox needs a Unix system with a Python interpreter")
        self.name = f"ohr-sandbox-{secrets.token_hex(8)}"
        paths = [str(Path(path).absolute()) for path in sys.path]
        task = {"function": function, "paths": paths, "without": [*without], "workers": workers, **asdict(limits)}
        command = [sys.executable, *_OPTIONS, "-c", _BOOT, str(Path(__file__).parent), self.name]
        environment = {**_ENVIRONMENT, **{name: os.environ[name] for name in _PASSED_ON if name in os.environ}}
        self._control, its = socket.socketpair()
        self._lines: set[socket.socket] = set()  # those in use
        try:
            with its:
                self.starter = subprocess.Popen(
                    command, stdin=its.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd="/",
                    env=environment, start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            self._control.close()
            raise SandboxError(f"the sandbox's interpreter does not start: {error}") from None
        try:
            self.isolation = self._report(json.dumps(task).encode())
        except BaseException:
            self.end()
            raise

    def run(self, file: int, seconds: float) -> bytes:
        """Run the program in a file, which its reply then replaces; return the lane's report, b"" where it is lost.

        Args:
            seconds: how long the report may take.
        """
        line, its = socket.socketpair()
        with line, its, self._folder() as folder:
            self._lines.add(line)
            try:
                socket.send_fds(self._control, [folder.encode()], [file, its.fileno()])
                its.close()
                line.settimeout(seconds)
                return line.recv(_MOST_OF_REPORT)
            except OSError:
                return b""
            finally:
                self._lines.discard(line)

    def end(self) -> None:
        """End all processes; no trouble if some are gone. A line that is in use is closed by its user."""
        for end in (self._control, *self._lines):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._control.close()
        try:
            self.starter.wait(_ENDING)
        except subprocess.TimeoutExpired:
            os.killpg(self.starter.pid, signal.SIGKILL)
            self.starter.wait()
        if self.starter.stderr:
            self.starter.stderr.close()

    def _folder(self) -> AbstractContextManager[str]:
        """Return a program's folder: the filter opens none on disk; without it, by the user's word, there is one."""
        if "seccomp" in self.isolation.works:
            return nullcontext("/")
        folder = TemporaryDirectory(ignore_cleanup_errors=True)
        Path(folder.name).chmod(0o777)  # for a program that is nobody
        return folder

    def _report(self, task: bytes) -> Isolation:
        self._control.settimeout(_PATIENCE)
        try:
            self._control.sendall(task)
            message = self._control.recv(_MOST_OF_REPORT)
        except TimeoutError:
            raise SandboxError(f"the sandbox's interpreter did not start within {_PATIENCE:g} seconds") from None
        except OSError:
            message = b""
        if not message:
            with suppress(ProcessLookupError):
                os.killpg(self.starter.pid, signal.SIGKILL)
            assert self.starter.stderr
            words = self.starter.stderr.read().decode("utf-8", "replace").splitlines() or ["it printed no reason"]
            raise SandboxError(f"the sandbox's interpreter ended at its start: {words[-1]}")
        report = json.loads(message)
        if fault := report.get("fault"):
            raise DataError(f"limits of programs: modules: {fault}; install it or leave it out")
        return Isolation(tuple(report["works"]), report["lacks"], report["broken"])
