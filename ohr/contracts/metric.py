"""Metrics: one prediction and one reference in, one number out."""

from abc import abstractmethod
from collections.abc import Sequence

from ohr.contracts.stage import Stage


class Metric(Stage):
    """Scores one prediction against one reference."""

    family = "metric"

    @abstractmethod
    def score(self, prediction: str, reference: str) -> float:
        """Return the score; nan where it is undefined."""

    def score_passages(self, passages: Sequence[str], reference: str) -> float:
        """Return the score of retrieved passages, joined with a blank line; override where that can be done sooner."""
        return self.score("\n\n".join(passages), reference)
