"""Measures what study c of studies/PLAN.md asks of the parts: what a noisy index costs, and what noisy reading costs.

    OHRBENCH_DATA=DIR python -m studies.index_and_reading WORK --out FOLDER

Runs `pipelines/real-retrievers.yaml` with `decompose`. Kept are scores and ids.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow

from ohr.results.run import Run
from studies.kept_scores import Scores, first_less, line, points
from studies.real_data import KEPT, SCORES, given, keep, scores_of, study
from studies.runs import run_spec

SPEC = Path(__file__).parents[1] / "pipelines" / "real-retrievers.yaml"
TABLE = "index_and_reading.parquet"
PARTS = {
    "noisy index alone": ("gt", "noisy index"),
    "noisy reading alone": ("gt", "noisy reading"),
    "gain of a clean index": ("noisy reading", "MinerU"),
    "gain of clean reading": ("noisy index", "MinerU"),
    "clean reading over a clean index": ("noisy index", "noisy reading"),
}
"""The second is taken from the first; the last is the difference of both gains."""
RETRIEVERS = ("bm25", "minilm", "hybrid")


def part_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each retriever: what each part costs or brings back; the last column holds for all together."""
    scores = Scores.read(folder / TABLE)
    for retriever in RETRIEVERS:
        cells = [[(condition, retriever) for condition in conditions] for conditions in PARTS.values()]
        *each, difference = cells
        together = scores.estimate(difference, first_less, len(RETRIEVERS))
        yield line(f"`{retriever}`", *(points(scores.estimate(pair, first_less)) for pair in each), points(together))


def _both(of: Run) -> pyarrow.Table:
    """Return the scores of the run, and those with swapped texts, whose condition says what is noisy."""
    columns = [name for name in SCORES if name != "condition"]
    swapped = of.table("swap_scores", [*columns, "noisy", "stage", "metric"], stage="retrieval", metric="lcs")
    names = pyarrow.array([f"noisy {part}" for part in swapped["noisy"].to_pylist()])
    texts = swapped.select(columns).append_column("condition", names.dictionary_encode()).select(SCORES)
    return pyarrow.concat_tables([scores_of(of), texts], promote_options="permissive")


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study c: measures what noise costs in the index and in reading.")
    spec = SPEC.read_text(encoding="utf-8").partition("margin:")[0] + "decompose: true\n"
    keep(_both(run_spec(spec[spec.index("name:") :], work)), out, TABLE)


if __name__ == "__main__":
    study(main)
