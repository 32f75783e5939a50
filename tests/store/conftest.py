"""Stores of each kind, in an empty place of their own."""

import logging
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import fsspec
import pytest

from ohr.store import Store, open_store

BUCKET = "ohr-tests"


@dataclass(frozen=True)
class Place:
    """Where a store is, and ways to harm it from outside."""

    kind: str
    url: str

    def open(self) -> Store:
        return open_store(self.url)

    @property
    def is_local(self) -> bool:
        return self.kind == "local"

    def change(self, key: str, content: bytes | None = None) -> None:
        """Write other bytes in place of a value's, without its checksum; None changes one bit of them."""
        if self.is_local:
            with closing(sqlite3.connect(Path(self.url) / "values/values.sqlite", isolation_level=None)) as db:
                (old,) = db.execute("SELECT value FROM objects WHERE key = ?", (key,)).fetchone()
                db.execute("UPDATE objects SET value = ? WHERE key = ?", (_flipped(old, content), key))
        else:
            fs, root = fsspec.url_to_fs(self.url)
            path = f"{root}/objects/{key[:2]}/{key[2:]}"
            fs.pipe_file(path, _flipped(fs.cat_file(path), content))

    def delete(self) -> None:
        """Remove the whole store."""
        if self.is_local:
            shutil.rmtree(self.url)
        else:
            fs, root = fsspec.url_to_fs(self.url, use_listings_cache=False, skip_instance_cache=True)
            fs.rm(root, recursive=True)


def _flipped(old: bytes, content: bytes | None) -> bytes:
    return bytes([*old[:-1], old[-1] ^ 1]) if content is None else content


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """A real S3-style server with a bucket; returns the bucket's URL."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        fsspec.filesystem("s3").mkdir(BUCKET)
        yield f"s3://{BUCKET}"
    server.stop()


@pytest.fixture(autouse=True)
def cache_home(tmp_path, monkeypatch) -> Path:
    """The place of downloaded folders."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch) -> None:
    """Look at a remote store at each verb, not every two seconds."""
    monkeypatch.setattr("ohr.store.remote._TRUST", 0.0)


@pytest.fixture
def place(request, tmp_path) -> Place:
    """A place of the kind that the test names; a folder on this machine if it names none."""
    kind = getattr(request, "param", "local")
    if kind == "s3":
        url = f"{request.getfixturevalue('s3')}/{uuid4().hex}"
    else:
        folder = tmp_path / "store"
        url = {"local": str(folder), "disk": folder.as_uri(), "memory": f"memory://{uuid4().hex}"}[kind]
    return Place(kind, url)


@pytest.fixture
def store(place) -> Store:
    """A store in that place, in which nothing was written yet."""
    return place.open()


@pytest.fixture
def root(place) -> Path:
    """The folder of a local store."""
    return Path(place.url)


@pytest.fixture
def file(root) -> Path:
    """The database of a local store."""
    return root / "values" / "values.sqlite"


@pytest.fixture
def many() -> dict[str, object]:
    """Values that take some fifty pages of a database."""
    return {f"key{n:04}": {"n": n, "filler": "x" * 700} for n in range(300)}


@pytest.fixture
def settled() -> Callable[[Store], None]:
    """Let SQLite bring the log of a local store into its database, as at the end of a process."""
    return lambda store: store._db.close()


@pytest.fixture
def run() -> Callable[..., str]:
    """Run Python in a process of its own; returns what it prints."""
    head = "import sys\nfrom ohr.errors import StoreError\nfrom ohr.store import open_store\n"

    def started(code: str, *words: object) -> str:
        command = [sys.executable, "-c", head + code, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    return started
