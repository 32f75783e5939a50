"""Times text noise on real pages, one core: pages a second, and that odd pages take time in line with their length.

The peer is what a knowledge base is measured with: normalising the same pages into words. Medians of five passes.

    OHRBENCH_DATA=DIR python tests/speed/text_noise.py
"""

import json
import os
import sys
from pathlib import Path
from statistics import median
from time import process_time

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
LIMIT = 500
TOKENS = 1034
"""Pages a second that the formatting noise must reach, on pages of this many tokens (OHRBench's average)."""

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


def seconds(work, times: int = 5) -> float:
    passes = []
    for _ in range(times):
        began = process_time()
        work()
        passes.append(process_time() - began)
    return median(passes)


def main() -> int:
    import numpy as np
    from quicktok import get_encoding

    from ohr.noise.formatting import Formatting
    from ohr.noise.table_format import TableFormat
    from ohr.text import normalise

    real = pages()
    if not real:
        sys.exit("OHRBENCH_DATA names no folder with retrieval_base/gt")
    tokens = sum(len(get_encoding("cl100k_base").encode(text)) for text in real) / len(real)
    print(f"{len(real)} pages, {tokens:.0f} tokens a page")
    peer = seconds(lambda: [normalise(text).split() for text in real])
    print(f"{'normalising into words':28}{len(real) / peer:8.0f} pages/s")

    def apply(noise):
        def work():
            for place, text in enumerate(real):
                noise.perturb(text, [(0, len(text))], np.random.default_rng(place))

        return work

    apply(Formatting())()  # reads the tables of symbols and the Chinese dictionary
    slow = False
    for label, noise in (
        *((f"formatting, rate {rate}", Formatting(rate=rate)) for rate in (0.1, 0.3, 0.6)),
        *((f"table_format, to {to}", TableFormat(to=to)) for to in ("html", "markdown")),
    ):
        took = seconds(apply(noise))
        rate, scaled = len(real) / took, len(real) / took * tokens / TOKENS
        slow |= rate < LIMIT
        print(f"{label:28}{rate:8.0f} pages/s{scaled:8.0f} of {TOKENS} tokens{peer / took:8.2f} of the peer's speed")

    print(f"\n{'odd pages, rate 0.3':28}{'0.5 MB':>8}{'1 MB':>8}{'3 MB':>8}   seconds; linear: doubles, then trebles")
    for label, piece in ODD.items():
        each = []
        for size in (500_000, 1_000_000, 3_000_000):
            opening, closing = AROUND.get(label, ("", ""))
            text = opening + piece * (size // len(piece)) + closing
            rng = np.random.default_rng(0)
            each.append(
                seconds(lambda text=text, rng=rng: Formatting(rate=0.3).perturb(text, [(0, len(text))], rng), 1)
            )
        print(f"{label:28}" + "".join(f"{one:8.2f}" for one in each), flush=True)
    return slow


if __name__ == "__main__":
    sys.exit(main())
