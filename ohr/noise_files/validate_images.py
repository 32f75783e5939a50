"""Which of ohr's image noises, at which severity, looks like given noisy images: analysis by synthesis."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Literal

import numpy as np

from ohr.engine.progress import Progress, counting
from ohr.errors import DataError
from ohr.noise_files.image_synthesis import GIVEN, Look, Recipe, Table, image_kinds, look, table
from ohr.noise_files.image_twins import CleanPage, Twin, pair, shown_elsewhere
from ohr.noise_files.severity_fit import RATE, Array, Fit, fit, limits_of, nearest, own_tests
from ohr.noise_files.workers import each, workers

Verdict = Literal["matched", "not matched", "far"]
LEVELS = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 1.0)
"""Severities of the kinds that are looked at closely; between them features are interpolated."""
COARSE, FEW, CLOSE = (0.2, 0.5, 0.9), 5, 5
"""Severities and pages with which all kinds are tried, and how many kinds are then looked at closely."""
PAGES = 24
"""Pages that are looked at, of more, evenly spread over the files: a larger number is slower and more exact."""
_FLOOR = 0.03
"""The least spread of a feature that counts, as a share of its spread over all kinds: less is no difference to see."""
_DRAWN = {"rotation": "skew"}
"""Kinds that draw something of each page up to the severity, and the feature that measures it."""


@dataclass(frozen=True, slots=True)
class KindRow:
    """A kind of noise against the noisy images.

    Args:
        severity: the fitted one with its 95% interval; nan, like all numbers, of a kind that is far.
        distance: root mean square difference of the features, in standard errors of the kind's own noise.
        threshold: the distance that sets with the kind's own noise stay below.
        worst: the feature that differs most.
        most: by how many standard errors.
        most_threshold: what it stays below; 95% of sets with the kind's own noise stay below both.
    """

    kind: str
    verdict: Verdict
    severity: float = nan
    low: float = nan
    high: float = nan
    distance: float = nan
    threshold: float = nan
    worst: str = ""
    most: float = nan
    most_threshold: float = nan


@dataclass(frozen=True, slots=True)
class ImageReport:
    """Kinds of noise that noisy images may have.

    Args:
        match: the kind that they look like; `none` where they equal the clean ones; None where no kind matches.
        pages: pages looked at.
        unpaired: names of images without a twin.
        lost: pages that were not found in their noisy images.
        rows: of each kind, the likeliest first.
        rate: share of sets with a kind's own noise that are called not matched.
    """

    match: str | None
    pages: int
    unpaired: tuple[str, ...]
    lost: tuple[str, ...]
    rows: tuple[KindRow, ...]
    rate: float = RATE

    def table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the heads of a table and its rows, as text."""
        heads = ("kind", "severity", "95%", "distance (limit)", "largest (limit)", "verdict", "worst feature")
        rows: list[tuple[str, ...]] = []
        for row in self.rows:
            known = row.verdict != "far"
            numbers = (
                f"{row.severity:.2f}",
                f"{row.low:.2f}-{row.high:.2f}",
                f"{row.distance:.2f} ({row.threshold:.2f})",
                f"{row.most:.2f} ({row.most_threshold:.2f})",
            )
            rows.append((row.kind, *(numbers if known else ("", "", "", "")), row.verdict, row.worst))
        return heads, rows


