"""Scores a folder of OCR results against a benchmark: an ordinary run, and its row among published ones."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ohr.contracts import ABSENT, Benchmark, Page, PublishedBenchmark, RecordedOcr
from ohr.engine.ledger import Failure
from ohr.engine.progress import Progress
from ohr.errors import DataError
from ohr.files.names import composed
from ohr.files.ohrbench_json import write_pages
from ohr.messages.wording import counted, named
from ohr.report.analyses import noise_ratios
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
from ohr.results.derived.means import Breakdown, breakdown, macro_over_domains
from ohr.results.run import Run
from ohr.results.score_arrays import ScoreTable
from ohr.results.tables.groups import ALL
from ohr.runner.plain_search import TOP_K, plain_search
from ohr.runner.run import run as run_spec
from ohr.spec.model import Spec
from ohr.spec.read import make_benchmark, make_spec

_LONGEST_NAME = 80
"""Characters of a run's name, which is that of its folder."""
LAYOUT = "ohrbench"
"""The format of `<domain>/<document>.json`."""
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
    leaderboards: Sequence[Leaderboard]
    failures: Sequence[Failure]
    warnings: Sequence[str]
    run: Path


@contextmanager
def as_base(
    folder: Path, benchmark: Mapping[str, Any], label: str = "ohr score", format: str = LAYOUT
) -> Iterator[Path]:
    """Provide the folder of a knowledge base: the folder itself, or a copy of results in the benchmark's own layout.

    Raises:
        DataError: the results cannot be read.
        SpecError: the benchmark's keys are wrong.
    """
    own = make_benchmark(dict(benchmark), label)
    may_be_own = format == LAYOUT and folder.is_dir()
    results = own.results(folder) if may_be_own and isinstance(own, PublishedBenchmark) else None
    if results is None:
        yield folder
        return
    with TemporaryDirectory() as copy:
        base = Path(copy) / folder.resolve().name
        for document, texts in results.items():
            if not (base / f"{document}.json").resolve().is_relative_to(base.resolve()):
                raise DataError(f"benchmark {own.kind}: {document!r} is no name of a document")
            pages = [Page(document, index, text) for index, text in enumerate(texts) if text is not None]
            write_pages(base / f"{document}.json", pages)
        yield base


def unread(folder: Path, benchmark: Benchmark) -> list[str]:
    """Name the Markdown files of results whose names begin with that of no document: a misspelt name is not silent."""
    held = [document.name.rpartition("/")[2].split("__") for document in benchmark.documents()]
    names = tuple({"__".join(parts[start:]) for parts in held for start in range(len(parts))})  # `__` may join folders
    strange = sorted(path.name for path in folder.rglob("*.md") if not path.name.startswith(names))
    return [f"{counted(len(strange), 'file')} of no document of the benchmark: {named(strange)}"] if strange else []


def ocr_spec(
    folders: Mapping[str, Path],
    benchmark: Mapping[str, Any],
    label: str = "ohr score",
    format: str = LAYOUT,
    *,
    pages_only: bool = False,
    given: Mapping[str, Path] | None = None,
) -> Spec:
    """Make the spec that scores folders: with the ground truth, BM25, top 2, retrieval only.

    Args:
        folders: by the name of the OCR system.
        benchmark: its keys in a spec.
        label: the beginning of messages about the keys.
        format: that of `precomputed`; by default `<domain>/<document>.json`, as every knowledge base of OHRBench.
        pages_only: score only the text of pages, as where the benchmark has no ground truth.
        given: the folders that the manifest names, by the same names, where those that are read are copies of them.

    Raises:
        PluginError: there is no such folder, or nothing in it that could be a page.
        SpecError: the benchmark's keys or the format are wrong.
    """
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", "-".join(folders))[:_LONGEST_NAME].strip("-.") or "ocr"
    results = [
        {"name": system, "ocr": {"kind": "precomputed", "root": str(folder.resolve()), "format": format}}
        for system, folder in folders.items()
    ]
    # the reference protocol's chunks depend on the knowledge base's name, and `gt` is the published one's
    truth = {"name": "gt" if "gt" not in folders else "ground_truth"}
    if pages_only:
        compared: dict[str, Any] = {"knowledge_bases": results, "evaluate": ["page"]}
    else:
        bases = [truth, *results]
        compared = {"knowledge_bases": bases, "measure": ["dose", "pages"], **plain_search(benchmark, label)}
    spec = make_spec({"name": f"score-{name}", "replicates": 1, "benchmark": dict(benchmark), **compared}, label)
    for recorded in _results(spec):
        recorded.check()
    return _naming(spec, given or {})


