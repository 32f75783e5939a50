"""Rules that verify candidates without a model, each with a name and a check of its own."""

from .duplicates import near_duplicate
from .entity import names_no_entity
from .evidence import (
    ambiguous_document,
    answer_not_in_evidence,
    evidence_not_on_its_page,
    located,
    other_source,
    several_pages,
)
from .example import copies_the_example
from .rule import Check, Rule, of_each
from .wording import answer_repeats_question, context_dependent, unusable_length

__all__ = ["RULES", "Check", "Rule", "located", "of_each"]

RULES: tuple[Rule, ...] = (
    of_each("unusable_length", unusable_length),
    of_each("copies_the_example", copies_the_example),
    of_each("answer_repeats_question", answer_repeats_question),
    of_each("context_dependent", context_dependent),
    of_each("evidence_not_on_its_page", evidence_not_on_its_page),
    of_each("several_pages", several_pages),
    of_each("other_source", other_source),
    of_each("answer_not_in_evidence", answer_not_in_evidence),
    of_each("names_no_entity", names_no_entity),
    ambiguous_document,
    near_duplicate,
)
"""All rules in the order in which they are run: a fault that is seen in the question alone comes first."""
