"""A store behind a URL, for machines without a common disk: an object for each value."""

# ruff: noqa: D102 - what each verb does is written in Store

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any
from urllib.parse import quote, unquote
from uuid import uuid4

from ohr.errors import StoreError
from ohr.store.bucket import Bucket
from ohr.store.claims import Heart, Watch, this_process
from ohr.store.folders import SUMS, Folders, sums_in, sums_of, user_cache
from ohr.store.interface import FORMAT, Entry, Store, check_format
from ohr.store.reasons import explained
from ohr.store.written_values import checked_key, framed, is_key, unframed
from ohr.unfinished import NEW, remove

_ABOUT = "store.json"
_TRUST = 2.0
"""Seconds after which the store is looked at again: a look at each verb would double the requests to a server."""


class RemoteStore(Store):
    """A store behind a URL that fsspec knows: `s3://bucket/prefix`, `file:///shared/disk`, `memory://name`.

    Folders are downloaded into the user's cache folder (`$XDG_CACHE_HOME/ohr`, or `~/.cache/ohr`). Claims are best
    effort: two processes that claim a key at the same moment may both get it, and do the work twice.

    Raises:
        MissingExtra: fsspec, or its part for this kind of URL, is not installed.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._bucket = Bucket(url)
        self._id: str | None = None  # of the store that this process has seen; another one must not take its place
        self._held: dict[str, set[str]] = {}  # claimed keys by owner, since a forked process is another owner
        self._beats = 0
        self._trusted = 0.0  # until then the store is taken to be the one that was last seen
        self._claiming = RLock()
        self._watch, self._heart = Watch(), Heart()
        self._cache = Folders(user_cache() / sha256(url.encode()).hexdigest()[:16], url)

    def __reduce__(self) -> tuple[type["RemoteStore"], tuple[str]]:
        return RemoteStore, (self._url,)

    @property
    def url(self) -> str:
        """The URL."""
        return self._url

    def _check(self, create: bool = False) -> None:
        """Read the store's description of itself, and create it at the first write.

        Raises:
            StoreError: it was removed or replaced since this process first saw it, or a later version made it.
        """
        if monotonic() < self._trusted:
            return
        content = self._bucket.read_one(_ABOUT)
        if content is None and self._id is not None:
            raise StoreError(f"the store at {self._url} was removed while the run used it")
        if content is None and create:
            self._bucket.create(_ABOUT, self._about())
            content = self._bucket.read_one(_ABOUT)
        if content is None:
            return
        try:
            known = unframed(content)
        except ValueError:  # damaged
            known = {"format": FORMAT, "id": self._id}
            with suppress(StoreError):
                self._bucket.write({_ABOUT: self._about()})
        check_format(known["format"], self._url)
        if self._id not in (None, known["id"]):
            raise StoreError(f"the store at {self._url} was replaced by another one while the run used it")
        self._id, self._trusted = known["id"], monotonic() + _TRUST

    def _about(self) -> bytes:
        return framed({"format": FORMAT, "id": self._id or uuid4().hex})

    def has_many(self, keys: Collection[str]) -> set[str]:
        self._check()
        names = {_object(key): key for key in keys}
        return {names[name] for name in self._bucket.present(names)}

    def get_many(self, keys: Collection[str]) -> dict[str, Any]:
        self._check()
        names = {_object(key): key for key in keys}
        found, damaged = {}, []
        for name, content in self._bucket.read(names):
            try:
                found[names[name]] = unframed(content)
            except ValueError:
                damaged.append(name)
        with suppress(StoreError):  # a store that can only be read is good for reading
            self._bucket.delete(damaged)
        return found

    def put_many(self, values: Mapping[str, Any]) -> None:
        files = {_object(key): framed(value) for key, value in values.items()}
        self._check(create=True)
        self._bucket.write(files)

    # --- folders -----------------------------------------------------------------------------------------------

    def folder(self, key: str) -> Path | None:
        """See Store; downloads it unless this machine's cache has it."""
        self._check()
        place = f"folders/{checked_key(key)}"
        listed = self._bucket.read_one(f"{place}/{SUMS}")
        if listed is None:
            return None
        sums = sums_in(listed)
        path = None if sums is None else self._cached(key, place, sums)
        if path is None:
            with suppress(StoreError):
                self._bucket.delete_below([place])
        return path

    def _cached(self, key: str, place: str, sums: Mapping[str, str]) -> Path | None:
        """Return the local copy of a folder; None when the one in the store is damaged."""
        with explained(str(self._cache.root), "read"):
            path = self._cache.find(key)
            if path and sums_of(path) == sums:
                return path
        remove(self._cache.root / key)
        path = self._cache.keep(
            key, lambda new: self._bucket.download({f"{place}/{name}": new / name for name in sums})
        )
        if sums_of(path) == sums:
            return path
        remove(path)
        return None

    def put_folder(self, key: str, fill: Callable[[Path], None]) -> Path:
        """See Store; the list of checksums goes last, so a folder is there whole or not at all."""
        self._check(create=True)
        path = self._cache.keep(key, fill)
        there = self.folder(key)
        if there is not None:
            return there
        place, sums = f"folders/{key}", sums_of(path) or {}
        self._bucket.upload({f"{place}/{name}": path / name for name in sums})
        self._bucket.write({f"{place}/{SUMS}": json.dumps(sums, indent=1).encode()})
        return path

    # --- claims and pins ---------------------------------------------------------------------------------------

    def claim(self, keys: Collection[str]) -> set[str]:
        """See Store; each owner has one object, with its keys and its heartbeat."""
        wanted, me = {checked_key(key) for key in keys}, this_process()
        with self._claiming:
            self._check(create=True)
            mine = wanted - self._claimed(besides=me)
            self._held[me] = self._held.get(me, set()) | mine
            self._beat()
        if mine:
            self._heart.start(self._beat)
        return mine

    def release(self, keys: Collection[str]) -> None:
        """See Store; others see it at the next beat or claim, which spares a request for each part of a run."""
        me = this_process()
        with self._claiming:
            self._held[me] = self._held.get(me, set()) - set(keys)
            if not self._held[me]:
                self._heart.stop()
                self._beat()

    def _beat(self) -> None:
        me = this_process()
        with self._claiming:
            self._beats += 1
            if self._held.get(me):
                content = framed({"owner": me, "beat": self._beats, "keys": sorted(self._held[me])})
                self._bucket.write({_claims(me): content})
            else:
                self._bucket.delete([_claims(me)])

    def _claimed(self, besides: str = "") -> set[str]:
        """Return the keys that living processes have claimed; removes the claims of dead ones."""
        claimed: set[str] = set()
        names = {f"claims/{part}" for part in self._bucket.listed("claims")} - {_claims(besides)}
        for name, content in self._bucket.read(names):
            try:
                found = unframed(content)
            except ValueError:  # damaged, so that nobody can be asked whether it lives
                found = None
            if found and self._watch.lives(found["owner"], found["beat"]):
                claimed.update(found["keys"])
            else:
                with suppress(StoreError):
                    self._bucket.delete([name])
        return claimed

    def pin(self, run: str, keys: Iterable[str]) -> None:
        content = framed(sorted(checked_key(key) for key in keys))
        self._check(create=True)
        self._bucket.write({f"{_pins(run)}/{sha256(content).hexdigest()[:16]}": content})

    def unpin(self, run: str) -> int:
        try:
            count = len(self._pinned_by(run))
        except StoreError:
            count = 0  # unknown
        self._bucket.delete_below([_pins(run)])
        return count

    def pins(self) -> dict[str, int]:
        return {run: len(self._pinned_by(run)) for run in self._runs()}

    def _runs(self) -> list[str]:
        return [unquote(part) for part in self._bucket.listed("pins")]

    def _pinned_by(self, run: str) -> set[str]:
        pinned: set[str] = set()
        for _, content in self._bucket.read([f"{_pins(run)}/{part}" for part in self._bucket.listed(_pins(run))]):
            try:
                pinned.update(unframed(content))
            except ValueError:
                raise StoreError(f"pins of {run} in the store at {self._url} are damaged: unpin it") from None
        return pinned

    # --- entries, and their removal ----------------------------------------------------------------------------

    def exists(self) -> bool:
        return bool(self._bucket.listed(""))

    def size(self) -> int:
        return sum(size for _, size, _ in self._bucket.measured())

    def entries(self) -> Iterator[Entry]:
        """See Store; nothing notes when objects are read, so they count as used when they were written."""
        claimed = self._claimed()
        runs: dict[str, list[str]] = {}
        for run in self._runs():
            for key in self._pinned_by(run):
                runs.setdefault(key, []).append(run)
        for key, kind, size, used in self._found():
            yield Entry(key, kind, size, used, tuple(runs.get(key, ())), key in claimed)

    def _found(self) -> Iterator[tuple[str, str, int, float]]:
        """List key, kind, bytes and time of writing of all parts."""
        for name, size, used in self._bucket.measured("objects"):
            key = name.replace("/", "", 1)
            if is_key(key) and NEW not in key:
                yield key, "value", size, used
            else:
                yield f"objects/{name}", "leftover", size, used
        folders: dict[str, tuple[int, float]] = {}
        for name, size, used in self._bucket.measured("folders"):
            key = name.partition("/")[0]
            before, newest = folders.get(key, (0, 0.0))
            folders[key] = before + size, max(used, newest)
        for key, (size, used) in folders.items():
            yield (key, "folder", size, used) if is_key(key) else (f"folders/{key}", "leftover", size, used)

    def remove(self, entries: Sequence[Entry]) -> None:
        kept = self._claimed().union(*(self._pinned_by(run) for run in self._runs()))
        free = [entry for entry in entries if entry.key not in kept]
        self._bucket.delete([_object(entry.key) for entry in free if entry.kind == "value"])
        self._bucket.delete_below([f"folders/{entry.key}" for entry in free if entry.kind == "folder"])
        self._bucket.delete_below([entry.key for entry in free if entry.kind == "leftover"])

    def discard(self, keys: Collection[str]) -> None:
        self._bucket.delete([_object(key) for key in keys])
        self._bucket.delete_below([f"folders/{key}" for key in keys])


def _object(key: str) -> str:
    return f"objects/{checked_key(key)[:2]}/{key[2:]}"


def _claims(owner: str) -> str:
    return f"claims/{quote(owner, safe='')}"


def _pins(run: str) -> str:
    return f"pins/{quote(run, safe='')}"
