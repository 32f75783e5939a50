"""Times text noise on real pages, one core: pages a second, and that odd pages take time in line with their length.

Real pages are those of OHRBench as they are, and neighbours joined until pages have its average of 1,034 tokens. The
peer is what a knowledge base is measured with: normalising the same pages into words. Medians of three passes; peer and
noise take turns, so that a busy machine slows both. Formulas and runs of Chinese are remembered from the first pass on,
as they are in a study of several rates.

    OHRBENCH_DATA=DIR python speed/text_noise.py
"""

import json
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import numpy as np  # after the threads

from ohr.contracts import TextNoise

LIMIT = 500
TOKENS = 1034
"""Pages a second that the formatting noise must reach, on pages of this many tokens (OHRBench's average)."""

PASSES = 3

ODD = {
    "prose": "The tenant shall pay the rent on the first day. ",
    "one long line of letters": "x",
    "Chinese": "今年的租金是三百元",
    "full stops": ".",
    "abbreviations": "Mr. ",
    "dollars": "$",
    "openings \\[": "\\[",
    "braces in a formula": "{",
    "backslashes": "\\",
    "unclosed tabulars": "\\begin{tabular}{l} a & ",
    "closed in a tabular": "a & $x$ \\\\ ",
    "nested \\multirow": "\\multirow{2}{*}{",
    "bars": "| ",
    "tags": "<td",
    "NUL": "\0",
    "lone surrogates": "\ud800 ",
    "right to left": "مرحبا بالعالم ",
    "white space": " \t",
    "blank lines": "\n",
}
AROUND = {
    "braces in a formula": ("$$", "$$"),
    "closed in a tabular": ("\\begin{tabular}{ll}", "\\end{tabular}"),
    "nested \\multirow": ("\\begin{tabular}{ll}", "\\end{tabular}"),
}


def pages() -> list[str]:
    root = Path(os.environ.get("OHRBENCH_DATA", "data/ohrbench")) / "retrieval_base" / "gt"
    found = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(root.glob("*/*.json"))]
    return [page["text"] for document in found for page in document if page["text"].strip()]


def joined(real: list[str], tokens: list[int]) -> list[str]:
    """Join neighbouring pages, so that they have `TOKENS` tokens on average."""
    groups: list[list[str]] = []
    read = 0
    for text, count in zip(real, tokens, strict=True):
        if read >= TOKENS * len(groups):
            groups.append([])
        groups[-1].append(text)
        read += count
    return ["\n\n".join(group) for group in groups]


def seconds(work: Callable[[], object]) -> float:
    began = process_time()
    work()
    return process_time() - began


def table(real: list[str], noises: dict[str, TextNoise]) -> dict[str, float]:
    """Print pages a second of each noise on these pages, and give them."""
    from ohr.text.words import normalise

    def normalised() -> None:
        for text in real:
            normalise(text).split()

    def perturbed(noise: TextNoise) -> None:
        for place, text in enumerate(real):
            noise.perturb(text, [(0, len(text))], np.random.default_rng(place))

    speeds = {}
    for label, noise in noises.items():
        turns = [(seconds(normalised), seconds(partial(perturbed, noise))) for _ in range(PASSES)]
        speeds[label] = len(real) / median(took for _, took in turns)
        ratio = median(peer / took for peer, took in turns)
        peer = len(real) / median(peer for peer, _ in turns)
        print(f"{label:28}{speeds[label]:8.0f} pages/s{ratio:8.2f} of the peer's {peer:.0f}", flush=True)
    return speeds


def main() -> int:
    from ohr.noise.formatting import Formatting
    from ohr.noise.table_format import TableFormat
    from ohr.text.tokens import count_tokens

    real = pages()
    if not real:
        sys.exit("OHRBENCH_DATA names no folder with retrieval_base/gt")
    tokens = [count_tokens(text) for text in real]
    print(f"{len(real)} pages as they are, {sum(tokens) / len(real):.0f} tokens on average")
    formatting: dict[str, TextNoise] = {f"formatting, rate {rate}": Formatting(rate=rate) for rate in (0.1, 0.3, 0.6)}
    Formatting().perturb("今年 $x$", [(0, 6)], np.random.default_rng(0))  # reads the dictionary and tables
    table(real, formatting | {f"table_format, to {to}": TableFormat(to=to) for to in ("html", "markdown")})
    long = joined(real, tokens)
    print(f"\n{len(long)} pages joined from them, {sum(tokens) / len(long):.0f} tokens each; limit {LIMIT} pages/s")
    speeds = table(long, formatting)
    slow = [label for label, speed in speeds.items() if speed < LIMIT]
    print(f"below the limit: {', '.join(slow) or 'none'}")

    print(f"\n{'odd pages, rate 0.3':28}{'0.5 MB':>8}{'1 MB':>8}{'3 MB':>8}   seconds; linear: doubles, then trebles")
    for label, piece in ODD.items():
        each = []
        for size in (500_000, 1_000_000, 3_000_000):
            opening, closing = AROUND.get(label, ("", ""))
            text = opening + piece * (size // len(piece)) + closing
            work = partial(Formatting(rate=0.3).perturb, text, [(0, len(text))], np.random.default_rng(0))
            each.append(seconds(work))
        print(f"{label:28}" + "".join(f"{one:8.2f}" for one in each), flush=True)
    return bool(slow)


if __name__ == "__main__":
    sys.exit(main())
