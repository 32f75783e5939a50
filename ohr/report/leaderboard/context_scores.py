"""Scores what a file of answers says was retrieved, by the metrics of retrieval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ohr.contracts import Chunk, PageId, Question
from ohr.graph.cache_keys import Keys
from ohr.metrics.floors import OtherPages
from ohr.metrics.question_scores import Known, retrieval_scores
from ohr.metrics.scores import FACTS, Scores
from ohr.report.leaderboard.file_benchmark import FileBenchmark
from ohr.results.derived.means import Breakdown, breakdown
from ohr.results.score_arrays import CellScores, Questions
from ohr.steps.systems.locate_contexts import NOWHERE, Locating
from ohr.text.locate import PageLocator


@dataclass(frozen=True, slots=True)
class ContextScore:
    """The scores of what was retrieved.

    Args:
        scores: means by metric; questions that are missing are in them as 0.
        top_k: the most contexts of a question, at which hits and recall are measured.
        contexts: how many there are.
        nowhere: those that are on no page of the benchmark; they keep their rank.
        nothing: questions for which nothing was retrieved, scored 0.
        located: they were looked for on the benchmark's pages; otherwise their words are compared with the reference
            contexts, and which of them was found is not known.
    """

    scores: Mapping[str, Breakdown]
    top_k: int
    contexts: int
    nowhere: int
    nothing: int
    located: bool


def score_contexts(
    keys: Keys, questions: Sequence[Question], about: Questions, contexts: Mapping[str, Sequence[str]]
) -> ContextScore | None:
    """Score contexts; None where there is nothing to compare them with.

    Args:
        keys: rules and inputs of the benchmark.
        questions: all that are asked.
        about: the same as arrays.
        contexts: by question id; one without an entry failed.
    """
    benchmark, inputs = keys.inputs.benchmark, keys.inputs
    mine = {question.id: contexts[question.id] for question in questions if question.id in contexts}
    top_k = max(1, *map(len, mine.values())) if mine else 1
    scoring, nowhere = keys.spec.benchmark.scoring, 0
    if isinstance(benchmark, FileBenchmark):
        located, others, known = False, OtherPages(benchmark.passages()), Known()
        chunks: Mapping[str, Sequence[Chunk]] = {q.id: _as_own(q, mine[q.id]) for q in questions if q.id in mine}
        names = [scoring.retrieval, f"{scoring.retrieval}_floor"]
        if not any(question.evidence for question in questions):
            return None
    else:
        texts: dict[PageId, str] = {
            (name, page.index): page.text for name in inputs.truth for page in inputs.truth[name] if page.text.strip()
        }
        if not texts:
            return None
        chunks = located_contexts(texts, mine)
        located, others = True, OtherPages(inputs.truth)
        nowhere = sum(chunk.document == NOWHERE for found in chunks.values() for chunk in found)
        known = Known({name: document.pages for name, document in inputs.by_name.items()}, {}, inputs.copies)
        # which facts a chunker cuts is not known
        names = [name for name in scoring.retrieval_metrics(top_k) if name != f"{FACTS}_chunked"]
    scores = retrieval_scores(questions, chunks, keys.rules, others, top_k, (), known)
    cell = as_cell(scores)
    return ContextScore(
        {name: breakdown(about, cell, name) for name in names},
        top_k,
        sum(map(len, mine.values())),
        nowhere,
        sum(not found for found in mine.values()),
        located,
    )


def located_contexts(texts: Mapping[PageId, str], contexts: Mapping[str, Sequence[str]]) -> dict[str, Sequence[Chunk]]:
    """Return contexts as passages of the pages that hold their words, by question.

    Where on a page they are is found out only for several of one page: they are scored in the page's order.
    """
    locator = PageLocator({page: [text] for page, text in texts.items()})
    quick, aligned = Locating(None, locator, texts, aligned=False), Locating(None, locator, texts)
    chunks: dict[str, Sequence[Chunk]] = {}
    for name, found in contexts.items():
        given = [(text, "", None, None) for text in found]
        chunks[name] = [hit.chunk for hit in quick.found(given)]
        firsts = [(chunk.document, chunk.pages[0]) for chunk in chunks[name] if chunk.document != NOWHERE]
        if len(set(firsts)) < len(firsts):
            chunks[name] = [hit.chunk for hit in aligned.found(given)]
    return chunks


def as_cell(scores: Scores) -> CellScores:
    """Return scores of some questions as those of a cell that was run once."""
    draws = np.array([[row] for row in scores.values.values()])
    return CellScores(tuple(scores.values), draws, np.array(list(scores.failed.values())))


def _as_own(question: Question, contexts: Sequence[str]) -> list[Chunk]:
    """Return contexts as if all were of the question's own pages: their words alone count, in their order."""
    return [
        Chunk(f"context {rank}", question.document, question.pages, rank, rank, text)
        for rank, text in enumerate(contexts)
    ]
