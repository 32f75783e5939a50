"""The table of scores as arrays: one cell at a time, a column per question, replicates together."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import nan
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ohr.errors import DataError
from ohr.results.question_arrays import Questions
from ohr.results.run import Run
from ohr.results.tables.read_table import reading, refuse_absent
from ohr.results.tables.schema import CELL, CELL_NAME

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

_TEXT = ["question_id", "metric", "status"]
_KEPT = 8  # cells in memory: the one at hand, its clean one, and the references of its generator


class Place(NamedTuple):
    """Where a cell is: its condition and its pipeline; a part that a stage does not use is None."""

    stage: str
    condition: str
    noise: str
    noise_type: str
    knob: str | None
    knob_value: str | None
    chunker: str | None
    retriever: str | None
    generator: str | None

    @property
    def pipeline(self) -> tuple[str | None, ...]:
        """Stage, chunker, retriever and generator."""
        return self.stage, self.chunker, self.retriever, self.generator

    @property
    def named(self) -> dict[str, str | None]:
        """The columns that name the cell, with their values."""
        return {name: getattr(self, name) for name in CELL_NAME}


@dataclass(frozen=True)
class CellScores:
    """The scores of one cell.

    Args:
        metrics: their names, in the order in which they were written.
        draws: (metrics, replicates, questions); nan where undefined.
        failed: (metrics, questions): it failed in at least one replicate.
    """

    metrics: tuple[str, ...]
    draws: Floats
    failed: Flags

    @cached_property
    def values(self) -> Floats:
        """(metrics, questions) each question's score: its mean over the replicates that define it."""
        return np.stack([over_draws(draws) for draws in self.draws])

    def only(self, metrics: Sequence[str]) -> "CellScores":
        """Keep some of the metrics, in this order; one that the cell does not have is undefined."""
        if tuple(metrics) == self.metrics:
            return self
        places = [self.metrics.index(metric) if metric in self.metrics else None for metric in metrics]
        draws = [np.full_like(self.draws[0], nan) if place is None else self.draws[place] for place in places]
        failed = [np.zeros_like(self.failed[0]) if place is None else self.failed[place] for place in places]
        return CellScores(tuple(metrics), np.stack(draws), np.stack(failed))


def over_draws(draws: Floats) -> Floats:
    """Average (replicates, n) over the replicates that define a value; nan where none does."""
    defined = ~np.isnan(draws)
    counts = defined.sum(axis=0)
    sums: Floats = np.where(defined, draws, 0.0).sum(axis=0)
    means: Floats = np.divide(sums, counts, out=np.full(draws.shape[1], nan), where=counts > 0)
    return means


