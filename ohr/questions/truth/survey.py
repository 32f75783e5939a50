"""Which pages have a ground truth already, and which need an OCR engine: the user's corrections, then text layers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from ohr.contracts import Benchmark, Document, Page
from ohr.errors import DataError
from ohr.files.pdf_text import Layer, lacks_pieces, text_layer
from ohr.files.pdf_visible import Sight, sights
from ohr.messages.faults import sentences
from ohr.messages.wording import counted
from ohr.spec.read import make_benchmark
from ohr.text.layer import clean_layer
from ohr.text.readable import unreadable
from ohr.text.words import words

from .corrections import read_corrected

Origin = Literal["text_layer", "corrected", "silver"]
"""How the ground truth of a page came about; `silver` is what an OCR engine read and nobody corrected."""

_UNKNOWN = 0.01
"""Share of glyphs without Unicode from which on a text layer is not good. A judgment: mini's 89 pages have none."""
_HIDDEN = 0.1
"""Share of hidden glyphs from which on a text layer is an earlier OCR's. A scan with such a layer has nearly all of its
glyphs hidden, a page that a program wrote none: all 89 pages of mini have none."""
_FEW, _UNREAD, _INK = 100, 0.9, 0.01
"""A page with fewer words, with this share of its ink outside of them, and with ink on this share of it, is a picture
of text as likely as not: a scan with a stamp, letters drawn as lines. On mini at most 68% of the ink is outside."""


class TruthPage(NamedTuple):
    """A page's ground truth, how it came about, and why so: what spoke against its text layer; empty where nothing."""

    page: Page
    origin: Origin
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Survey:
    """The documents of a folder, and what is known of their pages.

    Args:
        benchmark: the folder, for page images and PDFs.
        documents: those that can be read, by name.
        pages: pages with a ground truth, by document.
        wanted: pages that an engine must read, with the reason, by index, of each document that has one.
        broken: pages that no engine can read either, as `wanted`.
        notes: sentences about files and corrections that are left out.
    """

    benchmark: Benchmark
    documents: tuple[Document, ...]
    pages: Mapping[str, Sequence[TruthPage]]
    wanted: Mapping[str, Mapping[int, str]]
    broken: Mapping[str, Mapping[int, str]]
    notes: tuple[str, ...]


LOOK_VERSION = 3
"""Raised when pages are looked at differently."""


class Look(NamedTuple):
    """A page of a PDF: its text layer as a page's text, and why that is no ground truth; empty where it is.

    Attributes:
        damaged: nothing can read it.
    """

    text: str
    fault: str
    damaged: bool


def look_at(path: Path) -> list[Look]:
    """Look at all pages of a PDF, at 75 ms each.

    Raises:
        DataError: the file is missing, empty, encrypted or no PDF.
    """
    layers = list(text_layer(path))
    texts = clean_layer([layer.text for layer in layers])
    return [
        Look("", "", damaged=True)
        if layer.error or sight is None
        else Look(text, _fault(layer, sight, text), damaged=False)
        for layer, sight, text in zip(layers, sights(path), texts, strict=True)
    ]


def survey(
    folder: Path,
    corrected: Path | None = None,
    *,
    language: str = "en",
    dpi: int = 200,
    look: Callable[[Path], Sequence[Look]] = look_at,
) -> Survey:
    """Decide for each page of a folder where its ground truth comes from.

    Args:
        folder: of PDFs and of folders of page images.
        corrected: folder of `<domain>/<document>.json` with corrected pages, each a list of {page_idx, text}.
        language: of documents whose text does not show it (ISO 639-1).
        dpi: resolution of the page images.
        look: `look_at`, or what remembers its results.

    Raises:
        DataError: there is no readable document, two have one name, or a corrected file is damaged.
        SpecError: there is no such language or resolution.
    """
    if folder.is_file():
        raise DataError(f"{folder}: is a file: name its folder, {folder.parent}")
    benchmark = open_folder(folder, language=language, dpi=dpi)
    documents = tuple(benchmark.documents())
    corrections, faults = read_corrected(corrected, documents) if corrected else ({}, [])
    known: dict[str, list[TruthPage]] = {}
    wanted: dict[str, dict[int, str]] = {}
    broken: dict[str, dict[int, str]] = {}
    for document in documents:
        own = [TruthPage(page, "corrected") for page in corrections.get(document.name, ())]
        layer, wanted[document.name], broken[document.name] = _layer_pages(benchmark, document, own, look)
        known[document.name] = sorted([*own, *layer], key=lambda each: each.page.index)
    notes = (_from(folder, note) for note in (*benchmark.notes(), *sentences(faults)))
    return Survey(benchmark, documents, known, _filled(wanted), _filled(broken), tuple(notes))


def _from(folder: Path, note: str) -> str:
    """Return a note with paths from the folder on: a set is given to others, to whom the rest says nothing."""
    return note.replace(f"{folder.absolute()}/", "")


def open_folder(folder: Path, *, language: str = "en", dpi: int = 200) -> Benchmark:
    """Open a folder of documents without questions."""
    keys = {"kind": "folder", "root": str(folder.absolute()), "language": language, "dpi": dpi}
    keys["questions"] = str((folder / "no questions yet").absolute())  # a file that is absent is no question
    return make_benchmark(keys, "ground truth")


def _layer_pages(
    benchmark: Benchmark, document: Document, own: Sequence[TruthPage], look: Callable[[Path], Sequence[Look]]
) -> tuple[list[TruthPage], dict[int, str], dict[int, str]]:
    """Return the pages with a good text layer, those that an engine must read, and those that nothing can read."""
    path = benchmark.pdf(document)
    left = sorted(set(range(document.pages)) - {each.page.index for each in own})
    if path is None or not left:
        return [], dict.fromkeys(left, "it is an image"), {}
    looks = look(path)
    good = [index for index in left if not (looks[index].damaged or looks[index].fault)]
    return (
        [TruthPage(Page(document.name, index, looks[index].text), "text_layer") for index in good],
        {index: looks[index].fault for index in left if looks[index].fault},
        {index: "it is missing or damaged" for index in left if looks[index].damaged},
    )


def _fault(layer: Layer, sight: Sight, text: str) -> str:
    """Return why a text layer is no ground truth, in words; nothing where it is good, or where a page is blank."""
    if not text.strip():
        return "it has no text layer" if sight.ink else ""
    if layer.left_out:
        return lacks_pieces(layer.left_out)
    if layer.unknown >= _UNKNOWN * layer.glyphs and layer.unknown:
        return f"{layer.unknown:,} of {counted(layer.glyphs, 'glyph')} have no Unicode"
    if sight.hidden >= _HIDDEN * sight.glyphs and sight.hidden:
        return f"{sight.hidden:,} of {counted(sight.glyphs, 'glyph')} are hidden: an earlier OCR's text"
    if why := unreadable(text):
        return f"its text layer is not words: {why}"
    number = len(words(text))
    if number < _FEW and sight.unread >= _UNREAD and sight.ink >= _INK:
        return f"its text layer has {counted(number, 'word')}, and {sight.unread:.0%} of the ink is outside of them"
    return ""


def _filled(reasons: Mapping[str, Mapping[int, str]]) -> dict[str, Mapping[int, str]]:
    return {name: reasons[name] for name in reasons if reasons[name]}
