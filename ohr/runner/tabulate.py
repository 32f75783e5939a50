"""Tables: writes the rows of a knowledge base or a cell when its steps are settled."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ohr.contracts import ABSENT, Completion, Page, PageId
from ohr.dataset.evidence import sentence
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.cells import Cell
from ohr.graph.compile import reference_base
from ohr.graph.graph import BasePart, Batch, CellPart
from ohr.metrics.dose import DAMAGED, QuestionDose
from ohr.metrics.rankings import SHOWN_METRICS
from ohr.metrics.reply_columns import constant_scores
from ohr.metrics.scores import Scores, failed_questions, kb_scores, with_failures
from ohr.noise_files.page_statistics import write_statistics
from ohr.results.derived import decomposition
from ohr.results.derived.derive import derive
from ohr.results.derived.doses import Counts
from ohr.results.tables.schema import MEASURED
from ohr.results.tables.table_files import Tables
from ohr.runner.asking_judges import Judged
from ohr.runner.asking_page_judges import PageScoring
from ohr.runner.attribution import costs
from ohr.runner.attribution.levels import Trial
from ohr.runner.columns import (
    Judgement,
    answer_columns,
    edit_columns,
    failure_columns,
    hit_columns,
    joined_replies,
    judgement_columns,
    page_columns,
    page_sources,
    question_columns,
    reading_columns,
    score_columns,
    step_columns,
    swap_columns,
    text_columns,
)
from ohr.spec.model import KnowledgeBase
from ohr.steps.answers.generate import Answered, as_answered
from ohr.steps.answers.scoring import read_scores
from ohr.steps.documents.damage import read_damage
from ohr.steps.documents.read_pages import as_recognition, warnings_of
from ohr.steps.retrieval.retrieve import read_hits, read_value

_AT_ONCE = 64  # documents that are read at once: few enough to hold, enough to save round trips to a remote store


@dataclass
class _Sums:
    """Sums over the documents of a knowledge base."""

    doses: dict[str, QuestionDose] = field(default_factory=dict)
    pages: list[Page] = field(default_factory=list)
    edits: int = 0
    aimed: int = 0
    failed: int = 0


class Tabulator:
    """Writes the tables of a run into its folder; attribution's own levels and swapped texts have tables of their own.

    Args:
        trials: attribution's levels, by the name of the knowledge base.
    """

    def __init__(
        self, session: Session, keys: Keys, scheduler: Scheduler, folder: Path, trials: Mapping[str, Trial]
    ) -> None:
        self.keys, self.inputs, self.store = keys, keys.inputs, session.store
        self.scheduler, self.ledger, self.folder, self.trials = scheduler, session.ledger, folder, trials
        self._paging = PageScoring(session, scheduler, keys)
        further = (*(costs.MEASURED if trials else ()), *(decomposition.MEASURED if keys.spec.decompose else ()))
        judged = ("judgements",) if keys.judges or keys.page_judges else ()
        steps = ("steps",) if keys.spec.agents else ()
        self.tables = Tables(folder, (*MEASURED, *further, *judged, *steps))
        self.tables.append("questions", question_columns(self.inputs.questions, self.inputs.without_text))
        self.counts: dict[str, Counts] = {}
        self._sources = page_sources(self.inputs.questions)
        self._failed: dict[str, set[str]] = {}
        self._misplaced: int | None = None

    def base(self, part: BasePart) -> None:
        """Write the texts, pages, edits and evidence scores of a knowledge base."""
        base, sums = part.base, _Sums()
        for documents, damages in zip(_slices(part.documents), _slices(part.damage or part.documents), strict=True):
            made = self.scheduler.read(documents)
            lost = self.scheduler.read(damages) if part.damage else {}
            self._texts(base, [made[name] for name in documents if name in made], sums)
            found = [damage for name, damage in zip(documents, damages, strict=True) if name in made]
            self._pages(base, [lost[damage] for damage in found if damage in lost], sums)
        if base.name not in self.trials:
            self._readings(part)
        questions = self.inputs.questions
        if self._misplaced is None and sums.doses:
            self._misplaced = sum(dose.lcs_gt <= DAMAGED for dose in sums.doses.values())
            if self._misplaced:
                self.ledger.warn(sentence(self._misplaced))
        # without any ground truth its text is read by nobody, so no page of it is lost
        unread = self.inputs.is_bare and base.ocr.kind == "ground_truth"
        self._failed[base.name] = set() if unread else failed_questions(questions, sums.pages)
        cell, scores = Cell("page", base), kb_scores(questions, sums.doses, self._failed[base.name])
        self._add_pages(cell, part, scores)
        self._scores(cell, range(len(questions)), scores)
        self.counts[base.name] = Counts(sums.edits, sums.aimed, sums.failed)

    def _add_pages(self, cell: Cell, part: BasePart, scores: Scores) -> None:
        """Add the scores of pages to those of a knowledge base, and write what judges replied."""
        made = self._paging.of(part, self._failed[part.base.name])
        self._fail(cell, made.scores)
        scores.values |= made.scores.values
        scores.failed |= made.scores.failed
        for name, given in made.judgements.items():
            if part.base.name not in self.trials:
                columns = judgement_columns(cell, name, self.keys.page_judges[name], given)
                self.tables.append("judgements", columns)

    def _texts(self, base: KnowledgeBase, made: Sequence[Mapping[str, Any]], sums: _Sums) -> None:
        """Write the texts and edits of some documents."""
        pages = [Page(**page) for document in made for page in document["pages"]]
        sums.pages += [Page(page.document, page.index, "", page.error) for page in pages]
        sums.edits += sum(len(edits) for document in made for edits in document["edits"])
        sums.aimed += sum(document["aimed"] for document in made)
        sums.failed += sum(page.error is not None for page in pages)
        if base.name not in self.trials:
            self.tables.append("texts", text_columns(base, pages))
            self.tables.append("edits", edit_columns(base, _edits(made)))
        if not base.ocr.reads_images and base.ocr.kind != "ground_truth":
            for page in pages:  # a page that an engine failed on is listed by the step that read it
                if page.error is not None:
                    record = self.ledger.lack if page.error.endswith(ABSENT) else self.ledger.fail
                    record("ocr", f"{base.name}: {page.document} page {page.index}", page.error)

    def _readings(self, part: BasePart) -> None:
        """Write what the engine reported of each page, and warn of pages that were cut or ran in a loop."""
        ends, readers = Counter[str](), Counter[str]()
        for some in _slices([name for name, pages in part.pages.items() if pages]):
            places = {key: (name, index) for name in some for index, key in enumerate(part.pages[name])}
            found = self.scheduler.read(places)
            read = [(places[key], as_recognition(value)) for key, value in found.items()]
            ends.update(one.finish for _, one in read)
            readers.update(one.reader for _, one in read if one.reader)
            self.tables.append("readings", reading_columns(part.base, read))
        for line in warnings_of(ends, readers):
            self.ledger.warn(f"{part.base.name}: {line}")

    def _pages(self, base: KnowledgeBase, lost: Sequence[Mapping[str, Any]], sums: _Sums) -> None:
        """Write what was measured of the pages of some documents."""
        damages = [read_damage(found) for found in lost]
        for damage in damages:
            sums.doses |= damage.questions
        table = "attribution_pages" if base.name in self.trials else "pages"
        pages = [page for damage in damages for page in damage.pages]
        self.tables.append(table, page_columns(base, pages, self._sources))

    # --- cells --------------------------------------------------------------------------------------------

    def retrieval(self, part: CellPart) -> None:
        """Write the hits and retrieval scores of a cell."""
        cell = part.cell
        assert cell.retriever is not None
        headline, *ranks = self.keys.spec.benchmark.scoring.retrieval_metrics(cell.retriever.stage.top_k)
        # which pages were found does not depend on the text that is read at them
        names = (headline,) if cell.swap else tuple(dict.fromkeys((headline, *ranks, *self.keys.ranking_metrics)))
        for batch in part.batches:
            if not cell.swap:
                self.hits(cell, batch)
            assert batch.scores is not None
            self._batch(cell, batch, batch.scores, names)

    def hits(self, cell: Cell, batch: Batch) -> None:
        """Write the hits of a batch, and its warnings."""
        assert batch.hits is not None and cell.retriever is not None
        kept = self.scheduler.read([batch.hits])
        hits, warnings = read_value(kept[batch.hits]) if kept else read_hits(self.store, None, batch.hits)
        for warning in warnings:
            self.ledger.warn(f"{cell.retriever.name} on {cell.base.name}, {batch.scope}: {warning}")
        if cell.base.name not in self.trials:
            self.tables.append("hits", hit_columns(cell, hits))

    def answers(self, cell: Cell, batch: Batch, answers: Mapping[str, str], scores: str, judged: Judged) -> None:
        """Write the answers of a batch and their scores.

        Args:
            answers: key by question, in the graph.
            scores: key of the scores, in the graph.
            judged: keys of the judges' replies, in the graph.
        """
        if cell.base.name not in self.trials and not cell.swap:
            found = self.scheduler.read(answers.values())
            protocol = self.keys.spec.benchmark.scoring
            given = {q: as_answered(found[name], protocol) if name in found else _FAILED for q, name in answers.items()}
            self.tables.append("answers", answer_columns(cell, given))
            if cell.agent is not None:
                self._steps(cell, {q: found[name] for q, name in answers.items() if name in found})
            elif cell.generator:
                self.ledger.replied(cell.generator.name, {name: each["finish"] for name, each in found.items()})
        scored = self._batch(cell, batch, scores, (*self.keys.answer_metrics, *self.keys.rules.facts))
        if cell.base.name not in self.trials and not cell.swap:
            for name, keys in judged.items():
                self._judgements(cell, batch, name, keys, scored)

    def _steps(self, cell: Cell, trajectories: Mapping[str, Mapping[str, Any]]) -> None:
        """Write the steps of an agent, and count how its questions ended."""
        assert cell.agent is not None
        self.tables.append("steps", step_columns(cell, trajectories))
        self.ledger.ends[cell.agent.name].update(each["end"] for each in trajectories.values())
        asks = (step for each in trajectories.values() for step in each["steps"] if step["kind"] == "ask")
        self.ledger.replied(cell.agent.name, {step["key"]: step["finish"] for step in asks})

    def shown(self, part: CellPart) -> None:
        """Write the scores of the pages that an agent has looked at."""
        for batch in part.batches:
            assert batch.scores is not None
            self._batch(part.cell, batch, batch.scores, SHOWN_METRICS)

    def _judgements(
        self, cell: Cell, batch: Batch, name: str, keys: Mapping[str, tuple[str, ...]], scores: Scores
    ) -> None:
        """Write a judge's replies about a batch."""
        found = self.scheduler.read({key for names in keys.values() for key in names})
        self.ledger.replied(f"{name} (judge)", {key: reply["finish"] for key, reply in found.items()})
        replies = {question: joined_replies([found.get(name) for name in names]) for question, names in keys.items()}
        reasons = {each.question: each.reason for each in scores.failures if each.metric == name}
        questions = [self.inputs.questions[place].id for place in batch.questions]
        given = [
            Judgement(question, replies[question], reasons.get(question), score)
            for question, score in zip(questions, scores.values[name], strict=True)
            if question in replies
        ]
        self.tables.append("judgements", judgement_columns(cell, name, self.keys.judges[name], given))

    def constant(self) -> None:
        """Write the scores of the best constant answer, a floor of every generator."""
        cell = Cell("reference", reference_base("constant"))
        scores = constant_scores(self.inputs.questions, self.keys.rules)
        self._fail(cell, scores)
        self._scores(cell, range(len(self.inputs.questions)), scores)

    def _batch(self, cell: Cell, batch: Batch, scores: str, metrics: Sequence[str]) -> Scores:
        kept = self.scheduler.read([scores]).get(scores)
        found = read_scores(kept, metrics, len(batch.questions))
        questions = [self.inputs.questions[place] for place in batch.questions]
        bases = (cell.base, cell.swap.clean) if cell.swap else (cell.base,)
        failed = {question for base in bases for question in self._failed.get(base.name, ())}
        found = with_failures(found.only(metrics), questions, failed)
        self._fail(cell, found)
        self._scores(cell, batch.questions, found)
        return found

    def _fail(self, cell: Cell, scores: Scores) -> None:
        for failure in scores.failures:
            self.ledger.fail("metric", f"{cell.label}: {failure.metric} of {failure.question}", failure.reason)

    def _scores(self, cell: Cell, places: Sequence[int], scores: Scores) -> None:
        questions = [self.inputs.questions[place] for place in places]
        if cell.swap:
            self.tables.append("swap_scores", swap_columns(cell, questions, scores))
            return
        table = "attribution_scores" if cell.base.name in self.trials else "scores"
        self.tables.append(table, score_columns(cell, questions, scores))

    def close(self) -> None:
        """Finish the tables, and make those that follow from them: doses, means, costs, losses by stage."""
        self.tables.append("failures", failure_columns([*self.ledger.failures, *self.ledger.absent]))
        self.tables.close()
        if "pages" in self.keys.spec.measure:
            self.ledger.calls["page statistics"] += write_statistics(self.folder, self.inputs.truth, self.store)
        for fault in derive(self.folder, self.counts, self.keys.spec.benchmark.aggregates()):
            self.ledger.fail("aggregate", *fault.split(": ", 1))
        if self.trials:
            levels = {base.condition: base for base in self.keys.spec.knowledge_bases}
            costs.derive(self.folder, self.keys.spec, levels, self.trials, self.counts)
        if self.keys.spec.decompose:
            decomposition.derive(self.folder)


_FAILED = Answered(Completion("", finish="error", error="failed: see the table of failures"), "")


def _edits(made: Iterable[Mapping[str, Any]]) -> dict[PageId, Counter[str]]:
    """Count the edits of some documents by page and rule."""
    return {
        (page["document"], page["index"]): Counter(edit["rule"] for edit in edits)
        for document in made
        for page, edits in zip(document["pages"], document["edits"], strict=True)
    }


def _slices(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))
