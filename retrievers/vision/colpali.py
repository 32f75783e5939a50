"""ColPali: page images by late interaction over a PaliGemma."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from .late_interaction import Classes, LateInteraction


class ColPali(LateInteraction, kind="colpali"):
    """Ranks page images with ColPali, in transformers' or colpali-engine's form (Faysse et al., arXiv:2407.01449)."""

    runs: ClassVar[Mapping[str, Classes]] = {
        "colpali": Classes("transformers", "ColPaliForRetrieval", "ColPaliProcessor"),
        "paligemma": Classes("colpali_engine.models", "ColPali", "ColPaliProcessor"),
    }
    model: Annotated[str, Field(description="A model's folder, or its name on the hub.")] = "vidore/colpali-v1.3-hf"
