"""Retrievers with a model of their own: checked, identified and searched in one way."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from ohr import extras
from ohr.contracts import Hit, Resources, Retriever, execution
from ohr.models.check import check_device, model_resources

from .embedders import check_model, model_identity
from .vector.maxsim import PageVectors
from .vector.vectors import VectorSearch


class ModelRetriever(Retriever):
    """A retriever with a model, beside those of its parts if it has any."""

    extra: ClassVar[str | None] = "dense"
    modules: ClassVar[tuple[str, ...]]
    """The modules that must be there."""
    model: Annotated[str, Field(description="A model's folder, or its name on the hub.")]
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"

    def check(self) -> None:
        """Raise when a library, the model or the device is missing."""
        for module in self.modules:
            extras.require(module, "dense")
        check_model(f"retriever {self.kind}", self.model, self._revision)
        check_device(f"retriever {self.kind}", self.device, "dense")
        super().check()

    def resources(self) -> Resources:
        """Return the resources of the loaded model, and of what it is used with."""
        return Resources.together(model_resources(self.device), super().resources())

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, a hub model by its name and revision."""
        return {**super().identity(), "model": model_identity(self.model, self._revision)}

    @property
    def _revision(self) -> str | None:
        return getattr(self, "revision", None)  # not every library can load one


@dataclass(frozen=True)
class ModelIndex:
    """What a model made of chunks or pages.

    Args:
        embed: makes of queries what they are searched by.
    """

    found: VectorSearch | PageVectors
    embed: Callable[[tuple[str, ...]], Any]
    notes: tuple[str, ...] = ()

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank by the model's score; ties in the order of the chunks."""
        return self.found.search(self.embed(tuple(queries)), k)

    def save(self, folder: Path) -> None:
        """Write the vectors."""
        self.found.save(folder)


def quiet_transformers() -> Any:
    """Import transformers, which then shows no bars of progress, and whose tokenizers start no threads."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    library = extras.load("transformers", "dense")
    library.utils.logging.disable_progress_bar()
    return library
