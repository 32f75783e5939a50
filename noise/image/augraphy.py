"""Any effect of the augraphy library (Groleau et al., ICDAR 2023), by name, made deterministic."""

import inspect
import random
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from functools import lru_cache
from importlib.metadata import version
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import AfterValidator, Field

from ohr import extras
from ohr.contracts import Image, ImageNoise, NoisyImage
from ohr.errors import PluginError

_REFUSED = {
    "Scribbles": "it downloads fonts",
    **dict.fromkeys(("AugmentationSequence", "Function", "Interop", "OneOf"), "write a list under image_noise instead"),
    "ImageOverlay": "it needs an image in memory",
}
_NO_EFFECTS = {"Augmentation", *_REFUSED}
_OURS = {"p", "numba_jit", "mask", "keypoints", "bounding_boxes"}
_DOWNLOADS = "use_figshare_library"


def _on_or_off(severity: float) -> float:
    if severity not in (0, 1):
        raise ValueError(
            "augraphy's effects have no common scale: severity is 0 or 1; their strength is in `parameters`"
        )
    return severity


class Augraphy(ImageNoise, kind="augraphy"):
    """Runs one effect of augraphy with its own parameters.

    One page, seed and version of augraphy give one result: the four global generators that its effects draw from
    (Python's, numpy's, OpenCV's and numba's) are seeded for each page, numba runs in one thread, and the working folder
    is a new one, as some effects keep images there. Effects that download something are refused. It is slow (0.01 to
    11 s a page), and returns no map of coordinates where it moves pixels.
    """

    extra: ClassVar[str | None] = "augraphy"
    packages: ClassVar[tuple[str, ...]] = ("augraphy", "numba", "opencv-python", "opencv-python-headless")
    effect: Annotated[str, Field(description="Class name of the effect, such as Letterpress or Folding.")]
    parameters: Annotated[
        dict[str, Any], Field(default_factory=dict, description="The effect's arguments; a list is passed as a tuple.")
    ]
    severity: Annotated[
        float, Field(ge=0, le=1, description="1 applies the effect, 0 does not."), AfterValidator(_on_or_off)
    ] = 1.0

    def check(self) -> None:
        """Raise when augraphy is missing, has no such effect, or cannot repeat it."""
        extras.require("augraphy", "augraphy")
        if self.effect in _REFUSED:
            raise PluginError(f"augraphy {self.effect}: refused: {_REFUSED[self.effect]}")
        known = _effects()
        if self.effect not in known:
            # a family may not use the registry's hints
            from difflib import get_close_matches

            near = get_close_matches(self.effect, known, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise PluginError(f"augraphy has no effect {self.effect!r}.{hint} Its effects: {', '.join(sorted(known))}")
        allowed = set(inspect.signature(known[self.effect]).parameters) - _OURS
        unknown = sorted(set(self.parameters) - allowed)
        if unknown:
            raise PluginError(
                f"augraphy {self.effect}: no parameter {unknown[0]!r}; it has {', '.join(sorted(allowed))}"
            )
        if self.parameters.get(_DOWNLOADS):
            raise PluginError(f"augraphy {self.effect}: refused: {_DOWNLOADS} downloads images")

    def __hash__(self) -> int:
        return hash((self.kind, self.effect, repr(sorted(self.parameters.items())), self.severity))

    def identity(self) -> Mapping[str, object]:
        """Include the library's version, since its effects change with it."""
        return {**super().identity(), "augraphy": version("augraphy")}

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:  # noqa: ARG002
        """Distort an image."""
        seed = int(rng.integers(1 << 31))
        if self.severity == 0:
            return NoisyImage(image.copy())
        effect = _effects()[self.effect]
        parameters = {name: _as_tuples(value) for name, value in self.parameters.items()}
        bgr = np.ascontiguousarray(image[:, :, ::-1])
        with _seeded(seed), tempfile.TemporaryDirectory() as folder, chdir(folder), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = effect(p=1, **parameters)(bgr)
        return NoisyImage(_as_rgb(made, self.effect))


@lru_cache(maxsize=1)
def _effects() -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = extras.load("augraphy", "augraphy")
        from augraphy.base.augmentation import Augmentation
    found = {name: value for name, value in vars(library).items() if inspect.isclass(value)}
    return {name: value for name, value in found.items() if issubclass(value, Augmentation) and name not in _NO_EFFECTS}


@lru_cache(maxsize=1)
def _seed_numba() -> Any:
    """Compile a function that seeds numba's generators, which only compiled code can reach."""
    import numba

    @numba.njit  # type: ignore[untyped-decorator, unused-ignore]
    def seed_both(seed: int) -> None:
        np.random.seed(seed)
        random.seed(seed)

    return seed_both


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed all global generators; afterwards restore Python's and numpy's."""
    import cv2
    import numba

    before, numpy_before, threads = random.getstate(), np.random.get_state(), numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        _seed_numba()(seed)
        random.seed(seed)
        np.random.seed(seed)
        cv2.setRNGSeed(seed)
        yield
    finally:
        random.setstate(before)
        np.random.set_state(numpy_before)
        numba.set_num_threads(threads)


def _as_tuples(value: Any) -> Any:
    return tuple(map(_as_tuples, value)) if isinstance(value, list) else value


def _as_rgb(made: Any, effect: str) -> Image:
    """Convert the result of an effect: grey, BGR or BGRA, of any number type."""
    if not isinstance(made, np.ndarray) or made.ndim not in (2, 3) or not made.size:
        raise PluginError(f"augraphy {effect} returned {type(made).__name__} instead of an image")
    if made.dtype != np.uint8:
        made = np.clip(np.rint(made), 0, 255).astype(np.uint8)
    if made.ndim == 2 or made.shape[2] == 1:
        return np.repeat(made.reshape(*made.shape[:2], 1), 3, axis=2)
    return np.ascontiguousarray(made[:, :, 2::-1])
