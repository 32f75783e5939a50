"""One page under each noise at each level, and what an engine reads then."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Edit, Image, ImageTreatment, Medium, OcrBackend, Page, TreatedImage, Treatment
from ohr.engine.executors.base import Executor, run_each
from ohr.engine.progress import Progress, counting
from ohr.engine.worker import Setup
from ohr.errors import DataError, SpecError
from ohr.files import documents, images
from ohr.files.lazy import Made, page_images
from ohr.messages.wording import counted
from ohr.metrics.edit import edit_distance
from ohr.noise_files.apply import FORMS
from ohr.steps.documents.page_images import OtherPages, distort
from ohr.steps.documents.treat import TreatedPages, treat


@dataclass(frozen=True, slots=True)
class ImageTrial:
    """Distort one page of a file and read it; without a noise, the page as it is.

    Args:
        width: of the picture of the whole page and of the part shown at full size, in pixels.
    """

    path: Path
    index: int
    dpi: int
    seed: int
    noise: ImageTreatment | None
    engine: OcrBackend | None
    width: int = 360

    @property
    def item(self) -> str:
        """Name of the work, for messages."""
        return f"{self.noise.kind} {self.level:g}" if self.noise else "clean page"

    @property
    def level(self) -> float:
        """The strength of its noise."""
        return float(getattr(self.noise, self.noise.knob)) if self.noise else 0.0


@dataclass(frozen=True, slots=True)
class ImageShown:
    """A page after noise.

    Args:
        whole: the page, made small. detail: a part of it at full size, the same as far as its homography is known.
        text: what the engine read; None without an engine.
        distance: edit distance of `text` from what the engine read on the clean page, in [0, 1].
    """

    whole: Image
    detail: Image
    label_effect: str = "none"
    text: str | None = None
    distance: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class TextShown:
    """A text after noise."""

    kind: str
    rate: float
    before: str
    after: str
    edits: tuple[Edit, ...]


def medium_of(path: Path) -> Medium:
    """Return what a file holds, by its suffix: images or texts.

    Raises:
        DataError: there is no such file, or neither noise fits.
    """
    if not path.is_file():
        raise DataError(f"{path}: {'is a folder: give one of its files' if path.is_dir() else 'no such file'}")
    for medium, suffixes in FORMS.items():
        if path.suffix.lower() in suffixes:
            return medium
    wanted = ", ".join(suffix for suffixes in FORMS.values() for suffix in suffixes)
    raise DataError(f"{path}: give a page image, a PDF or a text ({wanted})")


def try_image(trial: ImageTrial) -> ImageShown:
    """Do an ImageTrial."""
    pages = page_images(trial.path, trial.dpi)
    made = TreatedImage(clean := _page(pages, trial))
    if trial.noise:
        others = OtherPages(pages.image, len(pages), trial.index)
        page = (trial.path.stem, trial.index)
        made = next(iter(distort(clean, others, [trial.noise], page, trial.seed)), made)
    whole = images.scaled(made.image, trial.width)
    shown = ImageShown(whole, _detail(made, clean, (trial.width, trial.width * 5 // 12)), made.label_effect)
    if trial.engine is None:
        return shown
    (read,) = trial.engine.recognise([made.image])
    return replace(shown, text=trial.engine.written(read), error=read.error)


def _page(pages: Made, trial: ImageTrial) -> Image:
    if trial.index >= len(pages):
        raise DataError(f"{trial.path}: no page {trial.index}: it has {counted(len(pages), 'page')}, counted from 0")
    return pages.image(trial.index)


def _detail(made: TreatedImage, clean: Image, size: tuple[int, int]) -> Image:
    """Cut out the surroundings of one point of the page with print, wherever the distortion moved it."""
    point = np.array([*_printed(clean, size), 1.0])
    x, y, w = (np.eye(3) if made.homography is None else made.homography) @ point
    return _around(made.image, x / w, y / w, size).copy()


def _printed(clean: Image, size: tuple[int, int]) -> tuple[float, float]:
    """Return a point in the upper left of a page, or where there is nothing, the middle of what is printed."""
    x, y = 0.3 * clean.shape[1], 0.3 * clean.shape[0]
    ink = clean.min(axis=2) < _INK
    if _around(ink, x, y, size).any() or not ink.any():
        return x, y
    rows, columns = np.nonzero(ink)
    return float(np.median(columns)), float(np.median(rows))


def _around(image: NDArray[Any], x: float, y: float, size: tuple[int, int]) -> NDArray[Any]:
    height, width = image.shape[:2]
    across, down = min(size[0], width), min(size[1], height)
    left = int(np.clip(x - across / 2, 0, width - across))
    top = int(np.clip(y - down / 2, 0, height - down))
    return image[top : top + down, left : left + across]


_INK = 128
"""Gray value below which a pixel is print."""


def try_images(trials: Sequence[ImageTrial], executor: Executor, progress: Progress) -> list[ImageShown]:
    """Do trials of one page; the first is that of the clean page, which the others' texts are compared with."""
    found: dict[ImageTrial, ImageShown] = {}
    _page(page_images(trials[0].path, trials[0].dpi), trials[0])  # a file that is no image ends it before any work
    blank = np.full((1, 1, 3), 255, dtype=np.uint8)
    executor.start(Setup())
    with counting(progress, "noise and OCR", len(trials)) as advance:
        for trial, result, error in run_each(executor, try_image, trials):
            advance(1)
            found[trial] = result or ImageShown(blank, blank, error=error)
    shown = [found[trial] for trial in trials]
    if shown[0].error:
        raise DataError(shown[0].error)
    clean = shown[0].text
    return [
        page if page.text is None else replace(page, distance=edit_distance(page.text, clean or "")) for page in shown
    ]


def try_texts(path: Path, index: int, noises: Sequence[Treatment], seed: int) -> list[TextShown]:
    """Lay each noise on one page of a text file (JSON: pages by index; else the whole file).

    Raises:
        DataError: the file cannot be read, or has no such page.
        SpecError: a noise depends on questions.
    """
    pages = documents.read(path, path.stem)
    chosen = [page for page in pages if page.index == index]
    if not chosen:
        numbers = ", ".join(str(page.index) for page in pages[:10])
        there = f"page {numbers}{', ...' if len(pages) > 10 else ''}" if pages else "none"
        raise DataError(f"{path}: no page {index}: it has {there}")
    places = (getattr(noise, "where", "everywhere") for noise in noises)
    placed = next((place for place in places if place != "everywhere"), None)
    if placed:
        raise SpecError(
            f"where: {placed} depends on questions, and a preview has none: use `ohr noise apply --questions`"
        )
    shown = []
    for noise in noises:
        treated = treat(TreatedPages.of([Page(path.stem, index, chosen[0].text)]), [noise], (), seed)
        edits = tuple(Edit(**{name: edit[name] for name in Edit._fields}) for edit in treated.ledgers[0])
        rate = float(getattr(noise, noise.knob))
        shown.append(TextShown(noise.kind, rate, chosen[0].text, treated.pages[0].text, edits))
    return shown
