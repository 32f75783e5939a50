"""Scores a folder of OCR results against a benchmark: an ordinary run, and its row among published ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

from ohr.contracts import Benchmark
from ohr.engine.ledger import Failure
from ohr.engine.progress import Progress
from ohr.report.analyses import noise_ratios
from ohr.report.leaderboard.result_folders import failures_of, refuse_another_benchmarks, strangers
from ohr.report.leaderboard.standings import (
    Leaderboard,
    Row,
    asked,
    fairly_ranked,
    leaderboards,
    protocol_boards,
    protocol_rows,
    published_on,
)
from ohr.report.trust import trust
from ohr.report.views.hygiene import hygiene_sentences
from ohr.report.views.protocol import page_rows
from ohr.results.derived.means import Breakdown, breakdown, macro_over_domains
from ohr.results.run import Run
from ohr.results.score_arrays import ScoreTable
from ohr.results.tables.groups import ALL
from ohr.runner.plain_search import TOP_K
from ohr.runner.run import run as run_spec
from ohr.spec.model import Spec

DOSES = (
    "edit_distance", "edit_distance_content", "r_noise", "r_noise_clean", "r_content", "evidence_loss",
    "empty_pages", "questions", "excluded", "failed_pages",
)  # fmt: skip
"""Measures of a knowledge base itself; columns of doses.csv."""
RATIOS = ("text_errors", "formula_text_errors", "formula_structure_errors", "redundant_commands")
"""The columns of Table S3."""
TRUST = ("words_kept", "misread", "repeated", "elsewhere", "new", "numbers_kept", "amounts_kept", "names_kept")
"""Shares of what a reading keeps, and of what it adds: columns of the analysis `trust`."""


@dataclass(frozen=True, slots=True)
class OcrScore:
    """The effect of a folder of OCR results on retrieval.

    Args:
        truth: name of the knowledge base that is the ground truth; empty where the benchmark has none.
        doses: numbers of the two knowledge bases themselves, by name.
        ratios: shares of matching blocks with errors, and redundant commands per page, by name (OHRBench, Table S3).
        trust: shares of words, numbers and names that are kept, and of words that are misread or invented, by name.
        metric: the protocol's retrieval score.
        retrieval: its means, by name; none without a ground truth, when pages alone are scored.
        macro: the mean over domains, each with the same weight, by name.
        lost: what the OCR took of the ground truth's score, paired: mean, low, high.
        pages: the scores of the text of the pages, by condition and metric: mean, low and high of the 95% interval, n
            and documents; an interval is nan where documents are too few.
        aggregates: the protocol's numbers on pages that are more than a mean, likewise, with a value in place of mean.
        run: folder of the run, in which every number can be traced to its rows.
    """

    name: str
    benchmark: str
    truth: str
    protocol: str
    setting: str
    doses: Mapping[str, Mapping[str, float]]
    ratios: Mapping[str, Mapping[str, float]]
    trust: Mapping[str, Mapping[str, float]]
    metric: str
    retrieval: Mapping[str, Breakdown]
    macro: Mapping[str, float]
    lost: Mapping[str, float]
    pages: Mapping[str, Mapping[str, Mapping[str, float]]]
    aggregates: Mapping[str, Mapping[str, Mapping[str, float]]]
    leaderboards: Sequence[Leaderboard]
    failures: Sequence[Failure]
    warnings: Sequence[str]
    run: Path


def score_ocr(
    spec: Spec, *, store: Path | str, runs: Path, workers: int | None = None, progress: Progress | None = None
) -> OcrScore:
    """Run an `ocr_spec` of one folder and read its results; those in the store are reused.

    Raises:
        DataError: no file of the folder is a document of the benchmark: it is another benchmark's.
    """
    refuse_another_benchmarks(spec)
    finished = run_spec(spec, store=store, runs=runs, workers=workers, progress=progress)
    *truths, own = (base.name for base in spec.knowledge_bases)
    truth = truths[0] if truths else ""
    metric = spec.benchmark.scoring.retrieval
    run = Run.finished(finished.folder)
    scores = ScoreTable.of(run)
    found = {
        place.noise: breakdown(scores.questions, scores.read(place), metric)
        for place in scores.places
        if place.stage == "retrieval"
    }
    doses = {row["kb"]: {name: row[name] for name in DOSES} for row in run.rows("doses")}
    search = f"{spec.retrievers[0].name}, top {TOP_K}" if truth else "pages alone"
    setting = f"{search}, protocol {spec.benchmark.scoring.name}"
    boards = _placed(spec.benchmark, setting, truth, own, found, doses) if truth else []
    boards += protocol_boards(published_on(spec.benchmark), "page", protocol_rows(run, "page"))
    return OcrScore(
        name=own,
        benchmark=spec.benchmark.kind,
        truth=truth,
        protocol=spec.benchmark.scoring.name,
        setting=setting,
        doses=doses,
        ratios={row["noise"]: {name: row[name] for name in RATIOS} for row in noise_ratios(run)} if truth else {},
        trust={row["condition"]: {name: row[name] for name in TRUST} for row in trust(run)} if truth else {},
        metric=metric,
        retrieval=found,
        macro={base: macro_over_domains(found[base]) for base in found},
        lost=_lost(run, own, metric) if truth else {},
        pages=_by_condition(page_rows(run, by="evidence_source", group=ALL), "metric", "mean"),
        aggregates=_by_condition(run.rows_if_any("aggregates", stage="page"), "name", "value"),
        leaderboards=fairly_ranked(boards, spec.benchmark, run.manifest["questions"]),
        failures=failures_of(run),
        warnings=[*run.manifest["warnings"], *strangers(spec), *hygiene_sentences(run)],
        run=finished.folder,
    )


def _placed(
    benchmark: Benchmark,
    setting: str,
    truth: str,
    own: str,
    found: Mapping[str, Breakdown],
    doses: Mapping[str, Mapping[str, float]],
) -> list[Leaderboard]:
    setting = f"{setting}; {asked(found[own])}"
    rows = []
    for base in (own, truth):
        means = {name: est.mean for by in ("evidence_source", "domain") for name, est in found[base][by].items()}
        distance = doses[base]["edit_distance"] if base == own else nan
        rows.append(Row(base, setting, means, distance, is_truth=base == truth))
    groups = {by: list(found[own][by]) for by in ("evidence_source", "domain")}
    return leaderboards(published_on(benchmark), "retrieval", rows, groups)


def _by_condition(rows: Iterable[Mapping[str, Any]], named: str, value: str) -> dict[str, dict[str, dict[str, float]]]:
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for row in rows:
        numbers = {name: row[name] for name in (value, "low", "high", "n", "documents")}
        scores.setdefault(row["condition"], {})[row[named]] = numbers
    return scores


def _lost(run: Run, own: str, metric: str) -> dict[str, float]:
    columns = ["lost", "lost_low", "lost_high"]
    wanted = {"stage": "retrieval", "noise": own, "metric": metric, "by": "evidence_source", "group": ALL}
    (row,) = run.rows("summary", columns, **wanted)
    return {"mean": row["lost"], "low": row["lost_low"], "high": row["lost_high"]}
