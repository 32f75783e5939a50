"""From the outputs of a run to the columns of its tables."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from ohr.contracts import CaseJudgeMetric, Document, Page, PageId, PageJudgeMetric, Question, Recognition, Word
from ohr.contracts.system import SPLIT
from ohr.dataset.inputs import Inputs
from ohr.engine.ledger import Failure
from ohr.graph.cells import Cell
from ohr.metrics.scores import Scores
from ohr.metrics.trust import confidence_counts
from ohr.results.tables.table_files import Columns
from ohr.spec.model import KnowledgeBase, Named
from ohr.spec.sweep import shown
from ohr.steps.answers.generate import Answered
from ohr.steps.documents.damage import PageDamage
from ohr.steps.retrieval.retrieve import Found


class Judgement(NamedTuple):
    """A judge's reply about one question; None, with the reason as `error`, where there is no reply or no grade."""

    question: str
    reply: str | None
    error: str | None
    score: float


_TRAITS = ("document", "domain", "evidence_source", "answer_form", "task_type")


def of_base(base: KnowledgeBase) -> dict[str, Any]:
    """Describe a knowledge base: the same for each of its rows."""
    value = None if base.knob_value is None else shown(base.knob_value)
    level = {"noise": base.noise, "noise_type": base.noise_type, "knob": base.knob, "knob_value": value}
    return {"kb": base.name, "condition": base.condition, "replicate": base.replicate, **level}


def of_cell(cell: Cell) -> dict[str, Any]:
    """Describe a cell: the same for each of its rows."""
    retriever: Named[Any] | None = cell.retriever
    generator: Named[Any] | None = cell.generator
    if cell.agent:  # it is the retriever of the pages that it looked at, and the generator of its answers
        retriever, generator = (cell.agent, None) if cell.stage == "retrieval" else (None, cell.agent)
    parts = {"chunker": cell.chunker, "retriever": retriever, "generator": generator}
    return {**of_base(cell.base), "stage": cell.stage, **{name: part and part.name for name, part in parts.items()}}


def question_columns(questions: Sequence[Question], without_text: Collection[str]) -> Columns:
    """Columns of `questions`.

    Args:
        questions: all that are asked.
        without_text: ids of those whose pages have no text in the ground truth.
    """
    return {
        "question_id": [question.id for question in questions],
        "text": [question.text for question in questions],
        "answers": [question.answers for question in questions],
        "evidence": [question.evidence for question in questions],
        "pages": [question.pages for question in questions],
        "relevant": [[page._asdict() for page in question.relevant] for question in questions],
        **{name: [getattr(question, name) for question in questions] for name in _TRAITS},
        "clean_text": [question.id not in without_text for question in questions],
        "groups": [[f"{name}={value}" for name, value in question.groups] for question in questions],
    }


def text_columns(base: KnowledgeBase, pages: Sequence[Page]) -> Columns:
    """Columns of `texts`: some pages of one knowledge base."""
    about = of_base(base)
    return {
        **{name: about[name] for name in ("kb", "condition", "replicate")},
        "document": [page.document for page in pages],
        "page": [page.index for page in pages],
        "text": [page.text for page in pages],
        "error": [page.error for page in pages],
    }


def reading_columns(base: KnowledgeBase, read: Sequence[tuple[PageId, Recognition]]) -> Columns:
    """Columns of `readings`: some pages of one knowledge base that an engine has read."""
    about, names = of_base(base), ("reader", "finish", "tokens_in", "tokens_out", "seconds", "confidence")
    return {
        **{name: about[name] for name in ("kb", "condition", "replicate")},
        "document": [document for (document, _), _ in read],
        "page": [index for (_, index), _ in read],
        **{name: [getattr(one, name) for _, one in read] for name in names},
    }


