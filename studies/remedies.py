"""Measures the remedies of study c of studies/PLAN.md: chunk size, overlap, and how many chunks are read.

    OHRBENCH_DATA=DIR python -m studies.remedies WORK --out FOLDER

BM25 on OHRBench's ground truth and MinerU's text: `pipelines/real-remedies.yaml`, with chunks of each size. Kept are
scores and ids.
"""

from collections.abc import Iterator
from pathlib import Path

import pyarrow
from pyarrow import compute

from ohr.metrics.dose import Floats
from studies.kept_scores import Scores, first_less, line, points
from studies.real_data import KEPT, given, keep, scores_of, study
from studies.runs import run_pipeline

SIZES, READ, OVERLAPPED = (64, 128, 256, 512), (1, 2, 4, 8), (128, 256)
"""Tokens of a chunk, chunks that are read, and the sizes of chunks that are tried with an overlap of half a chunk."""
DESIGNS = [*((size, 0) for size in SIZES), *((size, size // 2) for size in OVERLAPPED)]


def design(size: int, overlap: int, read: int) -> str:
    """Return the name of a design, by which the kept scores know it."""
    return f"{read} x {size}{', half overlapped' if overlap else ''}"


def repaired(scores: Scores) -> dict[str, tuple[float, float, float]]:
    """Return what both primary hypotheses ask: four chunks on MinerU less two on the truth, and what overlap spares."""
    two, four, overlapped = design(128, 0, 2), design(128, 0, 4), design(128, 64, 2)
    noisy_more = scores.estimate([("MinerU", four), ("gt", two)], first_less, 2)
    cells = [("gt", two), ("MinerU", two), ("gt", overlapped), ("MinerU", overlapped)]
    spared = scores.estimate(cells, _less_lost, 2)
    return {name: (each.mean, each.low, each.high) for name, each in (("four", noisy_more), ("overlap", spared))}


def _less_lost(means: Floats) -> Floats:
    return (means[0] - means[1]) - (means[2] - means[3])


def remedy_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each design: tokens at most, scores, the loss, and how much less is lost than with 2 x 128."""
    scores = Scores.read(folder / "remedies.parquet")
    usual = design(128, 0, 2)
    for size, overlap in DESIGNS:
        for read in READ:
            name = design(size, overlap, read)
            cells = [("gt", name), ("MinerU", name)]
            truth, noisy = (100 * float(scores.values[cell].mean()) for cell in cells)
            spared = scores.estimate([("gt", usual), ("MinerU", usual), *cells], _less_lost) if name != usual else None
            yield line(
                name,
                size * read,
                f"{truth:.1f}",
                f"{noisy:.1f}",
                points(scores.estimate(cells, first_less)),
                points(spared) if spared else "",
            )


def main() -> None:
    """Measure each design, and keep the scores."""
    work, out = given("Study c: measures chunk size, overlap, and how many chunks are read.")
    tables = []
    for size, overlap in DESIGNS:
        chunks = f"chunker.size={size}", f"chunker.overlap={overlap}"
        scores = scores_of(run_pipeline("real-remedies", work, f"name=real-remedies-{size}-{overlap}", *chunks))
        names = [design(size, overlap, int(name.split()[0])) for name in scores["retriever"].to_pylist()]
        place = scores.column_names.index("retriever")
        tables.append(scores.set_column(place, "retriever", pyarrow.array(names).dictionary_encode()))
    scores = pyarrow.concat_tables(tables)
    rounded = compute.round(scores["value"], 4)  # a score has some hundred words at most
    scores = scores.set_column(scores.column_names.index("value"), "value", rounded)
    keep(scores, out, "remedies.parquet")


if __name__ == "__main__":
    study(main)
