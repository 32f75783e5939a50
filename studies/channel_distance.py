"""How wrong channel noise is on documents that it was not fitted on, by their distance from the profile's.

    python -m studies.channel_distance > studies/kept/realism/distances.json

Losses and doses are those that `ohr noise validate` has measured (`studies/kept/realism`): the engine's, and those of
channel noise as fitted (rate 0.5) on the other domains, or on the other half of a domain's documents. The distances are
measured here, on the ground truth alone, which OHRBENCH_DATA names.
"""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ohr.noise_files.text_twins import of_benchmark
from ohr.runner.equal_dose import channels, domains_of
from ohr.spec.read import make_benchmark
from studies.realism import kept

SETS: dict[str, dict[str, Any]] = {
    "ohrbench-mineru": {"kind": "ohrbench", "root": "${OHRBENCH_DATA}"},
}
"""By the name of the kept numbers: the benchmark's keys."""


class Trial(NamedTuple):
    """Channel noise on documents that it was not fitted on; errors are the noise's value less the engine's."""

    domain: str
    fitted_on: str
    distance: float
    feature: str
    r_noise_error: float
    loss_error: float


def costs(name: str) -> dict[tuple[str, str, str], Any]:
    """Read kept rows by domain, noise and dose."""
    return {(row["domain"], row["noise"], row["dose"]): row for row in kept(name)["costs"]}


def trials(name: str) -> Iterator[Trial]:
    """Yield the trials of one set, with their distances."""
    keys = {key: os.path.expandvars(value) if isinstance(value, str) else value for key, value in SETS[name].items()}
    benchmark, rows = make_benchmark(keys, "channel_distance"), costs(name)
    truth = of_benchmark(benchmark)
    domains = domains_of(benchmark, truth)
    with TemporaryDirectory() as work:
        for domain in domains:
            engine = rows[domain.name, "", ""]
            for fitted_on, parts in channels(domain, domains, Path(work)).items():
                noise = rows[domain.name, f"channel, {fitted_on}", "rate 0.5"]
                stages: list[tuple[Any, Any]] = list(parts)
                apart = max(
                    (stage.apart(pages)[domain.name] for pages, stage in stages), key=lambda each: each.distance
                )
                yield Trial(
                    domain.name,
                    fitted_on,
                    apart.distance,
                    apart.feature,
                    noise["r_noise"] - engine["r_noise"],
                    noise["loss"][0] - engine["loss"][0],
                )


def main() -> None:
    """Print all trials as JSON, and to the screen how distances and errors are ranked."""
    from scipy.stats import spearmanr

    found = [{"set": name, **each._asdict()} for name in SETS for each in trials(name)]
    print(json.dumps(found, indent=1))
    for error in ("r_noise_error", "loss_error"):
        rho = spearmanr([each["distance"] for each in found], [abs(each[error]) for each in found]).statistic
        print(f"rank correlation of distance and {error}: {rho:.2f}", file=sys.stderr)


if __name__ == "__main__":
    main()
