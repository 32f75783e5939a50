"""Whether noise costs retrieval what an engine costs at equal dose: an ordinary run, compared question by question."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from ohr.contracts import Benchmark
from ohr.engine.progress import Progress, counting
from ohr.files.ohrbench_json import write_pages
from ohr.metrics.dose import Dose, Floats, mean_dose
from ohr.noise_files.text_twins import Pages
from ohr.results.run import Run
from ohr.results.score_arrays import Part, ScoreTable
from ohr.results.tables.groups import ALL
from ohr.runner.equal_dose import SEEDS, domains_of, noisy_texts
from ohr.runner.plain_search import plain_search
from ohr.runner.run import run as run_spec
from ohr.spec.model import Spec
from ohr.spec.read import make_spec
from ohr.statistics.comparison import Comparison, compare
from ohr.statistics.derived import of_means
from ohr.statistics.estimate import Estimate

MARGIN = 0.03
"""Difference of two losses that matters: three points."""
_LOST = 0.5
"""A question is lost where it keeps no more than this share of its score on the clean text."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One noise beside the engine, on the questions of a domain, or on all.

    Args:
        noise: "" in the engine's own row.
        dose: what is equal: `r_noise`, `evidence_loss`, `page by page`; or the rate.
        r_noise, evidence_loss: the noise's dose, the mean over its seeds.
        loss: of retrieval, the mean over the seeds.
        apart: the engine's loss less the noise's, question by question.
        verdict: `matches` where the 90% interval of `apart` is within three points, `does not match` where the 95%
            interval is outside of them, `not shown` else.
        correlation: of the losses of questions, with the engine's; `between_seeds` that of two draws of the noise.
        shared: share of the questions lost with the engine that are lost with the noise too; `by_chance` the share of
            all questions, `shared_by_seeds` of those lost with another draw of the noise.
    """

    domain: str
    noise: str
    dose: str
    r_noise: float
    evidence_loss: float
    loss: Comparison
    apart: Comparison | None = None
    verdict: str = ""
    correlation: Estimate | None = None
    between_seeds: float = nan
    shared: Estimate | None = None
    by_chance: float = nan
    shared_by_seeds: float = nan


def compared(
    benchmark: Benchmark,
    keys: Mapping[str, Any],
    engine: Pages,
    work: Path,
    *,
    store: Path | str,
    runs: Path,
    workers: int | None = None,
    progress: Progress,
) -> list[Cost]:
    """Compare what noises and an engine cost retrieval.

    Args:
        benchmark: with ground truth and questions.
        keys: the benchmark's in a spec.
        engine: the pages as an engine has read them; documents that it lacks are left out.
        work: an empty folder for the noisy texts.

    Raises:
        DataError: no question is about a document of both sides.
    """
    domains = domains_of(benchmark, engine)
    doses: dict[tuple[str, str, str], list[Dose]] = {}
    with counting(progress, "noise at the engine's dose", len(domains)) as advance:
        for domain in domains:
            for (noise, level), seed, texts in noisy_texts(domain, domains, work):
                doses.setdefault((domain.name, noise, level), []).append(domain.dose(texts))
                _write(work / _base(noise, level, seed), texts)
            _write(work / "engine", domain.engine)
            doses[domain.name, "", ""] = [domain.dose(domain.engine)]
            advance(1)
    levels = list(dict.fromkeys((noise, level) for _, noise, level in doses if noise))
    spec = _spec(keys, work, ["engine", *(_base(*level, seed) for level in levels for seed in SEEDS)])
    finished = run_spec(spec, store=store, runs=runs, workers=workers, progress=progress)
    scores = _Scores(Run.finished(finished.folder), spec.benchmark.scoring.retrieval)
    held = [domain.name for domain in domains]
    return [row for name in [*held, ALL] for row in _rows(name, held, scores, levels, doses)]


def _write(base: Path, texts: Pages) -> None:
    for name, pages in texts.items():
        write_pages(base / f"{name}.json", [page for page in pages if page.error is None])


def _base(noise: str, level: str, seed: int) -> str:
    """Name a knowledge base."""
    return f"{noise} {level} {seed}".replace(",", "").replace(" ", "-")


def _spec(keys: Mapping[str, Any], work: Path, bases: Sequence[str]) -> Spec:
    label = "ohr noise validate"
    search = plain_search(keys, label)
    if search["chunker"]["kind"] == "reference":  # whose chunks depend on the base's name, but are to differ by text
        search["chunker"]["base"] = "gt"
    readings = [{"name": name, "ocr": {"kind": "precomputed", "root": str(work / name)}} for name in bases]
    held = {"benchmark": dict(keys), "knowledge_bases": [{"name": "gt"}, *readings]}
    return make_spec({"name": "equal-dose", "replicates": 1, **held, **search}, label)


class _Scores:
    """Each question's score of retrieval, by knowledge base."""

    def __init__(self, run: Run, metric: str) -> None:
        self.table = ScoreTable.of(run)
        self._places = {place.condition: place for place in self.table.of_stage("retrieval")}
        self._metric = metric

    def of(self, base: str, part: Part) -> Floats:
        """Return the scores of some questions, (n,)."""
        return np.asarray(self.table.read(self._places[base]).only([self._metric]).values[0][part.places])


