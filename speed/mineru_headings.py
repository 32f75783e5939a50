"""Measures what MinerU's knowledge base scores with its headings given back: the table in docs/ohrbench.md.

The released base has heading lines without words, a bare `#`. Where the line that follows is found in the ground truth,
the line above it there is the heading: it is written behind the `#`, unless the page has it elsewhere.

    OHRBENCH_DATA=DIR python speed/mineru_headings.py [DOMAIN ...]
"""

import csv
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import numpy as np
from rapidfuzz import fuzz

from ohr.results.tables.read_table import read_rows
from ohr.runner.run import run
from ohr.spec.read import read_spec
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import compare

ROOT = Path(os.environ.get("OHRBENCH_DATA", "data/ohrbench")).resolve()
BARE = re.compile(r"#{1,6}\s*")
LONGEST = 120
"""Characters of a heading: a longer line above is a paragraph."""
ALIKE = 90
"""Similarity (0 to 100) from which on two beginnings of a line count as the same."""
SPEC = """\
name: headings
replicates: 1
benchmark: {{kind: ohrbench, root: {root}, protocol: {protocol}, domains: [{domains}]}}
knowledge_bases:
  - name: gt
  - {{name: MinerU, ocr: {{kind: precomputed, root: {root}/retrieval_base/MinerU}}}}
  - {{name: headings back, ocr: {{kind: precomputed, root: {base}}}}}
{plugins}
evaluate: [retrieval]
"""
PLUGINS = {
    "reference": "chunker: {kind: reference}\nretrievers: [{kind: bm25_reference, top_k: 2}]",
    "clean": "chunker: {kind: tokens}\nretrievers: [{kind: bm25, top_k: 2}]",
}


def words(line: str) -> str:
    """Return a line's letters and digits, to compare it."""
    return " ".join(re.findall(r"\w+", line.lower()))


def heading_above(place: int, lines: Sequence[str], count: int) -> list[str] | None:
    """Return the `count` lines above `place`, without their marks; None where one is no heading."""
    above = [line.lstrip("# ").strip() for line in lines[max(place - count, 0) : place]]
    if len(above) < count or any(len(line) > LONGEST or not words(line) or line[0] in "\\<|$" for line in above):
        return None
    return above


def repaired(text: str, truth: str, seen: Counter[str]) -> str:
    """Return a page with the headings that the ground truth has for it."""
    lines = text.split("\n")
    true = [line.strip() for line in truth.split("\n") if line.strip()]
    keys = [words(line.lstrip("# "))[:60] for line in true]
    page = words(text)
    bare: list[int] = []
    for place, line in enumerate(lines):
        if BARE.fullmatch(line):
            bare.append(place)
        elif line.strip():
            if bare:
                _give_back(lines, bare, words(line)[:60], true, keys, page, seen)
            bare = []
    seen["no text follows"] += len(bare)
    return "\n".join(lines)


def _give_back(
    lines: list[str], bare: Sequence[int], following: str, true: Sequence[str], keys: Sequence[str], page: str,
    seen: Counter[str],
) -> None:  # fmt: skip
    scores = [fuzz.ratio(following, key[: len(following) + 5]) for key in keys]
    place = max(range(len(scores)), key=scores.__getitem__, default=-1)
    if place < 0 or scores[place] < ALIKE or len(following) < 4:
        seen["the text that follows is not in the ground truth"] += len(bare)
        return
    above = heading_above(place, true, len(bare))
    if above is None:
        seen["no heading stands above it there"] += len(bare)
        return
    for at, heading in zip(bare, above, strict=True):
        if words(heading) in page:
            seen["the page has it elsewhere"] += 1
        else:
            seen["given back"] += 1
            lines[at] = f"{lines[at].strip()} {heading}"


def bases(domains: Sequence[str]) -> Iterator[tuple[str, list[dict[str, object]], dict[int, str]]]:
    """List MinerU's documents with the ground truth of their pages."""
    for domain in domains:
        for file in sorted((ROOT / "retrieval_base" / "MinerU" / domain).glob("*.json")):
            truth = ROOT / "retrieval_base" / "gt" / domain / file.name
            pages = json.loads(truth.read_text()) if truth.is_file() else []
            yield f"{domain}/{file.stem}", json.loads(file.read_text()), {p["page_idx"]: p["text"] for p in pages}


def main(domains: Sequence[str]) -> None:
    seen: Counter[str] = Counter()
    with TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        for name, pages, truth in bases(domains):
            made = [
                {**p, "text": repaired(str(p["text"]), truth.get(int(str(p["page_idx"])), ""), seen)} for p in pages
            ]
            path = base / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(made, ensure_ascii=False))
        print(f"{sum(seen.values()):,} heading lines without words:", dict(seen.most_common()))
        for protocol, plugins in PLUGINS.items():
            spec = SPEC.format(root=ROOT, protocol=protocol, domains=", ".join(domains), base=base, plugins=plugins)
            file = Path(folder) / f"{protocol}.yaml"
            file.write_text(spec)
            report(protocol, run(read_spec(file), store=Path(folder) / "store", runs=Path(folder) / "runs").folder)


def report(protocol: str, folder: Path) -> None:
    rows = [r for r in read_rows(folder / "scores.parquet") if r["stage"] == "retrieval" and r["metric"] == "lcs"]
    with (folder / "doses.csv").open() as opened:
        doses = {row["kb"]: row for row in csv.DictReader(opened)}
    for base in ("gt", "MinerU", "headings back"):
        own = [row for row in rows if row["kb"] == base]
        by = {d: fmean(r["value"] for r in own if r["domain"] == d) for d in dict.fromkeys(r["domain"] for r in own)}
        cells = " ".join(f"{domain} {100 * value:.2f}" for domain, value in by.items())
        dose = doses[base]
        print(f"{protocol:9} {base:14} LCS {100 * fmean(r['value'] for r in own):.2f} ({cells}); ", end="")
        print(f"r_noise {float(dose['r_noise']):.3f}, evidence loss {float(dose['evidence_loss']):.3f}, ", end="")
        print(f"edit distance {float(dose['edit_distance']):.3f}")
    before, after = ({r["question_id"]: r for r in rows if r["kb"] == base} for base in ("MinerU", "headings back"))
    for domain in ("", *dict.fromkeys(r["domain"] for r in rows)):
        ids = [q for q, row in before.items() if domain in ("", row["domain"])]
        first, second = (np.array([own[q]["value"] for q in ids]) for own in (after, before))
        found = compare(first, second, Clusters.of([before[q]["document"] for q in ids]))
        one = found.difference
        print(f"{protocol:9} gain {domain or 'all':9} {100 * one.mean:.2f} points, ", end="")
        interval = f"{100 * one.low:.2f} to {100 * one.high:.2f}"
        print(f"95% interval {interval}; {found.lost} gain, {found.gained} lose")


if __name__ == "__main__":
    main(sys.argv[1:] or ["law", "manual", "textbook"])
