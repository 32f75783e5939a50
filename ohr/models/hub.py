"""Models: whether one on the hub can be had, and those that ohr makes once and keeps, such as a converted GGUF file."""

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from ohr import extras
from ohr.errors import PluginError
from ohr.store import open_store

STORE_VARIABLE = "OHR_STORE"


def store_root() -> Path:
    """Give the store's folder: `$OHR_STORE`, or `.ohr` here."""
    return Path(os.environ.get(STORE_VARIABLE, ".ohr"))


def converted(key: str, convert: Callable[[Path], None]) -> Path:
    """Find the folder of a converted model, or make it."""
    store = open_store(store_root())
    return store.folder(key) or store.put_folder(key, convert)


@lru_cache(maxsize=32)
def check_hub(told: str, name: str, revision: str | None, files: tuple[str, ...] = ("config.json",)) -> None:
    """Raise a PluginError unless a model on the hub, or in its local cache, has one of `files`; downloads no more.

    Args:
        told: who asks, for the message.
        revision: branch, tag or commit.
    """
    library = extras.load("huggingface_hub", "llm")
    faults: list[Exception] = []
    for file in files:
        try:
            library.hf_hub_download(name, file, revision=revision, local_files_only=not _hub_answers())
        except Exception as error:  # the hub's client raises what its transport raises, too
            faults.append(error)
        else:
            return
    at = f"{name} at revision {revision!r}" if revision else name
    line = (str(faults[0]).strip().splitlines() or [""])[0]
    raise PluginError(f"{told}: {at} {_why(faults[0])} ({type(faults[0]).__name__}: {line})") from None


@lru_cache(maxsize=1)
def _hub_answers() -> bool:
    """Ask once whether the hub is there: its client would try for half a minute, for each file of each model."""
    constants, utils = (extras.load(f"huggingface_hub.{name}", "llm") for name in ("constants", "utils"))
    try:
        utils.get_session().head(constants.ENDPOINT, timeout=10)
    except Exception:  # no network, no such name, offline mode: each client library has its own
        return False
    return True


def _why(error: Exception) -> str:
    errors = extras.load("huggingface_hub.errors", "llm")
    reasons = (
        (errors.GatedRepoError, "is gated: ask for access on its page, then `hf auth login`"),
        (errors.RevisionNotFoundError, "is not on the hub: wrong revision"),
        (errors.RepositoryNotFoundError, "is not on the hub, or not for you: wrong name, or not logged in"),
        (errors.LocalEntryNotFoundError, "is not in the local cache, and the hub cannot be asked"),
        (errors.EntryNotFoundError, "is not a model: it has no config.json"),
        (Exception, "cannot be had"),
    )
    return next(text for kind, text in reasons if isinstance(error, kind))
