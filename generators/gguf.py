"""GGUF files for libraries that load plain weights only."""

from copy import deepcopy
from pathlib import Path
from shutil import rmtree

from ohr import extras
from ohr.errors import PluginError
from ohr.keys import file_digest
from ohr.unfinished import unfinished

from .local_model import MODELS


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
