"""Features of a noisy image that was moved onto its clean page: light, grain, ink, what was added, and lines."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image
from ohr.noise_files.image_twins import CleanPage, opencv

Values = dict[str, float]
_CELLS = 40  # cells along the longer side, in which light is looked at: one is about two lines of text high


def logarithm(value: Any) -> float:
    """Return the logarithm of a spread, with a floor of .001."""
    return float(np.log(max(float(value), 0.0) + 1e-3))


def root(share: Any) -> float:
    """Return the square root of a share."""
    return float(np.sqrt(max(float(share), 0.0)))


def colorful(pixels: NDArray[Any]) -> float:
    """Return the mean difference between the strongest and the weakest color of pixels, (n, 3), in [0, 1]."""
    red, green, blue = (pixels[:, place].astype(np.int16) for place in range(3))
    strongest, weakest = np.maximum(np.maximum(red, green), blue), np.minimum(np.minimum(red, green), blue)
    return float((strongest - weakest).mean()) / 255


def light(clean: CleanPage, flat: Image, valid: NDArray[np.bool_]) -> Values:
    """Describe paper, ink and what was added, in an image that was moved onto its clean page."""
    cv2, (height, width) = opencv(), clean.grey.shape
    cell = max(8, max(height, width) // _CELLS)
    rows, columns = max(2, height // cell), max(2, width // cell)
    grey = cv2.cvtColor(flat, cv2.COLOR_RGB2GRAY)
    paper = clean.paper & valid
    if paper.sum() < 100:
        paper = valid
    field, weight = _field(flat, paper, (rows, columns))
    gain = cv2.resize(field.mean(axis=2).astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR)
    relative = grey / np.maximum(gain, 1)
    return {
        **_shades(field / max(clean.level, 1.0), weight),
        **_grain(grey, flat, paper),
        **_inks(clean, relative, valid),
        **_additions(relative, flat, paper, cell),
        **_losses(clean, relative, valid, cell),
        **_lines(relative, paper),
    }


def _field(flat: Image, paper: NDArray[np.bool_], cells: tuple[int, int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Average the paper of each cell, (rows, columns, 3), and count it; cells without take that of the others."""
    cv2, size = opencv(), cells[::-1]
    weight = cv2.resize(paper.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    masked = cv2.bitwise_and(flat, flat, mask=paper.astype(np.uint8))
    light = np.stack(
        [cv2.resize(plane.astype(np.float32), size, interpolation=cv2.INTER_AREA) for plane in cv2.split(masked)],
        axis=-1,
    )
    around, known = cv2.GaussianBlur(light, (0, 0), 2), cv2.GaussianBlur(weight, (0, 0), 2)
    mean = light.sum(axis=(0, 1)) / max(float(weight.sum()), 1e-6)
    near = np.where(known[..., None] > 1e-3, around / np.maximum(known, 1e-3)[..., None], mean)
    return np.where(weight[..., None] > 0.05, light / np.maximum(weight, 0.05)[..., None], near), weight


def _shades(field: NDArray[Any], weight: NDArray[Any]) -> Values:
    """Describe the light over the page, 1 as on the clean page."""
    there = weight > 0.05
    cells = field[there] if there.any() else field.reshape(-1, 3)
    light = cells.mean(axis=1)
    low, first, middle, third, high = np.quantile(light, (0.02, 0.25, 0.5, 0.75, 0.98))
    y, x = np.nonzero(there) if there.any() else np.indices(field.shape[:2]).reshape(2, -1)
    plane = np.column_stack([x / field.shape[1], y / field.shape[0], np.ones(len(x))])
    slope, *_ = np.linalg.lstsq(plane, light, rcond=None)
    whole = field.mean(axis=2)
    steps = np.concatenate([np.abs(np.diff(whole, axis=0)).ravel(), np.abs(np.diff(whole, axis=1)).ravel()])
    warm, cold = cells[:, 0] / np.maximum(cells[:, 1], 1e-3), cells[:, 2] / np.maximum(cells[:, 1], 1e-3)
    return {
        **{"light_2": low, "light_25": first, "light_50": middle, "light_75": third, "light_98": high},
        "light_slope": float(np.hypot(*slope[:2])),
        "light_rest": logarithm((light - plane @ slope).std()),
        "light_steps": logarithm(np.quantile(steps, 0.98)),
        "light_texture": logarithm(np.median(steps)),
        **{"red": float(np.median(warm)), "blue": float(np.median(cold))},
        **{"red_spread": logarithm(warm.std()), "blue_spread": logarithm(cold.std())},
    }


def _grain(grey: Image, flat: Image, paper: NDArray[np.bool_]) -> Values:
    """Describe the grain of the paper, in grey levels."""
    cv2 = opencv()
    fine = cv2.subtract(grey, cv2.GaussianBlur(grey, (0, 0), 2), dtype=cv2.CV_32F)[:, :-1]
    both = paper[:, :-1] & paper[:, 1:]
    here = fine[both]
    if len(here) < 50:
        here, both = fine.ravel(), np.ones_like(both)
    beside = np.pad(fine, ((0, 0), (0, 1)))[:, 1:][both]
    tone = flat[..., 0].astype(np.int16) - flat[..., 2]
    usual = np.median(np.abs(here))
    return {
        "grain": logarithm(here.std()),
        "grain_usual": logarithm(usual),
        "grain_likeness": float((here * beside).mean() / max(float(here.var()), 1e-3)) if here.std() > 0.05 else 1.0,
        "dark_dots": root((here < -40).mean()),
        "light_dots": root((here > 40).mean()),
        "color_grain": logarithm((tone - cv2.medianBlur(tone, 5))[:, :-1][both].std()),
        "levels": float(len(np.unique(grey[:, :-1][both]))) ** 0.5,
    }


def _inks(clean: CleanPage, relative: NDArray[Any], valid: NDArray[np.bool_]) -> Values:
    """Describe what became of solid ink, 1 as light as paper."""
    there = relative[clean.ink & valid]
    there = there if len(there) > 50 else relative.ravel()
    low, middle, high = np.quantile(there, (0.1, 0.5, 0.9))
    return {"ink_10": low, "ink_50": middle, "ink_90": high, "ink_gone": root((there > 0.8).mean())}


def _additions(relative: NDArray[Any], flat: Image, paper: NDArray[np.bool_], cell: int) -> Values:
    """Describe what is dark where there was paper."""
    cv2 = opencv()
    dark, faint = paper & (relative < 0.6), paper & (relative < 0.9)
    size = (max(1, relative.shape[1] // cell), max(1, relative.shape[0] // cell))
    blocks = cv2.resize(faint.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    thick = cv2.erode(faint.astype(np.uint8), np.ones((3, 3), np.uint8))
    return {
        "added_dark": root(dark.sum() / max(paper.sum(), 1)),
        "added_faint": root(faint.sum() / max(paper.sum(), 1)),
        "added_thick": root(thick.sum() / max(paper.sum(), 1)),
        "added_cells": root((blocks > 0.03).mean()),
        "added_color": colorful(flat[faint]) if faint.sum() > 20 else 0.0,
        "added_light": root((paper & (relative > 1.1)).sum() / max(paper.sum(), 1)),
        "paper_black": root((paper & (relative < 0.2)).sum() / max(paper.sum(), 1)),
    }


def _losses(clean: CleanPage, relative: NDArray[Any], valid: NDArray[np.bool_], cell: int) -> Values:
    """Describe how like the clean page the printed cells are: correlations."""
    cv2 = opencv()
    size = (max(1, relative.shape[1] // cell), max(1, relative.shape[0] // cell))
    half = (relative.shape[1] // 2, relative.shape[0] // 2)  # letters stay, and it takes a quarter of the time
    first = cv2.resize(clean.grey, half, interpolation=cv2.INTER_AREA).astype(np.float32) / max(clean.level, 1)
    second = cv2.resize(np.minimum(relative, 2).astype(np.float32), half, interpolation=cv2.INTER_AREA)

    def mean(part: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA))

    spread = mean(first * first) - mean(first) ** 2
    other = mean(second * second) - mean(second) ** 2
    printed = (spread > 0.003) & (mean(valid.astype(np.float32)) > 0.9)
    if printed.sum() < 4:
        return {
            "likeness_10": 0.0,
            "likeness_50": 0.0,
            "likeness_90": 0.0,
            "contrast_10": 0.0,
            "contrast_50": 0.0,
            "lost": 1.0,
        }
    likeness = (mean(first * second) - mean(first) * mean(second)) / np.sqrt(np.maximum(spread * other, 1e-9))
    contrast = np.sqrt(np.maximum(other, 0) / np.maximum(spread, 1e-6))[printed]
    low, middle, high = np.quantile(likeness[printed], (0.1, 0.5, 0.9))
    weak, usual = np.quantile(contrast, (0.1, 0.5))
    lost = root((contrast < 0.35).mean())
    return {
        **{"likeness_10": low, "likeness_50": middle, "likeness_90": high},
        **{"contrast_10": weak, "contrast_50": usual, "lost": lost},
    }


def _lines(relative: NDArray[Any], paper: NDArray[np.bool_]) -> Values:
    """Describe lines down and across the page: the paper of each column and row against those beside it."""
    cv2, ways = opencv(), []
    for axis in (0, 1):
        count = paper.sum(axis=axis)
        tone = (relative * paper).sum(axis=axis) / np.maximum(count, 1)
        tone = np.where(count > 0.15 * relative.shape[axis], tone, np.nan)
        usual = cv2.medianBlur(np.nan_to_num(tone, nan=1.0).astype(np.float32)[None], 5)[0]
        off = np.abs(tone - usual)
        off = off[~np.isnan(off)]
        ways.append((float(off.std()), float((off > 0.02).mean())) if len(off) > 20 else (0.0, 0.0))
    (most, share), (least, other) = sorted(ways, reverse=True)
    return {
        "lines": logarithm(most),
        "lines_other": logarithm(least),
        "line_share": root(share),
        "line_other": root(other),
    }
