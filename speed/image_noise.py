"""Times every image noise on a page of 1654 x 2339 pixels (A4 at 200 dpi), one core, beside augraphy's effects.

CPU seconds, so that a busy machine does not count; median over seeds and severities, after a first call that makes
textures and compiles. `python speed/image_noise.py [seeds]`
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import sys
from statistics import median
from time import process_time
from typing import Any

import cv2
import numpy as np

from ohr.benchmarks.mini import Mini
from ohr.contracts import ImageNoise
from ohr.noise.image.augraphy import Augraphy
from ohr.registry import Registry

LIMIT, MEDIAN_LIMIT = 0.3, 0.12
REPLACED: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "binarization": [("InkBleed", {}), ("Letterpress", {})],
    "rollers": [("DirtyRollers", {"line_width_range": [1, 3]})],
    "warping": [("Folding", {})],
    "shadows": [("LightingGradient", {}), ("ShadowCast", {})],
}
"""Which of augraphy's effects the paper used where ohr has its own."""


def page() -> np.ndarray:
    mini = Mini(languages=("en",), dpi=200)
    document = next(d for d in mini.documents() if d.name == "law/noise_bylaw")
    return np.asarray(cv2.resize(mini.page_image(document, 0), (1654, 2339)))


def seconds(noise: ImageNoise, image: np.ndarray, seed: int) -> float:
    rng = np.random.default_rng(seed)
    began = process_time()
    noise.perturb(image, [image] * 4, rng)
    return process_time() - began


def main(seeds: int) -> int:
    cv2.setNumThreads(1)
    image, registry = page(), Registry()
    kinds = [kind for kind in registry.names("image_noise") if kind != "augraphy"]
    if "background" in kinds:
        from ohr.noise.image.textures import PAPERS, paper

        began = process_time()
        for number in range(len(PAPERS)):
            paper(number)
        print(f"paper textures, made once per process: {(process_time() - began) / len(PAPERS):.3f} s each\n")
    medians = {}
    print(f"{'kind':22s} median    most   seconds a page, {seeds} seeds x severities .25 .5 1")
    for kind in kinds:
        plugin: Any = registry.load("image_noise", kind)
        times = []
        for severity in (0.25, 0.5, 1.0):
            noise = plugin(severity=severity)
            seconds(noise, image, 0)
            times += [seconds(noise, image, seed) for seed in range(seeds)]
        medians[kind] = median(times)
        slow = " OVER THE LIMIT" if medians[kind] > LIMIT else ""
        print(f"{kind:22s} {medians[kind]:.3f}   {max(times):.3f}{slow}")
    middle = median(medians.values())
    print(
        f"\nslowest {max(medians.values()):.3f} (limit {LIMIT}), median of kinds {middle:.3f} (limit {MEDIAN_LIMIT})\n"
    )
    faster = True
    for kind, effects in REPLACED.items():
        for effect, parameters in effects:
            theirs = Augraphy(effect=effect, parameters=parameters)
            seconds(theirs, image, 0)
            peer = median(seconds(theirs, image, seed) for seed in range(3))
            faster &= medians[kind] < peer
            print(f"{kind} {medians[kind]:.3f} against augraphy {effect} {peer:.3f}: {peer / medians[kind]:.1f} times")
    return int(not (faster and max(medians.values()) <= LIMIT and middle <= MEDIAN_LIMIT))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
