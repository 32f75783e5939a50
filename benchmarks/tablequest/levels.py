"""Levels of difficulty, of both benchmarks that are named TableQuest."""

from typing import Literal

Level = Literal["easy", "medium", "hard"]
"""Easy is the extraction of a cell, medium a calculation, hard an analysis in words."""
