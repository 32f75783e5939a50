"""Tables: writes the rows of a knowledge base or a cell when its steps are settled."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import Any

from ohr.contracts import ABSENT, Completion, Page, PageId, Question
from ohr.contracts.system import SPLIT
from ohr.dataset.misplaced_evidence import sentence
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.cells import Cell
from ohr.graph.compile import reference_base
from ohr.graph.graph import BasePart, Batch, CellPart
from ohr.messages.wording import counted, named
from ohr.metrics.dose import DAMAGED, QuestionDose
from ohr.metrics.question_scores import about_same_pages, constant_scores
from ohr.metrics.rankings import SHOWN_METRICS
from ohr.metrics.scores import Scores, failed_questions, kb_scores, with_failures
from ohr.noise_files.stats import write_statistics
from ohr.results.derived import decomposition
from ohr.results.derived.derive import derive
from ohr.results.derived.dose_rows import Counts
from ohr.results.tables.schema import MEASURED
from ohr.results.tables.table_files import Tables
from ohr.runner import attribution
from ohr.runner.columns import (
    Judgement,
    answer_columns,
    confidence_columns,
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
    treatment_columns,
)
from ohr.runner.usage import note_answers
from ohr.spec.model import KnowledgeBase, Named
from ohr.spec.servers import correcting, judging, reading
from ohr.steps.answers.asked_judges import Judge
from ohr.steps.answers.generate import Answered, as_answered
from ohr.steps.answers.judge_prompts import reply_keys
from ohr.steps.answers.scoring import read_scores
from ohr.steps.documents.damage import read_damage
from ohr.steps.documents.read_pages import as_recognition, warnings_of
from ohr.steps.retrieval.retrieve import read_hits, read_value

_MOST_STATED = 1.5
"""Seconds that a system states, of those that its questions took: parts that run side by side may be more than all."""
_FAILED = Answered(Completion("", finish="error", error="failed: see the table of failures"), "")
_AT_ONCE = 64
"""Documents that are read at once: few enough to hold, enough to save round trips to a remote store."""


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


class Tabulator:
    """Writes the tables of a run into its folder; attribution's levels and swapped texts have tables of their own.

    Args:
        trials: attribution's levels, by the name of the knowledge base, which have tables of their own.
    """

    def __init__(
        self, session: Session, keys: Keys, scheduler: Scheduler, folder: Path, trials: Mapping[str, attribution.Trial]
    ) -> None:
        self.keys, self.inputs, self.store = keys, keys.inputs, session.store
        self.scheduler, self.ledger, self.folder, self.trials = scheduler, session.ledger, folder, trials
        further = (*(attribution.MEASURED if trials else ()), *(decomposition.MEASURED if keys.spec.decompose else ()))
        judged = ("judgements",) if keys.judges or keys.page_judges else ()
        steps = ("steps",) if keys.spec.whole else ()
        repairs = ("treatments",) if any(base.repairs for base in keys.spec.knowledge_bases) else ()
        read = ("confidences",) if any(base.ocr.kind != "ground_truth" for base in keys.spec.knowledge_bases) else ()
        self.tables = Tables(folder, (*MEASURED, *further, *judged, *steps, *repairs, *read))
        self.tables.append("questions", question_columns(self.inputs.questions, self.inputs.without_text))
        self.counts: dict[str, Counts] = {}
        self._sources = page_sources(self.inputs.questions)
        self.failed: dict[str, set[str]] = {}
        self._misplaced: int | None = None
        self.versions = defaultdict[str, set[str]](set)
        """The versions that systems reported, by the system's name."""
        self.stated = defaultdict[tuple[str, str], float](float)
        """Sums of the seconds of systems and of the parts that they state, by the system's name and the column."""

    def in_order(self, parts: Sequence[BasePart | CellPart]) -> list[BasePart | CellPart]:
        """Sort parts as the tables list them: knowledge bases and searches, then each generator, then each agent."""
        spec = self.keys.spec
        names = ["", *(item.name for item in spec.generators), *(item.name for item in spec.whole)]

        def place(part: BasePart | CellPart) -> int:
            if isinstance(part, BasePart):
                return 0
            answering = part.cell.generator.name if part.cell.generator else part.cell.agent and part.cell.agent.name
            return names.index(answering or "")

        return sorted(parts, key=place)

    def write(self, part: BasePart | CellPart) -> None:
        """Write the rows of a part, which must be settled."""
        if isinstance(part, BasePart):
            self.base(part)
        elif part.cell.generator or (part.cell.agent and part.cell.stage == "overall"):
            self.answers(part)
        elif part.cell.agent and not part.batches[0].hits:
            self.shown(part)
        else:
            self.retrieval(part)

    def base(self, part: BasePart) -> None:
        """Write the texts, pages, edits and evidence scores of a knowledge base."""
        base, sums = part.base, _Sums()
        for documents, damages in zip(_slices(part.documents), _slices(part.damage or part.documents), strict=True):
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
        merged, judgements = _page_scores(part, self.scheduler, self.keys, self.failed[part.base.name])
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
            stated = [(each["pages"][0]["document"], *words) for each in documents for words in each.get("words", ())]
            if stated:
                self.tables.append("confidences", confidence_columns(base, stated, self.inputs))
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
        for names in _slices([name for name, pages in part.pages.items() if pages]):
            places = {key: (name, index) for name in names for index, key in enumerate(part.pages[name])}
            values = self.scheduler.read(places)
            self.ledger.usage.add(reading(part.base), values)
            read = [(places[key], as_recognition(value)) for key, value in values.items()]
            ends.update(reading.finish for _, reading in read)
            readers.update(reading.reader for _, reading in read if reading.reader)
            self.tables.append("readings", reading_columns(part.base, read))
            sources = {name: self.keys.read_order(part.base, self.inputs.by_name[name]) for name in names}
            stated = [
                (name, sources[name][index].place, value["words"])
                for (name, index), value in ((places[key], value) for key, value in values.items())
                if "words" in value
            ]
            self.tables.append("confidences", confidence_columns(part.base, stated, self.inputs))
            if part.base.repairs:
                numbers = {name: self._numbers(part.base, name) for name in names}
                records = [
                    ((name, number), each)
                    for key, value in values.items()
                    for name, place in [places[key]]
                    for number in numbers[name].get(place, ())
                    for each in value.get("treated", ())
                ]
                self.tables.append("treatments", treatment_columns(part.base, records))
        for line in warnings_of(ends, readers):
            self.ledger.warn(f"{part.base.name}: {line}")

    def _numbers(self, base: KnowledgeBase, name: str) -> Mapping[int, Sequence[int]]:
        """Return the numbers of a document's pages in a knowledge base, by their place when they are read."""
        document = self.inputs.by_name[name]
        if base.orders_read:
            return {place: [page.number] for place, page in enumerate(self.keys.read_order(base, document))}
        numbers: dict[int, list[int]] = defaultdict(list)
        for page in self.keys.placed(base, document):
            numbers[page.place].append(page.number)
        return {place: list(dict.fromkeys(every)) for place, every in numbers.items()}

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

    def retrieval(self, part: CellPart) -> None:
        """Write the hits and retrieval scores of a cell."""
        cell = part.cell
        searching: Any = cell.retriever or cell.agent
        headline, *ranks = self.keys.spec.benchmark.scoring.retrieval_metrics(searching.stage.top_k)
        # which pages were found does not depend on the text that is read at them
        names = (headline,) if cell.swap else tuple(dict.fromkeys((headline, *ranks, *self.keys.ranking_metrics)))
        for batch in part.batches:
            if not cell.swap:
                self.hits(cell, batch)
            assert batch.scores is not None
            self._batch(cell, batch, batch.scores, names)

    def hits(self, cell: Cell, batch: Batch) -> None:
        """Write the hits of a batch, and its warnings."""
        searching = cell.retriever or cell.agent
        assert batch.hits is not None and searching is not None
        stored = self.scheduler.read([batch.hits])
        hits, warnings = read_value(stored[batch.hits]) if stored else read_hits(self.store, None, batch.hits)
        for warning in warnings:
            self.ledger.warn(f"{searching.name} on {cell.base.name}{batch.scope and f', {batch.scope}'}: {warning}")
        if cell.base.name not in self.trials:
            self.tables.append("hits", hit_columns(cell, hits))

    def answers(self, part: CellPart) -> None:
        """Write the answers of a cell, their scores, and what judges replied."""
        for batch in part.batches:
            self._answers(part.cell, batch)

    def _answers(self, cell: Cell, batch: Batch) -> None:
        assert batch.scores is not None
        answers = batch.episodes
        if batch.prompts:
            answers = self.scheduler.read([batch.prompts.key]).get(batch.prompts.key, {})
        got = self.scheduler.read(answers.values())
        note_answers(self.ledger.usage, cell, got)
        if shown := cell.base.name not in self.trials and not cell.swap:
            protocol = self.keys.spec.benchmark.scoring
            given = {q: as_answered(got[name], protocol) if name in got else _FAILED for q, name in answers.items()}
            self.tables.append("answers", answer_columns(cell, given))
            if cell.agent is not None:
                self._steps(cell, {q: got[name] for q, name in answers.items() if name in got})
            elif cell.generator:
                self.ledger.replied(cell.generator.name, {name: each["finish"] for name, each in got.items()})
        scored = self._batch(cell, batch, batch.scores, (*self.keys.answer_metrics, *self.keys.rules.facts))
        judged = self.scheduler.read([batch.judged]).get(batch.judged, {}) if batch.judged else {}
        for judge in self.keys.judges if judged else ():
            self._judgements(cell, batch, judge, judged.get(judge.name, {}), scored, shown=shown)

    def _note_ends(self, agent: str) -> None:
        """Warn of an agent's questions that ended without an answer: they score 0, and are no failures."""
        if len(versions := sorted(self.versions[agent])) > 1:
            self.ledger.warn(f"{agent} changed its version while it was asked: {named(versions)}")
        stated, took = (sum(self.stated[agent, name] for name in names) for names in (SPLIT, ("seconds",)))
        if stated > _MOST_STATED * took + 1:
            what = f"{stated:,.0f} s of search and model for questions that took {took:,.0f} s"
            self.ledger.warn(f"{agent} states {what}: are they in another unit?")
        ends = self.ledger.ends[agent]
        others = {end: count for end, count in ends.items() if end != "answered"}
        if others:
            listed = ", ".join(f"{end} {count:,}" for end, count in sorted(others.items()))
            asked = counted(ends.total(), "question")
            self.ledger.warn(f"{agent}: {sum(others.values()):,} of {asked} ended without an answer: {listed}")

    def _steps(self, cell: Cell, trajectories: Mapping[str, Mapping[str, Any]]) -> None:
        """Write the steps of an agent, and count how its questions ended."""
        assert cell.agent is not None
        self.tables.append("steps", step_columns(cell, trajectories))
        self.versions[cell.agent.name].update(filter(None, (each.get("version") for each in trajectories.values())))
        self.ledger.ends[cell.agent.name].update(each["end"] for each in trajectories.values())
        asks = [step for each in trajectories.values() for step in each["steps"] if step["kind"] == "ask"]
        for name in ("seconds", *SPLIT):
            self.stated[cell.agent.name, name] += sum(step.get(name) or 0 for step in asks)
        self.ledger.replied(cell.agent.name, {step["key"]: step["finish"] for step in asks})

    def shown(self, part: CellPart) -> None:
        """Write the scores of the pages that an agent has looked at."""
        for batch in part.batches:
            assert batch.scores is not None
            self._batch(part.cell, batch, batch.scores, SHOWN_METRICS)

    def _judgements(
        self,
        cell: Cell,
        batch: Batch,
        judge: Judge,
        keys: Mapping[str, Sequence[str]],
        scores: Scores,
        *,
        shown: bool,
    ) -> None:
        """Count a judge's replies about a batch, and write those of a cell that is shown."""
        name, found = judge.name, self.scheduler.read({key for names in keys.values() for key in names})
        self.ledger.usage.add(judging(Named(name, judge.metric)), found)
        if not shown:
            return
        self.ledger.replied(f"{name} (judge)", {key: reply["finish"] for key, reply in found.items()})
        replies = {question: joined_replies([found.get(name) for name in names]) for question, names in keys.items()}
        reasons = {each.question: each.reason for each in scores.failures if each.metric == name}
        questions = [self.inputs.questions[place].id for place in batch.questions]
        given = [
            Judgement(question, replies[question], reasons.get(question), score)
            for question, score in zip(questions, scores.values[name], strict=True)
            if question in replies
        ]
        self.tables.append("judgements", judgement_columns(cell, name, judge.metric, given))

    def constant(self) -> None:
        """Write the scores of the best constant answer, a floor of every generator."""
        cell = Cell("reference", reference_base("constant"))
        scores = constant_scores(self.inputs.questions, self.keys.rules)
        self.fail(cell, scores)
        self.add_scores(cell, range(len(self.inputs.questions)), scores)

    def _batch(self, cell: Cell, batch: Batch, scores: str, metrics: Sequence[str]) -> Scores:
        stored = self.scheduler.read([scores]).get(scores)
        scored = read_scores(stored, metrics, len(batch.questions))
        questions = [self.inputs.questions[place] for place in batch.questions]
        bases = (cell.base, cell.swap.clean) if cell.swap else (cell.base,)
        failed = {question for base in bases for question in self.failed.get(base.name, ())}
        scored = with_failures(scored.only(metrics), questions, failed)
        self.fail(cell, scored)
        self.add_scores(cell, batch.questions, scored)
        return scored

    def close(self) -> None:
        """Finish the tables, and make those that follow from them: doses, means, costs, losses by stage."""
        spec = self.keys.spec
        if spec.whole or (spec.generators and {"generation", "overall"} & set(spec.evaluate)):
            self.constant()
        for agent in spec.whole:
            self._note_ends(agent.name)
        self.tables.append("failures", failure_columns([*self.ledger.failures, *self.ledger.absent]))
        self.tables.close()
        if "pages" in self.keys.spec.measure:
            self.ledger.calls["page statistics"] += write_statistics(self.folder, self.inputs.truth, self.store)
        for fault in derive(self.folder, self.counts, self.keys.spec.benchmark.aggregates()):
            self.ledger.fail("aggregate", *fault.split(": ", 1))
        if self.trials:
            levels = {base.condition: base for base in self.keys.spec.knowledge_bases}
            attribution.derive(self.folder, self.keys.spec, levels, self.trials, self.counts)
        if self.keys.spec.decompose:
            decomposition.derive(self.folder)


