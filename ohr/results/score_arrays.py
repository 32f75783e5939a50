"""The questions and the scores of a run as arrays: one cell at a time, a column per question, replicates together."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import nan
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import SOURCES, Question
from ohr.errors import DataError
from ohr.results.folder.manifest_choices import Strata
from ohr.results.run import Run
from ohr.results.tables.arrays import codes, numbers
from ohr.results.tables.groups import ATTRIBUTES, GROUPS
from ohr.results.tables.read_table import plain, reading, refuse_absent
from ohr.results.tables.schema import CELL, CELL_NAME
from ohr.statistics.clusters import Clusters
from ohr.statistics.estimate import NO_INTERVAL

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

CLEAN_TEXT = "clean_text"
"""The trait `yes` or `no`, where some questions have clean text and others none."""


@dataclass(frozen=True)
class Part:
    """Some of a run's questions.

    Args:
        places: (n,) among all questions.
        clusters: how they share documents and, where these are fixed strata, domains.
        by_domain: how they share documents and domains, whatever the strata.
        left_out: questions of the same group that do not count.
    """

    places: Places
    clusters: Clusters
    by_domain: Clusters
    left_out: int = 0

    @property
    def domains(self) -> Places:
        """(n,) code of each one's domain."""
        return self.by_domain.strata[self.by_domain.documents]


@dataclass(frozen=True)
class Questions:
    """The questions of a run, as columns with one value per question.

    Args:
        traits: by name: TRAITS, then the groups of the benchmark's own; empty where a question has none.
        clean_text: whether the ground truth has any text on the question's pages.
        compared: the scores are compared with clean text: a question without any is in no mean and no pair.
        strata: whether domains are fixed strata, as the spec chose.
    """

    ids: tuple[str, ...]
    documents: NDArray[np.str_]
    traits: Mapping[str, NDArray[np.str_]]
    clean_text: Flags
    strata: Strata = "auto"
    compared: bool = False

    @classmethod
    def of(cls, asked: Sequence[Question], without_text: Collection[str] = ()) -> Self:
        """Take the questions of a benchmark, of which some have no clean text."""
        columns = {name: [getattr(question, name) for question in asked] for name in ("id", "document", *ATTRIBUTES)}
        columns |= {"clean_text": [q.id not in without_text for q in asked], "pages": [len(q.grades) for q in asked]}
        columns |= {"question_id": columns["id"], "groups": [dict(question.groups) for question in asked]}
        return cls._of_columns(columns, "auto")

    @classmethod
    def read(cls, run: Run) -> Self:
        """Read the questions of a run.

        Raises:
            DataError: the table is missing or damaged.
        """
        import pyarrow.compute as pc

        names = ["question_id", "document", "clean_text", "groups", *ATTRIBUTES]
        table = plain(run.table("questions", [*names, "pages", "relevant"]))
        columns: dict[str, list[Any]] = {name: table[name].to_pylist() for name in names}
        columns["groups"] = [dict(pair.partition("=")[::2] for pair in pairs) for pairs in columns["groups"]]
        relevant = [sum(page["grade"] > 0 for page in pages) for pages in table["relevant"].to_pylist()]
        columns["pages"] = list(map(max, relevant, pc.list_value_length(table["pages"]).to_pylist()))
        return cls._of_columns(columns, run.choices.strata)

    @classmethod
    def _of_columns(cls, columns: Mapping[str, Sequence[Any]], strata: Strata) -> Self:
        traits = {name: np.array(columns[name], dtype=str) for name in ATTRIBUTES}
        traits["pages"] = np.array(["multi-page" if count > 1 else "single-page" for count in columns["pages"]], str)
        for name in dict.fromkeys(name for mine in columns["groups"] for name in mine):
            traits[name] = np.array([mine.get(name, "") for mine in columns["groups"]], dtype=str)
        clean_text = np.array(columns["clean_text"], bool)
        if not clean_text.all():
            traits[CLEAN_TEXT] = np.where(clean_text, "yes", "no")
        documents = np.array(columns["document"], dtype=str)
        return cls(tuple(columns["question_id"]), documents, traits, clean_text, strata)

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The place of each question."""
        return {name: place for place, name in enumerate(self.ids)}

    def groups(self, trait: str) -> list[str]:
        """List the values of a trait: evidence sources as the papers do, everything else by name."""
        order = {source: place for place, source in enumerate(SOURCES)}
        return sorted(set(self.traits[trait].tolist()) - {""}, key=lambda name: (order.get(name, len(order)), name))

    @cached_property
    def _parts(self) -> dict[tuple[str, str], Part]:
        return {}

    def part(self, trait: str, group: str) -> Part:
        """Choose the questions of a group: one value of a trait or, of evidence sources, one of GROUPS.

        Every mean and every pair is over such a part. Those that do not count are in none but CLEAN_TEXT's own.
        """
        known = self._parts
        if (trait, group) not in known:
            held = self.traits[trait]
            if trait == "evidence_source" and group in GROUPS:
                belongs = [source for source in self.groups(trait) if GROUPS[group](source)]
                chosen = np.isin(held, belongs)
            else:
                chosen = held == group
            counted = chosen & (self.counted | (trait == CLEAN_TEXT))
            left_out = int(chosen.sum() - counted.sum())
            known[trait, group] = replace(self.among(np.flatnonzero(counted)), left_out=left_out)
        return known[trait, group]

    @property
    def counted(self) -> Flags:
        """Whether each question counts: all do, but beside clean text those that have none."""
        return self.clean_text | (not self.compared)

    def among(self, places: Places) -> Part:
        """Choose questions by their places."""
        documents, domains = self.documents[places], self.traits["domain"][places]
        fixed = self.strata == "domain" or (self.strata == "auto" and _are_strata(documents, domains))
        by_domain = Clusters.of(documents, domains)
        return Part(places, by_domain if fixed else Clusters.of(documents), by_domain)


def _are_strata(documents: NDArray[np.str_], domains: NDArray[np.str_]) -> bool:
    """Report whether domains are fixed strata: each must have documents enough to know its own variance.

    With two documents a domain has one degree of freedom: intervals of mini's sources came out wider than [0, 1].
    """
    _, first = np.unique(documents, return_index=True)
    counts = np.unique(domains[first], return_counts=True)[1]
    return bool(counts.size) and int(counts.min()) >= NO_INTERVAL


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
            places, names = codes(rows["question_id"])
            try:
                asked = np.array([self.questions.place[name] for name in names], dtype=np.intp)[places]
            except KeyError as error:
                raise DataError(f"{self._path}: question {error.args[0]!r} is not in questions.parquet") from None
            places, names = codes(rows["status"])
            bad = np.array([name == "failed" for name in names])[places]
            value = numbers(rows["value"])
            places, names = codes(rows["metric"])
            for number, metric in enumerate(names):
                here = places == number
                draws.setdefault(metric, np.full(shape, nan))[replicate, asked[here]] = value[here]
                failed.setdefault(metric, np.zeros(shape[1], bool))[asked[here & bad]] = True
        return CellScores(tuple(draws), np.stack(list(draws.values())), np.stack(list(failed.values())))
