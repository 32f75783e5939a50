"""Things that hostile programs may not reach: files, sockets, a secret, and the processes of the test."""

import os
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from ohr.sandbox import UNSAFE, Isolation, Limits, Outcome, Sandbox, isolation

HONEST = "import math\ndef solution():\n    return math.sqrt(1764)\n"
QUICK = Limits(seconds=0.5, cpu_seconds=1, memory_mb=64, folder_mb=4)
WITHOUT_ALL = ("seccomp", "limits", "namespaces")
WEAKER = {"the filter and the limits alone": ("namespaces",)}


@dataclass
class Scene:
    """Files and sockets outside the sandbox, and a look at whether they were touched."""

    outside: Path
    home: Path
    token: str
    listeners: dict[str, socket.socket]
    signals: list[int] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.listeners["TCP"].getsockname()[1])

    def fill(self, program: str) -> str:
        """Write the places of this scene into a program."""
        places = {
            "CANARY": self.outside / "canary.txt",
            "OUTSIDE": self.outside,
            "HOME": self.home,
            "PARENT": os.getpid(),
            "PORT": self.port,
            "ABSTRACT": self.token[:8],
        }
        for name, place in places.items():
            program = program.replace(f"@{name}@", str(place))
        return program

    def reset(self) -> None:
        """Put everything in its first state."""
        shutil.rmtree(self.outside, ignore_errors=True)
        (self.outside / "empty").mkdir(parents=True)
        for folder in (self.outside, self.outside / "empty"):
            folder.chmod(0o777)
        for file in (self.outside / "canary.txt", self.outside / "canary.py", self.home):
            file.write_text(f"token = '{self.token}'")
            file.chmod(0o666)
        self.reached()
        self.signals.clear()
        self.first = self.state()

    def state(self) -> list[tuple[object, ...]]:
        """List all files with what a program might change."""
        files = [self.home, self.outside, *sorted(self.outside.rglob("*"))]
        seen = [(file, file.lstat()) for file in files]
        return [(str(f), s.st_mode, s.st_uid, s.st_mtime, s.st_size, tuple(os.listxattr(f))) for f, s in seen]

    def traces(self) -> list[str]:
        """List what has reached the outside."""
        files = [] if self.state() == self.first else ["files have changed"]
        return [*files, *self.reached(), *(f"signal {number} arrived" for number in self.signals)]

    def reached(self) -> list[str]:
        """List the sockets that something has reached since the last look."""
        found = []
        for name, listener in self.listeners.items():
            with suppress(BlockingIOError):
                if name == "UDP":
                    listener.recv(10)
                else:
                    listener.accept()[0].close()
                found.append(f"{name} was reached")
        return found

    def shown(self, outcome: Outcome) -> list[str]:
        """List what an outcome shows of the outside."""
        return [word for word in (self.token, "ESCAPED") if word in f"{outcome.value} {outcome.error} {outcome.kind}"]


def processes(sandbox: Sandbox) -> set[int]:
    """Return the processes of a sandbox, zombies left out; none when it has lost its lanes."""
    if sandbox._processes is None:
        return set()
    ours, found = sandbox._processes.name.encode(), set()
    for name in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if ours in (name / "cmdline").read_bytes():  # forks have the words of the starter
                found.add(int(name.name))
    return found


def settled(sandbox: Sandbox) -> set[int]:
    """Return the processes of a sandbox when all its lanes have answered."""
    assert all(outcome.number == 42 for outcome in sandbox.run([HONEST] * sandbox._workers))
    return processes(sandbox)


@pytest.fixture(scope="session")
def here() -> Isolation:
    """The isolation of this machine; where there is none, no program runs and the tests have nothing to try."""
    found = isolation()
    if not found.suffices:
        pytest.skip(f"programs cannot be isolated here: {found.why}")
    return found


@pytest.fixture(scope="module")
def scene(here) -> Iterator[Scene]:
    token, before = secrets.token_hex(16), {}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ohr-canary-")))
        folder.chmod(0o777)
        home = stack.enter_context(tempfile.NamedTemporaryFile(dir=Path.home(), prefix=".ohr-canary-"))
        listeners = {
            "TCP": stack.enter_context(socket.socket()),
            "UDP": stack.enter_context(socket.socket(type=socket.SOCK_DGRAM)),
            "abstract": stack.enter_context(socket.socket(socket.AF_UNIX)),
        }
        listeners["TCP"].bind(("127.0.0.1", 0))
        listeners["UDP"].bind(listeners["TCP"].getsockname())
        listeners["abstract"].bind(f"\0{token[:8]}")
        for name, listener in listeners.items():
            listener.setblocking(False)
            if name != "UDP":
                listener.listen()
        made = Scene(folder / "outside", Path(home.name), token, listeners)
        for number in (signal.SIGUSR1, signal.SIGTERM):
            before[number] = signal.signal(number, lambda number, _: made.signals.append(number))
        os.environ["OHR_CANARY"] = token
        yield made
        del os.environ["OHR_CANARY"]
        for number, handler in before.items():
            signal.signal(number, handler)


@pytest.fixture
def reset(scene) -> Scene:
    """The scene in its first state."""
    scene.reset()
    return scene


@pytest.fixture(scope="module")
def sandbox(scene) -> Iterator[Sandbox]:
    """One sandbox for all programs of a module, which starts with a secret in the environment."""
    with Sandbox(QUICK, workers=1) as made:
        settled(made)
        yield made


@pytest.fixture(scope="module")
def unprotected(scene) -> Iterator[Sandbox]:
    """A sandbox without any wall, and with the time that its programs need on a busy machine."""
    with Sandbox(replace(QUICK, seconds=20), workers=1, unsafe=UNSAFE, without=WITHOUT_ALL) as made:
        yield made
