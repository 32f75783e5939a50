"""Measures what each knowledge base lost of the ground truth, document by document: over processes, and kept."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from ohr.contracts import Document, Page, Question
from ohr.engine.bases import Bases
from ohr.engine.executors.local import Executor
from ohr.engine.progress import Progress
from ohr.engine.work import Work
from ohr.keys import key
from ohr.metrics.dose import PageDose, QuestionDose, by_page, question_dose
from ohr.metrics.realism import SeenPage, see
from ohr.spec.model import KnowledgeBase
from ohr.store import Store

_VERSION = 4
"""Raised when a dose is computed otherwise."""

_LITTLE = 3_000_000
"""Characters that are measured sooner than processes are started for them."""


@dataclass(frozen=True, slots=True)
class Damage:
    """What one knowledge base lost of one document, by question and by page; sources and edits are not filled in."""

    questions: Mapping[str, QuestionDose]
    pages: Sequence[SeenPage]


@dataclass(frozen=True, slots=True)
class DamageTask:
    """Measure one document of one knowledge base; the result goes to the store under `key`.

    Args:
        truth: the document's ground truth.
        pages: the same document as the knowledge base has it.
        questions: those about this document.
        bare: no document of the benchmark has ground truth.
    """

    document: Document
    truth: tuple[Page, ...]
    pages: tuple[Page, ...]
    questions: tuple[Question, ...]
    segment_chinese: bool
    bare: bool
    key: str
    store: Path

    @property
    def item(self) -> str:
        """Name of the work, for messages."""
        return f"damage to {self.document.name}"


def measure(task: DamageTask) -> dict[str, Any]:
    """Do a DamageTask; gives what it kept."""
    truth, here = by_page(task.truth), by_page(task.pages)
    questions = [_told(question_dose(q, truth, here, task.segment_chinese, bare=task.bare)) for q in task.questions]
    seen = [see(page, here.get(place), (), {}) for place, page in truth.items()]
    pages = [[_told(page.dose), dict(page.commands), page.redundant, dict(page.blocks), page.words] for page in seen]
    Store(task.store).put(task.key, {"questions": questions, "pages": pages})
    return {"questions": questions, "pages": pages}


def _told(dose: QuestionDose | PageDose) -> dict[str, Any]:
    """Write a dose as JSON values; `asdict` would copy each of them deeply."""
    return {field.name: getattr(dose, field.name) for field in fields(dose)}


def damages(bases: Bases, executor: Executor, progress: Progress, work: Work) -> dict[tuple[str, str], Damage]:
    """Measure every document of every knowledge base that has text, by the names of base and document."""
    places: dict[str, list[tuple[str, str]]] = defaultdict(list)  # two bases with the same text share a key
    tasks: dict[str, DamageTask] = {}
    found: dict[str, Any] = {}
    for base in (base for base in bases.recipe.spec.knowledge_bases if base.has_text):
        for document in bases.recipe.inputs.documents:
            name = _key(bases, base, document)
            places[name].append((base.name, document.name))
            if name in found or name in tasks:
                continue
            known = bases.store.get(name)
            if known is None:
                tasks[name] = _task(bases, base, document, name)
            else:
                found[name] = known
    with work.timed("damage"), progress.step("damage", len(tasks)) as advance:
        for task, result in _results(list(tasks.values()), executor, bases.recipe.spec.retries, work):
            found[task.key] = result
            advance(1)
    return {place: _read(found[name]) for name, held in places.items() if name in found for place in held}


def _results(tasks: Sequence[DamageTask], executor: Executor, retries: int, work: Work) -> Any:
    if sum(len(page.text) for task in tasks for page in task.truth) < _LITTLE:
        yield from ((task, measure(task)) for task in tasks)
        return
    for outcome in executor.map(measure, tasks, retries):
        if outcome.error:
            work.fail("damage", outcome.task.item, outcome.error)
        else:
            yield outcome.task, outcome.result


def _key(bases: Bases, base: KnowledgeBase, document: Document) -> str:
    inputs, recipe = bases.recipe.inputs, bases.recipe
    asked = [[q.id, q.text, q.answers, q.pages, q.evidence] for q in inputs.about.get(document.name, ())]
    rules = [_VERSION, recipe.spec.benchmark.scoring.segment_chinese, inputs.is_bare]
    return key("damage", rules, bases.document_key(base, document), recipe.leaf(document, images=False), asked)


def _task(bases: Bases, base: KnowledgeBase, document: Document, name: str) -> DamageTask:
    inputs = bases.recipe.inputs
    return DamageTask(
        document,
        tuple(inputs.truth[document.name]),
        tuple(bases.pages(base, document)),
        tuple(inputs.about.get(document.name, ())),
        bases.recipe.spec.benchmark.scoring.segment_chinese,
        inputs.is_bare,
        name,
        bases.store.root,
    )


def _read(kept: Mapping[str, Any]) -> Damage:
    questions = {told["question_id"]: QuestionDose(**told) for told in kept["questions"]}
    pages = [
        SeenPage(PageDose(**dose), frozenset(), commands, redundant, {}, blocks, words)
        for dose, commands, redundant, blocks, words in kept["pages"]
    ]
    return Damage(questions, pages)
