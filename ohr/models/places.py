"""Where a model is, in a package, a folder, a file or on the Hugging Face hub; and whether it can be loaded here."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from ohr import extras
from ohr.contracts import Resources
from ohr.errors import MissingExtra, PluginError
from ohr.files.digests import folder_digest, input_digest
from ohr.registry import choices


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


@dataclass(frozen=True, slots=True)
class Packaged:
    """A model that an installed Python package contains.

    Args:
        package: the name that Python imports.
        path: the model's file or folder, below the package's folder.
        install: the command that installs the package.
    """

    package: str
    path: str
    install: str

    def place(self) -> Path | None:
        """Find the model without importing the package; None if the package is not installed."""
        found = find_spec(self.package)
        return Path(found.origin).parent / self.path if found and found.origin else None


@dataclass(frozen=True, slots=True)
class Catalog:
    """The models that a family of plugins can load.

    A model is a short name, a folder, a GGUF file where the family reads them, or `owner/name` on the hub.

    Args:
        names: short name to a package or to the name on the hub.
        marks: files of which a model's folder has at least one.
        gguf: whether a GGUF file is a model.
    """

    names: Mapping[str, str | Packaged]
    marks: tuple[str, ...] = ("config.json",)
    gguf: bool = False

    def location(self, model: str) -> str:
        """Return the thing that a library loads: a file, a folder, or a name on the hub."""
        found = self.names.get(model, model)
        if isinstance(found, Packaged):
            return str(found.place() or model)
        return str(Path(model).expanduser()) if self.is_local(model) else found

    def is_local(self, model: str) -> bool:
        """Report whether a model is a folder or a file rather than a short name or a name on the hub."""
        if model in self.names:
            return False
        return model.startswith((".", "/", "~")) or model.endswith(".gguf") or Path(model).exists()

    def check(self, owner: str, model: str, revision: str | None = None) -> None:
        """Raise a PluginError that begins with `owner` if a model cannot be loaded; loads nothing.

        The hub is asked for no more than the model's configuration.
        """
        found = self.names.get(model, model)
        if isinstance(found, Packaged):
            if found.place() is None:
                name = found.package.replace("_", "-")
                raise MissingExtra(f"{name} is not installed: {found.install}", name=found.package)
        elif self.is_local(model):
            self._check_local(owner, model)
        elif found.count("/") == 1:
            check_hub(owner, found, revision, self.marks)
            return
        else:
            others = "a folder, a .gguf file," if self.gguf else "a folder"
            known = choices(model, [*self.names])
            raise PluginError(
                f"{owner}: no model {model!r}. {known} Or name {others} or a model on the hub as owner/name"
            )
        if revision is not None:
            raise PluginError(f"{owner}: a revision belongs to a model on the hub, and {model} is on this machine")

    def _check_local(self, owner: str, model: str) -> None:
        path = Path(model).expanduser()
        if not path.exists():
            raise PluginError(f"{owner}: no such model: {model}")
        if path.is_file() and not (self.gguf and path.suffix == ".gguf"):
            files = ", or a .gguf file" if self.gguf else ""
            raise PluginError(f"{owner}: {model} is not a model: name its folder{files}")
        if path.is_dir() and not any((path / mark).is_file() for mark in self.marks):
            raise PluginError(f"{owner}: {model} is not a model: it has no {self.marks[0]}")

    def identity(self, model: str, revision: str | None = None) -> str:
        """Identify a model on this machine by its content, and one on the hub by its name and revision.

        An adapter is identified with the model that it adapts.
        """
        path = Path(self.location(model))
        if not path.exists():
            return f"hub:{path}@{revision or 'main'}"
        adapter = path / "adapter_config.json"
        base = json.loads(adapter.read_text("utf-8"))["base_model_name_or_path"] if adapter.is_file() else None
        return content_digest(path) + (f" over {self.identity(base)}" if base else "")


def content_digest(path: Path) -> str:
    """Hash a file or folder; gigabytes are read once, as long as they do not change."""
    return folder_digest(path) if path.is_dir() else input_digest(path)
