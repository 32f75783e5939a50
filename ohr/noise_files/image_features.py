"""Features of a pair of images: where the page is, how sharp it is, the blocks of JPEG; light and ink are apart."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import Image
from ohr.noise_files.image_light import Values, colorful, light, logarithm, root
from ohr.noise_files.image_twins import CleanPage, opencv, registered

_FLOW = 600  # pixels of the longer side at which bends are looked for
_BANDS = 5  # octaves of sharpness


def features(clean: CleanPage, noisy: Image) -> Values:
    """Return some seventy numbers of a pair: (H, W, 3) uint8 each, of any size.

    Shares go by their square root and spreads by their logarithm, so that errors are about as large everywhere.
    """
    cv2 = opencv()
    grey = cv2.cvtColor(noisy, cv2.COLOR_RGB2GRAY)
    homography, fitting = registered(clean, grey)
    small = clean.reduced
    flat, valid = _rectified(clean, small, noisy, homography)
    flat, bends = _unbent(small, flat)
    values = {
        **_geometry(clean, grey, homography, fitting),
        **bends,
        **light(small, flat, valid),
        **_outside(noisy, clean, homography),
        **_sharpness(clean, grey),
        **_blocks(clean, grey),
    }
    return {name: float(np.nan_to_num(value, nan=0.0, posinf=1e3, neginf=-1e3)) for name, value in values.items()}


def _geometry(clean: CleanPage, grey: Image, homography: NDArray[np.float64] | None, fitting: float) -> Values:
    """Describe where the page is in its image; an unregistered one as if it were where the clean page is."""
    (height, width), (high, wide) = clean.grey.shape, grey.shape
    size = {"width": np.log(wide / width), "height": np.log(high / height), "registered": float(homography is not None)}
    pose = np.eye(3) if homography is None else homography
    corners = np.array([[0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]], dtype=float) @ pose.T
    places = corners[:, :2] / np.where(np.abs(corners[:, 2:]) < 1e-6, 1e-6, corners[:, 2:])
    across, down = places[1] - places[0], places[3] - places[0]
    area = _area(places)
    angle = float(np.degrees(np.arctan2(across[1], across[0])))
    quarter = round(angle / 90)
    sides = np.linalg.norm(np.roll(places, -1, axis=0) - places, axis=1)
    middle = places.mean(axis=0) / (wide, high) - 0.5
    seen = np.clip(places, 0, (wide, high))
    visible = _area(seen)
    shear = np.degrees(np.arctan2(down[1], down[0])) - angle - 90
    return {
        **size,
        "fitting": fitting,
        "turned": float(quarter % 4 != 0),
        "skew": abs(angle - 90 * quarter),
        "shear": abs((shear + 180) % 360 - 180),
        "scale": float(np.log(np.sqrt(max(area, 1.0) / (width * height)))),
        "perspective": logarithm(np.abs(np.log((sides[:2] + 1) / (sides[2:] + 1))).max()),
        "off_middle": float(np.hypot(*middle)),
        "cut_off": root(1 - min(1.0, visible / max(area, 1.0))),
    }


def _area(corners: NDArray[np.float64]) -> float:
    """Return the area of a quadrangle, (4, 2)."""
    (right, down), (left, up) = corners[2] - corners[0], corners[3] - corners[1]
    return float(abs(right * up - down * left) / 2)


def _rectified(
    clean: CleanPage, small: CleanPage, noisy: Image, homography: NDArray[np.float64] | None
) -> tuple[Image, NDArray[np.bool_]]:
    """Return the noisy image in the place of the reduced clean page, and where there is any of it."""
    cv2, size, scale = opencv(), small.grey.shape[::-1], small.grey.shape[0] / clean.grey.shape[0]
    if homography is None or (noisy.shape == clean.image.shape and np.array_equal(homography, np.eye(3))):
        return cv2.resize(noisy, size, interpolation=cv2.INTER_AREA), np.ones(small.grey.shape, dtype=bool)
    there = [max(1, round(side * scale)) for side in noisy.shape[1::-1]]
    shrunk = cv2.resize(noisy, there, interpolation=cv2.INTER_AREA)
    pose = _scaled(noisy, shrunk) @ homography @ np.linalg.inv(_scaled(clean.image, small.image))
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    valid = cv2.warpPerspective(np.full(shrunk.shape[:2], 255, np.uint8), pose, size, flags=flags)
    return cv2.warpPerspective(shrunk, pose, size, flags=flags, borderMode=cv2.BORDER_REPLICATE), valid > 250


def _scaled(image: Image, smaller: Image) -> NDArray[np.float64]:
    """Return the map from the pixels of an image to those of its smaller copy; whole numbers are their middles."""
    across, down = smaller.shape[1] / image.shape[1], smaller.shape[0] / image.shape[0]
    return np.array([[across, 0, (across - 1) / 2], [0, down, (down - 1) / 2], [0, 0, 1]])


def _unbent(clean: CleanPage, flat: Image) -> tuple[Image, Values]:
    """Pull a page straight that is still bent, by optical flow; returns also how bent it was."""
    cv2, (height, width) = opencv(), clean.grey.shape
    scale = min(1.0, _FLOW / max(height, width))
    before, inked, weight = _print(clean)
    after = _even(cv2.resize(cv2.cvtColor(flat, cv2.COLOR_RGB2GRAY), before.shape[::-1], interpolation=cv2.INTER_AREA))
    flow = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_FAST).calc(before, after, None)
    smooth = cv2.GaussianBlur(flow * inked[..., None], (0, 0), 8) / weight[..., None]
    away = np.hypot(*np.moveaxis(smooth, -1, 0))[inked > 0] / scale if inked.any() else np.zeros(1)
    rough = np.abs(np.diff(smooth, 2, axis=0)).mean() + np.abs(np.diff(smooth, 2, axis=1)).mean()
    across, down = (cv2.resize(smooth[..., axis] / np.float32(scale), (width, height)) for axis in (0, 1))
    across += np.arange(width, dtype=np.float32)
    down += np.arange(height, dtype=np.float32)[:, None]
    straight = cv2.remap(flat, across, down, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    unit = max(height, width) / 2339  # pixels of A4 at 200 dpi
    return straight, {
        "bend": logarithm(np.sqrt(np.square(away).mean()) / unit),
        "bend_95": logarithm(np.quantile(away, 0.95) / unit),
        "bend_rough": logarithm(100 * rough),
    }


@lru_cache(maxsize=2)
def _print(clean: CleanPage) -> tuple[Image, NDArray[np.float32], NDArray[np.float32]]:
    """Return a small even copy of a page, where it is printed, and how much print is around each place."""
    cv2, (height, width) = opencv(), clean.grey.shape
    scale = min(1.0, _FLOW / max(height, width))
    size = (max(16, round(width * scale)), max(16, round(height * scale)))
    small = _even(cv2.resize(clean.grey, size, interpolation=cv2.INTER_AREA))
    inked = cv2.dilate((small < 200).astype(np.uint8), np.ones((5, 5), np.uint8)).astype(np.float32)
    return small, inked, cv2.GaussianBlur(inked, (0, 0), 8) + 1e-3


def _even(grey: Image) -> Image:
    """Divide a small page by the light of its surroundings, and blur it a little: shades are no bends."""
    cv2 = opencv()
    surroundings = cv2.GaussianBlur(cv2.dilate(grey, np.ones((15, 15), np.uint8)), (0, 0), 8).astype(np.float32)
    even = np.clip(grey / np.maximum(surroundings, 1) * 230, 0, 255).astype(np.uint8)
    return np.asarray(cv2.GaussianBlur(even, (0, 0), 1.5))


def _outside(noisy: Image, clean: CleanPage, homography: NDArray[np.float64] | None) -> Values:
    """Describe what is around the page in its image."""
    cv2, shape = opencv(), noisy.shape[:2]
    outside = np.zeros(shape, dtype=bool)
    if homography is not None:
        full = np.full(clean.grey.shape, 255, np.uint8)
        outside = cv2.warpPerspective(full, homography, shape[::-1]) == 0
    there = noisy[outside]
    if len(there) < 0.005 * outside.size:
        return {"around": 0.0, "around_light": 1.0, "around_spread": 0.0, "around_color": 0.0}
    there = there[:: max(1, len(there) // 20_000)]
    light = there.mean(axis=1)
    return {
        "around": root(outside.mean()),
        "around_light": float(light.mean()) / 255,
        "around_spread": float(light.std()) / 255,
        "around_color": colorful(there),
    }


def _octaves(grey: Image) -> list[float]:
    """Return the spread of each octave of detail."""
    cv2, level, spreads = opencv(), grey.astype(np.float32), []
    for _ in range(_BANDS):
        smaller = cv2.pyrDown(level)
        spreads.append(logarithm((level - cv2.pyrUp(smaller, dstsize=level.shape[::-1])).std()))
        level = smaller
    return spreads


@lru_cache(maxsize=2)
def _on_clean(clean: CleanPage) -> tuple[list[float], tuple[float, float, float]]:
    """Return octaves and blocks of a clean page."""
    return _octaves(clean.grey), _cells(clean.grey)


def _sharpness(clean: CleanPage, noisy: Image) -> Values:
    """Compare the spread of each octave of detail with the clean page's, and the grey levels used."""
    octaves = zip(_on_clean(clean)[0], _octaves(noisy), strict=True)
    steps = np.abs(np.diff(noisy.astype(np.int16), axis=1))
    sharp = np.quantile(steps[steps > 8], 0.95) if (steps > 8).any() else 0.0
    shares = {"white": (noisy >= 253).mean(), "black": (noisy <= 5).mean()}
    middle = ((noisy > 60) & (noisy < 190)).mean()
    return {
        **{f"detail_{place}": second - first for place, (first, second) in enumerate(octaves)},
        "steps": float(sharp) / 255,
        **{name: root(share) for name, share in shares.items()},
        "middle": root(middle),
    }


