"""Judges the channel, whole and with one part removed, on domains that it was not fitted on.

For each domain a profile is fitted to the pages of all other domains and predicts the pages of this one. It is judged
by the rows of `channel_fit.py` twice: as fitted (rate 0.5), and at the engine's dose: the rate at which as much
evidence is damaged as by the engine (as calibration would set it). A figure is a row's distance from the real value in
limits; a row beyond 1 fails.

    OHRBENCH_DATA=DIR python speed/channel_ablation.py [NAME ...] [--seeds 2] [--log FILE] [--rows]
"""

import argparse
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from time import process_time
from unittest import mock

import numpy as np
from rapidfuzz.distance import LCSseq

from ohr import seeds
from ohr.contracts import Page
from ohr.metrics.dose import DAMAGED
from ohr.noise import channel
from ohr.noise.channel import Channel, donors, page
from ohr.noise.channel import fit as fitting
from ohr.text.words import normalise
from speed.channel_fit import DOMAINS, Data, page_values, question_values, summary, table

Patch = tuple[object, str, object]
_READ = page.read


def merged(**names: str) -> list[Patch]:
    """Merge classes of words: each name's classes, separated by spaces, become one."""
    number = np.arange(len(page.NAMES), dtype=np.int8)
    for kept, others in names.items():
        for other in others.split():
            number[page.NAMES.index(other)] = page.NAMES.index(kept)

    def read(text: str) -> page.PageWords:
        made = _READ(text)
        return replace(made, cls=number[made.cls])

    return [(channel, "read", read), (channel, "_seen", read), (page, "MAP", number)]


def reading_with(change) -> list[Patch]:
    """Change the reading that is fitted."""
    made = fitting._reading
    return [
        (
            fitting,
            "_reading",
            lambda pages, misread: made(pages, misread).model_copy(update=change(made(pages, misread))),
        )
    ]


def operations(change):
    def changed(reading):
        return {"operations": {run: change(reading, run) for run in reading.operations}}

    return changed


def same(reading, run):
    return {name: float(np.mean([of[name] for of in reading.operations.values()])) for name in reading.operations[run]}


def deleted(reading, run):
    return {name: float(name == "delete") for name in reading.operations[run]}


def not_moved(reading, run):
    of = reading.operations[run]
    return {**of, "delete": of["delete"] + of["move"], "move": 0.0}


def anyone() -> list[Patch]:
    """Donors at random."""

    def document_like(self, group, places, draw):
        names = np.unique(self.document[self.groups[group]])
        return int(names[int(draw * len(names))])

    def page_like(self, group, place, document, draw):
        own = page.places(self.document == document)
        return int(own[int(draw * len(own))])

    return [(donors.Donors, "document_like", document_like), (donors.Donors, "page_like", page_like)]


def flat(**fixed) -> list[Patch]:
    """Let all units follow others separately."""
    made = donors.Tape.follow
    return [(donors.Tape, "follow", lambda self, cls, page, rng, *, together=False: made(self, cls, page, rng))]


def no_runs() -> list[Patch]:
    return [(page.Pattern, "runs", property(lambda self: self.lost.astype(np.int64)))]


def no_line_losses() -> list[Patch]:
    return [(page.Pattern, "whole", property(lambda self: np.zeros(len(self.size), dtype=bool)))]


def no_severity() -> list[Patch]:
    return [(donors, "_SEVERITY", 0.0)]


PARTS: dict[str, Callable[[], list[Patch]]] = {
    "small": list,
    "no cell_number": lambda: merged(cell="cell_number"),
    "no sign": lambda: merged(word="sign"),
    "no number": lambda: merged(word="number", cell="cell_number"),
    "two classes": lambda: merged(word="sign number formula", cell="cell_number"),
    "one class": lambda: merged(word="sign number formula cell cell_number"),
    "no severity": no_severity,
    "no content in distance": lambda: [(donors, "_CONTENT", 0.0)],
    "no length in distance": lambda: [(donors, "_LENGTH", 0.0)],
    "random donors": anyone,
    "no document effect": lambda: [(donors, "_STRANGER", 0.0)],
    "lines apart": flat,
    "no lines lost whole": no_line_losses,
    "no runs": no_runs,
    "one line size": lambda: [(page, "SIZES", 1)],
    "nearest page": lambda: [(donors, "_NEAREST", 1)],
    "one operation table": lambda: reading_with(operations(same)),
    "nothing moved": lambda: reading_with(operations(not_moved)),
    "nothing added": lambda: reading_with(lambda reading: {"repeats": 0.0}),
    "all deleted": lambda: reading_with(operations(deleted)),
}  # fmt: skip


@contextmanager
def removed(name: str) -> Iterator[None]:
    """Run with a part removed."""
    with ExitStack() as stack:
        for target, attribute, value in PARTS[name]():
            stack.enter_context(mock.patch.object(target, attribute, value, create=attribute == "MAP"))
        channel._seen.cache_clear() if hasattr(channel._seen, "cache_clear") else None
        yield
    channel._seen.cache_clear() if hasattr(channel._seen, "cache_clear") else None


def fitted(others: list[Data]) -> "channel.Profile":
    number = getattr(page, "MAP", None)
    aligned = [one for data in others for one in data.aligned.values()]
    if number is not None:
        aligned = [replace(one, page=replace(one.page, cls=number[one.page.cls])) for one in aligned]
    return fitting.fit(aligned, others[0].base)


