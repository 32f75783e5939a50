"""Ground truth of a user's own documents, page by page, and which pages questions are written about."""

from .complete import Truth, with_silver
from .filters import LANGUAGES, LeftOut
from .survey import LOOK_VERSION, Look, Origin, Survey, TruthPage, look_at, survey

__all__ = [
    "LANGUAGES",
    "LOOK_VERSION",
    "LeftOut",
    "Look",
    "Origin",
    "Survey",
    "Truth",
    "TruthPage",
    "look_at",
    "survey",
    "with_silver",
]