class ScoreTable:
    """A table of scores on the disk, read a cell at a time: memory does not grow with the number of cells.

    Args:
        path: the Parquet file.
        questions: those that it has scores of; the table's own say whether clean text is among the conditions.
        equal: values that a cell must have in further columns, such as `noisy` where texts were swapped.

    Raises:
        DataError: the file is missing, damaged, or no table of scores of this version.
    """

    def __init__(self, path: Path, questions: Questions, **equal: str) -> None:
        from pyarrow import parquet

        self._path, self._equal = path, equal
        with reading(path):
            refuse_absent(path, parquet.read_schema(path).names, (*CELL, "kb", "replicate", "value", *_TEXT, *equal))
            self._file = parquet.ParquetFile(path, read_dictionary=_TEXT)
            self._groups = self._index()
        self._plain: Mapping[str, str] = {}
        clean = any(place.noise_type == "none" and place.stage != "reference" for place in self._groups)
        self.questions = replace(questions, compared=questions.compared or clean)
        self.read = lru_cache(maxsize=_KEPT)(self._read)

    @classmethod
    def of(cls, run: Run) -> Self:
        """Read the scores of a run.

        Raises: as the class, and a DataError where the table of questions is missing or damaged.
        """
        table = cls(run.path("scores"), Questions.read(run))
        table._plain = run.choices.plain
        return table

    @property
    def places(self) -> list[Place]:
        """Every cell, in the order in which they were written."""
        return list(self._groups)

    def of_stage(self, stage: str) -> list[Place]:
        """Every cell of a stage."""
        return [place for place in self._groups if place.stage == stage]

    def clean(self, place: Place) -> Place | None:
        """Find the cell of the same pipeline on the knowledge base without noise; None where there is none."""
        return next((other for other in self.pipelines[place.pipeline] if other.noise_type == "none"), None)

    def reference(self, place: Place) -> Place | None:
        """Find the cell that a cell is compared with, question by question.

        The clean one; in a run without clean text, such as one of scans, the plain pages as the same engine reads them.
        """
        plain = self._plain.get(place.condition)
        scans = (other for other in self.pipelines[place.pipeline] if other.condition == plain)
        return self.clean(place) or next(scans, None)

    def baseline(self, place: Place) -> Place | None:
        """Find the cell that ratios compare with: the clean one, else that of the only condition without noise.

        A benchmark without ground truth has no clean text: there it is the undistorted images as an engine reads them.
        """
        plain = {other.condition: other for other in self.pipelines[place.pipeline] if other.knob is None}
        return self.clean(place) or (next(iter(plain.values())) if len(plain) == 1 else None)

    @cached_property
    def pipelines(self) -> Mapping[tuple[str | None, ...], Sequence[Place]]:
        """The cells of each pipeline."""
        found: dict[tuple[str | None, ...], list[Place]] = defaultdict(list)
        for place in self._groups:
            found[place.pipeline].append(place)
        return found

    def bases(self, place: Place) -> list[tuple[str, int]]:
        """List the name and replicate of each knowledge base of a cell."""
        return list(self._groups[place])

    def _index(self) -> dict[Place, dict[tuple[str, int], list[int]]]:
        """Learn from the file's statistics which row groups belong to which cell and knowledge base."""
        found: dict[Place, dict[tuple[str, int], list[int]]] = defaultdict(lambda: defaultdict(list))
        metadata, names = self._file.metadata, self._file.schema_arrow.names
        columns = [names.index(name) for name in (*CELL, *self._equal, "kb", "replicate")]
        for group in range(metadata.num_row_groups):
            about = metadata.row_group(group)
            *cell, base, replicate = (self._only(about.column(column)) for column in columns)
            if cell[len(CELL) :] == list(self._equal.values()):
                found[Place(*cell[: len(CELL)])][base, replicate].append(group)
        return found

    def _only(self, chunk: Any) -> Any:
        range_ = chunk.statistics
        if range_ is None or (range_.has_min_max and (range_.min != range_.max or range_.null_count)):
            raise DataError(
                f"{self._path}: its rows are not grouped by cell: it was not written by this version of ohr"
            )
        return range_.min if range_.has_min_max else None

    def _read(self, place: Place) -> CellScores:
        bases = self._groups[place]
        shape = len(bases), len(self.questions.ids)
        draws: dict[str, Floats] = {}
        failed: dict[str, Flags] = {}
        for replicate, groups in enumerate(bases.values()):
            with reading(self._path):
                rows = self._file.read_row_groups(groups, [*_TEXT, "value"], use_threads=False)
            codes, names = _codes(rows["question_id"])
            asked = np.array([self._place_of(name) for name in names], dtype=np.intp)[codes]
            codes, names = _codes(rows["status"])
            bad = np.array([name == "failed" for name in names])[codes]
            value = rows["value"].to_numpy()
            codes, names = _codes(rows["metric"])
            for number, metric in enumerate(names):
                here = codes == number
                draws.setdefault(metric, np.full(shape, nan))[replicate, asked[here]] = value[here]
                failed.setdefault(metric, np.zeros(shape[1], bool))[asked[here & bad]] = True
        return CellScores(tuple(draws), np.stack(list(draws.values())), np.stack(list(failed.values())))

    def _place_of(self, question: str) -> int:
        try:
            return self.questions.place[question]
        except KeyError:
            raise DataError(f"{self._path}: question {question!r} is not in questions.parquet") from None


def _codes(column: Any) -> tuple[Places, list[str]]:
    """Split a dictionary column of a table into its codes and their values."""
    chunk = column.unify_dictionaries().combine_chunks()
    return chunk.indices.to_numpy(), chunk.dictionary.to_pylist()