class Predictor:
    """Perturbs the pages of one domain by one profile."""

    def __init__(self, data: Data, path: Path, model: str) -> None:
        self.data, self.documents, self.drawn = data, defaultdict(list), {}
        self.first = Channel(profile=str(path), model=model)
        for (name, index), text in data.truth.items():
            self.documents[name].append(Page(name, index, text))
        self.asked = {(question.document, number) for question in data.asked for number in question.pages}

    def document(self, name: str, seed: int) -> Channel:
        if (name, seed) not in self.drawn:
            rng = seeds.generator(seed, "channel", name, "document")
            self.drawn[name, seed] = self.first.for_document(self.documents[name], rng)
        return self.drawn[name, seed]

    def texts(self, rate: float, seed: int, *, asked: bool = False) -> dict[tuple[str, int], str]:
        made = {}
        for (name, index), text in self.data.truth.items():
            if not asked or (name, index) in self.asked:
                noise = self.document(name, seed).model_copy(update={"rate": rate})
                rng = seeds.generator(seed, "channel", name, index)
                made[name, index] = noise.perturb(text, [(0, len(text))], rng).text
        return made

    def r_noise(self, texts: dict[tuple[str, int], str]) -> float:
        damaged = 0
        for question, wanted in zip(self.data.asked, self.data.evidence, strict=True):
            held = normalise(self.data.own(question, texts)).split()
            damaged += LCSseq.similarity(held, wanted) / len(wanted) <= DAMAGED
        return damaged / len(self.data.asked)

    def rate_for(self, wanted: float, known: dict[float, float], tries: int = 3) -> float:
        """Find the rate with an r_noise by false position on the logit of the rate."""
        known = {0.02: 0.0, 0.98: 1.0} | known

        def guess() -> float:
            low = max(r for r, dose in known.items() if dose <= wanted)
            high = min((r for r, dose in known.items() if dose > wanted), default=0.98)
            share = (wanted - known[low]) / max(known[high] - known[low], 1e-9)
            logit = [np.log(r / (1 - r)) for r in (low, high)]
            return float(1 / (1 + np.exp(-(logit[0] + share * (logit[1] - logit[0])))))

        for _ in range(tries):
            rate = guess()
            known[rate] = self.r_noise(self.texts(rate, 0, asked=True))
            if abs(known[rate] - wanted) < 0.01:
                return rate
        return guess()


def judged(data: Data, real: dict, path: Path, model: str, count: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield (setting, rows) of a profile on a domain."""
    predictor = Predictor(data, path, model)

    def rows(texts, distance):
        values = question_values(data, texts, data.base) | page_values(data, texts, distance=distance)
        return summary(data, values, real)

    first = predictor.texts(0.5, 0)
    yield "as fitted", rows(first, True)
    wanted = float(real["r_noise"].mean())
    rate = predictor.rate_for(wanted, {0.5: predictor.r_noise(first)})
    for seed in range(count):
        yield "at the dose", rows(predictor.texts(rate, seed), seed == 0) | {"rate": rate}


def main() -> None:
    """Judge the parts that are named, or all, and print the table."""
    asked = argparse.ArgumentParser()
    asked.add_argument("names", nargs="*", default=list(PARTS), metavar="NAME")
    asked.add_argument("--seeds", type=int, default=2)
    asked.add_argument("--log", type=Path)
    asked.add_argument("--rows", action="store_true", help="print every row")
    given = asked.parse_args()
    log = [json.loads(line) for line in given.log.read_text().splitlines()] if given.log and given.log.exists() else []
    done = {one["name"] for one in log}
    began = process_time()
    root = Path(os.environ["OHRBENCH_DATA"])
    sets = [Data(root, "MinerU", (domain,)) for domain in DOMAINS]
    reals = [question_values(d, d.read, d.base) | page_values(d, d.read, distance=True) for d in sets]
    tables = {d.domains[0]: table(d, real) for d, real in zip(sets, reals, strict=True)}
    print(f"read in {process_time() - began:.0f} s of CPU time", flush=True)
    for name in given.names:
        if name in done:
            continue
        began = process_time()
        with removed(name if name in PARTS else "small"), tempfile.TemporaryDirectory() as folder:
            for number, (data, real) in enumerate(zip(sets, reals, strict=True)):
                path = Path(folder) / f"{number}.json"
                path.write_text(fitted([other for other in sets if other is not data]).dumps())
                model = name if name in ("independent", "scatter", "block") else "channel"
                for setting, rows in judged(data, real, path, model, given.seeds):
                    entry = {"name": name, "domain": data.domains[0], "setting": setting, "rows": rows}
                    log.append(entry)
                    if given.log:
                        with given.log.open("a") as file:
                            file.write(json.dumps(entry) + "\n")
        told(log, name, tables, given.rows)
        print(f"    {process_time() - began:.0f} s of CPU time", flush=True)


def told(log: list[dict], name: str, tables: dict, every: bool) -> None:
    line = f"{name:26}"
    for setting in ("as fitted", "at the dose"):
        for domain, rows in tables.items():
            runs = [
                one["rows"] for one in log if (one["name"], one["domain"], one["setting"]) == (name, domain, setting)
            ]
            apart = {
                row.name: (np.mean([run[row.name] for run in runs if row.name in run]) - row.real) / row.limit
                for row in rows
            }
            sizes = np.abs(list(apart.values()))
            line += f"  {domain[:4]} {np.minimum(sizes, 5).mean():5.2f} {(sizes > 1).sum():2d}/{len(sizes)}"
            if every:
                print(name, "|", setting, "|", domain, f"rate {np.mean([run.get('rate', 0.5) for run in runs]):.3f}")
                print("\n".join(f"    {row.name:34} {row.real:7.3f} {apart[row.name]:+7.2f}" for row in rows))
        line += "  |"
    print(line, flush=True)


if __name__ == "__main__":
    main()
