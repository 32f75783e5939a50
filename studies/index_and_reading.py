"""Measures what study c of studies/PLAN.md asks of the parts: what a noisy index costs, and what noisy reading costs.

    OHRBENCH_DATA=DIR python -m studies.index_and_reading WORK --out FOLDER

BM25 in the forms of `studies.further_retrievers`, with `decompose`. Kept are scores and ids.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow

from ohr.results.run import Run
from ohr.statistics.estimate import Estimate
from studies.further_retrievers import SPEC
from studies.kept_scores import Scores, first_less, line, points
from studies.real_data import KEPT, SCORES, given, keep_run, scores_of, study
from studies.runs import run_spec

TABLE = "index_and_reading.parquet"
PARTS = {
    "noisy index alone": ("gt", "noisy index"),
    "noisy reading alone": ("gt", "noisy reading"),
    "gain of a clean index": ("noisy reading", "MinerU"),
    "gain of clean reading": ("noisy index", "MinerU"),
    "clean reading over a clean index": ("noisy index", "noisy reading"),
}
"""The second is taken from the first; the last is the difference of both gains."""


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
    keep_run(run_spec(f"{SPEC}decompose: true\n", work), out, TABLE, scores_of_parts)


if __name__ == "__main__":
    study(main)
