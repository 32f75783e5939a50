"""Tables of knowledge bases: writes the rows of one when its steps are settled."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ohr.contracts import ABSENT, Page, PageId
from ohr.dataset.misplaced_evidence import sentence
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.cells import Cell
from ohr.graph.graph import BasePart
from ohr.messages.wording import counted
from ohr.metrics.dose import DAMAGED, QuestionDose
from ohr.metrics.scores import Scores, failed_questions, kb_scores
from ohr.results.derived import decomposition
from ohr.results.derived.dose_rows import Counts
from ohr.results.tables.schema import MEASURED
from ohr.results.tables.table_files import Tables
from ohr.runner.attribution import costs
from ohr.runner.attribution.levels import Trial
from ohr.runner.columns import (
    edit_columns,
    judgement_columns,
    page_columns,
    page_sources,
    question_columns,
    reading_columns,
    score_columns,
    swap_columns,
    text_columns,
    treatment_columns,
)
from ohr.runner.kb_page_scores import page_scores, slices
from ohr.spec.model import KnowledgeBase
from ohr.spec.payees import correcting, reading
from ohr.steps.documents.damage import read_damage
from ohr.steps.documents.read_pages import as_recognition, warnings_of


@dataclass
class _Sums:
    """Sums over the documents of a knowledge base."""

    doses: dict[str, QuestionDose] = field(default_factory=dict)
    asked: list[Page] = field(default_factory=list)
    """Those that a question is about, without their text."""
    edits: int = 0
    aimed: int = 0
    whole: int = 0
    failed: int = 0


class KnowledgeBaseTables:
    """Writes the tables of a run's knowledge bases into its folder.

    Args:
        trials: attribution's levels, by the name of the knowledge base, which have tables of their own.
    """

    def __init__(
        self, session: Session, keys: Keys, scheduler: Scheduler, folder: Path, trials: Mapping[str, Trial]
    ) -> None:
        self.keys, self.inputs, self.store = keys, keys.inputs, session.store
        self.scheduler, self.ledger, self.folder, self.trials = scheduler, session.ledger, folder, trials
        further = (*(costs.MEASURED if trials else ()), *(decomposition.MEASURED if keys.spec.decompose else ()))
        judged = ("judgements",) if keys.judges or keys.page_judges else ()
        steps = ("steps",) if keys.spec.whole else ()
        repairs = ("treatments",) if any(base.repairs for base in keys.spec.knowledge_bases) else ()
        self.tables = Tables(folder, (*MEASURED, *further, *judged, *steps, *repairs))
        self.tables.append("questions", question_columns(self.inputs.questions, self.inputs.without_text))
        self.counts: dict[str, Counts] = {}
        self._sources = page_sources(self.inputs.questions)
        self.failed: dict[str, set[str]] = {}
        self._misplaced: int | None = None
        self.versions = defaultdict[str, set[str]](set)
        """The versions that systems reported, by the system's name."""
        self.stated = defaultdict[tuple[str, str], float](float)
        """Sums of the seconds of systems and of the parts that they state, by the system's name and the column."""

    def base(self, part: BasePart) -> None:
        """Write the texts, pages, edits and evidence scores of a knowledge base."""
        base, sums = part.base, _Sums()
        for documents, damages in zip(slices(part.documents), slices(part.damage or part.documents), strict=True):
            texts = self.scheduler.read(documents)
            lost = self.scheduler.read(damages) if part.damage else {}
            self._texts(base, [texts[name] for name in documents if name in texts], sums)
            there = [damage for name, damage in zip(documents, damages, strict=True) if name in texts]
            self._pages(base, [lost[damage] for damage in there if damage in lost], sums)
        if base.name not in self.trials:
            self._readings(part)
            self._corrections(part)
            if not base.ocr.reads_images and base.ocr.kind != "ground_truth":
                self.ledger.usage.add_recorded(reading(base), sums.whole)
        questions = self.inputs.questions
        if self._misplaced is None and sums.doses:
            self._misplaced = sum(dose.lcs_gt <= DAMAGED for dose in sums.doses.values())
            if self._misplaced:
                self.ledger.warn(sentence(self._misplaced))
        # without any ground truth its text is read by nobody, so no page of it is lost
        unread = self.inputs.is_bare and base.ocr.kind == "ground_truth"
        self.failed[base.name] = set() if unread else failed_questions(questions, [*sums.asked, *self._left_out(base)])
        cell, scores = Cell("page", base), kb_scores(questions, sums.doses, self.failed[base.name])
        self._add_pages(cell, part, scores)
        self.add_scores(cell, range(len(questions)), scores)
        self.counts[base.name] = Counts(sums.edits, sums.aimed, sums.failed)

    def _left_out(self, base: KnowledgeBase) -> list[Page]:
        """Return the pages that noise has left out, and warn of documents without any: nothing of it failed."""
        placed = {each: self.keys.placed(base, each) for each in self.inputs.documents if base.orders}
        if empty := sum(not pages for pages in placed.values()):
            self.ledger.warn(f"{base.name}: no page is left of {empty} of {counted(len(placed), 'document')}")
        numbers = {each: {page.number for page in pages} for each, pages in placed.items()}
        return [
            Page(each.name, index, "") for each in placed for index in range(each.pages) if index not in numbers[each]
        ]

    def _add_pages(self, cell: Cell, part: BasePart, scores: Scores) -> None:
        """Add the scores of pages to those of a knowledge base, and write what judges replied."""
        merged, judgements = page_scores(part, self.scheduler, self.keys, self.failed[part.base.name])
        self.fail(cell, merged)
        scores.values |= merged.values
        scores.failed |= merged.failed
        for judge in self.keys.page_judges if part.base.name not in self.trials else ():
            columns = judgement_columns(cell, judge.name, judge.metric, judgements[judge.name])
            self.tables.append("judgements", columns)

    def _texts(self, base: KnowledgeBase, documents: Sequence[Mapping[str, Any]], sums: _Sums) -> None:
        """Write the texts and edits of some documents."""
        pages = [Page(**page) for document in documents for page in document["pages"]]
        asked = (page for page in pages if (page.document, page.index) in self._sources)
        sums.asked += [replace(page, text="") for page in asked]
        sums.edits += sum(len(edits) for document in documents for edits in document["edits"])
        sums.aimed += sum(document["aimed"] for document in documents)
        failed = sum(page.error is not None for page in pages)
        sums.failed += failed
        sums.whole += len(pages) - failed
        if base.name not in self.trials:
            self.tables.append("texts", text_columns(base, pages))
            self.tables.append("edits", edit_columns(base, _edits(documents)))
            if base.repairs:
                every = [record for document in documents for record in document.get("treated", ())]
                records = [((record["document"], record["page"]), record) for record in every]
                self.tables.append("treatments", treatment_columns(base, records))
        if not base.ocr.reads_images and base.ocr.kind != "ground_truth":
            for page in pages:  # a page that an engine failed on is listed by the step that read it
                if page.error is not None:
                    record = self.ledger.lack if page.error.endswith(ABSENT) else self.ledger.fail
                    record("ocr", f"{base.name}: {page.document} page {page.index + 1}", page.error)

    def _readings(self, part: BasePart) -> None:
        """Write what the engine reported of each page, and warn of pages that were cut or ran in a loop."""
        ends, readers = Counter[str](), Counter[str]()
        for names in slices([name for name, pages in part.pages.items() if pages]):
            places = {key: (name, index) for name in names for index, key in enumerate(part.pages[name])}
            values = self.scheduler.read(places)
            self.ledger.usage.add(reading(part.base), values)
            read = [(places[key], as_recognition(value)) for key, value in values.items()]
            ends.update(reading.finish for _, reading in read)
            readers.update(reading.reader for _, reading in read if reading.reader)
            self.tables.append("readings", reading_columns(part.base, read))
            if part.base.repairs:
                records = [(places[key], each) for key, value in values.items() for each in value.get("treated", ())]
                self.tables.append("treatments", treatment_columns(part.base, records))
        for line in warnings_of(ends, readers):
            self.ledger.warn(f"{part.base.name}: {line}")

    def _corrections(self, part: BasePart) -> None:
        """Count the replies of models that correct pages."""
        asked = self.scheduler.read(part.asked)
        for key, names in asked.items():
            payee = correcting(part.base, part.asked[key])
            self.ledger.usage.add(payee, self.scheduler.read(names.values()))

    def _pages(self, base: KnowledgeBase, lost: Sequence[Mapping[str, Any]], sums: _Sums) -> None:
        """Write what was measured of the pages of some documents."""
        damages = [read_damage(value) for value in lost]
        for damage in damages:
            sums.doses |= damage.questions
        table = "attribution_pages" if base.name in self.trials else "pages"
        pages = [page for damage in damages for page in damage.pages]
        self.tables.append(table, page_columns(base, pages, self._sources))

    def fail(self, cell: Cell, scores: Scores) -> None:
        """List the metrics that failed."""
        for failure in scores.failures:
            self.ledger.fail("metric", f"{cell.label}: {failure.metric} of {failure.question}", failure.reason)

    def add_scores(self, cell: Cell, places: Sequence[int], scores: Scores) -> None:
        """Write the scores of some questions, by their places in `Inputs.questions`."""
        questions = [self.inputs.questions[place] for place in places]
        if cell.swap:
            self.tables.append("swap_scores", swap_columns(cell, questions, scores))
            return
        table = "attribution_scores" if cell.base.name in self.trials else "scores"
        self.tables.append(table, score_columns(cell, questions, scores))


def _edits(documents: Iterable[Mapping[str, Any]]) -> dict[PageId, Counter[str]]:
    """Count the edits of some documents by page and rule."""
    return {
        (page["document"], page["index"]): Counter(edit["rule"] for edit in edits)
        for document in documents
        for page, edits in zip(document["pages"], document["edits"], strict=True)
    }
