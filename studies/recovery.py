"""Whether `ohr noise validate` finds ohr's own noise, with its strength, and nothing in what ohr does not have.

    python -m studies.recovery mini ohrbench > studies/kept/realism/recovery.json

On mini's 25 English documents, or on some of OHRBench's, which OHRBENCH_DATA names. Own noise is drawn several times,
and held against the variants of its kind; the first draw, and foreign noise, against all kinds.
"""

import json
import os
import random
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from statistics import fmean
from typing import Any

from ohr.noise_files.likeness import Likeness, candidates, likenesses
from ohr.noise_files.text_twins import Twin, of_benchmark, pair
from ohr.registry import Registry
from ohr.spec.read import make_benchmark

OWN: tuple[dict[str, Any], ...] = (
    {"kind": "formatting", "rate": 0.1},
    {"kind": "formatting", "rate": 0.3},
    {"kind": "formatting", "rate": 0.6},
    {"kind": "formatting", "rate": 0.3, "markdown": 1.0},
    {"kind": "formatting", "rate": 0.3, "rules": {"bold": 1.0}},
    {"kind": "formatting", "rate": 0.4, "rules": {"title": 1.0, "paragraph": 1.0}},
    {"kind": "channel", "rate": 0.25},
    {"kind": "channel", "rate": 0.5},
    {"kind": "channel", "rate": 0.75},
    {"kind": "channel", "rate": 0.5, "profile": "rapidocr"},
    {"kind": "table_format", "rate": 1.0, "to": "html"},
    {"kind": "table_format", "rate": 0.5, "to": "markdown"},
    {"kind": "drop_pages", "rate": 0.3},
    {"kind": "double_pages", "rate": 0.3, "numbers": "place"},
    {"kind": "shuffle_pages", "rate": 0.8, "numbers": "place"},
)
MOST = 400


def _without_blocks(text: str) -> str:
    return " ".join(word for place, word in enumerate(text.split(" ")) if place % 50 >= 5)


def _misspelt(text: str) -> str:
    rng = random.Random(text)
    return re.sub(r"[a-z]{4,}", lambda word: _swapped(word[0], rng) if rng.random() < 0.1 else word[0], text)


def _swapped(word: str, rng: random.Random) -> str:
    at = rng.randrange(len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


FOREIGN: dict[str, Callable[[str], str]] = {
    "capitals": str.upper,
    "words in reverse": lambda text: " ".join(reversed(text.split(" "))),
    "5 of 50 words gone": _without_blocks,
    "letters swapped in 10% of the words": _misspelt,
    "no markup": lambda text: re.sub(r"[\\${}*#&]", "", text),
}


SETS: dict[str, dict[str, Any]] = {
    "mini": {"kind": "mini", "languages": ["en"]},
    "ohrbench": {"kind": "ohrbench", "root": "${OHRBENCH_DATA}"},
}
SAMPLE, DOCUMENTS = 7, 25
"""Seed and size of the sample of documents, where there are more."""
DRAWS = {"mini": (5, 3), "ohrbench": (4, 2)}
"""Draws of own noise, and of formatting noise, which takes longest; the fit and the test have seeds of their own."""


def clean(name: str) -> list[Twin]:
    """Return documents of a set, equal on both sides; what noises change in them is counted once for all draws."""
    keys = {key: os.path.expandvars(value) if isinstance(value, str) else value for key, value in SETS[name].items()}
    pages = of_benchmark(make_benchmark(keys, "recovery"))
    names = sorted(document for document in pages if any(page.text.strip() for page in pages[document]))
    names = random.Random(SAMPLE).sample(names, DOCUMENTS) if len(names) > DOCUMENTS else names
    chosen = {document: pages[document] for document in names}
    return list(pair(chosen, chosen, (name, name)).documents)


def _likenesses(twins: Sequence[Twin], change: Callable[[Twin], dict[int, str]], kind: str | None) -> list[Likeness]:
    """Hold the variants of a kind, or all kinds, against the documents with changed texts."""
    noises = {name: each for name, each in candidates(Registry()).items() if kind in (None, name)}
    return likenesses([replace(twin, noisy=change(twin)) for twin in twins], noises, MOST, lambda _: None)


def _each_page(function: Callable[[str], str], twin: Twin) -> dict[int, str]:
    return {page.index: function(page.text) for page in twin.pages}


def own(twins: Sequence[Twin], draws: tuple[int, int]) -> Iterator[dict[str, Any]]:
    """Yield a row for each of OWN: how often it is matched, how wrong its strength is, and which kinds match too."""
    registry = Registry()
    for fields in OWN:
        (family,) = registry.treatments()[fields["kind"]]
        noise: Any = registry.load(family, fields["kind"]).model_validate(fields)
        judged = [
            _likenesses(twins, partial(Twin.under, noise=noise, seed=seed), None if seed == 0 else noise.kind)
            for seed in range(draws[noise.kind == "formatting"])
        ]
        drawn = [next(each for each in draw if each.noise.kind == noise.kind) for draw in judged]
        yield {
            "noise": fields,
            "nearest": judged[0][0].noise.kind,
            "match_too": [each.noise.kind for each in judged[0] if each.matched and each.noise.kind != noise.kind],
            "draws": len(drawn),
            "matched": sum(each.matched for each in drawn),
            "refused": [f"{each.worst} {each.distance / each.limit:.2f}" for each in drawn if not each.matched],
            "rate": fmean(each.severity.mean for each in drawn),
            "error": max(abs(each.severity.mean - noise.rate) for each in drawn),
            "covered": sum(each.severity.low <= noise.rate <= each.severity.high for each in drawn),
            "fitted": [each.noise.model_dump(mode="json", exclude_defaults=True, exclude={"kind"}) for each in drawn],
        }


def foreign(twins: Sequence[Twin]) -> Iterator[dict[str, Any]]:
    """Yield a row for each of FOREIGN: which kinds are matched, and the nearest."""
    for name, function in FOREIGN.items():
        judged = _likenesses(twins, partial(_each_page, function), None)
        matched = [each.noise.kind for each in judged if each.matched]
        nearest = judged[0]
        yield {
            "noise": name,
            "matched": matched,
            "nearest": nearest.noise.kind,
            "off": nearest.off,
            "worst": nearest.worst,
            "distance": nearest.distance / nearest.limit,
        }


def _shown(rows: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for row in rows:
        print(json.dumps(row), file=sys.stderr, flush=True)
        yield row


def main(names: Sequence[str]) -> None:
    """Print both tables of each set as JSON, and each row to the screen as it comes."""
    judged = []
    for name in names:
        twins = clean(name)
        size = {"documents": len(twins), "pages": sum(len(twin.pages) for twin in twins)}
        rows = {"own": list(_shown(own(twins, DRAWS[name]))), "foreign": list(_shown(foreign(twins)))}
        judged.append({"set": name, **size, **rows})
    print(json.dumps(judged, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:])
