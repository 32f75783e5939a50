"""Scores of the pages of one document of one knowledge base, by the protocol's metrics of pages."""

from dataclasses import dataclass
from typing import ClassVar

from ohr.contracts import Document
from ohr.metrics.dose import by_page
from ohr.metrics.pages import page_scores
from ohr.metrics.scores import Rules
from ohr.steps.documents.make_document import read_pages
from ohr.work.step import Context, Ready, Report, Work


@dataclass(frozen=True, slots=True)
class ScorePages(Work):
    """Score one document of a knowledge base. Writes the columns of `Scores` for the questions about it."""

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
        """Score the document; one that failed has lost everything."""
        inputs, name = context.inputs, self.document.name
        here = by_page(read_pages(context.store, ready.inputs[0]) or ())
        scores = page_scores(inputs.about.get(name, ()), by_page(inputs.truth[name]), here, self.rules)
        context.store.put(ready.outputs[0], scores)
        return Report()
