"""Objects behind a URL, by fsspec: what RemoteStore needs of S3 and similar servers, and of a shared disk."""

import os
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from ohr import extras
from ohr.errors import MissingExtra, OhrError, StoreError
from ohr.store.folders import is_file, new_folder
from ohr.store.reasons import sentence
from ohr.unfinished import remove

_AT_ONCE = 1000
"""Objects read in one call, so that memory holds few of them as bytes."""

_THREADS = 16
"""Requests at the same time where fsspec has no bulk call."""

_FEW = 4
"""Names in one folder up to which a request for each costs less than a listing, of 1,000 names a request."""


class Bucket:
    """Objects by their names relative to a URL. All verbs raise a StoreError when the server or disk fails.

    Raises:
        MissingExtra: fsspec, or its part for this kind of URL, is not installed.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._on_disk = url.startswith(("file:", "local:"))
        self._connect()

    def _connect(self) -> None:
        fsspec = extras.load("fsspec", "cluster")
        options: dict[str, Any] = {"auto_mkdir": True} if self._on_disk else {"use_listings_cache": False}
        if self.url.startswith(("s3:", "s3a:")):
            # else s3fs asks for each object's size first, to fetch large ones in parts: twice the requests
            options["max_concurrency"] = 1
        try:
            self._fs, self._root = fsspec.url_to_fs(self.url, **options)
        except ImportError as error:
            raise MissingExtra(f"{self.url}: {error}: pip install 'ohr[cluster]'") from error
        except ValueError as error:
            raise StoreError(f"{self.url} cannot be a store: {error}") from error
        self._pid = os.getpid()

    @contextmanager
    def _fsspec(self, done: str) -> Iterator[Any]:
        """Lend the file system; whatever it raises, each kind has its own, becomes a StoreError."""
        if self._pid != os.getpid():  # connections do not survive a fork
            self._connect()
        try:
            yield self._fs
        except OhrError:
            raise
        except OSError as error:
            raise StoreError(sentence(error, self.url, done)) from error
        except Exception as error:
            line = next(iter(str(error).splitlines()), "")
            raise StoreError(f"the store at {self.url} cannot be {done}: {type(error).__name__}: {line}") from error

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    def read(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Read objects; absent ones are left out."""
        waiting = iter(names)
        while some := list(islice(waiting, _AT_ONCE)):
            with self._fsspec("read") as fs:
                paths = {self._path(name): name for name in some}
                if self._on_disk:
                    paths = {path: name for path, name in paths.items() if is_file(Path(path))}
                ends = [None] * len(paths)  # `cat` would first ask whether each of them exists
                found = fs.cat_ranges(list(paths), ends, ends, on_error="return")
                contents = dict(zip(paths, found, strict=True))
                for content in contents.values():
                    if isinstance(content, Exception) and not isinstance(content, FileNotFoundError):
                        raise content
            yield from ((paths[path], content) for path, content in contents.items() if isinstance(content, bytes))

    def read_one(self, name: str) -> bytes | None:
        """Read an object; None when it is absent."""
        return dict(self.read((name,))).get(name)

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write objects, each whole or not at all."""
        with self._fsspec("written") as fs:
            if self._on_disk:
                for new, path in self._written(files):
                    if path.is_dir():
                        remove(path)
                    new.replace(path)
            else:
                fs.pipe({self._path(name): content for name, content in files.items()})

    def create(self, name: str, content: bytes) -> None:
        """Write an object unless there is one."""
        with self._fsspec("written") as fs, suppress(FileExistsError):
            if self._on_disk:
                for new, path in self._written({name: content}):
                    os.link(new, path)
            else:
                fs.pipe_file(self._path(name), content, mode="create")

    def _written(self, files: Mapping[str, bytes]) -> Iterator[tuple[Path, Path]]:
        """Write files on a disk under other names; they are to be renamed one by one."""
        folder = new_folder(Path(self._root))
        try:
            for name, content in files.items():
                path, new = Path(self._path(name)), folder / "new"
                new.unlink(missing_ok=True)
                new.write_bytes(content)
                path.parent.mkdir(parents=True, exist_ok=True)
                yield new, path
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects; absent ones do not matter."""
        with self._fsspec("written") as fs:
            try:
                if names:
                    fs.rm([self._path(name) for name in names])
            except FileNotFoundError:  # one of them, which may have kept the others
                if names[1:]:
                    for name in names:
                        self.delete([name])

    def delete_below(self, names: Sequence[str]) -> None:
        """Delete folders of objects; absent ones do not matter."""
        with self._fsspec("written") as fs:
            for name in names:
                with suppress(FileNotFoundError):
                    fs.rm(self._path(name), recursive=True)

    def listed(self, folder: str) -> list[str]:
        """List the last parts of the names in a folder."""
        with self._fsspec("read") as fs:
            try:
                return [path.rstrip("/").rpartition("/")[2] for path in fs.ls(self._path(folder), detail=False)]
            except FileNotFoundError:
                return []

    def present(self, names: Collection[str]) -> set[str]:
        """Return those of the names that have an object."""
        folders: dict[str, list[str]] = {}
        for name in names:
            folders.setdefault(name.rpartition("/")[0], []).append(name)
        with ThreadPoolExecutor(_THREADS) as pool:
            return set().union(*pool.map(self._present, folders, folders.values()))

    def _present(self, folder: str, names: Sequence[str]) -> set[str]:
        if len(names) > _FEW:
            return {f"{folder}/{part}" for part in self.listed(folder)}.intersection(names)
        return {name for name in names if self._is_there(name)}

    def _is_there(self, name: str) -> bool:
        with self._fsspec("read") as fs:
            try:
                return bool(fs.info(self._path(name))["type"] == "file")
            except FileNotFoundError:
                return False

    def measured(self, folder: str = "") -> Iterator[tuple[str, int, float]]:
        """List the names below a folder, without the folder's own, with their bytes and times of writing."""
        top = self._path(folder).rstrip("/")
        with self._fsspec("read") as fs:
            found = fs.find(top, detail=True)
        for path, info in found.items():
            yield path[len(top) + 1 :], info["size"] or 0, _written_at(info)

    def upload(self, files: Mapping[str, Path]) -> None:
        """Copy local files to objects."""
        with self._fsspec("written") as fs:
            if files:
                fs.put([str(path) for path in files.values()], [self._path(name) for name in files])

    def download(self, files: Mapping[str, Path]) -> None:
        """Copy objects to local files; absent ones are left out."""
        for path in files.values():
            path.parent.mkdir(parents=True, exist_ok=True)
        with self._fsspec("read") as fs:
            for name, path in files.items():
                with suppress(FileNotFoundError):
                    fs.get_file(self._path(name), str(path))


def _written_at(info: Mapping[str, Any]) -> float:
    """Return the time of writing, in seconds since 1970; each file system has its own name for it."""
    for name in ("LastModified", "last_modified", "mtime", "created"):
        when = info.get(name)
        if when is not None:
            return when.timestamp() if isinstance(when, datetime) else float(when)
    return 0.0
