"""Models that ohr makes once and keeps in the store, such as a converted GGUF file."""

import os
from collections.abc import Callable
from pathlib import Path

from ohr.store import Store

STORE_VARIABLE = "OHR_STORE"


def store_root() -> Path:
    """Give the store's folder: `$OHR_STORE`, or `.ohr` here."""
    return Path(os.environ.get(STORE_VARIABLE, ".ohr"))


def converted(key: str, convert: Callable[[Path], None]) -> Path:
    """Find the folder of a converted model, or make it."""
    store = Store(store_root())
    return store.folder(key) or store.put_folder(key, convert)