def _naming(spec: Spec, given: Mapping[str, Path]) -> Spec:
    """Return a spec whose manifest names the folders that were given: copies of them are gone after the run."""
    bases = [
        base | {"ocr": base["ocr"] | {"root": str(given[base["name"]].resolve())}} if base["name"] in given else base
        for base in spec.resolved["knowledge_bases"]
    ]
    return replace(spec, resolved=spec.resolved | {"knowledge_bases": bases})


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
        leaderboards=fairly_ranked(boards, spec.benchmark, run.manifest["questions"]),
        failures=[*finished.ledger.failures, *finished.ledger.absent],  # a vendor wants to know of both
        warnings=[*run.manifest["warnings"], *_strangers(spec), *hygiene_sentences(run)],
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


def _lost(run: Run, own: str, metric: str) -> dict[str, float]:
    columns = ["lost", "lost_low", "lost_high"]
    wanted = {"stage": "retrieval", "noise": own, "metric": metric, "by": "evidence_source", "group": ALL}
    (row,) = run.rows("summary", columns, **wanted)
    return {"mean": row["lost"], "low": row["lost_low"], "high": row["lost_high"]}


def _results(spec: Spec) -> list[RecordedOcr]:
    return [base.ocr for base in spec.knowledge_bases if isinstance(base.ocr, RecordedOcr)]


def _files(results: Any) -> list[str]:  # whose fields are those of `precomputed`, which a plugin is
    if results.format.kind != LAYOUT:
        return sorted(document.name for document in results.documents())
    root = results.root
    return sorted(path.relative_to(root).as_posix().removesuffix(".json") for path in root.rglob("*.json"))


def refuse_another_benchmarks(spec: Spec) -> None:
    """Refuse folders of which no file is a document of the benchmark.

    Raises:
        DataError: there is such a folder.
    """
    spec.benchmark.check()
    documents = spec.benchmark.documents()
    known = [composed(document.name) for document in documents]
    for results in _results(spec):
        names = _files(results)
        # files of another format may lie and be named otherwise than their documents
        held = (page for document in documents for page in results.recorded(document) if page.error != ABSENT)
        if known and not set(map(composed, names)) & set(known) and not any(held):
            raise DataError(
                f"no file is a document of benchmark {spec.benchmark.kind} "
                f"(a file is {names[0]!r}, a document {known[0]!r}): "
                "name the benchmark with --benchmark and, where it needs one, --root"
            )


def is_searched(benchmark: Benchmark) -> bool:
    """Report whether a benchmark has a ground truth, and questions to ask; one that has not must score pages.

    Raises:
        DataError: it has no ground truth, and scores no pages.
    """
    truth = any(any(benchmark.pages(document)) for document in benchmark.documents())
    if benchmark.scoring.page:
        return truth and any(question.asked for question in benchmark.questions())
    if truth:
        return True
    raise DataError(
        f"benchmark {benchmark.kind} has no ground truth here, which OCR results are scored against: --set one of "
        f"its keys (`ohr plugins show benchmark {benchmark.kind}`)"
    )


def _strangers(spec: Spec) -> list[str]:
    """Name the files that are no document of the benchmark: a misspelt name must not pass in silence."""
    known = {document.name for document in spec.benchmark.documents()}
    results: Any = _results(spec)[0]
    if results.format.kind != LAYOUT:  # warnings name the documents that are missing
        return []
    names = _files(results)
    domains = {name.split("/")[0] for name in known}
    strange = [name for name in names if name not in known and name.split("/")[0] in domains]
    others = sum(name.split("/")[0] not in domains for name in names)
    warnings = [f"{counted(others, 'file')} of domains that are not evaluated, left out"] if others else []
    if strange:
        warnings.append(f"{counted(len(strange), 'file')} of no document of the benchmark: {named(strange)}")
    return warnings