def _page_scores(
    part: BasePart, scheduler: Scheduler, keys: Keys, failed: Collection[str]
) -> tuple[Scores, dict[str, list[Judgement]]]:
    """Gather the scores of the questions by the text of their pages, and the judges' replies.

    Args:
        failed: ids of questions that need a page that failed.

    Returns:
        the scores of all questions, in their order, nan where a question is about no page; and replies by judge.
    """
    inputs, merged = keys.inputs, Scores()
    values: dict[str, dict[str, float]] = {}
    lost: dict[str, set[str]] = {}
    judgements: dict[str, list[Judgement]] = {judge.name: [] for judge in keys.page_judges}
    for names in _slices(list(part.scores)):
        scored = scheduler.read([part.scores[name] for name in names])
        judged = scheduler.read([part.judged[name] for name in names if name in part.judged])
        replies = scheduler.read({key for about in judged.values() for key in reply_keys(about)})
        for judge in keys.page_judges:
            mine = {key for about in judged.values() for names in about.get(judge.name, {}).values() for key in names}
            found = {key: replies[key] for key in mine if key in replies}
            scheduler.ledger.usage.add(judging(Named(judge.name, judge.metric)), found)
        for name in names:
            asked = inputs.about[name]
            scores = read_scores(
                scored.get(part.scores[name]), [*keys.rules.page_metrics, *keys.rules.facts], len(asked)
            )
            for judge, about in judged.get(part.judged.get(name, ""), {}).items():
                judgements[judge] += _judgements(judge, about, replies, asked, scores)
            scores = with_failures(scores, asked, failed)
            merged.failures += scores.failures
            for metric, column in scores.values.items():
                ids = [question.id for question in asked]
                values.setdefault(metric, {}).update(zip(ids, column, strict=True))
                flags = zip(ids, scores.failed[metric], strict=True)
                lost.setdefault(metric, set()).update(question for question, is_lost in flags if is_lost)
    for metric, known in values.items():
        merged.values[metric] = [known.get(question.id, nan) for question in inputs.questions]
        merged.failed[metric] = [question.id in lost[metric] for question in inputs.questions]
    return merged, judgements


def _judgements(
    judge: str,
    about: Mapping[str, Sequence[str]],
    replies: Mapping[str, Mapping[str, str]],
    questions: Sequence[Question],
    scores: Scores,
) -> Iterator[Judgement]:
    """Yield a judge's replies about the pages of one document; a reply is about several questions of the same pages."""
    given = dict(zip((question.id for question in questions), scores.values[judge], strict=True))
    reasons = {failure.question: failure.reason for failure in scores.failures if failure.metric == judge}
    for same in about_same_pages(questions):
        for name in about.get(same[0].id, ()):
            reply = replies.get(name)
            text = None if reply is None else reply["text"]
            yield from (Judgement(q.id, text, reasons.get(q.id), given[q.id]) for q in same)


def _slices(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield keys of documents, as many as are read at once."""
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))


def _edits(documents: Iterable[Mapping[str, Any]]) -> dict[PageId, Counter[str]]:
    """Count the edits of some documents by page and rule; a page that comes twice has those of both."""
    counts: dict[PageId, Counter[str]] = defaultdict(Counter)
    for document in documents:
        for page, edits in zip(document["pages"], document["edits"], strict=True):
            counts[page["document"], page["index"]].update(edit["rule"] for edit in edits)
    return counts
