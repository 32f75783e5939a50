"""Judges the channel, whole and with one part removed, on domains that it was not fitted on.

For each domain a profile is fitted to the pages of all others and predicts the pages of this one. The rows of
`channel_table.py` judge it twice: as fitted (rate 0.5), and at the engine's dose, the rate at which as much evidence is
damaged as by the engine (calibration to a `target_r_noise` finds it). A figure is a row's distance from the real value
in limits; beyond 1 the row fails. Below the rows are their mean distance (each at most WORST) and how many fail.

    OHRBENCH_DATA=DIR python -m speed.channel_ablation [NAME ...] [--base MinerU] [--seeds 2] [--log FILE]
"""

import argparse
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import process_time
from unittest import mock

import numpy as np

from ohr.noise import channel
from ohr.noise.channel import donors, fit
from ohr.noise.channel import page_model as page
from speed.channel_fit import MODELS
from speed.channel_rows import Data, Log, domains, measured, perturbed, remembered
from speed.channel_table import Row, distances, summary, table

SETTINGS = ("as fitted", "at the dose")

Patch = tuple[object, str, object]


def merged(**classes: str) -> list[Patch]:
    """Merge classes of words: those named after an equals sign, separated by spaces, become the one before it."""
    number = np.arange(len(page.NAMES), dtype=np.int8)
    for kept, others in classes.items():
        number[[page.NAMES.index(other) for other in others.split()]] = page.NAMES.index(kept)
    pattern = page.PageWords.pattern

    def made(self: page.PageWords, lost: page.Flags | None = None) -> page.Pattern:
        return replace(pattern(self, lost), cls=number[self.cls[self.counted]])

    return [(page.PageWords, "pattern", made)]


def reading(change: Callable[..., dict[str, object]]) -> list[Patch]:
    """Change the reading that is fitted."""
    count = fit._reading

    def made(*given):
        found = count(*given)
        return found.model_copy(update=change(found))

    return [(fit, "_reading", made)]


def _pooled(found) -> dict[str, object]:
    mean = {name: float(np.mean([of[name] for of in found.operations.values()])) for name in found.operations["few"]}
    return {"operations": dict.fromkeys(found.operations, mean)}


def _unmoved(found) -> dict[str, object]:
    return {"operations": {run: {**of, "delete": of["delete"] + of["move"], "move": 0.0}
                           for run, of in found.operations.items()}}  # fmt: skip


def random_donors() -> list[Patch]:
    """Draw any page of the group, the same for pages at the same place."""

    def nearest(self, group, place):
        return np.random.default_rng(abs(int(1e6 * place[0]))).permutation(self.groups[group])

    return [(donors.Donors, "nearest", nearest)]


def one_length() -> list[Patch]:
    """Take all documents to be of one page."""
    describe = donors.describe
    return [(module, "describe", lambda page, pages: describe(page, 1)) for module in (donors, fit)]


PARTS: dict[str, Callable[[], list[Patch]]] = {
    "model": list,
    "no class of numbers": lambda: merged(word="number"),
    "one class of words": lambda: merged(word="number formula cell"),
    "no regression of the loss": lambda: [(fit, "_severity", lambda documents: {})],
    "formulas and cells do not count": lambda: [(donors, "_BY_CONTENT", 0.0)],
    "random donors": random_donors,
    "length of the document does not count": one_length,
    "one size of lines": lambda: [(page, "SIZES", 1)],
    "no line lost whole": lambda: [(page.Pattern, "whole", property(lambda self: self.size < 0))],
    "no runs": lambda: [(page.Pattern, "runs", property(lambda self: self.lost.astype(np.int64)))],
    "one table of operations": lambda: reading(_pooled),
    "nothing moved": lambda: reading(_unmoved),
}


@contextmanager
def removed(name: str) -> Iterator[None]:
    """Run without a part."""
    with ExitStack() as stack:
        for target, attribute, value in PARTS[name]() if name in PARTS else ():
            stack.enter_context(mock.patch.object(target, attribute, value))
        channel._made_ready.cache_clear()
        yield


