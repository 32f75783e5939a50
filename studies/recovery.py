"""Whether `ohr noise validate` finds ohr's own noise, with its strength, and nothing in what ohr does not have.

    python -m studies.recovery

On mini's 25 English documents. Own noise is drawn three times and held against the variants of its kind; foreign noise
is held against all kinds. Some ten minutes of one core.
"""

import json
import random
import re
from collections.abc import Callable, Iterator
from statistics import fmean
from typing import Any

from ohr.contracts import Page
from ohr.noise_files.likeness import Likeness, candidates, likenesses
from ohr.noise_files.text_twins import Pages, of_benchmark, pair
from ohr.registry import Registry
from ohr.spec.read import make_benchmark
from ohr.steps.documents.treat import TreatedPages, treat

SEEDS = range(3)
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


def _clean() -> Pages:
    return of_benchmark(make_benchmark({"kind": "mini", "languages": ["en"]}, "recovery"))


def _found(clean: Pages, noisy: Pages, kind: str | None) -> list[Likeness]:
    noises = {name: each for name, each in candidates(Registry()).items() if kind in (None, name)}
    return likenesses(pair(clean, noisy, ("clean", "noisy")).documents, noises, MOST, lambda _: None)


def own(clean: Pages) -> Iterator[dict[str, Any]]:
    """Yield a row for each of OWN: how often it is matched, and how wrong its strength is."""
    registry = Registry()
    for fields in OWN:
        (family,) = registry.treatments()[fields["kind"]]
        noise: Any = registry.load(family, fields["kind"]).model_validate(fields)
        drawn = []
        for seed in SEEDS:
            noisy = {name: treat(TreatedPages.of(pages), [noise], (), seed).pages for name, pages in clean.items()}
            drawn += _found(clean, noisy, noise.kind)
        errors = [abs(each.severity.mean - noise.rate) for each in drawn]
        matched = sum(each.matched for each in drawn)
        yield {"noise": fields, "draws": len(drawn), "matched": matched, "mean": fmean(errors), "most": max(errors)}


def foreign(clean: Pages) -> Iterator[dict[str, Any]]:
    """Yield a row for each of FOREIGN: which kinds are matched, and the nearest."""
    for name, function in FOREIGN.items():
        noisy = {
            document: [Page(document, page.index, function(page.text)) for page in pages]
            for document, pages in clean.items()
        }
        found = _found(clean, noisy, None)
        matched = [each.noise.kind for each in found if each.matched]
        yield {
            "noise": name,
            "matched": matched,
            "nearest": found[0].noise.kind,
            "worst": found[0].worst,
            "off": found[0].off,
        }


def main() -> None:
    """Print both tables as JSON."""
    clean = _clean()
    print(json.dumps({"own": list(own(clean)), "foreign": list(foreign(clean))}, indent=1))


if __name__ == "__main__":
    main()
