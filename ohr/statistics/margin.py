"""The margin of comparisons, apart from them: it is all that a list of runs needs to know of statistics."""

MARGIN = 0.02
"""Difference of a score that matters, where a spec does not set another."""
