"""Names of what scores are read against: floors, which know nothing of the question, and the ceiling of a generator."""

FLOORS = ("closed_book", "shuffled_context")
CEILINGS = ("evidence_only",)  # the other ceilings are cells: generation and overall on a clean knowledge base
REFERENCES = (*FLOORS, *CEILINGS)
"""Conditions under which a generator is asked, beside the knowledge bases."""
CONSTANT = "constant"
"""The third floor of answers, which needs no generator."""
