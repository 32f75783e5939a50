"""Document models by short name, and what their architectures need."""

from pathlib import Path
from typing import Any, NamedTuple

from ohr import extras
from ohr.files.json_input import mapping_in
from ohr.models.places import Catalog

MODELS = Catalog(
    {
        "got-ocr2": "stepfun-ai/GOT-OCR-2.0-hf",
        "nougat-base": "facebook/nougat-base",
        "nougat-small": "facebook/nougat-small",
        "qwen2.5-vl-7b": "Qwen/Qwen2.5-VL-7B-Instruct",
        "qwen2.5-vl-72b": "Qwen/Qwen2.5-VL-72B-Instruct",
        "qwen3-vl-8b": "Qwen/Qwen3-VL-8B-Instruct",
        "internvl3-8b": "OpenGVLab/InternVL3-8B-hf",
        "internvl3-78b": "OpenGVLab/InternVL3-78B-hf",
        "olmocr2": "allenai/olmOCR-2-7B-1025",
        "smoldocling": "ds4sd/SmolDocling-256M-preview",
        "granite-docling": "ibm-granite/granite-docling-258M",
        "paddleocr-vl": "PaddlePaddle/PaddleOCR-VL",
        "lightonocr": "lightonai/LightOnOCR-1B-1025",
        "glm-ocr": "zai-org/GLM-OCR",
        "florence-2-large": "florence-community/Florence-2-large",
        "kosmos-2.5": "microsoft/kosmos-2.5",
    }
)
"""Document models by short name: those of OHRBench's tables that transformers runs, and their successors."""


class Architecture(NamedTuple):
    """How models of one `model_type` are asked by default.

    Args:
        preset: name of a preset.
        prompt: name of one of ohr's prompts, or a task that the model was trained on; None where it takes none.
        videos: its processor reads videos too, for which it needs torchvision.
    """

    preset: str = "chat"
    prompt: str | None = "ohrbench"
    videos: bool = False


ARCHITECTURES = {
    "got_ocr2": Architecture("got", "OCR with format:"),
    "vision-encoder-decoder": Architecture("nougat", None),
    "florence2": Architecture("florence2", "<OCR>"),
    "kosmos-2.5": Architecture("kosmos2_5", "<md>"),
    "idefics3": Architecture("docling", "Convert this page to docling."),
    "granite_docling": Architecture("docling", "Convert this page to docling."),
    "paddleocr_vl": Architecture(prompt="OCR:"),
    "lighton_ocr": Architecture(prompt=""),
    "deepseek_ocr2": Architecture(prompt="Free OCR."),
    "glm_ocr": Architecture(prompt="Text Recognition:", videos=True),
    "qwen2_vl": Architecture(videos=True),
    "qwen2_5_vl": Architecture(videos=True),
    "qwen3_vl": Architecture(videos=True),
    "qwen3_vl_moe": Architecture(videos=True),
    "internvl": Architecture(videos=True),
}
"""Architectures by `model_type`; any other is asked by its chat template."""

PROMPTS = {"olmocr2": "olmocr"}
"""Prompts of models that were trained on one, by short name."""


def prompt_of(model: str, architecture: Architecture) -> str | None:
    """Return the prompt that a model is asked with by default."""
    by_hub = {MODELS.names[name]: prompt for name, prompt in PROMPTS.items()}
    return by_hub.get(MODELS.location(model), architecture.prompt)


def model_type(model: str, revision: str | None) -> str:
    """Return the `model_type` of a model that `Catalog.check` has found; reads no more than its configuration."""
    place = MODELS.location(model)
    if MODELS.is_local(model):
        path = Path(place) / "config.json"
    else:
        path = Path(_downloaded(extras.load("huggingface_hub", "llm"), place, revision))
    return str(mapping_in(path).get("model_type", ""))


def _downloaded(library: Any, name: str, revision: str | None) -> str:
    """Return the configuration's place in the hub's cache, or an empty path where there is none."""
    try:
        return str(library.hf_hub_download(name, "config.json", revision=revision, local_files_only=True))
    except Exception:  # the hub's client passes on whatever goes wrong; loading the model reports it
        return ""
