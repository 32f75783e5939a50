"""Measures study b of studies/PLAN.md: how much invented text each metric of parsed pages forgives.

    OHRBENCH_DATA=DIR python -m studies.invention WORK --out FOLDER

Foreign words are put into the ground truth, and the texts compared with it and searched
(`pipelines/real-invention.yaml`). Kept are numbers and ids.
"""

import math
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow

from ohr.parse_scores.omnidocbench.page_scores import score_markdown
from ohr.results.run import Run
from ohr.text.distance import edits_between
from ohr.text.words import words
from studies.real_data import Place, Texts, given, keep, keep_run, read, study, write_base
from studies.runs import run_pipeline

LEVELS = (5, 10, 20)
"""Percent of a page's words that are added."""


def invented(text: str, percent: int, place: Place, others: list[str]) -> str:
    """Return a page with foreign words as a paragraph of their own."""
    drawn = random.Random(f"{place}")
    source = drawn.choice(others).split()
    count = math.ceil(len(text.split()) * percent / 100)
    start = drawn.randrange(max(1, len(source) - count + 1))
    foreign = " ".join((source[start:] * (count // max(len(source), 1) + 1))[:count])
    paragraphs = re.split(r"\n{2,}", text)
    after = drawn.randrange(len(paragraphs)) + 1
    return "\n\n".join([*paragraphs[:after], foreign, *paragraphs[after:]])


def pages(truth: Texts) -> Iterator[tuple[Place, int, str]]:
    """Yield each page with words, at each level, with its invented text."""
    by_domain: dict[str, list[tuple[str, str]]] = {}
    for (document, _), text in truth.items():
        if len(text.split()) >= 20:  # a page from which whole sentences can come
            by_domain.setdefault(document.split("/")[0], []).append((document, text))
    for place, text in truth.items():
        document = place[0]
        if words(text):
            others = [other for name, other in by_domain.get(document.split("/")[0], []) if name != document]
            if not others:
                sys.exit(f"{document}: no other document of its domain has a page of 20 words, from which to take any")
            for percent in LEVELS:
                yield place, percent, invented(text, percent, place, others)


def page_row(place: Place, percent: int, text: str, changed: str) -> dict[str, Any]:
    """Compare a page with invented words with the truth."""
    known, read_words = Counter(words(text)), Counter(words(changed))
    distances = {version: score_markdown(text, changed, version).text for version in ("1.0", "1.5")}
    return {
        "document": place[0],
        "page": place[1],
        "percent": percent,
        **{f"text_edit@{version}": part.distance if part else None for version, part in distances.items()},
        "edit distance": edits_between(text, changed) / max(len(text), len(changed)),
        "precision lost": 1 - (known & read_words).total() / read_words.total(),
    }


def base(work: Path, percent: int) -> Path:
    """Return the folder of the truth with so many invented words, as the specs name it."""
    return work / f"invention {percent}%" / "gt"


def searched(work: Path, texts: dict[int, dict[Place, str]]) -> Run:
    """Search the ground truth with invented words, by OHRBench's protocol."""
    for percent, changed in texts.items():
        write_base(base(work, percent), changed)
    return run_pipeline("real-invention", work)


def main() -> None:
    """Measure everything, and keep it."""
    work, out = given("Study b: measures what invented text costs.")
    truth, rows = read("gt"), list[dict[str, Any]]()
    texts: dict[int, dict[Place, str]] = {percent: dict(truth) for percent in LEVELS}
    for place, percent, changed in pages(truth):
        rows.append(page_row(place, percent, truth[place], changed))
        texts[percent][place] = changed
    keep(pyarrow.Table.from_pylist(rows), out, "invention.parquet")
    keep_run(searched(work, texts), out, "invention_scores.parquet")


if __name__ == "__main__":
    study(main)
