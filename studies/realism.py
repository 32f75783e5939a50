"""The tables of docs/noise/realism.md and of the distance in docs/noise/channel.md, from the kept numbers.

    ohr noise validate --benchmark ohrbench --root OHRBENCH_DATA --protocol reference \
        --ocr OHRBENCH_DATA/retrieval_base/MinerU --json > studies/kept/realism/ohrbench-mineru.json
    python -m studies.channel_distance > studies/kept/realism/distances.json
    python -m studies.realism
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

KEPT = Path(__file__).parent / "kept" / "realism"
DOSES = {"r_noise": "r_noise", "evidence_loss": "words lost", "page by page": "words lost, page by page"}


def kept(name: str) -> Any:
    """Read kept numbers."""
    return json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))


def cost_rows() -> Iterator[str]:
    """Yield a line for the engine and each noise, domain by domain."""
    for row in kept("ohrbench-mineru")["costs"]:
        dose = DOSES.get(row["dose"], row["dose"])
        start = (
            row["domain"],
            row["noise"] or "**MinerU**",
            dose,
            f"{row['r_noise']:.3f}",
            f"{row['evidence_loss']:.3f}",
        )
        if row["noise"]:
            shares = (row["between_seeds"], row["shared"][0], row["by_chance"], row["shared_by_seeds"])
            agreement = (_interval(row["correlation"], 1, 2), *(_share(share) for share in shares))
            yield _line(*start, _interval(row["loss"]), _interval(row["apart"]), row["verdict"], *agreement)
        else:
            yield _line(*start, _interval(row["loss"]), *[""] * 7)


def distance_rows() -> Iterator[str]:
    """Yield a line for each trial of channel noise on documents that it was not fitted on."""
    for row in sorted(kept("distances"), key=lambda row: row["distance"]):
        errors = (f"{row['r_noise_error']:+.3f}", f"{100 * row['loss_error']:+.1f}")
        yield _line(row["set"], row["domain"], row["fitted_on"], f"{row['distance']:.2f}", row["feature"], *errors)


def _interval(value: list[float], unit: int = 100, digits: int = 1) -> str:
    mean, low, high = (f"{unit * each:.{digits}f}" for each in value)
    return f"{mean} [{low}, {high}]"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print all tables."""
    for rows in (cost_rows, distance_rows):
        print("\n".join(rows()), end="\n\n")


if __name__ == "__main__":
    main()
