"""Analyses of questions: damage by evidence source, LCS without formatting, table formats, error classes."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isnan, nan
from pathlib import Path
from typing import Any

from ohr.contracts import SOURCES, Question
from ohr.metrics.dose import evidence_text
from ohr.metrics.lcs import lcs_without_formatting
from ohr.report.analyses.rows import LEVEL, SYSTEM, Row, estimate, grouped, named
from ohr.results.folder import read_manifest, read_table
from ohr.spec.read import make_benchmark

RIGHT = 0.5
"""An answer is right when its F1 is at least this; the paper does not say what it took."""


def r_noise(folder: Path) -> list[dict[str, Any]]:
    """Give r_noise of each knowledge base, all questions and by evidence source (OHRBench, section 4.3)."""
    rows = _scores(folder, stage="page", metric="damaged")
    found = []
    for place, held in grouped(rows, *LEVEL).items():
        whole = estimate(held)
        sources = {source: [row for row in held if row["evidence_source"] == source] for source in SOURCES}
        means = {source: estimate(part).mean for source, part in sources.items() if part}
        bounds = {"r_noise": whole.mean, "low": whole.low, "high": whole.high}
        counts = {"n": whole.n, "excluded": whole.undefined}
        found.append(named(LEVEL, place) | bounds | means | counts)
    return _squared(found)


def formatting_lcs(folder: Path) -> list[dict[str, Any]]:
    """Score retrieval again without formatting commands, on both sides (OHRBench, section 4.3: Formatting Noise).

    The published score takes a word with a command glued to it for another word: `\\textbf{rent` is `textbfrent`.
    """
    manifest = read_manifest(folder)
    protocol = manifest["protocol"]
    benchmark = make_benchmark(dict(manifest["spec"]["benchmark"]), str(folder / "manifest.json"))
    questions = {question.id: question for question in benchmark.questions()}
    rows = _scores(folder, stage="retrieval", metric=protocol["retrieval"])
    hits = grouped(read_table(folder / "hits.parquet"), "question_id", "kb", "chunker", "retriever")
    rescored = []
    for row in rows:
        question = questions.get(row["question_id"])
        place = (row["question_id"], row["kb"], row["chunker"], row["retriever"])
        again = nan if question is None else _without_formatting(question, hits.get(place, ()), protocol)
        rescored.append({**row, "again": 0.0 if row["status"] == "failed" and not isnan(again) else again})
    found = []
    for place, held in grouped(rescored, *LEVEL, "chunker", "retriever").items():
        plain, bare = estimate(held), estimate(held, "again")
        gain = {"lcs": plain.mean, "without_formatting": bare.mean, "low": bare.low, "high": bare.high}
        found.append({**named((*LEVEL, "chunker", "retriever"), place), **gain, "n": bare.n})
    return found


def table_formats(folder: Path) -> list[dict[str, Any]]:
    """Give the scores of table questions only, for every knowledge base and system (OHRBench, Fig. 4)."""
    protocol = read_manifest(folder)["protocol"]
    metrics = {
        "retrieval": protocol["retrieval"],
        "generation": protocol["answer"][0],
        "overall": protocol["answer"][0],
    }
    rows = [
        row
        for row in read_table(folder / "scores.parquet")
        if row["evidence_source"] == "table" and metrics.get(row["stage"]) == row["metric"]
    ]
    columns = ("stage", "metric", *LEVEL, *SYSTEM)
    found = []
    for place, held in grouped(rows, *columns).items():
        made = estimate(held)
        bounds = {"mean": made.mean, "low": made.low, "high": made.high, "n": made.n, "failed": made.failed}
        found.append({**named(columns, place), **bounds})
    return found


def error_classes(folder: Path) -> list[dict[str, Any]]:
    """Give the shares of the four classes: OCR right or wrong, answer right or wrong (OHRBench, Fig. 5).

    The OCR is wrong where the question's evidence is damaged; an answer is right from RIGHT on. Questions whose damage
    or score is undefined are left out and counted.
    """
    damaged = {(row["kb"], row["question_id"]): row["value"] for row in _scores(folder, stage="page", metric="damaged")}
    metric = read_manifest(folder)["protocol"]["answer"][0]
    columns = ("stage", *LEVEL, *SYSTEM)
    rows = [row for stage in ("generation", "overall") for row in _scores(folder, stage=stage, metric=metric)]
    found = []
    for place, held in grouped(rows, *columns).items():
        counts: dict[tuple[bool, bool], int] = defaultdict(int)
        for row in held:
            harm = damaged.get((row["kb"], row["question_id"]), nan)
            if not isnan(harm) and not isnan(row["value"]):
                counts[harm == 0, row["value"] >= RIGHT] += 1
        total = sum(counts.values())
        shares = {
            f"ocr_{'right' if ocr else 'wrong'}_answer_{'right' if answer else 'wrong'}": (
                counts[ocr, answer] / total if total else nan
            )
            for ocr in (True, False)
            for answer in (True, False)
        }
        found.append({**named(columns, place), **shares, "n": total, "excluded": len(held) - total})
    return found


def _scores(folder: Path, **wanted: str) -> list[Row]:
    rows = read_table(folder / "scores.parquet")
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def _without_formatting(question: Question, hits: Sequence[Row], protocol: Mapping[str, Any]) -> float:
    own = [hit for hit in hits if hit["document"] == question.document and hit["page"] in question.pages]
    own.sort(key=lambda hit: (hit["page"], hit["start"]) if protocol["joined"] == "page" else (hit["rank"],))
    text = "\n\n".join(hit["text"] for hit in own)
    return lcs_without_formatting(text, evidence_text(question), segment_chinese=protocol["segment_chinese"])


def _squared(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give every row the same columns."""
    columns = [name for name in dict.fromkeys(name for row in rows for name in row) if name not in ("n", "excluded")]
    return [{name: row.get(name, nan) for name in (*columns, "n", "excluded")} for row in rows]
