"""Retrievers with a model of their own: checked and identified in one way."""

import os
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from ohr import extras
from ohr.contracts import AnyRetriever, Resources, execution
from ohr.models.check import check_device, model_resources

from .embedders import EMBEDDERS


class ModelRetriever(AnyRetriever):
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
        EMBEDDERS.check(f"retriever {self.kind}", self.model, self._revision)
        check_device(f"retriever {self.kind}", self.device, "dense")
        super().check()

    def resources(self) -> Resources:
        """Return the resources of the loaded model, and of what it is used with."""
        return Resources.together(model_resources(self.device), super().resources())

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, a hub model by its name and revision."""
        return {**super().identity(), "model": EMBEDDERS.identity(self.model, self._revision)}

    @property
    def _revision(self) -> str | None:
        return getattr(self, "revision", None)  # not every library can load one


def quiet_transformers() -> Any:
    """Import transformers, which then shows no bars of progress, and whose tokenizers start no threads."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    library = extras.load("transformers", "dense")
    library.utils.logging.disable_progress_bar()
    return library
