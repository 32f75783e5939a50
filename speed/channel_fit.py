"""Prints the channel's acceptance table: how well it predicts what a real engine does, within the domains of the fit.

Cross-fit: the documents are halved within domains; each half is predicted from the other, and both together are
compared with the real readings. Each baseline goes through the same test. A row is the mean over all runs.
`channel_ablation.py` predicts domains that the channel was not fitted on, which is harder.

    OHRBENCH_DATA=DIR python speed/channel_fit.py [--base MinerU] [--splits 20] [--seeds 10] [--log FILE]
        [--models channel independent scatter block] [--baseline-splits 2] [--baseline-seeds 1]
"""

import argparse
import os
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from ohr.noise.channel.fit import fit
from speed.channel_rows import Data, Log, domains, measured, perturbed, remembered, summary, table

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


def main() -> None:
    """Run the test and print its table."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--base", default="MinerU")
    asked.add_argument("--splits", type=int, default=20)
    asked.add_argument("--seeds", type=int, default=10)
    asked.add_argument("--baseline-splits", type=int, default=2)
    asked.add_argument("--baseline-seeds", type=int, default=1)
    asked.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    asked.add_argument("--distances", type=int, default=1, help="seeds of a split on which page distances are measured")
    asked.add_argument("--log", type=Path)
    given = asked.parse_args()
    began, root = perf_counter(), Path(os.environ["OHRBENCH_DATA"])
    data = Data(root, given.base, domains(root, given.base))
    real = measured(data, data.read, given.base)
    about = f"{len(data.pages)} pages with words, {len(data.asked)} questions"
    print(f"{about}; read in {perf_counter() - began:.0f} s", flush=True)
    log = Log(given.log)
    counts = {
        model: (given.splits, given.seeds) if model == "channel" else (given.baseline_splits, given.baseline_seeds)
        for model in given.models
    }
    wanted = [
        (seed, split, model)  # all splits once, then again: a test that is broken off has seen many splits
        for model, (splits, often) in counts.items()
        for split in range(splits)
        for seed in range(often)
        if (model, split, seed) not in log.runs
    ]
    with tempfile.TemporaryDirectory() as folder, remembered():
        profiles: dict[int, dict[str, Path]] = {}
        for seed, split, model in sorted(wanted):
            if split not in profiles:
                profiles[split] = fitted(data, split, Path(folder))
            texts = perturbed(data, profiles[split], seed, model=model)
            values = measured(data, texts, given.base, distance=seed < given.distances)
            log.add((model, split, seed), summary(data, values, real))
            print(f"{model}, split {split}, seed {seed}: {perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    rows = table(data, real)
    for model in given.models:
        runs, made = log.mean(model)
        failed = sum(abs(row.apart(made[row.name])) > 1 for row in rows)
        print(f"\n{model}: {runs} runs; {failed} of {len(rows)} rows fail")
        print(f"{'':34} {'real':>8} {'made':>8} {'limit':>8} {'apart in limits':>16}")
        for row in rows:
            value = made[row.name]
            print(f"{row.name:34} {row.real:8.3f} {value:8.3f} {row.limit:8.3f} {row.apart(value):+16.2f}", flush=True)


if __name__ == "__main__":
    main()
