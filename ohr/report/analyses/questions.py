"""Analyses of questions: damage by evidence source, LCS without formatting, table formats, error classes."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from ohr.contracts import SOURCES
from ohr.metrics.lcs import lcs_without_formatting
from ohr.results.derived.means import estimates
from ohr.results.run import Run
from ohr.results.score_arrays import CellScores, Floats, Part, Place, ScoreTable
from ohr.results.tables.groups import ALL, STAGES
from ohr.statistics.estimate import Estimate

RIGHT = 0.5
"""An answer is right when its F1 is at least this; the paper does not say what it took."""

Row = dict[str, Any]


def r_noise(run: Run) -> list[Row]:
    """Return r_noise of each condition, all questions and by evidence source (OHRBench, section 4.3)."""
    scores = _scores(run)
    found: list[Row] = []
    sources: list[str] = [source for source in SOURCES if source in scores.questions.groups("evidence_source")]
    for place in scores.of_stage("page"):
        whole = _estimate(scores, place, "damaged", ALL)
        means = {source: _estimate(scores, place, "damaged", source).mean for source in sources}
        bounds = {"r_noise": whole.mean, "low": whole.low, "high": whole.high}
        found.append({**_level(place), **bounds, **means, "n": whole.n, "excluded": whole.undefined})
    return found


def formatting_lcs(run: Run) -> list[Row]:
    """Score retrieval again without formatting commands, on both sides (OHRBench, section 4.3: Formatting Noise).

    The published score takes a word with a command glued to it for another word: `\\textbf{rent` is `textbfrent`.
    """
    protocol = run.manifest["protocol"]
    scores, found = _scores(run), []
    asked: dict[str, Row] = {row["question_id"]: row for row in run.rows("questions", _EVIDENCE)}
    for place in scores.of_stage("retrieval"):
        cell = scores.read(place).only([protocol["retrieval"]])
        draws = np.stack([_again(run, base, place, asked, protocol) for base, _ in scores.bases(place)])
        # what failed scores 0 again, unless it is undefined
        draws = np.where(cell.failed & ~np.isnan(draws), 0.0, draws)
        again = CellScores(("again",), draws[None], cell.failed)
        whole = scores.questions.part("evidence_source", ALL)
        (plain,), (bare,) = estimates(cell, whole), estimates(again, whole)
        gain = {"lcs": plain.mean, "without_formatting": bare.mean, "low": bare.low, "high": bare.high, "n": bare.n}
        found.append({**_level(place), "chunker": place.chunker, "retriever": place.retriever, **gain})
    return found


_EVIDENCE = ("question_id", "document", "pages", "evidence")


def _again(run: Run, base: str, place: Place, asked: Mapping[str, Row], protocol: Mapping[str, Any]) -> Floats:
    """Score the hits of one knowledge base and pipeline again: one value per question."""
    columns = ["question_id", "document", "pages", "start", "rank", "text"]
    where = {"kb": base, "chunker": place.chunker, "retriever": place.retriever}
    hits: dict[str, list[Row]] = defaultdict(list)
    for batch in run.table("hits", columns, **where).to_batches(10_000):
        for hit in batch.to_pylist():
            hits[hit["question_id"]].append(hit)
    return np.array([_without_formatting(question, hits[name], protocol) for name, question in asked.items()])


def _without_formatting(question: Row, hits: Sequence[Row], protocol: Mapping[str, Any]) -> float:
    own = [
        hit for hit in hits if hit["document"] == question["document"] and set(hit["pages"]) & set(question["pages"])
    ]
    own.sort(key=lambda hit: (hit["pages"], hit["start"]) if protocol["joined"] == "page" else (hit["rank"],))
    text = "\n\n".join(hit["text"] for hit in own)
    return lcs_without_formatting(text, "\n".join(question["evidence"]), segment_chinese=protocol["segment_chinese"])


def table_formats(run: Run) -> list[Row]:
    """Return the scores of table questions only, for every condition and system (OHRBench, Fig. 4)."""
    scores, found = _scores(run), []
    if "table" not in scores.questions.groups("evidence_source"):
        return []
    for place, metric in _headlined(run, scores):
        made = _estimate(scores, place, metric, "table")
        bounds = {"mean": made.mean, "low": made.low, "high": made.high, "n": made.n, "failed": made.failed}
        found.append({"stage": place.stage, "metric": metric, **_level(place), **_system(place), **bounds})
    return found


def error_classes(run: Run) -> list[Row]:
    """Return the shares of the four classes: OCR right or wrong, answer right or wrong (OHRBench, Fig. 5).

    The OCR is wrong where the question's evidence is damaged; an answer is right from RIGHT on. A question counts once,
    with the share of its replicates that are in the class; one whose damage or score is undefined in all of them is
    excluded. `low` and `high` are the ends of 95% intervals over documents.
    """
    scores, found = _scores(run), []
    pages = {place.condition: place for place in scores.places if place.stage == "page"}
    whole = scores.questions.part("evidence_source", ALL)
    for place, metric in _headlined(run, scores):
        if place.stage == "retrieval":
            continue
        damaged = scores.read(pages[place.condition]).only(["damaged"]).draws[0]
        cell = scores.read(place).only([metric])
        made = estimates(_classes(damaged, cell), whole)
        shares = {
            name: value
            for label, one in zip(_CLASSES, made, strict=True)
            for name, value in ((label, one.mean), (f"{label}_low", one.low), (f"{label}_high", one.high))
        }
        counts = {"n": made[0].n, "excluded": made[0].undefined}
        found.append({"stage": place.stage, **_level(place), **_system(place), **shares, **counts})
    return found


_CLASSES = tuple(f"ocr_{ocr}_answer_{answer}" for ocr in ("right", "wrong") for answer in ("right", "wrong"))


def _classes(damaged: Floats, cell: CellScores) -> CellScores:
    """Score 1 in the class that a question is in, and 0 in the others: (classes, replicates, questions)."""
    values = cell.draws[0]
    defined = ~np.isnan(damaged) & ~np.isnan(values)
    draws = [
        np.where(defined, ((damaged == 0) == ocr) & ((values >= RIGHT) == answer), nan)
        for ocr in (True, False)
        for answer in (True, False)
    ]
    return CellScores(_CLASSES, np.stack(draws), np.repeat(cell.failed, len(draws), axis=0))


def _scores(run: Run) -> ScoreTable:
    return ScoreTable.of(run)


def _headlined(run: Run, scores: ScoreTable) -> Iterator[tuple[Place, str]]:
    """Yield the cells of each stage that a spec evaluates, with the stage's headline metric."""
    headline = run.headlines
    yield from ((place, headline[place.stage]) for place in scores.places if place.stage in STAGES)


def _estimate(scores: ScoreTable, place: Place, metric: str, group: str) -> Estimate:
    part: Part = scores.questions.part("evidence_source", group)
    (made,) = estimates(scores.read(place).only([metric]), part)
    return made


def _level(place: Place) -> Row:
    return {"noise": place.noise, "level": place.knob_value}


def _system(place: Place) -> Row:
    return {"chunker": place.chunker, "retriever": place.retriever, "generator": place.generator}
