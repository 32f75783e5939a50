"""Measures of rankings by ir_measures: what their names mean, and the score of each topic."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr import extras
from ohr.errors import DataError
from ohr.files.trec import Judgments, RankedRun

USUAL = ("nDCG@10", "R@100", "RR")
"""Measures where none is named."""

_COUNTS = ("NumQ", "NumRel", "NumRet")
_PART = 1000  # topics at a time: their dictionaries take some 20 MB at 100 documents a topic
_ROUNDING = 1e-6


class Measures:
    """Measures of ir_measures, ready to score runs against judgments.

    Args:
        names: as ir_measures writes them, such as `nDCG@10` or `AP(rel=2)`.
        judgments: the grades; every topic in them has a score in each run.

    Raises:
        DataError: ir_measures cannot compute a measure, or ohr has no interval for it.
        MissingExtra: ir_measures is not installed.
    """

    def __init__(self, names: Sequence[str], judgments: Judgments) -> None:
        self._library = extras.load("ir_measures", "trec")
        self._measures = list(dict.fromkeys(_parsed(self._library, name) for name in names))
        self.names = tuple(map(str, self._measures))
        self.topics = tuple(judgments.grades)
        parts = [self.topics[place : place + _PART] for place in range(0, len(self.topics), _PART)]
        self._parts = [
            (part, self._evaluator(judgments, part, group)) for part in parts for group in _groups(self._measures)
        ]

    @property
    def deepest(self) -> int:
        """The largest cutoff of a measure; 0 where none has one."""
        return max((int(measure.params.get("cutoff") or 0) for measure in self._measures), default=0)

    def scores(self, run: RankedRun) -> NDArray[np.float64]:
        """Return the (measures, topics) scores of a run: 0 where it has no document of a topic.

        Raises:
            DataError: a score is not between 0 and 1, or a provider of ir_measures fails.
        """
        values = np.zeros((len(self._measures), len(self.topics)))
        rows = {measure: row for row, measure in enumerate(self._measures)}
        places = {topic: place for place, topic in enumerate(self.topics)}
        for topic, measure, value in self._values(run):
            values[rows[measure], places[topic]] = value
        outside = (values < -_ROUNDING) | (values > 1 + _ROUNDING)
        if outside.any():
            row, place = np.argwhere(outside)[0]
            raise DataError(
                f"{run.path}: {self.names[row]} of topic {self.topics[place]!r} is {values[row, place]:g}: ohr has "
                "intervals for measures between 0 and 1 only"
            )
        return np.clip(values, 0, 1)

    def of_others(self) -> list[str]:
        """List the measures that trec_eval does not compute, so that ties may be broken in another way."""
        return [str(measure) for measure in self._measures if not self._library.pytrec_eval.supports(measure)]

    def _evaluator(self, judgments: Judgments, topics: Sequence[str], measures: Sequence[Any]) -> Any:
        try:
            return self._library.evaluator(measures, {topic: _safe(judgments.grades[topic]) for topic in topics})
        except (TypeError, ValueError) as error:  # it does not take a parameter, or needs another library
            raise DataError(f"ir_measures cannot compute {', '.join(self.names)}: {error}") from None

    def _values(self, run: RankedRun) -> Iterator[tuple[str, Any, float]]:
        for topics, evaluator in self._parts:
            scores = run.scores(topics)
            try:
                yield from evaluator.iter_calc(scores) if scores else ()
            except Exception as error:  # each provider, some of them programs, has errors of its own
                hint = " (gdeval's measures need topics that are numbers)" if "perl" in str(error) else ""
                raise DataError(
                    f"{run.path}: ir_measures cannot compute {', '.join(self.names)}{hint}: {error}"
                ) from error


def _groups(measures: Sequence[Any]) -> list[list[Any]]:
    """Group measures for the evaluators: those without parameters, or with a cutoff only, are evaluated together.

    ir_measures 0.4.3 gives one evaluator of nDCG, with gains and without, a single value for both, and 0 for the other.
    """
    plain = [measure for measure in measures if set(measure.params) <= {"cutoff"}]
    return [group for group in (plain, *([measure] for measure in measures if measure not in plain)) if group]


def _safe(grades: Mapping[str, int]) -> Mapping[str, int]:
    """Return grades that trec_eval ends on: its nDCG may not where all are below 0, which count as 0."""
    return dict.fromkeys(grades, 0) if max(grades.values()) < 0 else grades


def _parsed(library: Any, name: str) -> Any:
    """Return a measure of ir_measures that ohr can judge."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of Python's, in the library's parser
            measure = library.parse_measure(name)
        measure.validate_params()
    except NameError:
        raise DataError(f"no measure {name!r}: {_hint(library, name)}") from None
    except (AssertionError, TypeError, ValueError, KeyError) as error:
        needs = " (a cutoff is written as in R@100)" if "cutoff" in str(error) else ""
        raise DataError(f"measure {name!r} cannot be read: {str(error).partition('<object')[0]}{needs}") from None
    if measure.NAME in _COUNTS:
        raise DataError(f"measure {name!r} is a count: ohr has intervals for measures between 0 and 1, such as R or P")
    if library.pyndeval.supports(measure):
        raise DataError(f"measure {name!r} needs the subtopics of qrels, which ohr does not read")
    cutoff = measure.params.get("cutoff")
    if cutoff is not None and cutoff < 1:
        raise DataError(f"measure {name!r}: the cutoff must be 1 or more")
    return measure


def _hint(library: Any, name: str) -> str:
    """Return what helps with an unknown measure: how trec_eval's measure, or one in other letters, is written here."""
    head = next(iter(re.findall(r"^\w+", name)), "")
    known = {other.casefold(): str(made.NAME) for other, made in library.measures.registry.items() if other.isascii()}
    folded = head.casefold()
    close = [folded] if folded in known else get_close_matches(folded, known, cutoff=0.7)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            written = library.parse_trec_measure(name)
    except (ImportError, ValueError):
        written = []
    if written:
        return f"trec_eval's is written {' or '.join(map(str, written[:3]))} here"
    names = [f"{other}{name.removeprefix(head)}" for other in dict.fromkeys(known[name] for name in close)]
    return f"did you mean {' or '.join(names)}?" if names else f"there are {', '.join(dict.fromkeys(known.values()))}"
