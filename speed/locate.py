"""Prints how many passages `ohr.text.locate` finds on their pages, how many foreign ones it places, and how fast it is.

Passages are cut at random from mini's even documents (its odd ones set the constants), in English and Chinese: as they
are, re-wrapped, joined across two pages, with headers and a page's number added. The index has the truth and one draw
of the noise, the passage is of another draw: the channel at three rates; with `tesseract`, its readings of three blurs,
English only (some 400 pages are read, half an hour). Foreign texts are of the odd documents, at the same noise. With
OHRBENCH_DATA, the same on quarters of its documents, and on MinerU's readings with an index of the truth alone: many of
its pages share clauses, notices and titles, and a passage that is on several is counted as missed unless their texts
are equal.

    [OHRBENCH_DATA=DIR] python speed/locate.py [tesseract]
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import random
import resource
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import md5
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

from ohr.benchmarks.mini import Mini
from ohr.files import ohrbench_json
from ohr.noise.channel import Channel
from ohr.text.locate import PageId, PageLocator
from ohr.text.words import normalise

Texts = Mapping[PageId, str]
PASSAGES, FOREIGN, SHORTEST, LONGEST = 1000, 500, 100, 1000
PART = (150, 500)
"""Characters of each part of a joined passage."""
KINDS = ("cut", "wrapped", "joined", "header")
RATES = (0.25, 0.5, 0.75)
BLURS = (1, 2, 3)
TURN = 50
INDEXED, SPEED, BUILD, MEMORY = 5000, 1.0, 10.0, 300
"""Pages of the index that is timed; its limits in ms for a passage of 1,000 characters, in s and in MB."""


def wrapped(text: str, rng: random.Random) -> str:
    words, width = text.split(), rng.randint(5, 20)
    return "\n".join(" ".join(words[place : place + width]) for place in range(0, len(words), width))


def passages(pages: Texts, number: int, seed: int) -> Iterator[tuple[str, str, set[PageId]]]:
    """Yield the kind of a passage, the passage, and the pages that it comes from."""
    rng, names = random.Random(seed), list(pages)
    for place in range(number):
        kind, (document, index) = KINDS[place % 4], rng.choice(names)
        beside = index + 1 if (document, index + 1) in pages else index - 1
        if kind == "joined" and (document, beside) in pages:
            first, second = sorted((index, beside))
            parts = pages[document, first][-rng.randint(*PART) :], pages[document, second][: rng.randint(*PART)]
            yield kind, "\n\n".join(parts), {(document, first), (document, second)}
            continue
        text, length = pages[document, index], rng.randint(SHORTEST, LONGEST)
        start = rng.randint(0, max(0, len(text) - length))
        passage = text[start : start + length]
        if kind in ("wrapped", "header"):
            passage = wrapped(passage, rng)
        if kind == "header":
            passage = f"# {document}\n\n**{text.strip()[:40]}**\n\n{passage}\n\nPage {index + 1} of 12"
        yield "cut" if kind == "joined" else kind, passage, {(document, index)}


def row(name: str, index: PageLocator, pages: Texts, foreign: Texts, equal: Callable[[PageId], str]) -> None:
    """Print the share of passages that are located on just their pages, and how many foreign ones are located."""
    right, number, wrong = Counter[str](), Counter[str](), Counter[str]()
    for kind, passage, source in passages(pages, PASSAGES, seed=5):
        located = index.locate(passage)
        number[kind] += 1
        if sorted(map(equal, located)) == sorted(map(equal, source)):
            right[kind] += 1
        else:
            wrong["nowhere" if not located else "one of two" if set(located) < source else "other pages"] += 1
    strangers = sum(bool(index.locate(passage)) for _, passage, _ in passages(foreign, FOREIGN, seed=6))
    shares = "".join(f"{right[kind] / number[kind]:9.1%}" for kind in KINDS)
    misses = ", ".join(f"{count} {what}" for what, count in wrong.items())
    print(f"{name:30}{shares}{right.total() / PASSAGES:9.1%}{strangers:6} of {FOREIGN}   {misses}", flush=True)


def noisy(pages: Texts, rate: float, draw: int) -> Texts:
    noise = Channel(profile="tesseract", rate=rate)
    return {
        page: noise.perturb(text, [(0, len(text))], np.random.default_rng([draw, place])).text
        for place, (page, text) in enumerate(pages.items())
    }


def channel_rows(name: str, pages: Texts, foreign: Texts) -> None:
    def equal(page: PageId) -> str:
        return normalise(pages[page])

    row(f"{name}, clean", PageLocator({page: [text] for page, text in pages.items()}), pages, foreign, equal)
    for rate in RATES:
        read = noisy(pages, rate, draw=1)
        index = PageLocator({page: [text, read[page]] for page, text in pages.items()})
        row(f"{name}, channel {rate}", index, noisy(pages, rate, draw=2), noisy(foreign, rate, draw=3), equal)


def mini(odd: bool) -> Texts:
    bench = Mini()
    documents = bench.documents()[odd::2]
    return {(document.name, page.index): page.text for document in documents for page in bench.pages(document)}


def blurred(pages: Texts, sigma: float, draw: int) -> Texts:
    """Read English pages with Tesseract, blurred and with grain of its own in each draw."""
    import cv2

    from ohr.ocr.tesseract import Tesseract

    bench, engine, rng, read = Mini(languages=("en",)), Tesseract(), np.random.default_rng(draw), {}
    for document in bench.documents():
        for index in range(document.pages):
            if (document.name, index) in pages:
                image = cv2.GaussianBlur(bench.page_image(document, index), (0, 0), sigma)
                grain = rng.normal(0, 8, image.shape)
                grainy = np.clip(image + grain, 0, 255).astype(np.uint8)
                read[document.name, index] = engine.recognise([grainy])[0].text
    return read


def tesseract_rows() -> None:
    pages, foreign = mini(odd=False), mini(odd=True)
    for sigma in BLURS:
        first, second = blurred(pages, sigma, draw=1), blurred(pages, sigma, draw=2)
        index = PageLocator({page: [pages[page], text] for page, text in first.items()})
        row(f"mini, blur {sigma}, Tesseract", index, second, blurred(foreign, sigma, draw=3), lambda page: pages[page])


def ohrbench(root: Path, base: str) -> Texts:
    folder = root / "retrieval_base" / base
    names = ohrbench_json.document_files(folder)
    return {
        (name, page.index): page.text
        for name in names
        for page in ohrbench_json.read_pages(folder, name)
        if len(page.text) > 3 * SHORTEST
    }


def ohrbench_rows(root: Path) -> None:
    """Judge the quarters of the documents on which no constant was chosen."""
    truth, mineru = ohrbench(root, "gt"), ohrbench(root, "MinerU")

    def quarter(texts: Texts, number: int) -> Texts:
        return {
            page: text
            for page, text in texts.items()
            if page in truth and int(md5(page[0].encode(), usedforsecurity=False).hexdigest(), 16) % 4 == number
        }

    pages, foreign = quarter(truth, 2), quarter(truth, 3)
    channel_rows("OHRBench", pages, foreign)
    index = PageLocator({page: [text] for page, text in pages.items()})
    row("OHRBench, MinerU", index, quarter(mineru, 2), quarter(mineru, 3), lambda page: normalise(pages[page]))


def speed() -> bool:
    """Print what an index of mini's pages costs, each many times in another order of its words; report the limits."""
    rng, texts = random.Random(0), [*mini(odd=True).values(), *mini(odd=False).values()]
    pages: dict[PageId, list[str]] = {}
    for place in range(INDEXED):
        lines = [line.split() for line in texts[place % len(texts)].split("\n")]
        for words in lines:
            rng.shuffle(words)
        pages[f"document {place // 10}", place % 10] = ["\n".join(map(" ".join, lines))]
    noise = noisy({page: text for page, (text,) in pages.items()}, 0.5, draw=1)
    for page, versions in pages.items():
        versions.append(noise[page])
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, process_time()
    index = PageLocator(pages)
    built, memory = process_time() - began, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    cuts = []
    for _ in range(500):
        page, (text, _) = rng.choice(list(pages.items()))
        start = rng.randint(0, max(0, len(text) - LONGEST))
        cuts.append((page, text[start : start + LONGEST]))
    right, times = 0, []
    for start in range(0, len(cuts), TURN):
        began = process_time()
        located = [index.locate(passage) for _, passage in cuts[start : start + TURN]]
        times.append((process_time() - began) / TURN * 1000)
        right += sum(pages == (page,) for pages, (page, _) in zip(located, cuts[start : start + TURN], strict=True))
    each = median(times)
    print(
        f"\nindex of {INDEXED:,} pages in two versions: {built:.1f} s (limit {BUILD:.0f}), {memory:.0f} MB ({MEMORY})"
    )
    print(f"passage of {LONGEST:,} characters: {each:.2f} ms (limit {SPEED:.0f}); {right} of {len(cuts)} on their page")
    return built <= BUILD and memory <= MEMORY and each <= SPEED


if __name__ == "__main__":
    within = speed()
    print(f"\n{'':30}" + "".join(f"{kind:>9}" for kind in (*KINDS, "all")) + f"{'foreign':>13}   missed")
    channel_rows("mini", mini(odd=False), mini(odd=True))
    if "tesseract" in sys.argv:
        tesseract_rows()
    if os.environ.get("OHRBENCH_DATA"):
        ohrbench_rows(Path(os.environ["OHRBENCH_DATA"]))
    sys.exit(not within)
