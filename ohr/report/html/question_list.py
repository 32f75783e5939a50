"""The questions of a run: their scores as columns, chosen and sorted; scores are read when they are looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ohr.results.run import Run
from ohr.results.score_arrays import Flags, Floats, Place, ScoreTable
from ohr.results.tables.groups import STAGES
from ohr.results.tables.read_table import plain

Change = Literal["", "lost", "gained", "failed"]
ORDERS = ("lost", "clean", "score", "id", "text", "document", "domain", "source")
"""Columns that the list can be sorted by."""

NOTHING = 1e-9
"""Differences up to this are rounding: the question neither lost nor gained."""
_COLUMNS = ("question_id", "text", "document", "domain", "evidence_source")
_KEPT = 1 << 26  # bytes of scores that are kept in memory: 70 cells of 100,000 questions, each with a number and a flag


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One stage of evaluation through one pipeline; parts that the stage does not use are empty."""

    stage: str
    metric: str
    chunker: str
    retriever: str
    generator: str

    @property
    def label(self) -> str:
        """Its name: `overall f1: bm25 + extractive`."""
        parts = " + ".join(filter(None, (self.retriever, self.generator)))
        return f"{self.stage} {self.metric}" + (f": {parts}" if parts else "")


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of questions: a pipeline, a condition, filters, and an order.

    Args:
        pipeline: its place among the pipelines.
        condition: its place among the conditions.
        change: only questions that lost, gained or failed; empty for all.
        search: text that the question, its id or its document contains, whatever the case.
        order: one of ORDERS.
    """

    pipeline: int = 0
    condition: int = 0
    change: Change = ""
    source: str = ""
    domain: str = ""
    search: str = ""
    order: str = "lost"
    descending: bool = True


class QuestionList:
    """The questions of a run and their scores.

    Args:
        texts: show what they ask; else their ids take its place.

    Raises:
        DataError: a table is missing or damaged.
    """

    def __init__(self, run: Run, *, texts: bool = True) -> None:
        self.run = run
        table = plain(run.table("questions", _COLUMNS))
        columns = [[value or "" for value in table[name].to_pylist()] for name in _COLUMNS]
        self.ids, self.texts, self.documents, self.domains, self.sources = columns
        if not texts:
            self.texts = self.ids
        self._scores = ScoreTable.of(run)
        self._headline = run.headlines
        self.scores = lru_cache(maxsize=_KEPT // (9 * max(len(self.ids), 1)) + 2)(self._read)

    @cached_property
    def _cells(self) -> Mapping[tuple[Pipeline, str], Place]:
        return {
            (self._pipeline(place), place.condition): place for place in self._scores.places if place.stage in STAGES
        }

    def _pipeline(self, place: Place) -> Pipeline:
        parts = (place.chunker or "", place.retriever or "", place.generator or "")
        return Pipeline(place.stage, self._headline[place.stage], *parts)

    @cached_property
    def pipelines(self) -> list[Pipeline]:
        """The pipelines with the stage's metric, stage by stage: searches of an agent may have others alone."""
        places: dict[Pipeline, Place] = {}
        for (pipeline, _), place in self._cells.items():
            places.setdefault(pipeline, place)
        scored = [pipeline for pipeline, place in places.items() if pipeline.metric in self._scores.read(place).metrics]
        return sorted(scored, key=lambda pipeline: STAGES.index(pipeline.stage))

    @cached_property
    def conditions(self) -> list[str]:
        """The conditions, in the order of the spec; those without noise too."""
        places = [place for place in self._scores.places if place.stage in ("page", *STAGES)]
        return list(dict.fromkeys(place.condition for place in places))

    @cached_property
    def clean(self) -> int | None:
        """The place of the condition without noise."""
        bare = {place.condition for place in self._scores.places if place.noise_type == "none"}
        return next((number for number, name in enumerate(self.conditions) if name in bare), None)

    @cached_property
    def bases(self) -> Mapping[str, str]:
        """The first knowledge base of each condition: the one whose pages, passages and answers are shown."""
        found: dict[str, str] = {}
        for place in self._scores.places:
            if place.condition in self.conditions:
                found.setdefault(place.condition, self._scores.bases(place)[0][0])
        return found

    def _read(self, pipeline: int, condition: int) -> tuple[Floats, Flags]:
        name = next(iter(self.pipelines[pipeline : pipeline + 1]), None)  # a run that scores pages alone has none
        place = self._cells.get((name, self.conditions[condition])) if name else None
        if name is None or place is None:
            return np.full(len(self.ids), np.nan), np.zeros(len(self.ids), dtype=bool)
        cell = self._scores.read(place).only([name.metric])
        return cell.values[0], cell.failed[0]

    def lost(self, pipeline: int, condition: int) -> Floats:
        """Return each question's loss, the clean score minus this one; nan where it has no pair."""
        if self.clean is None:
            return np.full(len(self.ids), np.nan)
        lost = self.scores(pipeline, self.clean)[0] - self.scores(pipeline, condition)[0]
        return np.where(self._scores.questions.counted, lost, np.nan)

    @cached_property
    def start(self) -> tuple[int, int]:
        """The pipeline and the condition with the largest mean loss: what to look at first."""
        worst, place = -np.inf, (0, max(len(self.conditions) - 1, 0))
        for pipeline in range(len(self.pipelines)):
            for condition in range(len(self.conditions)):
                lost = self.lost(pipeline, condition)
                known = lost[~np.isnan(lost)]
                if condition != self.clean and known.size and known.mean() > worst:
                    worst, place = known.mean(), (pipeline, condition)
        return place

    # --- choosing -------------------------------------------------------------------------------------

    def select(self, choice: Choice) -> NDArray[np.intp]:
        """Return the places of the questions that a choice lists, in its order; those without a value come last."""
        lost = self.lost(choice.pipeline, choice.condition)
        failed = self.scores(choice.pipeline, choice.condition)[1]
        chosen = np.ones(len(self.ids), dtype=bool)
        if choice.change:
            chosen &= {"lost": lost > NOTHING, "gained": lost < -NOTHING, "failed": failed}[choice.change]
        for name, column in ((choice.source, self._arrays["source"]), (choice.domain, self._arrays["domain"])):
            if name:
                chosen &= column == name
        if choice.search:
            sought = choice.search.casefold()
            chosen &= np.fromiter((sought in text for text in self._searched), bool, len(self.ids))
        places = np.flatnonzero(chosen)
        column = self._column(choice)[places]
        missing = np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)
        ranks = np.unique(column, return_inverse=True)[1]
        order = np.lexsort((places, -ranks if choice.descending else ranks, missing))
        return places[order]

    def rows(self, choice: Choice, places: Sequence[int]) -> list[dict[str, Any]]:
        """Return rows of the list."""
        score, failed = self.scores(choice.pipeline, choice.condition)
        clean = score if self.clean is None else self.scores(choice.pipeline, self.clean)[0]
        lost = self.lost(choice.pipeline, choice.condition)
        return [
            {
                "place": place,
                "id": self.ids[place],
                "text": shown(self.texts[place]),
                "document": self.documents[place],
                "domain": self.domains[place],
                "source": self.sources[place],
                "clean": None if self.clean is None else float(clean[place]),
                "score": float(score[place]),
                "lost": float(lost[place]),
                "failed": bool(failed[place]),
            }
            for place in map(int, places)
        ]

    def about(self) -> dict[str, Any]:
        """Return what the page needs to offer choices: pipelines, conditions, groups."""
        return {
            "count": len(self.ids),
            "pipelines": [{**asdict(pipeline), "label": pipeline.label} for pipeline in self.pipelines],
            "conditions": self.conditions,
            "clean": self.clean,
            "start": self.start,
            "sources": self.groups["source"],
            "domains": self.groups["domain"],
        }

    @cached_property
    def groups(self) -> Mapping[str, list[str]]:
        """The evidence sources and the domains of the questions."""
        return {"source": sorted(set(self.sources)), "domain": sorted(set(self.domains))}

    def _column(self, choice: Choice) -> NDArray[Any]:
        if choice.order == "score":
            return self.scores(choice.pipeline, choice.condition)[0]
        if choice.order == "clean" and self.clean is not None:
            return self.scores(choice.pipeline, self.clean)[0]
        return self._arrays.get(choice.order, self.lost(choice.pipeline, choice.condition))

    @cached_property
    def _arrays(self) -> Mapping[str, NDArray[Any]]:
        columns = {"id": self.ids, "text": self.texts, "document": self.documents}
        columns |= {"domain": self.domains, "source": self.sources}
        return {name: np.array(column, dtype=object) for name, column in columns.items()}

    @cached_property
    def _searched(self) -> list[str]:
        return ["\n".join(parts).casefold() for parts in zip(self.texts, self.ids, self.documents, strict=True)]


def shown(text: str, most: int = 240) -> str:
    """Cut a text that is too long, as a question for a list."""
    return text if len(text) <= most else f"{text[:most]}…"
