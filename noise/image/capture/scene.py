"""The scene around a page: a table, other sheets, and the page itself in the camera's perspective."""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image

from ..distortion import Field, clouds, opencv
from ..picture import CELLS, Picture

Quad = NDArray[np.float64]
"""Corners of a sheet in pixels: (4, 2), clockwise from its upper left."""

_LEVELS = (0.0, 1 / 3, 2 / 3, 1.0)
_ROWS, _COLUMNS = 600, 424
_TABLES = (  # tone, unevenness, grain along one way: two light tables, grey laminate, wood, floor boards, dark cloth
    ((226, 222, 211), 4.0, 0.0),
    ((205, 205, 203), 5.0, 0.0),
    ((158, 156, 152), 5.0, 0.0),
    ((176, 131, 84), 7.0, 22.0),
    ((143, 99, 62), 8.0, 26.0),
    ((46, 52, 62), 4.0, 0.0),
)
_WORDS = (
    *("account", "register", "of", "claims", "and", "receipts", "holder", "shall", "keep", "this", "sheet", "years"),
    *("interest", "on", "balance", "brought", "forward", "date", "amount", "total", "signature", "name", "street"),
    *("town", "number", "per", "cent", "payment", "due", "issued", "by", "office", "copy", "annex", "rate", "fee"),
)


def level(severity: float, start: float, values: Sequence[float]) -> float:
    """Interpolate a strength: `start` at severity 0, then the three published or proposed values at 1/3, 2/3 and 1."""
    return float(np.interp(severity, _LEVELS, (start, *values)))


@lru_cache(maxsize=len(_TABLES))
def _table(number: int) -> Image:
    (tone, uneven, grain), rng = _TABLES[number], np.random.Generator(np.random.PCG64(100 + number))
    relief = uneven * clouds(rng, (_ROWS, _COLUMNS), 5) + rng.normal(0, 2.5, (_ROWS, _COLUMNS))
    if grain:
        relief += grain * _wood(rng)
    made = np.clip(np.asarray(tone) + relief[:, :, None], 0, 255).astype(np.uint8)
    made.setflags(write=False)
    return made


def _wood(rng: np.random.Generator) -> Field:
    """Draw boards of wavy fibres, each with a tone of its own, and seams between them."""
    cv2 = opencv()
    fibres = cv2.GaussianBlur(rng.standard_normal((_ROWS, _COLUMNS)).astype(np.float32), (0, 0), sigmaX=0.8, sigmaY=30)
    y, x = np.mgrid[0:_ROWS, 0:_COLUMNS].astype(np.float32)
    bent = cv2.remap(fibres, x + 5 * clouds(rng, x.shape, 5), y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    wide = float(rng.uniform(55, 90))
    board = (x[0] / np.float32(wide)).astype(int)
    tones = rng.normal(0, 0.5, board.max() + 1)[board] - 2.0 * (x[0] % np.float32(wide) < 1.5)
    return np.asarray(0.35 * bent / bent.std() + tones, dtype=np.float32)


def ground(rng: np.random.Generator) -> Image:
    """Draw the ground under the page: a table, perhaps its edge and the floor beyond; small, to be scaled up."""
    cv2 = opencv()
    first, second = rng.permutation(len(_TABLES))[:2]
    edge, turn, edged = rng.uniform(0.62, 0.95), rng.uniform(0, 2 * np.pi), rng.random() < 0.5
    small = np.ascontiguousarray(_table(int(first))[:: rng.choice([-1, 1])])
    if not edged:
        return small
    x, y = np.arange(_COLUMNS) / _COLUMNS - 0.5, np.arange(_ROWS) / _ROWS - 0.5
    off = np.add.outer(y * np.sin(turn), x * np.cos(turn)).astype(np.float32)
    beyond = cv2.convertScaleAbs(np.maximum(off - np.float32(edge - 0.5), 0), alpha=220 * 255)
    kept = cv2.multiply(small, cv2.merge([cv2.bitwise_not(beyond)] * 3), scale=1 / 255)
    return np.asarray(cv2.add(kept, cv2.multiply(_table(int(second)), cv2.merge([beyond] * 3), scale=0.6 / 255)))


def frame(image: Image) -> Quad:
    """Return the corners of a sheet in its own pixels."""
    height, width = image.shape[:2]
    return np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float64)


