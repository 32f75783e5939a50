"""The store: finished results are found again, completely or not at all."""

import re
from pathlib import Path

from ohr.store.interface import FORMAT, Entry, Pruned, Store, prune

__all__ = ["FORMAT", "Entry", "Pruned", "Store", "open_store", "prune"]

_URL = re.compile(r"[a-z][a-z0-9+.-]+://")


def open_store(url: str | Path) -> Store:
    """Open the store in a folder, or behind a URL that fsspec knows (`s3://bucket/prefix`); touches nothing yet.

    Raises:
        MissingExtra: a URL, and fsspec or its part for that kind of URL is not installed.
    """
    if _URL.match(str(url)):
        from ohr.store.remote import RemoteStore

        return RemoteStore(str(url))
    from ohr.store.local import LocalStore

    return LocalStore(Path(url))
