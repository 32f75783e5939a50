import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree, rmtree
from time import monotonic, sleep
from typing import Any, ClassVar

import pytest

from ohr.dataset.inputs import read_inputs
from ohr.engine.executors.inline import Inline
from ohr.graph.cache_keys import Keys
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows
from ohr.runner.run import Finished, run
from ohr.spec.read import read_spec

from ..conftest import serving

PLUGINS = Path(__file__).parents[1] / "plugins.py"
OHR = Path(sys.executable).with_name("ohr")


@dataclass
class Home:
    """A folder with a store and runs; `run` reads a spec and runs it in this process, or with `workers`."""

    plugins: ClassVar[tuple[Path, ...]] = (PLUGINS,)
    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def write(self, text: str, name: str = "spec.yaml", **plugins: str) -> Path:
        """Write a spec, and further files of plugins by their names."""
        path, names = self.folder / name, [f"{plugin}.py" for plugin in plugins]
        for plugin, code in zip(names, plugins.values(), strict=True):
            (self.folder / plugin).write_text(code)
        path.write_text(f"plugins: [{', '.join(map(str, (*names, *self.plugins)))}]\nreplicates: 1\n{text}")
        return path

    def start(self, text: str, *words: str, **environment: str) -> "subprocess.Popen[str]":
        """Start a run as a user does, in a process group of its own."""
        self.write(text)
        command = [OHR, "run", "spec.yaml", "--no-figures", "--trust-plugins", "--store", "store", "--runs", "runs"]
        return subprocess.Popen(
            [*command, *(words or ("--workers", "1"))],
            cwd=self.folder,
            env={**os.environ, **environment},
            start_new_session=True,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, text: str, *overrides: str, workers: int | None = None) -> Finished:
        return self.run_file(self.write(text), *overrides, workers=workers)

    def run_file(self, path: Path, *overrides: str, workers: int | None = None, fresh: str | None = None) -> Finished:
        spec = read_spec(path, overrides, trust_plugins=True)
        executor = None if workers else Inline()
        return run(spec, store=self.store, runs=self.folder / "runs", workers=workers, executor=executor, fresh=fresh)

    def keys(self, text: str, *overrides: str) -> Keys:
        spec = read_spec(self.write(text), overrides, trust_plugins=True)
        return Keys(spec, read_inputs(spec))

    def log(self, name: str) -> Counter[str]:
        """Count the lines of a log."""
        path = self.folder / name
        return Counter(path.read_text().splitlines()) if path.exists() else Counter()


@pytest.fixture
def home(tmp_path) -> Home:
    return Home(tmp_path)


@pytest.fixture(scope="module")
def once(tmp_path_factory) -> Callable[..., Finished]:
    """Run a study in a home of its own, for tests that only read it."""
    return lambda *text, kind=Home, **options: kind(tmp_path_factory.mktemp("once")).run(*text, **options)


def wait_until(condition: Callable[[], object], process: "subprocess.Popen[str]", seconds: float = 100) -> None:
    """Wait until something holds, or a process has ended, or some time has passed."""
    until = monotonic() + seconds
    while not condition() and process.poll() is None and monotonic() < until:
        sleep(0.01)


def continued(home, finished):
    """Return a home in which a finished study of another home was run."""
    copytree(finished.folder.parents[2], home.folder, dirs_exist_ok=True)
    return home


def rows(finished, table="scores", **wanted):
    """Pick the rows of a run's table by the values of their columns."""
    found = read_rows(finished.folder / f"{table}.parquet")
    return [row for row in found if all(row[name] == value for name, value in wanted.items())]


def values(finished, **wanted):
    """Return question to value of the picked rows."""
    return {row["question_id"]: row["value"] for row in rows(finished, **wanted)}


def without_times(finished, table="scores"):
    """Return the rows of a table as text, without what takes time."""
    return [str({key: value for key, value in row.items() if "second" not in key}) for row in rows(finished, table)]


def run_again(home, text, **options):
    """Run a study again whose results were deleted, but not its store."""
    rmtree(home.folder / "runs")
    return home.run_file(home.write(text), **options)


def doses(finished):
    """Return the doses of a run's knowledge bases."""
    return Run(finished.folder).manifest["noise"]


def warnings(finished):
    """Return the warnings of a run."""
    return Run(finished.folder).manifest["warnings"]


@contextmanager
def answering(
    reply: Callable[[dict[str, Any]], tuple[int, str] | None], sent: Callable[[dict[str, Any], str], None] | None = None
) -> Iterator[str]:
    """Serve the chat API; yields its root.

    Args:
        reply: returns status and text for the body of a request; None leaves it without a reply.
        sent: is called with a body and its reply where the client has taken it.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):  # the library's name
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if (answer := reply(body)) is None:
                return
            status, text = answer
            with suppress(OSError):  # the client was killed
                self.send_response(status)
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())
                self.wfile.flush()
                if sent:
                    sent(body, text)

        def log_message(self, *arguments):
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size, daemon_threads = 64, True

    server = Server(("127.0.0.1", 0), Handler)
    with serving(server):
        yield f"http://127.0.0.1:{server.server_port}/v1"
