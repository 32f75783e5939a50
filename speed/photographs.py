"""Compares the camera of the capture conditions with photographs of documents, measured in the same way.

Widths of edges, halo, noise of flat paper, tone of paper and ink, all on pictures scaled to 2,339 pixels on the longer
side. `python speed/photographs.py FOLDER [pages]`; FOLDER holds photographs (out of focus ones left out).
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from ohr.benchmarks.mini import Mini
from ohr.files.images import read_image
from ohr.registry import Registry

SIDE = 2339
KINDS = ("off_axis", "uneven_illumination", "specular", "small_roi", "cluttered_background", "watermark", "cropped")
COLUMNS = ("edge 10%", "edge 25%", "edge 50%", "halo", "noise", "grain", "paper", "ink")
Grey = NDArray[np.float32]


def main(folder: Path, pages: int) -> None:
    """Print both, and their medians."""
    cv2.setNumThreads(1)
    print(f"{'':30s}" + "".join(f"{name:>10s}" for name in COLUMNS))
    files = sorted(path for path in folder.iterdir() if path.suffix.lower() in (".jpg", ".jpeg"))
    table("photographs", (measured(scaled(read_image(path))) for path in files))
    mini, registry = Mini(languages=("en",), dpi=200), Registry()
    sheets = [scaled(mini.page_image(document, 0)) for document in mini.documents()[:pages]]
    table("clean pages", map(measured, sheets))
    for kind in KINDS:
        plugin: Any = registry.load("image_noise", kind)
        noise = plugin(severity=2 / 3)
        seen = (noise.perturb(page, sheets, np.random.default_rng(seed)).image for seed, page in enumerate(sheets))
        table(kind, map(measured, seen))


def table(name: str, rows: Iterable[list[float]]) -> None:
    """Print quartiles."""
    found = np.array(list(rows))
    for share in (25, 50, 75):
        values = "".join(f"{value:10.2f}" for value in np.nanpercentile(found, share, axis=0))
        print(f"{name if share == 50 else '':22s}{share:5d}%  {values}")


def scaled(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Scale to SIDE pixels on the longer side."""
    factor = SIDE / max(image.shape[:2])
    way = cv2.INTER_AREA if factor < 1 else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(image, None, fx=factor, fy=factor, interpolation=way), dtype=np.uint8)


def measured(image: NDArray[np.uint8]) -> list[float]:
    """Measure one picture, as COLUMNS says."""
    grey = cv2.cvtColor(image, cv2.COLOR_RGB2GRAY).astype(np.float32)
    found = [edges(np.ascontiguousarray(way)) for way in (grey, grey.T)]
    widths, halos = (np.concatenate([each[part] for each in found]) for part in (0, 1))
    sharp = [*np.percentile(widths, [10, 25, 50]), np.median(halos)] if len(widths) > 20 else [np.nan] * 4
    return [float(value) for value in (*sharp, *noise(grey), *tones(grey))]


def edges(grey: Grey) -> tuple[Grey, Grey]:
    """Measure upright edges between two flat tones: pixels from 10% to 90%, and how far they overshoot."""
    slope = np.abs(np.diff(grey, axis=1))
    steep = (slope[:, 1:-1] >= slope[:, :-2]) & (slope[:, 1:-1] > slope[:, 2:]) & (slope[:, 1:-1] > 15)
    rows, columns = np.nonzero(steep)
    columns = columns + 1
    near = (columns > 12) & (columns < grey.shape[1] - 14)
    rows, columns = rows[near], columns[near]
    tilt = np.abs(grey[np.minimum(rows + 2, len(grey) - 1), columns] - grey[np.maximum(rows - 2, 0), columns])
    upright = tilt < 0.3 * slope[rows, columns]
    rows, columns = rows[upright], columns[upright]
    cut = grey[rows[:, None], columns[:, None] + np.arange(-10, 12)]
    cut = cut * np.sign(cut[:, 11] - cut[:, 10])[:, None]
    low, high = cut[:, 2:6].mean(axis=1), cut[:, 16:20].mean(axis=1)
    rise = high - low
    flat = (cut[:, 1:7].std(axis=1) < 0.08 * rise) & (cut[:, 15:21].std(axis=1) < 0.08 * rise) & (rise > 50)
    share = (cut[flat] - low[flat, None]) / rise[flat, None]
    widths = crossing(share) + crossing(1 - share[:, ::-1]) - (cut.shape[1] - 1)
    return widths[~np.isnan(widths)], share[:, 6:16].max(axis=1, initial=-np.inf) - 1


def crossing(cuts: Grey) -> Grey:
    """Return where each of some cuts through edges passes nine tenths of its height, to a part of a pixel."""
    middle = cuts.shape[1] // 2
    past = cuts[:, middle:] > 0.9
    first = past.argmax(axis=1) + middle
    each = np.arange(len(cuts))
    before, after = cuts[each, first - 1], cuts[each, first]
    return np.where(past.any(axis=1), first - (after - 0.9) / np.maximum(after - before, 1e-6), np.nan).astype(
        np.float32
    )


def blocks(grey: Grey, side: int) -> Grey:
    """Cut into squares: (squares, side * side)."""
    rows, columns = len(grey) // side, grey.shape[1] // side
    cut = grey[: rows * side, : columns * side].reshape(rows, side, columns, side)
    return cut.transpose(0, 2, 1, 3).reshape(-1, side * side)


def noise(grey: Grey) -> tuple[float, float]:
    """Measure what is left of flat paper when its slow parts are taken off: spread, and likeness of neighbours."""
    fine = grey - cv2.GaussianBlur(grey, (0, 0), 4)
    whole, left = blocks(grey, 16), blocks(fine, 16)
    paper = (whole.mean(axis=1) > 90) & (whole.mean(axis=1) < 245) & (np.ptp(whole, axis=1) < 28)
    if paper.sum() < 50:
        return np.nan, np.nan
    beside = blocks(fine * np.roll(fine, -1, axis=1), 16).mean(axis=1) / np.maximum((left**2).mean(axis=1), 1e-6)
    return float(np.percentile(left[paper].std(axis=1), 30)), float(np.median(beside[paper]))


def tones(grey: Grey) -> tuple[float, float]:
    """Measure where there is text: the paper's grey level, and the ink's as a share of that."""
    squares = blocks(grey, 64)
    paper, ink = np.percentile(squares, 95, axis=1), np.percentile(squares, 2, axis=1)
    dark = (squares < (paper - 0.4 * (paper - ink))[:, None]).mean(axis=1)
    text = (paper - ink > 60) & (dark > 0.04) & (dark < 0.3)
    if text.sum() < 5:
        return np.nan, np.nan
    return float(np.median(paper[text])), float(np.percentile((ink / paper)[text], 10))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 4)
