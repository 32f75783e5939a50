"""Twins of images: the same pages clean and noisy, and where each clean page is in its noisy image."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr import extras
from ohr.contracts import Image
from ohr.errors import DataError
from ohr.files import documents
from ohr.files.lazy import page_images
from ohr.messages.wording import counted, named
from ohr.noise_files.apply import FORMS

LEAST = 4
"""Pairs that a comparison needs: two to fit, two to test."""
DPI = 200
"""Resolution at which PDFs are rendered, as `ohr noise apply` renders them."""
_NARROWEST = 64
"""Pixels of a page's shorter side: fewer hold no line of text beside its margins."""
_REDUCED = 1200
"""Pixels of a page's longer side with which light and ink are looked at; sharpness and blocks are, at full size."""
_SIDE = 640  # pixels of the longer side at which pages are registered: letters of 10 points still have 4 pixels
_KEYPOINTS = 1200
_FINE = 1400, 4000
"""The same for the noisy image where few fit: a page far away is small in it."""
_RATIO, _REACH, _INLIERS = 0.8, 3.0, 20
"""Lowe's ratio (IJCV 2004); pixels off at `_SIDE` that still fit; fewer matches that fit may fit by chance."""
_SHIFT, _RESPONSE = 0.15, 0.2
"""Pixels at `_SIDE`, and height of the correlation's peak: a quarter of a page with these was not moved."""
_CONTAINER = 12.0
"""Mean of the luminance table of a JPEG of quality 90: a better one is how an image was kept, a worse one is noise."""


def opencv() -> Any:
    """Import OpenCV; the error names the extra that installs it."""
    return extras.load("cv2", "image")


@dataclass(frozen=True, slots=True)
class Twin:
    """A page in two files: its name, and the place of each image."""

    name: str
    clean: Path
    noisy: Path
    index: int = 0

    def images(self) -> tuple[Image, Image]:
        """Read the clean and the noisy image, (H, W, 3) each. Raises DataError, also where one is too small."""
        clean, noisy = (page_images(path, DPI).image(self.index) for path in (self.clean, self.noisy))
        for path, image in ((self.clean, clean), (self.noisy, noisy)):
            if min(image.shape[:2]) < _NARROWEST:
                size = f"{image.shape[1]} x {image.shape[0]} pixels"
                raise DataError(f"{path}: {size} are too few for a page (at least {_NARROWEST} each way)")
        return clean, noisy

    def saved(self) -> Callable[[Image], Image]:
        """Return what keeping does to an image: the tables of the noisy file, where it is a JPEG of quality 90 on."""
        from io import BytesIO

        from PIL import Image as Pillow

        tables = None
        if self.noisy.suffix.lower() != ".pdf":
            with Pillow.open(self.noisy) as opened:
                tables = getattr(opened, "quantization", None)
        if not tables or np.mean(tables[min(tables)]) > _CONTAINER:
            return lambda image: image

        def keep(image: Image) -> Image:
            written = BytesIO()
            Pillow.fromarray(image).save(written, "JPEG", qtables=tables)
            with Pillow.open(written) as read:
                return np.asarray(read.convert("RGB"))

        return keep


def pair(clean: Path, noisy: Path) -> tuple[list[Twin], list[str]]:
    """Pair the images of two folders by their paths without suffix; returns also the names that lack a twin.

    Raises:
        DataError: a folder is not there, files have other pages than their twins, or there are fewer pairs than 4.
    """
    there = []
    for folder in (clean, noisy):
        if not folder.is_dir():
            raise DataError(f"{folder}: no such folder")
        fitting = [path for path in documents.files(folder) if path.suffix.lower() in FORMS["image"]]
        by_name = {path.with_suffix("").as_posix(): folder / path for path in fitting}
        if len(by_name) < len(fitting):
            names = [path.with_suffix("").as_posix() for path in fitting]
            raise DataError(f"{folder}: two images are named {next(name for name in names if names.count(name) > 1)}")
        there.append(by_name)
    twins = []
    for name in sorted(there[0].keys() & there[1].keys()):
        paths = (there[0][name], there[1][name])
        pages = [len(page_images(path, DPI)) for path in paths]
        if pages[0] != pages[1]:
            raise DataError(f"{paths[1]}: has {counted(pages[1], 'page')}, and {paths[0]} has {pages[0]}")
        twins += [Twin(f"{name} {index}" if pages[0] > 1 else name, *paths, index) for index in range(pages[0])]
    alone = sorted(there[0].keys() ^ there[1].keys())
    if len(twins) < LEAST:
        without = f"; without a twin: {named(alone)}" if alone else ""
        raise DataError(f"{clean} and {noisy} share {counted(len(twins), 'page')}: give {LEAST} or more{without}")
    return twins, alone


@dataclass(frozen=True)
class Keypoints:
    """Places of a page that can be found again: (n, 2) in pixels, and what is around each, (n, 128)."""

    places: NDArray[np.float32]
    around: NDArray[np.float32]


