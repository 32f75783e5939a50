"""ColQwen2: page images by late interaction over a Qwen2-VL."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from .late_interaction import LateInteraction


class ColQwen(LateInteraction):
    """Ranks page images with ColQwen2, in transformers' own form (Faysse et al., arXiv:2407.01449)."""

    kind: Literal["colqwen"] = "colqwen"
    architecture: ClassVar[str] = "ColQwen2"
    model: Annotated[str, Field(description="A model's folder, or its name on the hub.")] = "vidore/colqwen2-v1.0-hf"
