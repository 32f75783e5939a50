"""Measures what study g of studies/PLAN.md asks of other noises: formatting and channel, answered by the 135M model.

    OHRBENCH_DATA=DIR python -m studies.other_noises WORK --out FOLDER

The questions are those of `studies.answer_sizes`. Kept are numbers and ids.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from studies.answer_sizes import SIZES, answered, spec
from studies.answers import RETRIEVER, over
from studies.kept_scores import Scores, first_less, line, points, shares
from studies.real_data import KEPT, given, keep, study

NOISES = ("formatting", "channel")
BASES = "\n".join(f"  - {{name: {noise}, text_noise: {{kind: {noise}, rate: 0.6}}}}" for noise in NOISES)
TABLE = "other_noises.parquet"


def noisy_spec() -> str:
    """Return the spec of `studies.answer_sizes` with these noises in place of the engine, and one model."""
    lines = [each for each in spec().splitlines() if SIZES[1] not in each and "precomputed" not in each]
    return "\n".join(lines).replace("  - name: MinerU", BASES).replace("answer-sizes", "other-noises") + "\n"


def noise_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each noise: what retrieval and answers lose, each with its score on the truth, and the ratio."""
    scores = Scores.read(folder / TABLE)
    for noise in NOISES:
        both = [[(condition, name) for condition in ("gt", noise)] for name in (RETRIEVER, SIZES[0])]
        cells = (
            cell
            for pair in both
            for cell in (
                f"{100 * float(np.mean(scores.values[pair[0]])):.1f}",
                points(scores.estimate(pair, first_less)),
            )
        )
        yield line(f"`{noise}`", *cells, shares(scores.estimate([*both[0], *both[1]], over, zero=False)))


def main() -> None:
    """Measure, and keep the scores."""
    work, out = given("Study g: measures what other noises cost the answers.")
    keep(answered(noisy_spec(), work), out, TABLE)


if __name__ == "__main__":
    study(main)