def turned(image: Image, area: float, turn: float, middle: Sequence[float]) -> Quad:
    """Return a sheet's corners when it is turned by `turn` radians and scaled to `area` of its own, about `middle`."""
    corners = frame(image) - np.asarray(image.shape[1::-1]) / 2
    spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return np.asarray(corners @ spin * np.sqrt(area) + np.asarray(middle))


def fitted(quad: Quad, height: int, width: int, margin: float) -> Quad:
    """Shrink a sheet (never enlarge it) and move it into the middle of a frame, `margin` of its size from the edges."""
    low, high = quad.min(axis=0), quad.max(axis=0)
    room = np.array([width, height]) * (1 - 2 * margin)
    factor = min(1.0, *(room / np.maximum(high - low, 1e-9)))
    return np.asarray((quad - (low + high) / 2) * factor + np.array([width, height]) / 2)


def placed(sheet: Image, quad: Quad, on: Picture, printed: Callable[[Image], Picture]) -> NDArray[np.float64]:
    """Draw a sheet into the picture `on`, with the soft shadow of its edge; return the homography.

    Args:
        printed: returns a sheet as the camera sees it.
    """
    pose = flat(sheet, quad)
    part, origin = _in_view(sheet, pose, on.frame)
    small, whole, blur = _shrunk(part, _scale(sheet, quad))
    seen = printed(small) if small.size else Picture(())
    for cell, plane, under in zip(CELLS, seen.planes, on.planes, strict=False):
        spot = quad / cell
        _cast_edge(spot, under)
        soft = opencv().GaussianBlur(plane, (3, 3), blur) if blur else plane
        drawn(soft, scaled(1 / cell) @ pose @ origin @ scaled(whole * cell), spot, under)
    return centered(pose)


def _in_view(sheet: Image, pose: NDArray[np.float64], on: Image) -> tuple[Image, NDArray[np.float64]]:
    """Cut off the parts of a sheet far outside a picture; return also the map from the rest to the sheet."""
    back = np.linalg.pinv(pose)
    corners = np.column_stack([frame(on), np.ones(4)]) @ back.T
    if not (corners[:, 2] > 0).all():
        return sheet, np.eye(3)
    places, size = corners[:, :2] / corners[:, 2:], np.asarray(sheet.shape[1::-1])
    reach = 0.02 * size + 16
    left, top = np.clip(np.floor(places.min(axis=0) - reach), 0, size).astype(int)
    right, bottom = np.clip(np.ceil(places.max(axis=0) + reach), 0, size).astype(int)
    origin = np.array([[1, 0, left], [0, 1, top], [0, 0, 1]], dtype=np.float64)
    return sheet[top:bottom, left:right], origin


def flat(sheet: Image, quad: Quad) -> NDArray[np.float64]:
    """Return the homography from a sheet to a quad, (3, 3), in coordinates in which pixel corners are whole numbers."""
    corners, spot = (points.astype(np.float32) for points in (frame(sheet), quad))
    return np.asarray(opencv().getPerspectiveTransform(corners, spot), dtype=np.float64)


def scaled(factor: float) -> NDArray[np.float64]:
    """Return the map that scales by a factor."""
    return np.diag((factor, factor, 1.0))