def validate_images(
    clean: Path,
    noisy: Path,
    *,
    progress: Progress,
    kinds: Sequence[str] = (),
    most: int = PAGES,
    processes: int = 2,
    seed: int = 0,
) -> ImageReport:
    """Find which of ohr's image noises, at which severity, noisy images of the same pages look like.

    All kinds are simulated on a few clean pages, the nearest ones then closely on all; each severity is fitted on half
    of the pages and tested on the other half.

    Args:
        clean: a folder of images or PDFs.
        noisy: the same files by their paths without suffix.
        kinds: those that are tried; all whose severity is a number where none is given.
        most: pages that are looked at, of more.
        processes: that work at once.

    Raises:
        DataError: a folder or file cannot be read, there are fewer pairs than 4, or a noisy image shows another page.
    """
    twins, alone = pair(clean, noisy)
    twins = [twins[place] for place in evenly(len(twins), most)]
    if all(_equal(twin) for twin in twins):
        same = KindRow("none", "matched", 0.0, 0.0, 0.0, 0.0, 0.0, most=0.0, most_threshold=0.0)
        return ImageReport("none", len(twins), tuple(alone), (), (same,))
    names, few = list(kinds) or image_kinds(), evenly(len(twins), FEW)
    tried = tuple(recipe for kind in names for recipe in recipes(kind, COARSE))
    tasks = [Look(twin, (GIVEN, *(tried if place in few else ())), seed) for place, twin in enumerate(twins)]
    first = _looks(tasks, progress, processes)
    lost = tuple(twin.name for twin, page in zip(twins, first, strict=True) if not page[GIVEN]["registered"])
    _refuse_others(twins, lost)
    columns = tuple(first[0][GIVEN])
    given = table(first, [GIVEN], columns)[0]
    coarse = {kind: table([first[place] for place in few], recipes(kind, COARSE), columns) for kind in names}
    chosen = nearest(given[few], coarse, CLOSE)
    close = tuple(recipe for kind in chosen for recipe in recipes(kind, LEVELS))
    second = _looks([Look(twin, close, seed) for twin in twins], progress, processes)
    simulated = {kind: table(second, recipes(kind, LEVELS), columns) for kind in chosen}
    least = floor(coarse)
    tests = {
        kind: own_tests(np.array(LEVELS), part, least, drawn_feature(kind, columns)) for kind, part in simulated.items()
    }
    fits = fitted(simulated, given, least, tests, columns)
    rows = ranked(fits, columns) + [KindRow(kind, "far") for kind in names if kind not in fits]
    match = rows[0].kind if rows[0].verdict == "matched" else None
    return ImageReport(match, len(twins), tuple(alone), lost, tuple(rows))


def evenly(count: int, most: int) -> list[int]:
    """Return at most `most` places of `count`, evenly spread."""
    return sorted({round(place) for place in np.linspace(0, count - 1, min(count, most))})


def recipes(kind: str, levels: Sequence[float]) -> list[Recipe]:
    """Return the recipes of a kind at some severities."""
    return [(kind, level) for level in levels]


def drawn_feature(kind: str, columns: Sequence[str]) -> int | None:
    """Return the place of the feature that measures what a kind draws of each page up to the severity."""
    return columns.index(_DRAWN[kind]) if kind in _DRAWN else None


def fitted(
    simulated: Mapping[str, Table],
    given: Table,
    least: Table,
    tests: Mapping[str, Array],
    columns: Sequence[str],
) -> dict[str, Fit]:
    """Fit each kind: `simulated` at all levels, `given` features of the same pages, `least` spread, own `tests`."""
    levels, limits = np.array(LEVELS), limits_of(tests)
    return {
        kind: fit(levels, part, given, least, limits[kind], drawn_feature(kind, columns))
        for kind, part in simulated.items()
    }


def floor(coarse: Mapping[str, Table]) -> Table:
    """Return the least spread of each feature that counts, (F,), from all kinds."""
    every = np.concatenate([each_kind.reshape(-1, each_kind.shape[-1]) for each_kind in coarse.values()])
    return np.asarray(np.maximum(_FLOOR * every.std(axis=0), 1e-6))


def ranked(fits: Mapping[str, Fit], columns: Sequence[str]) -> list[KindRow]:
    """Return the rows of fitted kinds: those that match first, and of these the likeliest."""
    rows = []
    for kind, each_fit in fits.items():
        severity, matched = each_fit.severity, each_fit.matched
        row = KindRow(
            kind,
            "matched" if matched else "not matched",
            severity.value,
            severity.low,
            severity.high,
            each_fit.distance,
            each_fit.threshold,
            columns[each_fit.worst],
            each_fit.most,
            each_fit.most_threshold,
        )
        rows.append((not matched, -each_fit.likelihood, row))
    return [row for *_, row in sorted(rows, key=lambda each_row: each_row[:2])]


def _equal(twin: Twin) -> bool:
    return np.array_equal(*twin.images())


def _looks(tasks: Sequence[Look], progress: Progress, processes: int) -> list[dict[Recipe, dict[str, float]]]:
    found = []
    with workers(processes) as executor, counting(progress, "noises on pages", len(tasks)) as advance:
        for page in each(executor, look, tasks, processes):
            advance(1)
            found.append(page)
    return found


def _refuse_others(twins: Sequence[Twin], lost: Sequence[str]) -> None:
    """Raise a DataError where a noisy image shows another page than the clean image of its name."""
    if not lost:
        return
    clean = [CleanPage(twin.images()[0]) for twin in twins]
    for place, twin in enumerate(twins):
        if twin.name in lost and (other := shown_elsewhere(clean, twin.images()[1], place)) is not None:
            raise DataError(f"{twin.noisy}: shows the page of {twins[other].clean}, not of {twin.clean}")
