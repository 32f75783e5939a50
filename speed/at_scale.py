"""Carries the rates that `scale.py` measured to 100 million pages and 10 billion chunks, and what gives way first.

Seconds, memory and disk of each stage are taken as a fixed part and a part by chunk, from the two largest corpora that
were measured. Where a model does the work (OCR, embedding), the rate is a published one, with its source. The machine
is one with 64 cores, 512 GiB and 30 TB of local disk.

    python speed/at_scale.py OUT [--retriever bm25]
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

CHUNKS_A_PAGE, CORES, MEMORY, DISK, DAY = 4, 64, 512.0, 30_000.0, 86_400.0
SIZES = {"1M chunks": 1e6, "100M pages": 100e6 * CHUNKS_A_PAGE, "10G chunks": 10e9}
PUBLISHED = {
    "OCR by a language model, A100 days": (1 / CHUNKS_A_PAGE / 200_000, "200,000 pages a day (arXiv:2510.18234)"),
    "embedding by MiniLM, V100 days": (1 / 14_200 / DAY, "14,200 sentences a second (sbert.net, pretrained models)"),
}
"""Days by chunk, and their source."""


@dataclass(frozen=True)
class Line:
    """A quantity that grows with the number of chunks: `fixed + each * chunks`."""

    fixed: float
    each: float

    @classmethod
    def through(cls, *points: tuple[float, float]) -> "Line":
        """Return the line through the points of the two largest corpora; it never falls."""
        (x0, y0), (x1, y1) = sorted(dict(points).items())[-2:]
        each = max(0.0, (y1 - y0) / (x1 - x0))
        return cls(max(0.0, y1 - each * x1), each)

    def at(self, chunks: float) -> float:
        """Return the quantity for a number of chunks."""
        return self.fixed + self.each * chunks

    def reaches(self, limit: float) -> float:
        """Return the number of chunks at which it reaches a limit."""
        return (limit - self.fixed) / self.each if self.each else float("inf")


def lines_of(records: list[dict], retriever: str) -> tuple[dict[str, Line], dict[str, Line]]:
    """Return the core seconds by stage, and the parts that have a limit, each by the number of chunks."""
    own = {r["chunks"]: r for r in records if r["retriever"] == retriever and not r["run"]["status"]}
    whole = {r["chunks"]: r for r in records if "cutting chunks" in r["stages"][0] and not r["run"]["status"]}
    # it holds the graph and the tables, whatever the retriever
    counted = [r for r in records if "main" in r["run"] and not r["run"]["status"]]
    made = ("making documents", "measuring damage", "cutting chunks")
    stages = {name: Line.through(*((n, r["stages"][0][name]) for n, r in whole.items())) for name in made}
    stages["index and search"] = Line.through(*((n, r["stages"][0]["retrieving"]) for n, r in own.items()))
    parts = {
        "memory of the main process, GiB": Line.through(*((r["chunks"], r["run"]["main"]) for r in counted)),
        "memory of all processes, GiB": Line.through(*((n, r["run"]["all"]) for n, r in own.items())),
        "store with the index, GiB": Line.through(*((n, r["store"]) for n, r in own.items())),
    }
    return stages, parts


def main() -> None:
    """Print the table and the order in which parts reach their limits."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--retriever", default="bm25")
    options = parser.parse_args()
    records = [json.loads(line) for line in (options.out / "scale.jsonl").read_text().splitlines()]
    stages, parts = lines_of(records, options.retriever)
    print(f"{options.retriever:<40}" + "".join(f"{name:>14}" for name in SIZES))
    for name, line in stages.items():
        print(f"{name + ', core hours':<40}" + "".join(f"{line.at(n) / 3600:>14,.2f}" for n in SIZES.values()))
    for name, line in parts.items():
        print(f"{name:<40}" + "".join(f"{line.at(n):>14,.1f}" for n in SIZES.values()))
    for name, (each, source) in PUBLISHED.items():
        print(f"{name:<40}" + "".join(f"{each * n:>14,.2f}" for n in SIZES.values()) + f"  {source}")
    limits = {
        "one process indexes for a day": stages["index and search"].reaches(DAY),
        f"{CORES} cores make and cut documents for a day": min(stages[name].reaches(DAY * CORES) for name in stages),
        **{f"{name} reach {MEMORY:.0f}": parts[name].reaches(MEMORY) for name in list(parts)[:2]},
        f"the store reaches {DISK:,.0f} GiB": parts["store with the index, GiB"].reaches(DISK),
        "places of chunks need more than 32 bits": 2.0**31,
    }
    print("\nwhat gives way first, by the number of chunks:")
    for name, size in sorted(limits.items(), key=lambda item: item[1]):
        print(f"  {size:>18,.0f}  {name}")


if __name__ == "__main__":
    main()
