"""A run's figures for Python and notebooks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ohr.report.figures.choices import Look, Wanted
from ohr.report.figures.conditions_figure import comparison
from ohr.report.figures.curves_figure import performance
from ohr.report.figures.other_figures import decomposition, effort
from ohr.report.figures.panels import Axis
from ohr.report.figures.summary_figure import summary
from ohr.results.run import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Plots:
    """The figures of a run, each a `matplotlib.figure.Figure` that a notebook shows and `savefig` writes.

    Each method raises a DataError where the run has nothing to draw or no such metric, and a SpecError where a choice
    is not known.

    Args:
        run: to read.
    """

    run: Run

    def summary(self, style: Look = "paper", width: float | None = None) -> "Figure":
        """Draw the verdict on each condition, under what the noise costs.

        Args:
            style: as of `performance`, as is `width`.
        """
        return summary(self.run, Wanted(None, None, (), style, width))

    def performance(
        self,
        x: Axis = "r_noise",
        metric: str | None = None,
        columns: Sequence[str] | None = None,
        style: Look = "paper",
        width: float | None = None,
        joint: bool | None = None,
    ) -> "Figure":
        """Draw the curves.

        Args:
            x: `r_noise`, `evidence_loss`, or `condition`: the knowledge bases one after the other.
            metric: of all stages that have it; by default each stage's headline.
            columns: of `text`, `multimodal`, `reading_order`, `all`; by default those that there is room for.
            style: `paper`, or `slides`: 16 to 9, with larger type and lines.
            width: inches; by default 7 on paper and 13.3 on a slide.
            joint: whether to draw the bands that hold at all levels together; by default where curves are few.
        """
        return performance(self.run, x, Wanted(x, metric, tuple(columns or ()), style, width, joint))

    def comparison(
        self,
        metric: str | None = None,
        columns: Sequence[str] | None = None,
        style: Look = "paper",
        width: float | None = None,
    ) -> "Figure":
        """Draw the conditions side by side: scores, and losses against the clean text.

        Args:
            metric: as of `performance`, as are `style` and `width`.
            columns: groups of questions, one below the other; by default all questions.
        """
        return comparison(self.run, Wanted(None, metric, tuple(columns or ()), style, width))

    def decomposition(self, metric: str | None = None, style: Look = "paper", width: float | None = None) -> "Figure":
        """Draw the losses by stage, of a run with `decompose: true`.

        Args:
            metric: as of `performance`, as are `style` and `width`.
        """
        return decomposition(self.run, Wanted(None, metric, (), style, width))

    def effort(self, metric: str | None = None, style: Look = "paper", width: float | None = None) -> "Figure":
        """Draw scores against the calls, tokens and seconds of a question, of a run with agents.

        Args:
            metric: as of `performance`, as are `style` and `width`.
        """
        return effort(self.run, Wanted(None, metric, (), style, width))
