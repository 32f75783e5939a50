"""ColPali: page images by late interaction over a PaliGemma."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from .late_interaction import LateInteraction


class ColPali(LateInteraction):
    """Ranks page images with ColPali, in transformers' own form (Faysse et al., arXiv:2407.01449)."""

    kind: Literal["colpali"] = "colpali"
    architecture: ClassVar[str] = "ColPali"
    model: Annotated[str, Field(description="A model's folder, or its name on the hub.")] = "vidore/colpali-v1.3-hf"
