"""Scores of a batch of questions, in columns: retrieval scores from hits, answer scores from replies."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Any, ClassVar

from ohr.contracts import Metric, ScoringProtocol
from ohr.steps.answers import as_answered
from ohr.steps.retrieve import read_hits
from ohr.steps.score import Scorer, has_context
from ohr.steps.step import Context, Ready, Report, Work


@dataclass(frozen=True, slots=True)
class ScoreRetrieval(Work):
    """Score the hits of some questions. Writes {questions, values: {metric: [...]}}; its input is their hits."""

    kind: ClassVar[str] = "scoring"
    name: str
    questions: tuple[int, ...]
    hits: str
    top_k: int
    protocol: ScoringProtocol
    metric: Metric
    seed: int

    @property
    def item(self) -> str:
        """Name of the condition."""
        return f"scores of {self.name}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Score the questions that were searched."""
        hits, _ = read_hits(context.store, ready.inputs[0], self.hits)
        scorer = Scorer(context.inputs, {self.protocol.retrieval: self.metric}, self.protocol, self.seed)
        asked = [q for place in self.questions if (q := context.inputs.questions[place]).id in hits]
        rows = {q.id: scorer.retrieval(q, hits[q.id], self.top_k) for q in asked}
        context.store.put(ready.outputs[0], columns(rows))
        return Report()


@dataclass(frozen=True, slots=True)
class ScoreAnswers(Work):
    """Score the replies to some questions. Writes {questions, values}; its inputs are the completions.

    Args:
        cell: stage and knowledge base of the cell.
        questions: places in `Inputs.questions`, one per input.
    """

    kind: ClassVar[str] = "scoring"
    cell: tuple[str, str]
    questions: tuple[int, ...]
    protocol: ScoringProtocol
    metrics: Mapping[str, Metric]
    seed: int

    @property
    def item(self) -> str:
        """Name of the condition."""
        return f"answer scores of {' / '.join(self.cell)}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Score the questions that were answered."""
        scorer = Scorer(context.inputs, self.metrics, self.protocol, self.seed)
        found = context.store.get_many([name for name in ready.inputs if name is not None])
        rows = {}
        for place, name in zip(self.questions, ready.inputs, strict=True):
            question = context.inputs.questions[place]
            answer = as_answered(found[name]).answer if name in found else ""
            known = has_context(*self.cell, question)
            rows[question.id] = {
                metric: scorer.answer_score(metric, answer, question) if known else nan for metric in self.metrics
            }
        context.store.put(ready.outputs[0], columns(rows))
        return Report()


def columns(rows: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """Turn {question: {metric: value}} into columns."""
    names = list(next(iter(rows.values()))) if rows else []
    return {
        "questions": list(rows),
        "values": {name: [values[name] for values in rows.values()] for name in names},
    }
