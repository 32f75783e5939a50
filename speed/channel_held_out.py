"""Judges the channel and its baselines on domains that it was not fitted on.

For each domain a profile is fitted to the pages of all others and predicts the pages of this one. The rows of
`channel_table.py` judge it twice: as fitted (rate 0.5), and at the engine's dose, the rate at which as much evidence is
damaged as by the engine (calibration to a `target_r_noise` finds it). A figure is a row's distance from the real value
in limits; beyond 1 the row fails. Below the rows are their mean distance (each at most WORST) and how many fail.

    OHRBENCH_DATA=DIR python -m speed.channel_held_out [MODEL ...] [--base MinerU] [--seeds 2]
"""

import argparse
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import process_time

import numpy as np

from ohr.noise.channel.fit import fit
from speed.channel_rows import Data, domains, measured, perturbed, remembered
from speed.channel_table import Row, distances, summary, table

MODELS = ("channel", "independent", "scatter", "block")
SETTINGS = ("as fitted", "at the dose")


def rate_of(data: Data, profiles: Mapping[str, Path], model: str, dose: float, fitted: float, tries: int = 3) -> float:
    """Find the rate with an r_noise by false position on the logit of the rate, from that at rate 0.5 on."""
    known = {0.02: 0.0, 0.5: fitted, 0.98: 1.0}
    only = {(question.document, number) for question in data.asked for number in question.pages}
    for turn in range(tries + 1):
        low = max((rate for rate, at in known.items() if at <= dose), default=0.02)
        high = min((rate for rate, at in known.items() if at > dose), default=0.98)
        share = (dose - known[low]) / max(known[high] - known[low], 1e-9)
        ends = [np.log(rate / (1 - rate)) for rate in (low, high)]
        rate = float(1 / (1 + np.exp(-(ends[0] + share * (ends[1] - ends[0])))))
        if turn < tries:
            known[rate] = data.damaged(perturbed(data, profiles, 0, rate=rate, model=model, only=only)).mean()
            if abs(known[rate] - dose) < 0.01:
                break
    return rate


def judged(data: Data, others: list[Data], real: dict, model: str, count: int) -> Iterator[tuple[str, dict]]:
    """Yield setting and rows of each seed of a domain that is predicted from the others."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.json"
        path.write_text(fit([page for other in others for page in other.aligned.values()], data.base).dumps())
        profiles = dict.fromkeys((document for document, _ in data.truth), path)
        rate, dose = 0.5, float(real["r_noise"].mean())
        fitted: list[float] = []
        for setting in SETTINGS:
            if setting == "at the dose":
                rate = rate_of(data, profiles, model, dose, fitted[0])
            for seed in range(count):
                texts = perturbed(data, profiles, seed, rate=rate, model=model)
                rows = summary(data, measured(data, texts, data.base, distance=seed == 0), real)
                fitted.append(rows["r_noise, pooled"])
                yield setting, rows | {"rate": rate}


def printed(rows_of: Mapping[tuple[str, str], list[dict]], tables: Mapping[str, list[Row]], model: str) -> None:
    """Print the mean rows of a model's seeds, by setting and domain, and their summary."""
    columns = [(setting, domain) for setting in SETTINGS for domain in tables]
    means = {
        column: {
            name: float(np.mean([rows[name] for rows in rows_of[column] if name in rows]))
            for name in rows_of[column][0]
        }
        for column in columns
    }
    print(f"\n{model:34}" + "".join(f"{setting:>12}" for setting, _ in columns))
    print(f"{'':34}" + "".join(f"{domain[:11]:>12}" for _, domain in columns))
    for title in dict.fromkeys(row.name for rows in tables.values() for row in rows):
        rows = [next((row for row in tables[domain] if row.name == title), None) for _, domain in columns]
        cells = zip(rows, means.values(), strict=True)
        print(f"{title:34}" + "".join(f"{row.apart(mean[title]):+12.2f}" if row else " " * 12 for row, mean in cells))
    far = [distances(tables[domain], means[setting, domain]) for setting, domain in columns]
    print(f"{'mean distance':34}" + "".join(f"{distance.mean():12.2f}" for distance in far))
    print(f"{'rows that fail':34}" + "".join(f"{f'{(distance > 1).sum()} of {len(distance)}':>12}" for distance in far))
    print(f"{'rate':34}" + "".join(f"{means[column]['rate']:12.3f}" for column in columns), flush=True)


def main() -> None:
    """Judge the models that are named, or all."""
    asked = argparse.ArgumentParser()
    asked.add_argument("models", nargs="*", default=MODELS, metavar="MODEL")
    asked.add_argument("--base", default="MinerU")
    asked.add_argument("--seeds", type=int, default=2)
    given = asked.parse_args()
    began, root = process_time(), Path(os.environ["OHRBENCH_DATA"])
    sets = [Data(root, given.base, (domain,)) for domain in domains(root, given.base)]
    reals = [measured(data, data.read, given.base) for data in sets]
    tables = {data.domains[0]: table(data, real) for data, real in zip(sets, reals, strict=True)}
    with remembered():
        for model in given.models:
            rows_of = defaultdict(list)
            for data, real in zip(sets, reals, strict=True):
                others = [other for other in sets if other is not data]
                for setting, rows in judged(data, others, real, model, given.seeds):
                    rows_of[setting, data.domains[0]].append(rows)
            printed(rows_of, tables, model)
            print(f"{process_time() - began:.0f} s of CPU time so far", flush=True)


if __name__ == "__main__":
    main()
