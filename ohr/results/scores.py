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

from ohr.contracts import SOURCES, Question
from ohr.errors import DataError
from ohr.results.choices import Strata, read_choices
from ohr.results.groups import ATTRIBUTES, GROUPS
from ohr.results.reading import plain, read_columns, reading, refuse_absent
from ohr.results.schema import CELL
from ohr.statistics.clusters import Clusters
from ohr.statistics.estimate import NO_INTERVAL

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

_TEXT = ["question_id", "metric", "status"]
_KEPT = 8  # cells in memory: the one at hand, its clean one, and the references of its generator


@dataclass(frozen=True)
class Part:
    """Some of a run's questions.

    Args:
        places: (n,) among all questions.
        clusters: how they share documents and, where these are fixed strata, domains.
        by_domain: how they share documents and domains, whatever the strata.
    """

    places: Places
    clusters: Clusters
    by_domain: Clusters

    @property
    def domains(self) -> Places:
        """(n,) code of each one's domain."""
        return self.by_domain.strata[self.by_domain.documents]


@dataclass(frozen=True)
class Questions:
    """The questions of a run, as columns with one value per question.

    Args:
        traits: by name, as TRAITS.
        clean_text: whether the ground truth has any text on the question's pages.
        strata: whether domains are fixed strata, as the spec chose.
    """

    ids: tuple[str, ...]
    documents: NDArray[np.str_]
    traits: Mapping[str, NDArray[np.str_]]
    clean_text: Flags
    strata: Strata = "auto"

    @classmethod
    def of(cls, asked: Sequence[Question]) -> Self:
        """Take the questions of a benchmark."""
        columns = {name: [getattr(question, name) for question in asked] for name in ATTRIBUTES}
        return cls._made([q.id for q in asked], [q.document for q in asked], [len(q.pages) for q in asked], columns)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the questions of a run.

        Raises:
            DataError: the table is missing or damaged.
        """
        import pyarrow.compute as pc

        names = ["question_id", "document", "pages", "clean_text", *ATTRIBUTES]
        table = plain(read_columns(folder / "questions.parquet", names))
        columns = {name: table[name].to_pylist() for name in names if name != "pages"}
        pages = pc.list_value_length(table["pages"]).to_pylist()
        made = cls._made(columns.pop("question_id"), columns.pop("document"), pages, columns)
        return replace(made, clean_text=np.array(columns["clean_text"], bool), strata=read_choices(folder).strata)

    @classmethod
    def _made(
        cls, ids: Sequence[str], documents: Sequence[str], pages: Sequence[int], columns: Mapping[str, Sequence[str]]
    ) -> Self:
        traits = {name: np.array(columns[name], dtype=str) for name in ATTRIBUTES}
        spans = ["multi-page" if count > 1 else "single-page" for count in pages]
        traits["pages"] = np.array(spans, dtype=str)
        return cls(tuple(ids), np.array(documents, dtype=str), traits, np.ones(len(ids), bool))

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The place of each question."""
        return {name: place for place, name in enumerate(self.ids)}

    def groups(self, trait: str) -> list[str]:
        """List the values of a trait: evidence sources as the papers do, everything else by name."""
        order = {source: place for place, source in enumerate(SOURCES)}
        return sorted(set(self.traits[trait].tolist()), key=lambda name: (order.get(name, len(order)), name))

    @cached_property
    def _parts(self) -> dict[tuple[str, str], Part]:
        return {}

    def part(self, trait: str, group: str) -> Part:
        """Choose the questions of a group: one value of a trait or, of evidence sources, one of GROUPS."""
        known = self._parts
        if (trait, group) not in known:
            held = self.traits[trait]
            if trait == "evidence_source" and group in GROUPS:
                belongs = [source for source in self.groups(trait) if GROUPS[group](source)]
                places = np.flatnonzero(np.isin(held, belongs))
            else:
                places = np.flatnonzero(held == group)
            known[trait, group] = self._part(places)
        return known[trait, group]

    def among(self, places: Places) -> Part:
        """Choose questions by their places."""
        return self._part(places)

    def _part(self, places: Places) -> Part:
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
        questions: those that it has scores of.
        equal: values that a cell must have in further columns, such as `noisy` where texts were swapped.

    Raises:
        DataError: the file is missing, damaged, or no table of scores of this version.
    """

    def __init__(self, path: Path, questions: Questions, **equal: str) -> None:
        from pyarrow import parquet

        self._path, self.questions, self._equal = path, questions, equal
        with reading(path):
            refuse_absent(path, parquet.read_schema(path).names, (*CELL, "kb", "replicate", "value", *_TEXT, *equal))
            self._file = parquet.ParquetFile(path, read_dictionary=_TEXT)
            self._groups = self._index()
        self.read = lru_cache(maxsize=_KEPT)(self._read)

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