def confidence_columns(
    base: KnowledgeBase, stated: Iterable[tuple[str, int, Sequence[tuple[str, float]]]], inputs: Inputs
) -> Columns:
    """Columns of `confidences`: how many words are wrong, by confidence.

    Args:
        stated: words with their confidence, by document and page of the source; a document's pages in succession.
    """
    rows: list[tuple[Document, int, tuple[float, int, int]]] = []
    for name, pages in groupby(stated, key=itemgetter(0)):
        truth = {page.index: page.text for page in inputs.truth.get(name, ())}
        for _, index, words in pages:
            held = [Word(text, None, confidence) for text, confidence in words]
            counts = confidence_counts(held, truth[index]) if index in truth else []
            rows += [(inputs.by_name[name], index, each) for each in counts]
    about = of_base(base)
    return {
        **{name: about[name] for name in ("kb", "condition", "replicate")},
        "document": [document.name for document, _, _ in rows],
        "domain": [document.domain for document, _, _ in rows],
        "page": [page for _, page, _ in rows],
        **{name: [each[at] for _, _, each in rows] for at, name in enumerate(("confidence", "words", "wrong"))},
    }


def treatment_columns(base: KnowledgeBase, records: Sequence[tuple[PageId, Mapping[str, Any]]]) -> Columns:
    """Columns of `treatments`: what repairs did to some pages of one knowledge base."""
    about = of_base(base)
    plain = ("treatment", "changed", "seconds", "tokens_in", "tokens_out", "outcome")
    known = {*plain, "document", "page"}
    further = [{name: value for name, value in record.items() if name not in known} for _, record in records]
    return {
        **{name: about[name] for name in ("kb", "condition", "replicate")},
        "document": [document for (document, _), _ in records],
        "page": [index for (_, index), _ in records],
        **{name: [record.get(name) for _, record in records] for name in plain},
        "record": [json.dumps(record, ensure_ascii=False, default=str) if record else None for record in further],
    }


def score_columns(cell: Cell, questions: Sequence[Question], scores: Scores) -> Columns:
    """Columns of `scores`: some questions of one cell, metric by metric."""
    metrics = list(scores.values)
    return {
        **of_cell(cell),
        "question_id": [question.id for question in questions] * len(metrics),
        **{name: [getattr(question, name) for question in questions] * len(metrics) for name in _TRAITS},
        "multi_page": [len(question.grades) > 1 for question in questions] * len(metrics),
        "metric": [metric for metric in metrics for _ in questions],
        "status": ["failed" if failed else "ok" for metric in metrics for failed in scores.failed[metric]],
        "value": [value for metric in metrics for value in scores.values[metric]],
    }


def swap_columns(cell: Cell, questions: Sequence[Question], scores: Scores) -> Columns:
    """Columns of `swap_scores`: some questions of one cell with swapped texts."""
    return {**score_columns(cell, questions, scores), "noisy": cell.swap and cell.swap.noisy}


def hit_columns(cell: Cell, found: Mapping[str, Sequence[Found]]) -> Columns:
    """Columns of `hits`: those of some questions in one cell."""
    about, rows = of_cell(cell), [(q, rank, hit) for q, hits in found.items() for rank, hit in enumerate(hits, 1)]
    return {
        **{name: about[name] for name in ("kb", "condition", "replicate", "chunker", "retriever")},
        "question_id": [question for question, _, _ in rows],
        "rank": [rank for _, rank, _ in rows],
        "score": [hit.score for *_, hit in rows],
        "page": [hit.chunk.pages[0] for *_, hit in rows],
        **{name: [getattr(hit.chunk, name) for *_, hit in rows] for name in _CHUNK},
    }


_CHUNK = ("document", "pages", "start", "end", "text")
_COMPLETION = ("tokens_in", "tokens_out", "seconds", "finish", "truncated", "error")


def answer_columns(cell: Cell, answered: Mapping[str, Answered]) -> Columns:
    """Columns of `answers`: those of some questions in one cell."""
    about, given = of_cell(cell), list(answered.values())
    names = ("kb", "condition", "replicate", "chunker", "retriever", "generator", "stage")
    return {
        **{name: about[name] for name in names},
        "question_id": list(answered),
        "answer": [one.answer for one in given],
        "reply": [one.completion.text for one in given],
        **{name: [getattr(one.completion, name) for one in given] for name in _COMPLETION},
        **{name: [_effort(cell, one)[name] for one in given] for name in _EFFORT},
    }


