"""Whether a model can be loaded here: its files on the hub, and its device."""

from functools import lru_cache

from ohr import extras
from ohr.contracts import Resources
from ohr.errors import PluginError


def check_device(owner: str, device: str, extra: str) -> None:
    """Raise a PluginError that begins with `owner` if this machine does not have the device."""
    if device.startswith("cuda") and not extras.load("torch", extra).cuda.is_available():
        raise PluginError(f"{owner}: device {device}: this machine has no CUDA device; use `device: cpu`")


def model_resources(device: str) -> Resources:
    """Return the resources of a stage that holds one model on a device."""
    return Resources(gpus=float(device.startswith("cuda")), alone=True)


@lru_cache(maxsize=32)
def check_hub(owner: str, name: str, revision: str | None, files: tuple[str, ...] = ("config.json",)) -> None:
    """Raise a PluginError unless a model on the hub, or in its local cache, has one of `files`; downloads no more.

    Args:
        owner: the stage that names the model; the message begins with it.
        name: `owner/name` on the hub.
        revision: branch, tag or commit.
        files: looked for in this order.
    """
    library = extras.load("huggingface_hub", "llm")
    faults: list[Exception] = []
    for file in files:
        try:
            library.hf_hub_download(name, file, revision=revision, local_files_only=not _hub_answers())
        except Exception as error:  # the hub's client passes on whatever its transport raises
            faults.append(error)
        else:
            return
    at = f"{name} at revision {revision!r}" if revision else name
    line = (str(faults[0]).strip().splitlines() or [""])[0]
    raise PluginError(f"{owner}: {at} {_why(faults[0])} ({type(faults[0]).__name__}: {line})") from None


@lru_cache(maxsize=1)
def _hub_answers() -> bool:
    """Ask the hub once; its client would try for half a minute, for each file of each model."""
    constants, utils = (extras.load(f"huggingface_hub.{name}", "llm") for name in ("constants", "utils"))
    try:
        utils.get_session().head(constants.ENDPOINT, timeout=10)
    except Exception:  # no network, no such name, offline mode: each client library has its own
        return False
    return True


def _why(error: Exception) -> str:
    errors = extras.load("huggingface_hub.errors", "llm")
    reasons = (
        (errors.GatedRepoError, "is gated: request access on its page, then `hf auth login`"),
        (errors.RevisionNotFoundError, "is not on the hub: wrong revision"),
        (errors.RepositoryNotFoundError, "is not on the hub, or is private: wrong name, or not logged in"),
        (errors.LocalEntryNotFoundError, "is not in the local cache, and the hub does not answer"),
        (errors.EntryNotFoundError, "is not a model: it has no config.json"),
        (Exception, "cannot be downloaded"),
    )
    return next(text for kind, text in reasons if isinstance(error, kind))