def rate_of(
    data: Data, profiles: Mapping[str, Path], model: str, wanted: float, fitted: float, tries: int = 3
) -> float:
    """Find the rate with an r_noise by false position on the logit of the rate, from that at rate 0.5 on."""
    known = {0.02: 0.0, 0.5: fitted, 0.98: 1.0}
    only = {(question.document, number) for question in data.asked for number in question.pages}
    for turn in range(tries + 1):
        low = max((rate for rate, dose in known.items() if dose <= wanted), default=0.02)
        high = min((rate for rate, dose in known.items() if dose > wanted), default=0.98)
        share = (wanted - known[low]) / max(known[high] - known[low], 1e-9)
        ends = [np.log(rate / (1 - rate)) for rate in (low, high)]
        rate = float(1 / (1 + np.exp(-(ends[0] + share * (ends[1] - ends[0])))))
        if turn < tries:
            known[rate] = data.damaged(perturbed(data, profiles, 0, rate=rate, model=model, only=only)).mean()
            if abs(known[rate] - wanted) < 0.01:
                break
    return rate


def judged(data: Data, others: list[Data], real: dict, name: str, count: int) -> Iterator[tuple[str, int, dict]]:
    """Yield setting, seed and rows of a domain that is predicted from the others."""
    model = name if name in MODELS else "channel"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "profile.json"
        path.write_text(fit.fit([one for other in others for one in other.aligned.values()], data.base).dumps())
        profiles = dict.fromkeys((document for document, _ in data.truth), path)
        rate, wanted = 0.5, float(real["r_noise"].mean())
        fitted: list[float] = []
        for setting in SETTINGS:
            if setting == "at the dose":
                rate = rate_of(data, profiles, model, wanted, fitted[0])
            for seed in range(count):
                texts = perturbed(data, profiles, seed, rate=rate, model=model)
                rows = summary(data, measured(data, texts, data.base, distance=seed == 0), real)
                fitted.append(rows["r_noise, pooled"])
                yield setting, seed, rows | {"rate": rate}


def printed(log: Log, tables: Mapping[str, list[Row]], name: str) -> None:
    """Print the rows of a part, and their summary."""
    columns = [(setting, domain) for setting in SETTINGS for domain in tables]
    means = {column: log.mean(name, *column)[1] for column in columns}
    print(f"\n{name:34}" + "".join(f"{setting:>12}" for setting, _ in columns))
    print(f"{'':34}" + "".join(f"{domain[:11]:>12}" for _, domain in columns))
    for title in dict.fromkeys(row.name for rows in tables.values() for row in rows):
        rows = [next((row for row in tables[domain] if row.name == title), None) for _, domain in columns]
        found = zip(rows, means.values(), strict=True)
        print(f"{title:34}" + "".join(f"{row.apart(made[title]):+12.2f}" if row else " " * 12 for row, made in found))
    far = [distances(tables[domain], means[setting, domain]) for setting, domain in columns]
    print(f"{'mean distance':34}" + "".join(f"{one.mean():12.2f}" for one in far))
    print(f"{'rows that fail':34}" + "".join(f"{f'{(one > 1).sum()} of {len(one)}':>12}" for one in far))
    print(f"{'rate':34}" + "".join(f"{means[column]['rate']:12.3f}" for column in columns), flush=True)


def main() -> None:
    """Judge the parts that are named, or all and the baselines."""
    asked = argparse.ArgumentParser()
    asked.add_argument("names", nargs="*", default=[*PARTS, *MODELS[1:]], metavar="NAME")
    asked.add_argument("--base", default="MinerU")
    asked.add_argument("--seeds", type=int, default=2)
    asked.add_argument("--log", type=Path)
    given = asked.parse_args()
    began, root, log = process_time(), Path(os.environ["OHRBENCH_DATA"]), Log(given.log)
    sets = [Data(root, given.base, (domain,)) for domain in domains(root, given.base)]
    reals = [measured(data, data.read, given.base) for data in sets]
    tables = {data.domains[0]: table(data, real) for data, real in zip(sets, reals, strict=True)}
    with remembered():
        for name in given.names:
            for data, real in zip(sets, reals, strict=True):
                if (name, "at the dose", data.domains[0], given.seeds - 1) in log.runs:
                    continue
                with removed(name):
                    for setting, seed, rows in judged(
                        data, [one for one in sets if one is not data], real, name, given.seeds
                    ):
                        log.add((name, setting, data.domains[0], seed), rows)
            printed(log, tables, name)
            print(f"{process_time() - began:.0f} s of CPU time so far", flush=True)


if __name__ == "__main__":
    main()
