"""Whether `ohr noise validate` finds ohr's own noise of images, with its severity, and none in what ohr does not have.

    python -m studies.image_recovery WORK
    python -m studies.image_recovery WORK --kind ohrbench   # the severities of one kind, on all pages

On pages of mini's documents at 75 dpi. Own noise has other draws than the synthesis that it is fitted by. SETS are two
halves of the documents: what is tuned is tuned on the first, and `docs/noise/realism.md` has the figures of the second.
Features are computed once and kept in WORK: 100 s of one core a page; the fits take some minutes.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import compress, product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np

from ohr.contracts import Image
from ohr.files.images import write_image
from ohr.files.lazy import page_images
from ohr.noise_files.image_features import features
from ohr.noise_files.image_synthesis import Look, Table, image_kinds, look
from ohr.noise_files.image_twins import CleanPage, Twin, opencv
from ohr.noise_files.severity_fit import nearest, own_tests
from ohr.noise_files.validate_images import (
    CLOSE,
    COARSE,
    FEW,
    LEVELS,
    KindRow,
    drawn_feature,
    evenly,
    fitted,
    floor,
    ranked,
    recipes,
)
from ohr.registry import Registry
from ohr.seeds import generator

PDFS = Path("benchmarks/mini/data/pdfs")
DPI = 75
SETS = {"development": slice(0, 12, 2), "held out": slice(1, 24, 2)}
"""Places of the documents of each set."""
PAGES = {"development": 1, "held out": 2}
"""Pages of each document: the middle one, and the first."""
MOST_PAGES = 4
"""Pages that the longest document has."""
SEVERITIES = (0.2, 0.4, 0.6, 0.8)
DRAWN = {"development": 1001, "held out": 1002}
"""Seeds of the given noise of each set; the synthesis has `SYNTHESIS`."""
SYNTHESIS = {"development": 0, "held out": 1}
NEAR = 0.05
"""Error of a severity that is right."""
EFFECTS = ("InkBleed", "DirtyDrum", "ColorPaper", "DotMatrix", "LowInkRandomLines")


def _posterized(page: Image) -> Image:
    cv2 = opencv()
    return np.asarray(cv2.merge([cv2.cvtColor(page, cv2.COLOR_RGB2GRAY) // 64 * 85] * 3))


def _pixelated(page: Image) -> Image:
    cv2, (height, width) = opencv(), page.shape[:2]
    small = cv2.resize(page, (width // 3, height // 3), interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.resize(small, (width, height), interpolation=cv2.INTER_NEAREST))


def _checkered(page: Image) -> Image:
    rows, columns = np.indices(page.shape[:2]) // 40
    return np.where(((rows + columns) % 2 == 0)[..., None], page, page // 2 + 64).astype(np.uint8)


def _ruled(page: Image) -> Image:
    ruled = page.copy()
    ruled[20::30] = (120, 150, 220)
    return ruled


def _grainy(page: Image) -> Image:
    grain = np.random.default_rng(page.size).normal(0, 20, page.shape)
    return np.clip(page + grain, 0, 255).astype(np.uint8)


FOREIGN: dict[str, Callable[[Image], Image]] = {
    "color filter": lambda page: (page * np.array((1.0, 0.8, 0.5))).astype(np.uint8),
    "mirror": lambda page: np.ascontiguousarray(page[:, ::-1]),
    "checkerboard": _checkered,
    "negative": lambda page: 255 - page,
    "gamma": lambda page: np.rint(255 * (page / 255) ** 2.2).astype(np.uint8),
    "posterized grey": _posterized,
    "median blur": lambda page: np.asarray(opencv().medianBlur(page, 3)),
    "pixelation": _pixelated,
    "Gaussian noise": _grainy,
    "ruled lines": _ruled,
}


def _foreign(name: str, page: Image, place: int) -> Image:
    if name in FOREIGN:
        return FOREIGN[name](page)
    noise: Any = Registry().load("image_noise", "augraphy").model_validate({"effect": name})
    return np.asarray(noise.treat(page, [], generator(place, "recovery", name)).image)


def measure(work: Path, part: str, kinds: Sequence[str], pages: int) -> None:
    """Compute the features of a set of pages, a file for each; those that are there are skipped.

    Args:
        work: where the files are.
        part: a name in SETS.
        kinds: of ohr's noises.
        pages: most pages of each document: the middle one first, then from the beginning.
    """
    synthesis = tuple(recipe for kind in kinds for recipe in recipes(kind, LEVELS))
    drawn = SEVERITIES if part == "held out" else ()  # tuning has the synthesis, a level of it being left out
    own = tuple(recipe for kind in kinds for recipe in recipes(kind, drawn))
    for place, (pdf, number) in enumerate(product(sorted(PDFS.rglob("*.pdf"))[SETS[part]], range(pages))):
        name = pdf.stem + ("", " first", " second", " third")[number]
        path, image = work / f"{part} {name}.json", work / f"{name}.png"
        if path.exists():
            continue
        document = page_images(pdf, DPI)
        middle = len(document) // 2
        others = [at for at in range(len(document)) if at != middle]
        if number >= len(document):
            continue
        write_image(image, document.image([middle, *others][number]))
        twin = Twin(name, image, image)
        clean = CleanPage(twin.images()[0])
        rows = {f"own {kind} {at}": row for (kind, at), row in look(Look(twin, own, DRAWN[part])).items()}
        for name in (*FOREIGN, *EFFECTS):
            rows[f"foreign {name}"] = features(clean, _foreign(name, clean.image, place))
        found = look(Look(twin, synthesis, SYNTHESIS[part]))
        rows |= {f"synthesis {kind} {at}": row for (kind, at), row in found.items()}
        path.write_text(json.dumps(rows))


class Measured:
    """Features of a set of pages: `own` and `foreign` noise by their names, (n, F), and the synthesis of all kinds."""

    def __init__(self, work: Path, part: str, kinds: Sequence[str]) -> None:
        """Read them."""
        pages = [json.loads(path.read_text()) for path in sorted(work.glob(f"{part} *.json"))]
        self.columns = tuple(next(iter(pages[0].values())))
        rows = {
            name: np.array([[page[name][column] for column in self.columns] for page in pages]) for name in pages[0]
        }
        self.own = {name.removeprefix("own "): row for name, row in rows.items() if name.startswith("own ")}
        self.foreign = {name.removeprefix("foreign "): row for name, row in rows.items() if name.startswith("foreign ")}
        self.few = evenly(len(pages), FEW)
        self.synthesis = {kind: np.array([rows[f"synthesis {kind} {level}"] for level in LEVELS]) for kind in kinds}
        at = [LEVELS.index(level) for level in COARSE]
        self.coarse = {kind: features[at][:, self.few] for kind, features in self.synthesis.items()}
        self.least = floor(self.coarse)
        self.tests = {
            kind: own_tests(np.array(LEVELS), features, self.least, drawn_feature(kind, self.columns))
            for kind, features in self.synthesis.items()
        }

    def rows(self, given: Table) -> list[KindRow]:
        """Do what `validate_images` does with the features of given pages."""
        chosen = {kind: self.synthesis[kind] for kind in nearest(given[self.few], self.coarse, CLOSE)}
        tests = {kind: self.tests[kind] for kind in chosen}
        return ranked(fitted(chosen, given, self.least, tests, self.columns), self.columns)


def own(measured: Measured) -> Iterator[tuple[str, ...]]:
    """Yield a row of each noise of ohr: kind, severity, the kind that is named, and that of its own kind's row."""
    for name, given in measured.own.items():
        kind, severity = name.split()
        rows = measured.rows(given)
        named = rows[0].kind if rows[0].verdict == "matched" else "none"
        for row in rows:
            if row.kind == kind:
                ends = f"{row.severity:.2f} [{row.low:.2f}, {row.high:.2f}]"
                yield kind, severity, named, ends, row.verdict, row.worst
                break
        else:
            yield kind, severity, named, "", "far", ""


