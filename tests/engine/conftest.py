import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from shutil import copytree
from typing import Any

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


@dataclass
class Home:
    """A folder with a store and runs; `run` reads a spec and runs it in this process, or with `workers`."""

    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    def write(self, text: str, name: str = "spec.yaml") -> Path:
        path = self.folder / name
        path.write_text(f"plugins: [{PLUGINS}]\nreplicates: 1\n{text}")
        return path

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
