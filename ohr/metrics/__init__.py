"""Scores of one item, measures of a knowledge base, and their summaries: means with intervals, floors, curves."""