def keypoints(grey: Image, side: int = _SIDE, most: int = _KEYPOINTS) -> Keypoints:
    """Find the keypoints (SIFT) of a page, (H, W) uint8, at `side` pixels of its longer side."""
    cv2 = opencv()
    scale = min(1.0, side / max(grey.shape))
    size = [max(1, round(side * scale)) for side in grey.shape[::-1]]
    small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
    points, around = cv2.SIFT_create(most).detectAndCompute(small, None)
    places = np.array([point.pt for point in points], dtype=np.float32).reshape(-1, 2)
    to_full = np.array([grey.shape[1] / size[0], grey.shape[0] / size[1]], dtype=np.float32)
    return Keypoints((places + 0.5) * to_full - 0.5, np.zeros((0, 128), np.float32) if around is None else around)


def registered(clean: "CleanPage", noisy: Image) -> tuple[NDArray[np.float64] | None, float]:
    """Return the homography from a clean page to its noisy image, (3, 3), and the share of matches that fit.

    Args:
        noisy: (H, W) uint8.

    Edge cases: no homography where too few matches fit, or where it turns the page inside out.
    """
    if noisy.shape == clean.grey.shape and _stays(clean.parts, parts(noisy)):
        return np.eye(3), 1.0
    for sizes in ((_SIDE, _KEYPOINTS), _FINE):
        homography, fitting = _fitted(clean.keypoints, keypoints(noisy, *sizes), max(noisy.shape))
        if homography is not None:
            return homography, fitting
    return None, 0.0


def parts(grey: Image) -> list[NDArray[np.float32]]:
    """Cut a small copy of a page into quarters, each divided by the light of its surroundings."""
    cv2 = opencv()
    scale = min(1.0, _SIDE / max(grey.shape))
    size = [max(8, round(side * scale / 4) * 4) for side in grey.shape[::-1]]  # of parts with odd sides peaks are off
    small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    even = small / (cv2.blur(small, (25, 25)) + 1)
    return [np.ascontiguousarray(part) for half in np.array_split(even, 2) for part in np.array_split(half, 2, axis=1)]


def _stays(clean: Sequence[NDArray[np.float32]], noisy: Sequence[NDArray[np.float32]]) -> bool:
    """Report whether each quarter of a page is where it was; one without print cannot say so."""
    cv2 = opencv()
    for before, after in zip(clean, noisy, strict=True):
        window = cv2.createHanningWindow(before.shape[::-1], cv2.CV_32F)
        shift, response = cv2.phaseCorrelate(before.copy(), after, window)  # it changes what it is given
        if np.hypot(*shift) > _SHIFT or response < _RESPONSE:
            return False
    return True


def _fitted(clean: Keypoints, noisy: Keypoints, side: int) -> tuple[NDArray[np.float64] | None, float]:
    cv2 = opencv()
    if min(len(clean.places), len(noisy.places)) < _INLIERS:
        return None, 0.0
    both = cv2.BFMatcher().knnMatch(clean.around, noisy.around, k=2)
    good = [first for first, second in both if first.distance < _RATIO * second.distance]
    if len(good) < _INLIERS:
        return None, 0.0
    source = clean.places[[match.queryIdx for match in good]]
    target = noisy.places[[match.trainIdx for match in good]]
    cv2.setRNGSeed(0)
    reach = _REACH * side / _SIDE
    homography, fits = cv2.findHomography(source, target, cv2.USAC_MAGSAC, reach, maxIters=2000, confidence=0.999)
    if homography is None or int(fits.sum()) < _INLIERS or np.linalg.det(homography[:2, :2]) <= 0:
        return None, 0.0
    return homography, float(fits.mean())


class CleanPage:
    """A clean page, and what is looked at in it again for each noisy image of it."""

    def __init__(self, image: Image) -> None:
        """Keep an image, (H, W, 3) uint8."""
        cv2 = opencv()
        self.image = image
        self.grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)
        self.level = float(np.bincount(self.grey.ravel(), minlength=256).argmax())

    @cached_property
    def keypoints(self) -> Keypoints:
        """Its keypoints."""
        return keypoints(self.grey)

    @cached_property
    def parts(self) -> list[NDArray[np.float32]]:
        """Its quarters."""
        return parts(self.grey)

    @cached_property
    def reduced(self) -> "CleanPage":
        """The page with at most `_REDUCED` pixels along its longer side; itself where it has no more."""
        scale = _REDUCED / max(self.grey.shape)
        if scale >= 1:
            return self
        size = [max(1, round(side * scale)) for side in self.grey.shape[::-1]]
        return CleanPage(np.asarray(opencv().resize(self.image, size, interpolation=opencv().INTER_AREA)))

    @cached_property
    def paper(self) -> NDArray[np.bool_]:
        """Where there is paper, a few pixels away from any ink: (H, W)."""
        cv2 = opencv()
        flat = (np.abs(self.grey.astype(np.int16) - int(self.level)) < 12).astype(np.uint8)
        return np.asarray(cv2.erode(flat, np.ones((7, 7), np.uint8))) > 0

    @cached_property
    def ink(self) -> NDArray[np.bool_]:
        """Where there is solid ink: (H, W)."""
        return np.asarray(self.grey < 0.35 * self.level)


def shown_elsewhere(clean: Sequence[CleanPage], noisy: Image, own: int) -> int | None:
    """Return the place of another clean page that a noisy image shows; None where it shows none."""
    found = keypoints(opencv().cvtColor(noisy, opencv().COLOR_RGB2GRAY))
    for place, page in enumerate(clean):
        if place != own and _fitted(page.keypoints, found, max(noisy.shape[:2]))[0] is not None:
            return place
    return None
