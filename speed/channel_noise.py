"""Times channel noise: pages per second on one core, on pages of 1,034 tokens (the mean of OHRBench's).

Pages are put together from mini's English ground truth; with OHRBENCH_DATA also its real pages as they are. The
rapidfuzz alignment of the same pages with their noisy selves is beside it, as a measure of the machine.

    python speed/channel_noise.py [RUNS]
"""

import os
import sys
from itertools import cycle, islice
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Any

import numpy as np
from rapidfuzz.distance import LCSseq

from ohr.files import ohrbench_json
from ohr.noise import channel
from ohr.noise.channel import Channel
from ohr.registry import Registry
from ohr.text.tokens import count_tokens

RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
PAGES, TOKENS, LIMIT = 120, 1034, 300


def pages_of_mini() -> list[str]:
    """Cut mini's pages, one after the other, into pages of 1,034 tokens."""
    kind: Any = Registry().load("benchmark", "mini")
    mini = kind(languages=("en",))
    lines = [line for d in mini.documents() for page in mini.pages(d) for line in page.text.splitlines(keepends=True)]
    made, held, tokens = [], "", 0
    for line in islice(cycle(lines), 100_000):
        held, tokens = held + line, tokens + count_tokens(line)
        if tokens >= TOKENS:
            made.append(held)
            held, tokens = "", 0
        if len(made) == PAGES:
            break
    return made


def real_pages(root: Path) -> list[str]:
    """Take real pages, spread over the documents."""
    gt = root / "retrieval_base" / "gt"
    names = sorted(path.relative_to(gt).with_suffix("").as_posix() for path in gt.rglob("*.json"))
    texts = [page.text for name in names[::5] for page in ohrbench_json.read_pages(gt, name) if page.text.strip()]
    return texts[:: max(1, len(texts) // PAGES)]


def seconds(texts: list[str], noise: Channel) -> tuple[float, list[str]]:
    """Perturb all pages, as a run does; CPU seconds."""
    channel._seen.cache_clear()  # every run reads its pages again
    began = process_time()
    made = [noise.perturb(text, [(0, len(text))], np.random.default_rng(n)).text for n, text in enumerate(texts)]
    return process_time() - began, made


def aligned(texts: list[str], made: list[str]) -> float:
    """Align each page with its noisy self; CPU seconds."""
    began = process_time()
    for text, noisy in zip(texts, made, strict=True):
        LCSseq.opcodes(text.split(), noisy.split())
    return process_time() - began


sources = {"mini": pages_of_mini()}
if "OHRBENCH_DATA" in os.environ:
    sources["OHRBench"] = real_pages(Path(os.environ["OHRBENCH_DATA"]))
for name, texts in sources.items():
    size = fmean(count_tokens(text) for text in texts)
    for profile in ("tesseract", "rapidocr"):
        for rate in (0.5, 0.8):
            noise = Channel(profile=profile, rate=rate)
            seconds(texts, noise)
            found = [seconds(texts, noise) for _ in range(RUNS)]
            rate_, other = len(texts) / median(s for s, _ in found), len(texts) / aligned(texts, found[0][1])
            about = f"{name}, {size:.0f} tokens a page, {profile} at {rate}: {rate_:.0f} pages/s (limit {LIMIT})"
            print(f"{about}; aligning them {other:.0f} pages/s")