def _rows(
    name: str,
    domains: Sequence[str],
    scores: _Scores,
    levels: Sequence[tuple[str, str]],
    doses: Mapping[tuple[str, str, str], Sequence[Dose]],
) -> Iterator[Cost]:
    """Yield the engine's row and those of the noises; over all domains only of doses that each of them has."""
    part = scores.table.questions.part(*(("evidence_source", ALL) if name == ALL else ("domain", name)))
    clean, engine = scores.of("gt", part), scores.of("engine", part)
    for noise, level in [("", ""), *levels]:
        held = [doses.get((domain, noise, level), []) for domain in (domains if name == ALL else [name])]
        if not all(held):
            continue
        row = Cost(name, noise, level, *_doses(held), compare(clean, engine, part.clusters, MARGIN))
        if noise:
            noisy = np.stack([scores.of(_base(noise, level, seed), part) for seed in SEEDS])
            row = _beside(row, clean, engine, noisy, part)
        yield row


def _doses(held: Sequence[Sequence[Dose]]) -> tuple[float, float]:
    """Average `r_noise` and the loss of words over the questions of domains, each with its draws."""
    means = [mean_dose(drawn) for drawn in held]
    counts = [each.questions for each in means]
    columns = [[getattr(each, name) for each in means] for name in ("r_noise", "evidence_loss")]
    return float(np.average(columns[0], weights=counts)), float(np.average(columns[1], weights=counts))


def _beside(row: Cost, clean: Floats, engine: Floats, noisy: Floats, part: Part) -> Cost:
    """Hold a noise beside the engine; `noisy` is (seeds, n)."""
    defined = ~np.isnan(np.stack([clean, engine, *noisy])).any(axis=0)
    clusters = part.clusters.among(np.flatnonzero(defined))
    clean, engine, noisy = clean[defined], engine[defined], noisy[:, defined]
    apart = compare(noisy.mean(axis=0), engine, clusters, MARGIN)
    losses = clean - np.stack([engine, *noisy])
    lost = ((losses > (1 - _LOST) * clean) & (clean > 0)).astype(float)
    gone, others = lost[0], lost[1:]
    both = of_means(np.stack([gone, *(gone * other for other in others)]), clusters, {"": _share})[""]
    products = (losses[0] * losses[0], *(losses[1:] ** 2), *(losses[0] * losses[1:]))
    correlation = of_means(np.stack([*losses, *products]), clusters, {"": _correlation})[""]
    return replace(
        row,
        loss=compare(clean, noisy.mean(axis=0), clusters, MARGIN),
        apart=apart,
        verdict=_verdict(apart),
        correlation=correlation,
        between_seeds=_plain_correlation(losses[1], losses[2]),
        shared=both,
        by_chance=float(others.mean()),
        shared_by_seeds=_of(others[0] * others[1], others.mean(axis=0)),
    )


def _verdict(apart: Comparison) -> str:
    if apart.inner_low > -MARGIN and apart.inner_high < MARGIN:
        return "matches"
    outside = apart.difference.low > MARGIN or apart.difference.high < -MARGIN
    return "does not match" if outside else "not shown"


def _share(means: Floats) -> Floats:
    """Return the share of what is lost with the engine that is lost with the noise too, the mean over draws."""
    return np.asarray(np.divide(means[1:].mean(axis=0), means[0], out=np.full_like(means[0], nan), where=means[0] > 0))


def _correlation(means: Floats) -> Floats:
    """Return the mean correlation of the engine's losses with those of each draw.

    Args:
        means: (2 + 3 draws, ...) of the engine's losses, those of each draw, their squares, and the products.
    """
    draws = len(SEEDS)
    first, others = means[0], means[1 : 1 + draws]
    squares, products = means[1 + draws : 2 + 2 * draws], means[2 + 2 * draws :]
    spread = (squares[0] - first**2) * (squares[1:] - others**2)
    safe = np.where(spread > 0, spread, nan)
    return np.asarray(((products - first * others) / np.sqrt(safe)).mean(axis=0))


def _plain_correlation(one: Floats, other: Floats) -> float:
    return float(np.corrcoef(one, other)[0, 1]) if one.std() > 0 and other.std() > 0 else nan


def _of(part: Floats, whole: Floats) -> float:
    return float(part.sum() / whole.sum()) if whole.sum() > 0 else nan
