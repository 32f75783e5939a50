"""Ground truth of a user's own documents, page by page, and which pages questions are written about."""

from .complete import Truth, with_silver
from .filters import LANGUAGES, LeftOut
from .survey import Origin, Survey, TruthPage, survey

__all__ = ["LANGUAGES", "LeftOut", "Origin", "Survey", "Truth", "TruthPage", "survey", "with_silver"]
