"""Prints how well the channel predicts a real engine within the domains of the fit, beside its baselines.

Cross-fit: the documents are halved within domains; each half is predicted from the other, and both together are
compared with the real readings. A row is the mean over all splits and seeds.
`channel_ablation.py` predicts domains that the channel was not fitted on, which is harder.

    OHRBENCH_DATA=DIR python -m speed.channel_fit [--base MinerU] [--splits 2] [--seeds 2] [--log FILE]
"""

import argparse
import os
import tempfile
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from ohr.noise.channel.fit import fit
from speed.channel_rows import Data, Log, domains, measured, perturbed, remembered
from speed.channel_table import Row, distances, summary, table

MODELS = ("channel", "independent", "scatter", "block")


def halves(data: Data, split: int) -> list[set[str]]:
    """Halve the documents within their domains."""
    rng = np.random.default_rng(split)
    made: list[set[str]] = [set(), set()]
    for domain in data.domains:
        names = sorted({name for name, _ in data.truth if name.startswith(f"{domain}/")})
        for place, number in enumerate(rng.permutation(len(names)).tolist()):
            made[place % 2].add(names[number])
    return made


def fitted(data: Data, split: int, folder: Path) -> dict[str, Path]:
    """Fit a profile to each half; return for each document the profile of the other half."""
    profiles: dict[str, Path] = {}
    for number, half in enumerate(halves(data, split)):
        path = folder / f"{split}-{number}.json"
        path.write_text(fit([page for page in data.aligned.values() if page.document not in half], data.base).dumps())
        profiles |= dict.fromkeys(half, path)
    return profiles


def shown(rows: Sequence[Row], model: str, runs: int, made: Mapping[str, float]) -> None:
    """Print the table of a model."""
    far = distances(rows, made)
    print(f"\n{model}: {runs} runs; mean distance {far.mean():.2f}; {(far > 1).sum()} of {len(rows)} rows fail")
    print(f"{'':34} {'real':>8} {'made':>8} {'limit':>8} {'apart in limits':>16}")
    for row in rows:
        value = made[row.name]
        print(f"{row.name:34} {row.real:8.3f} {value:8.3f} {row.limit:8.3f} {row.apart(value):+16.2f}", flush=True)


def main() -> None:
    """Run the test and print its table."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--base", default="MinerU")
    asked.add_argument("--splits", type=int, default=2)
    asked.add_argument("--seeds", type=int, default=2)
    asked.add_argument("--log", type=Path)
    given = asked.parse_args()
    root, log = Path(os.environ["OHRBENCH_DATA"]), Log(given.log)
    data = Data(root, given.base, domains(root, given.base))
    real = measured(data, data.read, given.base)
    print(f"{len(data.pages)} pages with words, {len(data.asked)} questions", flush=True)
    with tempfile.TemporaryDirectory() as folder, remembered():
        for split in range(given.splits):
            profiles = fitted(data, split, Path(folder))
            for seed, model in product(range(given.seeds), MODELS):
                if (model, split, seed) not in log.runs:
                    texts = perturbed(data, profiles, seed, model=model)
                    values = measured(data, texts, given.base, distance=seed == 0)
                    log.add((model, split, seed), summary(data, values, real))
    rows = table(data, real)
    for model in MODELS:
        shown(rows, model, *log.mean(model))


if __name__ == "__main__":
    main()