def _blocks(clean: CleanPage, noisy: Image) -> Values:
    """Describe the blocks of 8 x 8 pixels that JPEG leaves."""
    (edges, usual, small), (noisy_edges, noisy_usual, noisy_small) = _on_clean(clean)[1], _cells(noisy)
    return {
        "blocks": noisy_edges - edges,
        "waves": logarithm(noisy_usual) - logarithm(usual),
        "waves_gone": noisy_small - small,
    }


def _cells(grey: Image) -> tuple[float, float, float]:
    """Return the steps at the edges of 8 x 8 cells, their usual high frequencies, and the share of small waves."""
    single, edges = grey.astype(np.float32), []
    for turned in (single, single.T):
        by_column = np.abs(np.diff(turned, axis=1)).mean(axis=0)
        edges.append(logarithm(by_column[7::8].mean()) - logarithm(np.delete(by_column, np.s_[7::8]).mean()))
    height, width = (side // 8 * 8 for side in grey.shape)
    cells = grey[:height, :width].reshape(height // 8, 8, width // 8, 8).swapaxes(1, 2).reshape(-1, 8, 8)
    cells = cells[:: max(1, len(cells) // 6000)].astype(np.float32)
    printed = cells[cells.std(axis=(1, 2)) > 12]
    waves = _waves() @ printed @ _waves().T if len(printed) else np.zeros((1, 8, 8))
    return max(edges), float(np.median(np.abs(waves[:, 4:, 4:]))), float((np.abs(waves) < 1).mean())


def _waves() -> NDArray[np.float64]:
    """Return the cosines of a DCT of 8 values, (8, 8)."""
    place = np.arange(8)
    cosines = np.cos(np.pi * (2 * place[None] + 1) * place[:, None] / 16) / 2
    cosines[0] /= np.sqrt(2)
    return cosines
