"""Retrievers with a model of their own: checked and identified in one way."""

import os
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, ValidationInfo

from ohr import extras
from ohr.contracts import AnyRetriever, Resources, execution
from ohr.models.places import check_device, model_resources

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
            extras.require(module, self.extra or "dense")
        self.check_model()
        check_device(f"retriever {self.kind}", self.device, "dense")
        super().check()

    def check_model(self) -> None:
        """Raise when the model cannot be loaded; loads nothing."""
        EMBEDDERS.check(f"retriever {self.kind}", self.model, self._revision)

    def resources(self) -> Resources:
        """Return the resources of the loaded model, and of what it is used with."""
        return Resources.together(model_resources(self.device), super().resources())

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, a hub model by its name and revision."""
        return {**super().identity(), "model": EMBEDDERS.identity(self.model, self._revision)}

    @property
    def _revision(self) -> str | None:
        return getattr(self, "revision", None)  # not every library can load one


def _trusted(value: bool, info: ValidationInfo) -> bool:
    registry = (info.context or {}).get("registry")
    if value and registry is not None and not registry.trusted:
        raise ValueError("this would run code that comes with a model; allow it with --trust-plugins")
    return value


TrustRemoteCode = Annotated[
    bool,
    AfterValidator(_trusted),
    Field(description="Run the Python code that comes with the model; needs --trust-plugins."),
]
"""A field that lets a library run what a model's folder contains."""


def quiet_transformers() -> Any:
    """Import transformers, which then shows no bars of progress, and whose tokenizers start no threads."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    library = extras.load("transformers", "dense")
    library.utils.logging.disable_progress_bar()
    return library
