"""Question writing by a model: what is asked of which page, and what becomes of the replies."""

from .assignment import Assignment, Passage, prompts_of
from .entities import Entities, entities_of
from .joins import join_assignments
from .plan import Plan, asked_for, plan_writing
from .reading import Fault, candidates_of
from .wanted import Shares, Wanted
from .write import Written, join, write

__all__ = [
    "Assignment",
    "Entities",
    "Fault",
    "Passage",
    "Plan",
    "Shares",
    "Wanted",
    "Written",
    "asked_for",
    "candidates_of",
    "entities_of",
    "join",
    "join_assignments",
    "plan_writing",
    "prompts_of",
    "write",
]