_EFFORT = ("end", "calls", "searches", "turns", "images", "pages_shown", "shared_calls", *SPLIT)


def _effort(cell: Cell, one: Answered) -> Mapping[str, Any]:
    """Count what an answer took; a generator answers with one call."""
    if one.effort is not None:
        return asdict(one.effort)
    lost = one.completion.error is not None
    single = {"calls": 1, "searches": int(cell.retriever is not None), "turns": 1, "shared_calls": 0}
    return {**dict.fromkeys(_EFFORT), **({} if lost else single)}


def step_columns(cell: Cell, trajectories: Mapping[str, Mapping[str, Any]]) -> Columns:
    """Columns of `steps`: those of an agent's trajectories, by question."""
    about, rows = of_cell(cell), [(q, step) for q, found in trajectories.items() for step in found["steps"]]
    names = (
        "number", "kind", "role", "query", "turns", "images", "attempt", "shared", "cached", "tokens_in", "tokens_out",
        "seconds", "finish", "reply",
    )  # fmt: skip
    return {
        **{name: about[name] for name in ("kb", "condition", "replicate", "chunker")},
        "agent": about["generator"],
        "question_id": [question for question, _ in rows],
        "pages": [[f"{name}:{index}" for name, index in step["pages"]] for _, step in rows],
        **{name: [step.get(name) for _, step in rows] for name in names},
    }


def joined_replies(replies: Sequence[Mapping[str, Any] | None]) -> str | None:
    """Return a judge's replies as one text, with a line between two; None where one is missing."""
    texts = [str(reply["text"]) for reply in replies if reply is not None]
    return "\n---\n".join(texts) if len(texts) == len(replies) else None


def judgement_columns(
    cell: Cell, metric: str, judge: CaseJudgeMetric | PageJudgeMetric, given: Sequence[Judgement]
) -> Columns:
    """Columns of `judgements`: one judge's replies about some questions of one cell."""
    about = of_cell(cell)
    names = ("kb", "condition", "replicate", "chunker", "retriever", "generator", "stage")
    return {
        **{name: about[name] for name in names},
        "question_id": [one.question for one in given],
        "metric": metric,
        "judge": judge.judge.kind,
        "prompt_sha256": judge.prompt_sha256,
        "reply": [one.reply for one in given],
        "error": [one.error for one in given],
        "score": [one.score for one in given],
    }


def page_sources(questions: Iterable[Question]) -> Mapping[PageId, set[str]]:
    """Collect the evidence sources of the questions about each page."""
    sources: dict[PageId, set[str]] = defaultdict(set)
    for question in questions:
        for index in question.pages:
            sources[question.document, index].add(question.evidence_source)
    return sources


def page_columns(base: KnowledgeBase, pages: Sequence[PageDamage], sources: Mapping[PageId, set[str]]) -> Columns:
    """Columns of `pages`: some pages of one knowledge base, as measured."""
    return {
        **of_base(base),
        "document": [page.document for page in pages],
        "domain": [page.document.split("/")[0] for page in pages],
        "page": [page.index for page in pages],
        "sources": [",".join(sorted(sources.get((page.document, page.index), ()))) for page in pages],
        "empty": [page.empty for page in pages],
        "words": [page.words for page in pages],
    }


def edit_columns(base: KnowledgeBase, edits: Mapping[PageId, Mapping[str, int]]) -> Columns:
    """Columns of `edits`: those of some pages of one knowledge base, by page and rule."""
    about = of_base(base)
    rows = [(place, rule, count) for place, made in edits.items() for rule, count in sorted(made.items())]
    return {
        **{name: about[name] for name in ("kb", "condition", "noise", "knob_value", "replicate")},
        "document": [document for (document, _), _, _ in rows],
        "page": [index for (_, index), _, _ in rows],
        "rule": [rule for _, rule, _ in rows],
        "edits": [count for *_, count in rows],
    }


def failure_columns(failures: Sequence[Failure]) -> Columns:
    """Columns of `failures`."""
    return {
        "stage": [failure.stage for failure in failures],
        "item": [failure.item for failure in failures],
        "reason": [failure.reason for failure in failures],
        "kind": [failure.kind for failure in failures],
    }
