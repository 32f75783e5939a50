"""Measures BM25 in its forms, of study c of studies/PLAN.md: what each loses, by a noisy index and by noisy reading.

    OHRBENCH_DATA=DIR python -m studies.index_and_reading WORK --out FOLDER

Runs `pipelines/real-bm25.yaml`. Kept are scores and ids.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow

from ohr.results.run import Run
from ohr.statistics.estimate import Estimate
from studies.kept_scores import Scores, first_less, line, points, retrievers
from studies.real_data import KEPT, SCORES, given, keep_run, scores_of, study
from studies.runs import run_pipeline

TABLE = "index_and_reading.parquet"
PARTS = {
    "noisy index alone": ("gt", "noisy index"),
    "noisy reading alone": ("gt", "noisy reading"),
    "gain of a clean index": ("noisy reading", "MinerU"),
    "gain of clean reading": ("noisy index", "MinerU"),
    "clean reading over a clean index": ("noisy index", "noisy reading"),
}
"""The second is taken from the first; the last is the difference of both gains."""


def form_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each form: its score on the truth, its loss, and how much less it loses than BM25 of words."""
    yield from (line(name, *cells) for name, cells in losses(Scores.read(folder / TABLE)))


def losses(scores: Scores, chosen: Any = None) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield what `form_rows` writes of each retriever, over all or some questions."""
    for name, row in retrievers(scores, chosen).items():
        spared = points(row["spared"]) if row["spared"] else ""
        yield name, (f"{100 * row['score']:.1f}", points(row["loss"]), spared)


def part_rows(folder: Path = KEPT, table: str = TABLE, by_domain: int = 1) -> Iterator[str]:
    """Yield a line for each retriever, and for the first ones in each domain: what each part costs or brings back.

    The last column holds for all retrievers together, or for all domains.
    """
    scores = Scores.read(folder / table)
    names = list(dict.fromkeys(retriever for _, retriever in scores.values))
    domains = sorted(set(scores.domains))
    groups = [(name, "all", None, len(names)) for name in names]
    groups += [
        (name, domain, scores.domains == domain, len(domains)) for name in names[:by_domain] for domain in domains
    ]
    for retriever, domain, chosen, together in groups:
        cells = [[(condition, retriever) for condition in conditions] for conditions in PARTS.values()]
        estimates = [scores.estimate(pair, first_less, 1, chosen) for pair in cells[:-1]]
        estimates.append(scores.estimate(cells[-1], first_less, together, chosen))
        yield line(retriever, domain, *map(points, estimates))


def only_with_both(scores: Scores, retriever: str) -> Estimate:
    """Return what comes back only with a clean index and clean reading together."""
    cells = [(condition, retriever) for condition in ("gt", "noisy index", "noisy reading", "MinerU")]
    return scores.estimate(cells, lambda means: means[0] - means[1] - means[2] + means[3])


def scores_of_parts(of: Run) -> pyarrow.Table:
    """Return the scores of the run, and those with swapped texts, whose condition says what is noisy."""
    columns = [name for name in SCORES if name != "condition"]
    swapped = of.table("swap_scores", [*columns, "noisy", "stage", "metric"], stage="retrieval", metric="lcs")
    names = pyarrow.array([f"noisy {part}" for part in swapped["noisy"].to_pylist()])
    texts = swapped.select(columns).append_column("condition", names.dictionary_encode()).select(SCORES)
    return pyarrow.concat_tables([scores_of(of), texts], promote_options="permissive")


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study c: measures what noise costs in the index and in reading.")
    keep_run(run_pipeline("real-bm25", work), out, TABLE, scores_of_parts)


if __name__ == "__main__":
    study(main)
