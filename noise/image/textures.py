"""Paper textures, made by code, each with a tone, a surface and traces of use; print over them (OHRBench, III.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ohr.contracts import Image, NoisyImage

from .distortion import Distortion, Field, clouds, opencv, smooth

ROWS, COLUMNS = 1170, 827  # A4 at 100 dpi
_COARSE = 3  # pixels per cell of a smooth field


@dataclass(frozen=True, slots=True)
class Paper:
    """A kind of paper; amounts are in grey levels, numbers are counts on the sheet.

    Args:
        grain: fine noise of the surface. mottle: clouds in the pulp. ribs, weave: regular lines of the mould.
        fibres, specks: impurities of the pulp. creases: of a sheet that was crumpled or folded.
        stains: rings and blots. age: how much the edges browned.
    """

    name: str
    tone: tuple[int, int, int]
    grain: float = 5
    mottle: float = 5
    ribs: float = 0
    weave: float = 0
    fibres: int = 0
    specks: int = 0
    creases: int = 0
    stains: int = 0
    age: float = 0


PAPERS = (
    Paper("copier", (244, 244, 241), grain=5, mottle=4),
    Paper("recycled", (214, 209, 198), grain=11, mottle=7, fibres=900, specks=1400),
    Paper("newsprint", (216, 208, 190), grain=14, mottle=9, fibres=500, age=12),
    Paper("kraft", (196, 160, 116), grain=10, mottle=9, fibres=1500, specks=250),
    Paper("laid", (236, 228, 208), grain=6, mottle=6, ribs=9),  # prose: ok
    Paper("linen", (238, 235, 226), grain=5, mottle=4, weave=9),
    Paper("parchment", (228, 208, 164), grain=6, mottle=13, age=26),
    Paper("old letter", (226, 207, 170), grain=8, mottle=12, specks=160, creases=3, stains=2, age=60),
    Paper("crumpled", (232, 230, 225), grain=6, mottle=6, creases=46),
    Paper("folded", (238, 237, 232), grain=6, mottle=5, creases=4, specks=60),
    Paper("coffee", (238, 232, 220), grain=6, mottle=6, stains=5, creases=2),
    Paper("watercolour", (240, 236, 226), grain=21, mottle=6),
    Paper("damp", (220, 216, 202), grain=8, mottle=16, stains=3, age=30),
    Paper("ledger", (216, 226, 212), grain=7, mottle=6, ribs=5, age=16),
    Paper("thermal", (226, 224, 228), grain=6, mottle=13, creases=6),
)


@lru_cache(maxsize=len(PAPERS))
def paper(number: int) -> Image:
    """Draw texture `number`, (1170, 827, 3); the same each time."""
    kind, rng = PAPERS[number], np.random.Generator(np.random.PCG64(number))
    relief = kind.grain * _grain(rng, coarse=kind.grain > 20)
    relief += kind.mottle * (0.7 * clouds(rng, relief.shape, 7) + 0.5 * clouds(rng, relief.shape, 34))
    relief += kind.ribs * _ribs() + kind.weave * _weave(rng)
    relief += _whole(_creases(rng, kind.creases)) - _fibres(rng, kind.fibres) - _specks(rng, kind.specks)
    sheet = np.asarray(kind.tone, dtype=np.float32) + relief[:, :, None]
    brown = np.asarray((0.5, 0.8, 1.25), dtype=np.float32)  # share of red, green and blue that browning removes
    sheet -= _whole(kind.age * _edges(rng) + _stains(rng, kind.stains))[:, :, None] * brown
    made = np.clip(sheet, 0, 255).astype(np.uint8)
    made.setflags(write=False)
    return made


def _grain(rng: np.random.Generator, *, coarse: bool) -> Field:
    noise = rng.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    soft = opencv().GaussianBlur(noise, (0, 0), 1.6 if coarse else 0.7)
    return np.asarray(soft / soft.std() * (0.6 if coarse else 0.8), dtype=np.float32)


def _ribs() -> Field:
    across = np.sin(np.arange(ROWS, dtype=np.float32) * np.float32(2 * np.pi / 5))[:, None]
    chains = np.exp(-((np.arange(COLUMNS, dtype=np.float32) % 110 - 55) ** 2) / 6)
    return np.asarray(0.8 * across - 1.4 * chains, dtype=np.float32)


def _weave(rng: np.random.Generator) -> Field:
    wander = 1.2 * clouds(rng, (ROWS, COLUMNS), 12)
    y, x = np.mgrid[0:ROWS, 0:COLUMNS].astype(np.float32)
    return np.asarray(0.6 * np.sin(x * 1.1 + wander) + 0.6 * np.sin(y * 1.1 + wander), dtype=np.float32)


def _strokes(rng: np.random.Generator, number: int, reach: float, thickness: int) -> Field:
    """Draw short curved strokes of ink strength up to 1."""
    cv2, sheet = opencv(), np.zeros((ROWS, COLUMNS), dtype=np.uint8)
    starts = rng.random((number, 2)) * (COLUMNS, ROWS)
    turns = rng.uniform(0, 2 * np.pi, (number, 1)) + np.cumsum(rng.normal(0, 0.5, (number, 4)), axis=1)
    steps = reach * rng.random((number, 1, 1)) * np.stack([np.cos(turns), np.sin(turns)], axis=2)
    paths = starts[:, None] + np.cumsum(steps, axis=1)
    for path, ink in zip(np.rint(paths).astype(np.int32), rng.integers(60, 255, number), strict=True):
        cv2.polylines(sheet, [path], False, int(ink), thickness, cv2.LINE_AA)
    return sheet.astype(np.float32) / np.float32(255)


def _fibres(rng: np.random.Generator, number: int) -> Field:
    return 40 * _strokes(rng, number, 5, 1)


def _specks(rng: np.random.Generator, number: int) -> Field:
    return 70 * _strokes(rng, number, 0.4, 1)


def _coarse() -> tuple[Field, Field]:
    y, x = np.mgrid[0:ROWS:_COARSE, 0:COLUMNS:_COARSE].astype(np.float32)
    return x, y


def _whole(coarse: Field) -> Field:
    return np.asarray(opencv().resize(coarse, (COLUMNS, ROWS), interpolation=opencv().INTER_LINEAR), dtype=np.float32)


def _creases(rng: np.random.Generator, number: int) -> Field:
    """Draw straight creases, lit from one side, each with its own length and sharpness."""
    x, y = _coarse()
    light = np.zeros_like(x)
    for _ in range(number):
        middle, turn, width = rng.random(2) * (COLUMNS, ROWS), rng.uniform(0, np.pi), rng.uniform(6, 26)
        reach, height = rng.uniform(0.08, 0.5) * ROWS, rng.uniform(8, 22) * rng.choice([-1, 1])
        dx, dy = x - np.float32(middle[0]), y - np.float32(middle[1])
        across = dx * np.float32(np.sin(turn)) - dy * np.float32(np.cos(turn))
        along = dx * np.float32(np.cos(turn)) + dy * np.float32(np.sin(turn))
        # tanh instead of a sign, or a slanting crease would show steps
        lit = np.tanh(across / _COARSE) * np.exp(-np.abs(across) / np.float32(width))
        light += np.float32(height) * lit * smooth(np.float32(1.5) - np.abs(along) / np.float32(reach))
    return light


def _edges(rng: np.random.Generator) -> Field:
    x, y = _coarse()
    nearest = np.minimum(np.minimum(x, COLUMNS - x), np.minimum(y, ROWS - y)) / np.float32(COLUMNS)
    return np.asarray(np.exp(-nearest * 9 + np.float32(0.35) * clouds(rng, x.shape, 9)), dtype=np.float32)


def _stains(rng: np.random.Generator, number: int) -> Field:
    """Draw rings of a cup and blots with a dark rim."""
    x, y = _coarse()
    dark = np.zeros_like(x)
    for place in range(number):
        middle, radius = rng.random(2) * (COLUMNS, ROWS), rng.uniform(60, 130)
        away = np.hypot(x - np.float32(middle[0]), y - np.float32(middle[1])) - np.float32(radius)
        away += 3 * clouds(rng, x.shape, 30) + 6 * clouds(rng, x.shape, 6)
        rim = np.exp(-((away / np.float32(rng.uniform(3, 7))) ** 2))
        inside = smooth(-away / 12) * rng.uniform(4, 16) * (place % 2)
        dark += np.float32(rng.uniform(14, 34)) * rim * smooth(0.6 + clouds(rng, x.shape, 6)) + inside
    return dark


_MOST_TEXTURE = 0.4  # share of the texture at severity 1


class Background(Distortion, kind="background"):
    """Blends the page with one of 15 paper textures, (1 - w) : w with w = 0.4 x severity.

    The paper's 80:20 is severity 0.5 (`published`). Its 15 photographs of paper are not public; ours are made by code
    (`ohr.noise.image.textures`). All levels share one texture and its position.
    """

    version: ClassVar[int] = 2
    published: ClassVar[float] = 0.5

    def distort(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image at a severity above 0."""
        cv2 = opencv()
        sheet = _cut(paper(int(rng.integers(len(PAPERS)))), rng)
        height, width = image.shape[:2]
        texture = cv2.resize(sheet, (width, height), interpolation=cv2.INTER_LINEAR)
        share = _MOST_TEXTURE * self.severity
        return NoisyImage(np.asarray(cv2.addWeighted(image, 1 - share, texture, share, 0)))


def _cut(sheet: Image, rng: np.random.Generator) -> Image:
    """Cut a large part out of a sheet, flipped at random."""
    size = np.asarray(sheet.shape[:2])
    part = (size * rng.uniform(0.75, 1.0)).astype(int)
    top, left = (rng.random(2) * (size - part + 1)).astype(int)
    across, down = rng.choice([-1, 1], size=2)
    return sheet[top : top + part[0], left : left + part[1]][::down, ::across]
