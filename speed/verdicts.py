"""How often a verdict says that a difference is shown where there is none, and how often where there is one.

Each row is one design: documents of about five questions, a share of them that changes, and how large changes are.
`false` gives each document, or each question, a loss or a gain by the toss of a coin: at most 5% in every row.
`power` makes every change a loss. `held` is how often the interval holds that loss. Sizes called `real` are a run's:

    python speed/verdicts.py [--sets 2000] [--run FOLDER] [--only null]

Without a run, one of mini with formatting noise is made. Its own comparisons are judged as well, with the signs of
their documents drawn. `unbalanced` losses are as many times as frequent as gains as they are smaller: no test on so few
documents holds its level there. `detectable` tries fresh studies with the loss that four of five would show.
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy import stats

from ohr.results.run import Run
from ohr.results.score_arrays import ScoreTable
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import comparisons

DOCUMENTS, RATES = (4, 6, 8, 12, 24, 60), (0.01, 0.03, 0.1, 0.5)
STRUCTURES = 10
"""Sets of documents per row; its data sets are spread over them."""
LEVEL = 0.05

SPEC = """
name: real
replicates: 1
benchmark: {kind: mini, languages: [en]}
knowledge_bases:
  - {name: clean}
  - {name: formatting, text_noise: {kind: formatting, rate: [0.3, 0.6]}}
retrievers: [{kind: bm25}]
generators: [{kind: extractive}]
"""

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]


def draws_of(pool: np.ndarray) -> dict[str, Draw]:
    """Return how sizes of changes are drawn, by name."""
    return {
        "whole": lambda rng, shape: np.ones(shape),
        "uniform": lambda rng, shape: rng.random(shape),
        "power law": lambda rng, shape: np.minimum(1, 0.02 * (1 + rng.pareto(1.0, shape))),
        "real": lambda rng, shape: rng.choice(pool, shape),
    }


def structures(rng, documents, sets):
    """Yield each question's document, and how many data sets to draw."""
    for _ in range(STRUCTURES):
        sizes = np.maximum(1, rng.gamma(4, 5 / 4, documents).round().astype(int))
        yield np.repeat(np.arange(documents), sizes), sets // STRUCTURES


def changed(rng, code, sets, rate):
    """Draw which questions change, (sets, n), with an intraclass correlation of about .2."""
    shared = rng.standard_normal((sets, code.max() + 1))[:, code]
    return stats.norm.cdf(np.sqrt(0.2) * shared + np.sqrt(0.8) * rng.standard_normal((sets, code.size))) < rate


def signs(rng, code, sets, by):
    if by == "document":
        return rng.choice([-1.0, 1.0], (sets, code.max() + 1))[:, code]
    return rng.choice([-1.0, 1.0], (sets, code.size))


def shown(judged):
    return np.mean([one.verdict in ("worse", "better", "small") for one in judged])


def null(rng, sets, pool) -> Iterator[tuple[str, float, float, float]]:
    """Every design of the issue: false findings, and power and coverage where all changes are losses."""
    for documents in DOCUMENTS:
        for name, draw in draws_of(pool).items():
            mean = draw(np.random.default_rng(1), (1, 200_000)).mean()
            for rate in RATES:
                for by in ("document", "question"):
                    false, power, held = [], [], []
                    for code, count in structures(rng, documents, sets):
                        change = changed(rng, code, count, rate) * draw(rng, (count, code.size))
                        mine = Clusters.of(code)
                        false.append(shown(comparisons(change * signs(rng, code, count, by), mine)))
                        if by == "question":
                            found = comparisons(change, mine)
                            power.append(shown(found))
                            held += [
                                one.difference.low <= rate * mean <= one.difference.high
                                for one in found
                                if one.difference.low == one.difference.low
                            ]
                    about = f"{documents:>3} documents, {name:<9} {rate:>4.0%} change, signs by {by}"
                    yield about, np.mean(false), np.mean(power or [np.nan]), np.mean(held or [np.nan])


def own(rng, sets, run) -> Iterator[tuple[str, float, float, float]]:
    """The comparisons of a run, with the signs of their documents drawn."""
    for about, values, clusters in run:
        kept = np.flatnonzero(~np.isnan(values))
        mine = clusters.among(kept)
        flips = signs(rng, mine.documents, sets, "document")
        false = shown(comparisons(values[kept] * flips, mine))
        (found,) = comparisons(values[None, kept], mine)
        yield f"{about}: {found.difference.changed} documents change, {found.verdict}", false, np.nan, np.nan


