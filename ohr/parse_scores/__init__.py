"""Scores of parsed pages by published definitions."""
