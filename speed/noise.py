"""Times every noise on one core: text noise in pages a second, image noise in seconds a page; each has a limit.

Texts are OHRBench's pages where OHRBENCH_DATA names its folder, else those of mini, joined until they have 1,034 tokens
on average, as OHRBench's have; the peer is the cutting of the same pages into words. Then odd texts of 0.5 to 3 MB,
whose times must grow in line with their length. Images are A4 at 200 dpi. CPU seconds, medians.

    python speed/noise.py [text] [odd] [image]
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import numpy as np

from ohr.benchmarks.mini import Mini
from ohr.benchmarks.ohrbench import OhrBench
from ohr.contracts import TextNoise
from ohr.noise import channel
from ohr.noise.channel import Channel
from ohr.noise.formatting import Formatting
from ohr.noise.table_format import TableFormat
from ohr.registry import Registry
from ohr.text.tokens import count_tokens
from ohr.text.words import normalise

TOKENS, PAGES, TURNS = 1034, 300, 3
NOISES: dict[str, tuple[TextNoise, int]] = {
    **{f"formatting, rate {rate}": (Formatting(rate=rate), 500) for rate in (0.1, 0.3, 0.6)},
    **{f"table_format, to {to}": (TableFormat(to=to), 500) for to in ("html", "markdown")},
    **{f"channel, {name}": (Channel(profile=name, rate=0.8), 300) for name in ("tesseract", "rapidocr")},
}
"""Each with the pages a second that it must reach."""

SLOWEST, MIDDLE = 0.3, 0.12
"""Seconds a page of the slowest image noise, and of the median one."""

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


def seconds(work: Callable[[], object]) -> float:
    channel._seen.cache_clear()  # every run reads its pages again
    began = process_time()
    work()
    return process_time() - began


def pages() -> list[str]:
    """Join neighboring pages, so that they have `TOKENS` tokens on average."""
    data = os.environ.get("OHRBENCH_DATA")
    bench: Any = OhrBench(root=Path(data)) if data else Mini(languages=("en",))
    groups: list[list[str]] = []
    read = 0
    for text in (page.text for document in bench.documents() for page in bench.pages(document)):
        if read >= TOKENS * len(groups):
            groups.append([])
        groups[-1].append(text)
        read += count_tokens(text)
    return ["\n\n".join(group) for group in groups][-PAGES:]


def perturb(noise: TextNoise, texts: list[str]) -> None:
    for place, text in enumerate(texts):
        noise.perturb(text, [(0, len(text))], np.random.default_rng(place))


def text() -> bool:
    """Print pages a second of each text noise; return whether each reaches its limit."""
    texts, fast = pages(), True
    print(f"{len(texts)} pages of {sum(map(count_tokens, texts)) / len(texts):.0f} tokens")
    for name, (noise, limit) in NOISES.items():
        perturb(noise, texts)  # formulas and runs of Chinese are remembered, as in a study of several rates
        peer = median(seconds(lambda: [normalise(text).split() for text in texts]) for _ in range(TURNS))
        speed = len(texts) / median(seconds(partial(perturb, noise, texts)) for _ in range(TURNS))
        fast &= speed >= limit
        print(f"{name:28}{speed:8.0f} pages/s, limit {limit}; the peer's {len(texts) / peer:.0f}", flush=True)
    return fast


def odd() -> bool:
    """Print the seconds of odd texts of three sizes; return whether none takes far more than in line."""
    print(f"\n{'odd texts, formatting .3':28}{'0.5 MB':>8}{'1 MB':>8}{'3 MB':>8} s; linear: doubles, then trebles")
    linear = True
    for name, piece in ODD.items():
        opening, closing = AROUND.get(name, ("", ""))
        texts = [opening + piece * (size // len(piece)) + closing for size in (500_000, 1_000_000, 3_000_000)]
        times = [seconds(partial(perturb, Formatting(rate=0.3), [text])) for text in texts]
        linear &= times[-1] < 1 or times[-1] < 12 * times[0]
        print(f"{name:28}" + "".join(f"{time:8.2f}" for time in times), flush=True)
    return linear


def image() -> bool:
    """Print the seconds a page of each image noise; return whether all are within the limits."""
    import cv2

    cv2.setNumThreads(1)
    mini, registry = Mini(languages=("en",), dpi=200), Registry()
    document = next(document for document in mini.documents() if document.name == "law/noise_bylaw")
    picture = np.asarray(cv2.resize(mini.page_image(document, 0), (1654, 2339)))
    medians = []
    for kind in registry.names("image_noise"):
        if kind == "augraphy":
            continue
        times: list[float] = []
        for severity in (0.25, 0.5, 1.0):
            plugin: Any = registry.load("image_noise", kind)
            work = [
                partial(plugin(severity=severity).perturb, picture, [picture] * 4, np.random.default_rng(seed))
                for seed in range(TURNS)
            ]
            seconds(work[0])  # makes textures and compiles
            times += map(seconds, work)
        medians.append(median(times))
        print(f"{kind:28}{medians[-1]:8.3f} s a page", flush=True)
    print(f"slowest {max(medians):.3f} (limit {SLOWEST}), median {median(medians):.3f} (limit {MIDDLE})")
    return max(medians) <= SLOWEST and median(medians) <= MIDDLE


if __name__ == "__main__":
    chosen = [part for part in (text, odd, image) if part.__name__ in sys.argv[1:] or not sys.argv[1:]]
    within = [part() for part in chosen]  # all of them, also after one that is too slow
    sys.exit(not all(within))
