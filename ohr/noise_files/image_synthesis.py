"""The features of noisy images: of given ones, and of ohr's own noise on their clean pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from ohr import seeds
from ohr.contracts import ImageNoise
from ohr.files.lazy import page_images
from ohr.noise_files.image_features import features
from ohr.noise_files.image_twins import DPI, CleanPage, Twin, opencv
from ohr.registry import Registry
from ohr.steps.documents.page_images import OtherPages

Recipe = tuple[str, float]
"""Kind and severity; each has draws of its own."""
GIVEN: Recipe = ("", 0.0)
"""The noisy image itself."""
Table = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Look:
    """Measure a page under some noises."""

    twin: Twin
    recipes: tuple[Recipe, ...]
    seed: int


def image_kinds() -> list[str]:
    """List the kinds of image noise whose strength is a number and that need no further arguments."""
    found = []
    for kind in Registry().names("image_noise"):
        try:
            noise_of(kind, 0.5)
        except ValidationError:
            continue
        found.append(kind)
    return found


@cache
def noise_of(kind: str, severity: float) -> ImageNoise:
    """Return a noise with its defaults. Raises ValidationError where it needs more."""
    noise = Registry().load("image_noise", kind).model_validate({"severity": severity})
    assert isinstance(noise, ImageNoise)
    return noise


def look(task: Look) -> dict[Recipe, dict[str, float]]:
    """Do a Look: the features of each recipe by their names.

    Draws are none that `ohr noise apply` makes: who validates a folder that it wrote must not find the very same noise.
    """
    opencv().setNumThreads(1)  # each process has a core of its own
    clean, noisy = task.twin.images()
    page, kept = CleanPage(clean), task.twin.saved()
    pages = page_images(task.twin.clean, DPI)
    others = OtherPages(pages.image, len(pages), task.twin.index)
    found = {}
    for recipe in task.recipes:
        if recipe == GIVEN:
            found[recipe] = features(page, noisy)
            continue
        kind, severity = recipe
        own = seeds.generator(task.seed, "noise validate", kind, task.twin.name, round(1000 * severity))
        found[recipe] = features(page, kept(noise_of(kind, severity).treat(clean, others, own).image))
    return found


def table(looks: Sequence[dict[Recipe, dict[str, float]]], recipes: Sequence[Recipe], columns: Sequence[str]) -> Table:
    """Return the features of pages under some recipes: (recipes, pages, columns)."""
    return np.array([[[page[recipe][column] for column in columns] for page in looks] for recipe in recipes])