def centered(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert a map from coordinates in which pixel corners are whole numbers to those in which pixel centers are."""
    to, back = np.eye(3), np.eye(3)
    to[:2, 2], back[:2, 2] = 0.5, -0.5
    return np.asarray(back @ matrix @ to)


def drawn(part: Image, matrix: NDArray[np.float64], quad: Quad, on: Image) -> None:
    """Draw a plane of a sheet into a plane of a picture, at `quad`."""
    cv2 = opencv()
    (left, top), (right, bottom) = _box(quad, on, margin=1)
    if right > left and bottom > top:
        shift = np.array([[1, 0, -left], [0, 1, -top], [0, 0, 1]], dtype=np.float64)
        cv2.warpPerspective(
            part,
            shift @ centered(matrix),
            (right - left, bottom - top),
            dst=on[top:bottom, left:right],
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_TRANSPARENT,
        )


def _scale(sheet: Image, quad: Quad) -> float:
    """Return the scale at which a sheet is drawn: 1 where its pixels are as large as the picture's."""
    x, y = quad[:, 0], quad[:, 1]
    area = abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
    return float(np.sqrt(area / np.prod(sheet.shape[:2])))


def _shrunk(sheet: Image, factor: float) -> tuple[Image, int, float]:
    """Average pixels before a sheet is drawn smaller, where sampling alone would skip strokes.

    It averages a whole number of pixels, which is ten times as fast as a fraction; a slight blur covers the rest.

    Returns:
        The sheet, the factor by which it is smaller now, and the radius of the blur.
    """
    cv2 = opencv()
    height, width = sheet.shape[:2]
    if factor > 0.8 or min(height, width) * factor < 2:
        return sheet, 1, 0.0
    whole = int(1 / factor)
    if whole > 1:
        rows, columns = height // whole * whole, width // whole * whole
        sheet = cv2.resize(sheet[:rows, :columns], (columns // whole, rows // whole), interpolation=cv2.INTER_AREA)
    left = whole * factor
    return np.asarray(sheet), whole, 0.35 / left if left < 0.8 else 0.0


def _cast_edge(quad: Quad, on: Image) -> None:
    cv2, cell = opencv(), 8
    size = max(on.shape[:2])
    (left, top), (right, bottom) = _box(quad, on, margin=round(0.03 * size))
    rows, columns = (bottom - top) // cell, (right - left) // cell
    if min(rows, columns) < 2:
        return
    small = np.full((rows, columns), 255, dtype=np.uint8)
    points = np.rint(((quad - (left, top)) + 0.004 * size) / cell * 8).astype(np.int32)
    cv2.fillPoly(small, [points], 120, cv2.LINE_AA, 3)
    small = cv2.GaussianBlur(small, (0, 0), 0.008 * size / cell)
    part = on[top:bottom, left:right]
    whole = cv2.resize(small, (right - left, bottom - top), interpolation=cv2.INTER_LINEAR)
    cv2.multiply(part, whole if on.ndim == 2 else cv2.merge([whole] * 3), scale=1 / 255, dst=part)


def _box(quad: Quad, on: Image, margin: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the upper left and lower right corners of the part of an image around a sheet."""
    height, width = on.shape[:2]
    low = np.clip(np.floor(quad.min(axis=0)).astype(int) - margin, 0, (width, height))
    high = np.clip(np.ceil(quad.max(axis=0)).astype(int) + margin + 1, 0, (width, height))
    return (int(low[0]), int(low[1])), (int(high[0]), int(high[1]))


@lru_cache(maxsize=8)
def stranger(number: int) -> Image:
    """Draw a sheet of words that belong to no document: (850, 600, 3)."""
    cv2, rng = opencv(), np.random.Generator(np.random.PCG64(number))
    sheet = np.full((850, 600, 3), (250, 249, 246), dtype=np.uint8)
    if number % 2:
        cv2.rectangle(sheet, (22, 22), (578, 828), (150, 60 + 20 * number, 60), 3)
    y = 90
    cv2.putText(sheet, " ".join(rng.choice(_WORDS, 2)).upper(), (60, y), cv2.FONT_HERSHEY_DUPLEX, 1.0, (20,) * 3, 2)
    while (y := y + int(rng.integers(24, 40))) < 790:
        words = " ".join(rng.choice(_WORDS, int(rng.integers(3, 8)))) + f" {rng.integers(10, 9999)}"
        cv2.putText(sheet, words, (60, y), cv2.FONT_HERSHEY_SIMPLEX, 0.48, (40,) * 3, 1, cv2.LINE_AA)
        if rng.random() < 0.2:
            cv2.line(sheet, (60, y + 8), (540, y + 8), (90,) * 3, 1)
    sheet.setflags(write=False)
    return sheet


def companions(others: Sequence[Image], number: int) -> list[Image]:
    """Return further sheets: the document's other pages, then strangers."""
    found = [others[place] for place in range(min(number, len(others)))]
    return found + [stranger(place) for place in range(number - len(found))]