def foreign(measured: Measured) -> Iterator[tuple[str, ...]]:
    """Yield a row of each foreign noise: the kinds that match, or the nearest with its distances."""
    for name, given in measured.foreign.items():
        rows = measured.rows(given)
        matched = ", ".join(f"{row.kind} {row.severity:.2f}" for row in rows if row.verdict == "matched")
        first = rows[0]
        off = f"{first.distance:.1f} ({first.threshold:.1f})", f"{first.most:.1f} ({first.most_threshold:.1f})"
        yield name, matched or "none", first.kind, *off, first.worst


def best(pages: int, severity: float) -> tuple[float, float]:
    """Return how often `rotation` and `quarter_turns` can be within NEAR where the angle of each page is known.

    The largest of uniform angles says all of their range, and the share of turned pages all of its chance.
    """
    turned = [comb(pages, count) * severity**count * (1 - severity) ** (pages - count) for count in range(pages + 1)]
    near = [abs(count / pages - severity) <= NEAR + 1e-9 for count in range(pages + 1)]
    return 1 - max(0.0, 1 - 2 * NEAR / severity) ** pages, sum(compress(turned, near))


def main() -> None:
    """Measure, fit, and print both tables, or the first one of a kind."""
    parser = argparse.ArgumentParser(description="Kinds and severities of noisy images that are found again.")
    parser.add_argument("work", type=Path, help="a folder for features")
    parser.add_argument("--kind", choices=image_kinds(), help="this kind alone, on all held-out pages")
    chosen = parser.parse_args()
    work = chosen.work / (chosen.kind or "")
    work.mkdir(parents=True, exist_ok=True)
    if chosen.kind:
        measure(work, "held out", [chosen.kind], MOST_PAGES)
        for row in own(Measured(work, "held out", [chosen.kind])):
            print(*row, sep=" | ")
        return
    for part in SETS:
        measure(work, part, image_kinds(), PAGES[part])
        measured = Measured(work, part, image_kinds())
        for row in (*own(measured), *foreign(measured)):
            print(part, "|", " | ".join(row))
    for severity in SEVERITIES:
        print("at best", severity, *(f"{share:.2f}" for share in best(24, severity)))


if __name__ == "__main__":
    main()
