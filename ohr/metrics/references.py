"""Names of what scores are read against: floors, which know nothing of the question, and the ceiling of a generator."""

from typing import Literal

Reference = Literal["closed_book", "shuffled_context", "evidence_only"]
FLOORS: tuple[Reference, ...] = ("closed_book", "shuffled_context")
# the other ceilings are cells: generation and overall on a clean knowledge base
CEILINGS: tuple[Reference, ...] = ("evidence_only",)
REFERENCES = (*FLOORS, *CEILINGS)
"""Conditions under which a generator is asked, beside the knowledge bases."""
CONSTANT = "constant"
"""The third floor of answers, which needs no generator."""
