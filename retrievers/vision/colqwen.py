"""ColQwen2 and ColQwen2.5: page images by late interaction over a Qwen-VL."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from .late_interaction import Classes, LateInteraction


class ColQwen(LateInteraction, kind="colqwen"):
    """Ranks page images with ColQwen2, or ColQwen2.5 through colpali-engine (Faysse et al., arXiv:2407.01449)."""

    runs: ClassVar[Mapping[str, Classes]] = {
        "colqwen2": Classes("transformers", "ColQwen2ForRetrieval", "ColQwen2Processor"),
        "qwen2_vl": Classes("colpali_engine.models", "ColQwen2", "ColQwen2Processor"),
        "qwen2_5_vl": Classes("colpali_engine.models", "ColQwen2_5", "ColQwen2_5_Processor"),
    }
    model: Annotated[str, Field(description="A model's folder, or its name on the hub.")] = "vidore/colqwen2-v1.0-hf"
