"""Scores of the pages of one document of one knowledge base, by the protocol's metrics of pages."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from ohr.contracts import Completion, Document, PageJudgeMetric
from ohr.metrics.dose import by_page
from ohr.metrics.question_scores import page_scores
from ohr.metrics.scores import Rules
from ohr.steps.answers.judging import Judged, read_judged, read_replies, reply_keys
from ohr.steps.documents.make_document import read_pages
from ohr.store import Store
from ohr.work.step import Context, Ready, Report, Work


@dataclass(frozen=True, slots=True)
class ScorePages(Work):
    """Score one document of a knowledge base. Writes the columns of `Scores` for the questions about it.

    Its inputs: the document, then the keys of the judges' replies, where judges are asked about pages.
    """

    kind: ClassVar[str] = "scoring"
    shape: ClassVar[str] = "scores"
    role: ClassVar[str] = "metric"
    base: str
    document: Document
    rules: Rules

    @property
    def item(self) -> str:
        """Name of the document."""
        return f"page scores of {self.base}: {self.document.name}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Wait for the judges' replies, then score the document; one that failed has lost everything."""
        inputs, name, store = context.inputs, self.document.name, context.store
        questions = inputs.about.get(name, ())
        judged = read_judged(store, ready.inputs[1]) if len(ready.inputs) > 1 else {}
        needs = tuple(dict.fromkeys(reply_keys(judged or {})))
        if needs and ready.needs is None:
            return Report(needs=needs)
        if judged is None:  # the prompts failed: there is no reply to any of them
            replies = {judge: dict.fromkeys(q.id for q in questions) for judge in self._judges()}
        else:
            replies = self._replies(judged, dict(zip(needs, ready.needs or (), strict=True)), store)
        here = by_page(read_pages(store, ready.inputs[0]) or ())
        store.put(ready.outputs[0], page_scores(questions, by_page(inputs.truth[name]), here, self.rules, replies))
        return Report()

    def _judges(self) -> Iterator[str]:
        return (name for name in self.rules.page_metrics if isinstance(self.rules.metrics[name], PageJudgeMetric))

    def _replies(
        self, judged: Judged, settled: Mapping[str, str | None], store: Store
    ) -> dict[str, dict[str, Completion | None]]:
        """Read the judges' replies by question."""
        completions = read_replies(store, settled.values(), self.item)
        return {
            judge: {question: completions.get(settled[name]) for question, (name,) in about.items()}
            for judge, about in judged.items()
        }
