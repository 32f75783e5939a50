"""The tables of texts in docs/noise/realism.md and of the distance in docs/noise/channel.md, from the kept numbers.

    ohr noise validate --benchmark ohrbench --root OHRBENCH_DATA --protocol reference \
        --ocr OHRBENCH_DATA/retrieval_base/MinerU --json > studies/kept/realism/ohrbench-mineru.json
    python -m studies.channel_distance > studies/kept/realism/distances.json
    python -m studies.recovery mini ohrbench > studies/kept/realism/recovery.json
    python -m studies.realism
"""

import json
from collections.abc import Iterator, Mapping
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


def own_rows() -> Iterator[str]:
    """Yield a line for each of ohr's noises: how often `ohr noise validate` matched it, and its strength."""
    for documents, row in _recovery("own"):
        fields = {name: value for name, value in row["noise"].items() if name not in ("kind", "rate")}
        noise = f"`{row['noise']['kind']}`" + (f" {_fields(fields)}" if fields else "")
        matched, covered = (f"{row[key]} of {row['draws']}" for key in ("matched", "covered"))
        nearest = ", ".join(f"`{kind}`" for kind in [row["nearest"], *row["match_too"]])
        rates = (f"{row['noise']['rate']:g}", f"{row['rate']:.3f}", f"{row['error']:.3f}")
        yield _line(documents, noise, *rates, covered, matched, nearest)


def foreign_rows() -> Iterator[str]:
    """Yield a line for each change that ohr does not have: which noise is nearest, and what does not fit."""
    for documents, row in _recovery("foreign"):
        matched = ", ".join(f"`{kind}`" for kind in row["matched"]) or "none"
        off = (str(row["off"]), f"{row['distance']:.1f}", row["worst"])
        yield _line(documents, row["noise"], matched, f"`{row['nearest']}`", *off)


def refused() -> str:
    """Return how often the noise which was used is called not matched, over all draws, with an exact interval."""
    from scipy.stats import binomtest

    rows = [row for _, row in _recovery("own")]
    draws = sum(row["draws"] for row in rows)
    times = draws - sum(row["matched"] for row in rows)
    ends = binomtest(times, draws).proportion_ci(method="exact")  # Clopper and Pearson, Biometrika 26(4), 1934
    return f"{times} of {draws} draws, {times / draws:.1%} [{100 * ends.low:.1f}, {100 * ends.high:.1f}]"


def _recovery(part: str) -> Iterator[tuple[str, Any]]:
    return ((each["set"], row) for each in kept("recovery") for row in each[part])


def _fields(fields: Mapping[str, Any]) -> str:
    return ", ".join(_fields(value) if isinstance(value, dict) else f"{name} {value}" for name, value in fields.items())


def _interval(value: list[float], unit: int = 100, digits: int = 1) -> str:
    mean, low, high = (f"{unit * each:.{digits}f}" for each in value)
    return f"{mean} [{low}, {high}]"


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main() -> None:
    """Print all tables."""
    for rows in (own_rows, foreign_rows, cost_rows, distance_rows):
        print("\n".join(rows()), end="\n\n")
    print(refused())


if __name__ == "__main__":
    main()
