"""Reading pages: distort and read some pages, or a whole document."""

from collections.abc import Mapping, Sequence, Sized
from dataclasses import asdict, dataclass
from functools import partial
from time import perf_counter
from typing import Any, ClassVar

from ohr.contracts import Benchmark, Block, DocumentView, Image, OcrBackend, Recognition, Stage, Word
from ohr.files.lazy import Lazy
from ohr.isolated import in_order
from ohr.messages.blame import fault_of
from ohr.messages.wording import counted
from ohr.steps.documents.page_images import PageImage, Records
from ohr.work.plugin_checks import checked_recognition, storable
from ohr.work.step import Context, Ready, Report, Work, missing


@dataclass(frozen=True, slots=True)
class Reading(Work):
    """Distort pages and read them. Writes, for each, {text or blocks, seconds} and what else the engine knows."""

    role: ClassVar[str] = "ocr"
    shape: ClassVar[str] = "page"
    pages: tuple[PageImage, ...]
    ocr: OcrBackend
    base: str

    @property
    def stage(self) -> Stage:
        """The OCR engine."""
        return self.ocr

    @property
    def item(self) -> str:
        """Name of the first page."""
        return self.label(0)

    def label(self, place: int) -> str:
        """Name a page."""
        page = self.pages[place]
        return f"{self.base}: {page.document.name} page {page.index + 1}"


@dataclass(frozen=True, slots=True)
class ReadPages(Reading):
    """Read some pages, of any documents."""

    kind: ClassVar[str] = "reading pages"
    one_by_one: ClassVar[bool] = True

    def run(self, ready: Ready, context: Context) -> Report:
        """Read the pages that are not there yet; a page that has no image, or fails, fails alone."""
        report, left = Report(), missing(ready.outputs, ready, context.store)
        failed = in_order(left, partial(self._read, ready, context, report))
        report.errors |= {left[place]: reason for place, reason in failed.items()}
        return report

    def _read(self, ready: Ready, context: Context, report: Report, outputs: Sequence[str]) -> tuple[int, str, int]:
        """Read until the engine is done or raises; returns what `in_order` needs."""
        pages = dict(zip(ready.outputs, self.pages, strict=True))
        images = Pages([pages[output] for output in outputs])
        done, began = 0, perf_counter()
        try:
            found = self.ocr.recognise(images)
            if isinstance(found, Sized) and len(found) != len(images):
                report.errors |= dict.fromkeys(outputs, _miscounted(len(found), len(images), "image"))
                return len(images), "", 0
            for read in found:
                now = perf_counter()
                keep(read, outputs[done], now - began, context, report, images.records.get(done))
                context.watch.restart()
                began, done = perf_counter(), done + 1
                if done == len(images):
                    return done, "", 0
        except (Exception, SystemExit) as error:  # an engine may raise anything: its page fails, the others continue
            return done, fault_of(error, self.ocr), 0 if images.broken is None else images.broken - done
        return done, _miscounted(done, len(images), "image"), 0


@dataclass(frozen=True, slots=True)
class ReadDocument(Reading):
    """Read all pages of a document together."""

    kind: ClassVar[str] = "reading documents"
    benchmark: Benchmark

    def run(self, ready: Ready, context: Context) -> Report:
        """Read the document; where the engine returns another number of pages, nobody knows which is which."""
        report, began = Report(), perf_counter()
        wanted = set(missing(ready.outputs, ready, context.store))
        if not wanted:
            return report
        context.watch.restart(len(self.pages))
        document = self.pages[0].document
        images = Pages(self.pages)
        view = DocumentView(document, images, self.benchmark.pdf(document))
        found = list(self.ocr.recognise_document(view))
        seconds = (perf_counter() - began) / len(self.pages)
        if len(found) != len(self.pages):
            report.errors = dict.fromkeys(wanted, _miscounted(len(found), len(self.pages), "page"))
            return report
        for place, (output, read) in enumerate(zip(ready.outputs, found, strict=True)):
            if output in wanted:
                keep(read, output, seconds, context, report, images.records.get(place))
        return report


class Pages(Lazy):
    """Distorted page images, each made when it is looked at.

    Args:
        broken: place of the image that could not be made.
        records: by the place of an image, what repairs did to it.
    """

    def __init__(self, pages: Sequence[PageImage]) -> None:
        self._pages, self.broken = pages, None
        self.records: dict[int, Records] = {}

    broken: int | None

    def __len__(self) -> int:
        return len(self._pages)

    def image(self, place: int) -> Image:
        """Make one image; passes on errors of the benchmark or a noise."""
        records: Records = []
        try:
            image = self._pages[place].make(records)
            if records:
                self.records[place] = records
            return image
        except Exception:
            self.broken = place
            raise


def keep(
    read: Recognition,
    output: str,
    seconds: float,
    context: Context,
    report: Report,
    records: Records | None = None,
) -> None:
    """Store a page that was read, or report why it failed.

    Args:
        seconds: from the page before to this one; the seconds of repairs are separate.
        records: what repairs did to its image.
    """
    read = checked_recognition(read)
    seconds = max(seconds - sum(record["seconds"] for record in records or ()), 0.0)
    report.calls["pages"] += 1
    report.seconds += seconds
    report.tokens["in"] += read.tokens_in
    report.tokens["out"] += read.tokens_out
    if read.error is not None:
        report.errors[output] = read.error
    else:
        took = seconds if read.seconds is None else read.seconds
        treated = {"treated": records} if records else {}
        context.store.put(output, {"text": read.text, "seconds": round(took, 4), **_more(read), **treated})


_FURTHER = ("finish", "tokens_in", "tokens_out", "confidence", "reader")
_USUAL = Recognition()


def _more(read: Recognition) -> dict[str, Any]:
    """Return what is not as usual: most engines know nothing but the text."""
    found = {name: value for name in _FURTHER if (value := getattr(read, name)) != getattr(_USUAL, name)}
    words = {"words": stated} if (stated := as_stated(read.words)) else {}
    return found | words | ({"blocks": [asdict(block) for block in read.blocks]} if read.blocks else {})


def as_stated(words: Sequence[Word]) -> list[tuple[str, float]]:
    """Return words with a confidence in [0, 1] as they are kept: their boxes are not."""
    sure = ((word.text, word.confidence) for word in words)
    return [(storable(text), round(float(value), 4)) for text, value in sure if value is not None and 0 <= value <= 1]


def as_recognition(found: Mapping[str, Any]) -> Recognition:
    """Read a page from JSON."""
    blocks = tuple(Block(**block) for block in found.get("blocks", ()))
    return Recognition(**{**{k: v for k, v in found.items() if k in (*_FURTHER, "text", "seconds")}, "blocks": blocks})


def warnings_of(ends: Mapping[str, int], readers: Mapping[str, int]) -> list[str]:
    """Describe pages that are kept but not as they should be, and what read the pages where there are several."""
    found = []
    if cut := ends.get("length"):
        found.append(f"{counted(cut, 'page')} cut at the longest reply, kept as far as they go")
    if loops := ends.get("repeat"):
        found.append(f"{counted(loops, 'page')} on which the engine repeated itself until it was stopped, kept")
    if len(readers) > 1:
        shares = ", ".join(f"{counted(count, 'page')} by {name}" for name, count in sorted(readers.items()))
        found.append(f"read by several: {shares}")
    return found


def _miscounted(found: int, wanted: int, unit: str) -> str:
    results = f"{found or 'no'} {'result' if found < 2 else 'results'}"
    return f"the engine returned {results} for {counted(wanted, unit)}"
