"""Sentences for people: counts, names, grouped faults."""
