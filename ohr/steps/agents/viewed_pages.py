"""Scores of the pages that an agent has looked at, in the order of the first look, as a ranking."""

from dataclasses import dataclass
from typing import ClassVar

from ohr.metrics.cases import wanted_pages
from ohr.metrics.rankings import SHOWN_METRICS
from ohr.metrics.scores import Scores
from ohr.statistics.ranking import ndcg_at_k, recall_at_k, reciprocal_rank
from ohr.steps.documents.make_document import expected
from ohr.work.step import Context, Ready, Report, Work


@dataclass(frozen=True, slots=True)
class ScoreShown(Work):
    """Score the pages that were looked at for some questions. Writes the columns of `Scores`.

    Args:
        questions: places in `Inputs.questions`.
        episodes: for each of them, the place of its trajectory in the inputs.
    """

    kind: ClassVar[str] = "scoring"
    shape: ClassVar[str] = "scores"
    role: ClassVar[str] = "metric"
    name: str
    questions: tuple[int, ...]
    episodes: tuple[int, ...]

    @property
    def item(self) -> str:
        """Name of the condition."""
        return f"scores of the pages that {self.name} looked at"

    def run(self, ready: Ready, context: Context) -> Report:
        """Score the questions; one without a trajectory counts as failed."""
        found = expected(context.store, [name for name in ready.inputs if name is not None], self.item, "answer")
        scores = Scores()
        for number, place in zip(self.questions, self.episodes, strict=True):
            question, kept = context.inputs.questions[number], found.get(ready.inputs[place] or "")
            copies = context.inputs.copies
            pages = [copies.get((name, index), (name, index)) for name, index in kept["shown"]] if kept else []
            wanted = wanted_pages(question, copies)
            ranking, most = [[page] for page in pages], max(len(pages), 1)
            values = (
                recall_at_k(ranking, wanted, most),
                reciprocal_rank(ranking, wanted),
                ndcg_at_k(ranking, wanted, max(most, len(wanted))),
            )
            for metric, value in zip(SHOWN_METRICS, values, strict=True):
                scores.add(metric, value, failed=kept is None)
        context.store.put(ready.outputs[0], scores)
        return Report()