def unbalanced(rng, sets, pool) -> Iterator[tuple[str, float, float, float]]:
    """No loss on average, but many small losses and few large gains."""
    for ratio in (3, 9):
        for documents in DOCUMENTS[1:]:
            for name, draw in draws_of(pool).items():
                worst = 0.0
                for rate in RATES:
                    false = []
                    for code, count in structures(rng, documents, sets):
                        size = draw(rng, (count, code.size))
                        loss = rng.random(size.shape) < ratio / (1 + ratio)
                        values = changed(rng, code, count, rate) * np.where(loss, size / ratio, -size)
                        false.append(shown(comparisons(values, Clusters.of(code))))
                    worst = max(worst, float(np.mean(false)))
                yield (
                    f"{documents:>3} documents, {name:<9} {ratio} losses for a gain, worst rate",
                    worst,
                    np.nan,
                    np.nan,
                )


def detectable(rng, sets, pool) -> Iterator[tuple[str, float, float, float]]:
    """Fresh studies with the loss that a study without any says at least four of five would show."""
    for documents in DOCUMENTS[2:]:
        for name, draw in draws_of(pool).items():
            mean = draw(np.random.default_rng(1), (1, 200_000)).mean()
            for rate in RATES[2:]:
                losses = []
                for code, count in structures(rng, documents, sets):
                    change = changed(rng, code, count, rate) * draw(rng, (count, code.size))
                    judged = comparisons(change * signs(rng, code, count, "question"), Clusters.of(code))
                    losses += [one.detectable for one in judged if one.detectable == one.detectable]
                power = []
                for loss in rng.choice(losses, min(20, len(losses)), replace=False) if losses else ():
                    gains, lost = rate / 2, rate / 2 + loss / mean
                    if gains + lost <= 1:
                        code, count = next(structures(rng, documents, sets))
                        change = changed(rng, code, count, gains + lost) * draw(rng, (count, code.size))
                        sign = np.where(rng.random(change.shape) < lost / (gains + lost), 1.0, -1.0)
                        power.append(shown(comparisons(change * sign, Clusters.of(code))))
                if power:
                    about = (
                        f"{documents:>3} documents, {name:<9} {rate:>4.0%} change, detectable {np.median(losses):.3f}"
                    )
                    yield about, np.nan, np.mean(power), np.nan


def comparisons_of(folder: Path):
    """Return the differences from the clean text of a run: what is compared, (n,) values, and the documents."""
    scores = ScoreTable.of(Run(folder))
    part = scores.questions.part("evidence_source", "all")
    found = []
    for place in scores.places:
        clean = scores.clean(place)
        if place.stage in ("retrieval", "overall", "generation") and clean not in (None, place):
            cell = scores.read(place)
            for metric in (name for name in cell.metrics if name in ("lcs", "f1", "hit@2")):
                before, after = (scores.read(at).only([metric]).values[0] for at in (clean, place))
                values = np.where(scores.questions.clean_text, before - after, np.nan)[part.places]
                found.append((f"{place.stage} {metric} {place.condition}", values, part.clusters))
    return found


def a_run() -> Path:
    """Make a run of mini, in a folder that stays until the script ends."""
    folder = Path(tempfile.mkdtemp())
    (folder / "real.yaml").write_text(SPEC)
    command = [str(Path(sys.executable).with_name("ohr")), "run", "real.yaml"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return next((folder / "runs" / "real").glob("*-*"))


CASES = {case.__name__: case for case in (null, own, unbalanced, detectable)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=2000)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--only", choices=CASES, action="append")
    chosen = parser.parse_args()
    run = comparisons_of(chosen.run or a_run())
    values = np.abs(np.concatenate([values for _, values, _ in run]))
    pool = values[values > 1e-9]
    print(f"{len(pool)} real changes, median {np.median(pool):.3f}, largest {pool.max():.3f}")
    print(f"{'design':<66} {'false':>6} {'power':>6} {'held':>6}")
    began, above = perf_counter(), 0
    most = LEVEL + 3 * np.sqrt(LEVEL * (1 - LEVEL) / chosen.sets)  # of a share that is 5% in truth
    for case in chosen.only or CASES:
        for about, *shares in CASES[case](np.random.default_rng(11), chosen.sets, run if case == "own" else pool):
            wrong = case != "unbalanced" and shares[0] > most
            above += wrong
            texts = ("" if np.isnan(share) else f"{share:.1%}" for share in shares)
            print(f"{about:<66}", *(f"{text:>6}" for text in texts), "above 5%" if wrong else "", flush=True)
    print(f"{above} rows are above 5% by more than the simulation's error; {perf_counter() - began:.0f} s")
    sys.exit(bool(above))


if __name__ == "__main__":
    main()
