"""Conformance of text and image noise."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ohr.contracts import Image, ImageNoise, NoisyText, TextNoise
from ohr.testing.stage import RATES, TEXTS, as_json, check_stage, require, suite
from ohr.text import edits

_EFFECTS = ("none", "cropped", "occluded", "joined")


@suite
def check_text_noise(noise: TextNoise, *, coupled: bool = True, texts: Sequence[str] = TEXTS) -> None:
    """Check a text noise.

    Args:
        noise: any level of it; every rate is tried.
        coupled: False for noise that is not monotone by nature (swaps), whose edits at a low rate need not be among
            those at a higher one.
        texts: what it is tried on.
    """
    check_stage(noise)
    for text in texts:
        whole = [(0, len(text))] if text else []
        for seed in range(3):
            levels = [_edited(noise, rate, text, whole, seed) for rate in (0.0, *RATES)]
            require(noise, levels[0] == NoisyText(text), "rate 0 must give the text back, without edits")
            for low, high in pairwise(levels):
                lost = Counter(low.edits) - Counter(high.edits)
                reason = f"an edit at a lower rate is not among those at a higher one: {next(iter(lost), None)}"
                require(noise, not (coupled and lost), reason)
        half = [(0, len(text) // 3), (len(text) // 2, len(text))]
        require(noise, _edited(noise, 1.0, text, [], 0).text == text, "it must touch nothing where nothing is eligible")
        for edit in _edited(noise, 1.0, text, half, 0).edits:
            inside = any(start <= edit.start and edit.end <= end for start, end in half)
            require(noise, inside, f"{edit} is outside the eligible spans")


def _edited(noise: TextNoise, rate: float, text: str, eligible: list[tuple[int, int]], seed: int) -> NoisyText:
    level, given = noise.model_copy(update={"rate": rate}), list(eligible)
    made = level.perturb(text, given, np.random.default_rng(seed))
    require(noise, given == eligible, "it must not change the list of eligible spans")
    require(noise, made == level.perturb(text, eligible, np.random.default_rng(seed)), "one seed must give one result")
    for edit in made.edits:
        require(noise, text[edit.start : edit.end] == edit.removed, f"{edit}: `removed` is not the text at its place")
    require(noise, edits.apply(text, made.edits) == made, "its edits, applied, must give its text, in ascending order")
    require(noise, edits.undo(made.text, made.edits) == text, "undoing its edits must give the text back")
    return made


# --- images -----------------------------------------------------------------------------------------------


def odd_images() -> tuple[Image, ...]:
    """Return images that any stage must accept: tiny, narrow, blank, grey, and plain noise."""
    draws = np.random.default_rng(0)
    shapes = ((1, 1), (1, 40), (40, 1), (3, 5), (64, 48))
    found = [draws.integers(0, 256, (*shape, 3), dtype=np.uint8) for shape in shapes]
    found += [np.full((80, 60, 3), shade, dtype=np.uint8) for shade in (0, 128, 255)]
    found.append(np.repeat(draws.integers(0, 256, (50, 70, 1), dtype=np.uint8), 3, axis=2))
    for image in found:
        image.setflags(write=False)
    return tuple(found)


@suite
def check_image_noise(noise: ImageNoise) -> None:
    """Check an image noise."""
    check_stage(noise)
    published = getattr(type(noise), "published", noise.severity)
    require(noise, 0 < published <= 1, "the `published` point must be a severity in (0, 1]")
    images = odd_images()
    for image in images:
        still, _ = _distorted(noise, 0.0, image, images[-2:])
        require(noise, np.array_equal(still, image), "severity 0 must give the image back bit for bit")
        first, low = _distorted(noise, 0.2, image, images[-2:])
        again, high = _distorted(noise, 0.2, image, images[-2:])[0], _distorted(noise, 1.0, image, images[-2:])[1]
        require(noise, np.array_equal(first, again), "one seed must give one result")
        require(noise, low == high, "it must draw as much at each severity, so that levels are coupled")
        _distorted(noise, published, image, ())


def _distorted(noise: ImageNoise, severity: float, image: Image, others: Sequence[Image]) -> tuple[Image, str]:
    rng, before = np.random.default_rng(7), image.copy()
    made = noise.model_copy(update={"severity": severity}).perturb(image, others, rng)
    shape = f"an image of shape {image.shape} became {made.image.shape} of {made.image.dtype}, not (H, W, 3) of uint8"
    fits = made.image.ndim == 3 and made.image.shape[2] == 3 and made.image.size > 0 and made.image.dtype == np.uint8
    require(noise, fits, shape)
    require(noise, np.array_equal(image, before), "it must not change its input")
    matrix = made.homography
    require(noise, matrix is None or (matrix.shape == (3, 3) and bool(np.isfinite(matrix).all())), "bad homography")
    require(noise, made.label_effect in _EFFECTS, f"label_effect must be one of {', '.join(_EFFECTS)}")
    return made.image, as_json(rng.bit_generator.state)
