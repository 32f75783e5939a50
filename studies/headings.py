"""Headings that a knowledge base has lost, restored from the ground truth where that is safe."""

import json
import re
from collections import Counter
from pathlib import Path

from ohr.text.words import words

SHORT = 12
"""Most words of a line that may be a heading."""
SAME = 5
"""Words with which the text below a heading begins in both versions of the page."""

_BARE = re.compile(r"\s*#+\s*")


def restore(text: str, truth: str, tally: Counter[str]) -> str:
    """Write the lost words behind each bare `#` of a page, and count what became of each.

    A heading is restored where the text below it begins a line of the ground truth, the line above that one is short,
    and the page does not have its words elsewhere.
    """
    lines = text.split("\n")
    true_lines = [line for line in truth.split("\n") if words(line)]
    places: dict[tuple[str, ...], int] = {}
    for place, line in enumerate(true_lines):
        places.setdefault(words(line)[:SAME], place)
    whole = f" {' '.join(words(text))} "
    for number, line in enumerate(lines):
        if not _BARE.fullmatch(line):
            continue
        tally["bare"] += 1
        below = next((words(after)[:SAME] for after in lines[number + 1 :] if words(after)), None)
        place = places.get(below, 0) if below else 0
        above = true_lines[place - 1] if place else ""
        if above and len(words(above)) <= SHORT and f" {' '.join(words(above))} " not in whole:
            tally["restored"] += 1
            lines[number] = f"{line.strip()} {above.strip('#* ')}"
    return "\n".join(lines)


def write_restored(base: Path, truth: Path, target: Path) -> Counter[str]:
    """Write a copy of a knowledge base with its headings, in OHRBench's layout; return the counts."""
    tally: Counter[str] = Counter()
    for file in sorted(base.rglob("*.json")):
        name = file.relative_to(base)
        pages = json.loads(file.read_text(encoding="utf-8"))
        there = truth / name
        true_pages = json.loads(there.read_text(encoding="utf-8")) if there.is_file() else []
        texts = {page["page_idx"]: page["text"] or "" for page in true_pages}
        for page in pages:
            page["text"] = restore(page["text"] or "", texts.get(page["page_idx"], ""), tally)
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(json.dumps(pages), encoding="utf-8")
    return tally
