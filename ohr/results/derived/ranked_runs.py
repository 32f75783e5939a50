"""Runs of retrievers elsewhere: the score of each topic, means, and comparisons with the first run."""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr import extras
from ohr.errors import DataError
from ohr.files.trec import Judgments, RankedRun, read_qrels, read_run, read_topic_documents
from ohr.messages.wording import counted, named
from ohr.results.derived.comparison import Candidate, Compared, judged
from ohr.results.derived.pairs import paired
from ohr.results.score_arrays import Flags, Floats, Place
from ohr.statistics.clusters import Clusters
from ohr.statistics.estimate import Estimate
from ohr.statistics.intervals import clustered_means
from ohr.statistics.margin import MARGIN

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


_PAGE_OR_PASSAGE = re.compile(r"#[\d_]+$")
"""A page or a passage of a document, as ohr (`document#3`) and MS MARCO (`document#0_17`) write it."""

ALONE = "each topic counts by itself: where several are about one document, intervals are too short and p too small"
"""The note where nothing says which topics are about one document."""


def shared_documents(topics: Sequence[str], judgments: Judgments) -> tuple[Clusters, str, list[str]]:
    """Group topics that share a relevant document, also through others.

    Pages and passages count as their document. A topic without a relevant document is by itself.

    Args:
        topics: of the judgments.
        judgments: the grades.

    Returns:
        The groups; `document`, or `topic` where each is by itself; and what to know of them.

    Edge cases: where most topics are of one group, and fewer than half of these share any one document, as where topics
    have many relevant documents, the group says nothing of documents: each topic is by itself, with a note.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    about = [
        {_PAGE_OR_PASSAGE.sub("", document) for document, grade in judgments.grades[topic].items() if grade > 0}
        for topic in topics
    ]
    codes = {document: code for code, document in enumerate(sorted(set().union(*about)), start=len(topics))}
    ends = [(place, codes[document]) for place, documents in enumerate(about) for document in documents]
    row, column = np.array(ends, dtype=np.intp).reshape(-1, 2).T
    size = len(topics) + len(codes)
    groups = connected_components(coo_array((np.ones(len(row)), (row, column)), shape=(size, size)), directed=False)[1]
    clusters = Clusters.of(groups[: len(topics)])
    if len(clusters.counts) == len(topics):
        return clusters, "topic", [f"{ALONE}; --clusters FILE says which are"]
    largest, together = clusters.counts.max(), np.bincount(column).max()
    if largest > len(topics) / 2 and together < largest / 2:
        chained = f"{counted(len(topics), 'topic')} share relevant documents so that no groups of them are apart"
        return Clusters.of(topics), "topic", [f"{chained}; {ALONE}; --clusters FILE says which are"]
    made = "topics that share a relevant document count as questions about one document"
    return clusters, "document", [f"{made}; --clusters FILE says it otherwise"]


@dataclass(frozen=True)
class Hits:
    """Scores of runs by topic.

    Args:
        runs: their names.
        measures: their names.
        topics: those of the judgments.
        scores: (runs, measures, topics) 0 where a topic is missing from a run; means over the draws of its noise.
        missing: (runs, topics) whether it is, in any of the draws.
        clusters: which topics share a document.
        cluster: `document`, or `topic` where each topic is by itself.
        notes: what to know of the files.
    """

    runs: tuple[str, ...]
    measures: tuple[str, ...]
    topics: tuple[str, ...]
    scores: Floats
    missing: Flags
    clusters: Clusters
    cluster: str
    notes: tuple[str, ...]

    def means(self) -> list[list[Estimate]]:
        """Average each measure of each run over all topics, with 95% intervals over documents."""
        counts = self.missing.sum(axis=1).tolist()
        return [
            clustered_means(scores, self.clusters, [missing] * len(self.measures))
            for scores, missing in zip(self.scores, counts, strict=True)
        ]


def read_hits(
    runs: Sequence[Path], qrels: Path, measures: Sequence[str] | None = None, clusters: Path | None = None
) -> Hits:
    """Score runs, files as TREC has them, against judgments.

    A folder is one run whose files are draws of its noise: a topic's score is the mean over them.

    Every topic of the judgments is in the means: 0 where a run has no document of it, as trec_eval's option -c counts,
    and where no document is relevant. Topics without judgments are left out.

    Args:
        runs: files, read one at a time, and folders of files.
        qrels: the judgments.
        measures: names of ir_measures; None for nDCG@10, R@100 and RR.
        clusters: which document each topic is about; without it topics that share a relevant document are.

    Raises:
        DataError: a file or a measure cannot be read, or a run has no topic of the judgments.
        MissingExtra: ir_measures is not installed.
    """
    names = _names(runs)
    judgments = read_qrels(qrels)
    ready = Measures(measures or USUAL, judgments)
    grouped, cluster, notes = _clusters(ready.topics, judgments, clusters)
    notes = [*judgments.notes, *_unjudgeable(judgments), *notes]
    scores, missing, tied, depths = [], [], dict[str, int](), dict[str, int]()
    for path, name in zip(runs, names, strict=True):
        values, absent = [], []
        for file in _draws(path):
            run = read_run(file)
            values.append(ready.scores(run))
            absent.append(np.array([topic not in run.place for topic in ready.topics]))
            label = name if file == path else f"{name}/{file.name}"
            notes += [*run.notes, *_about(run, label, judgments, absent[-1])]
            tied[label] = run.tied
            depths[label] = int(np.diff(run.starts).max())
        scores.append(np.mean(values, axis=0))
        missing.append(np.any(absent, axis=0))
    notes += [*_ties(tied, ready.of_others()), *_shallow(depths, ready.deepest)]
    if len(runs) > 1 and (alone := int(np.all(missing, axis=0).sum())):
        notes.append(
            f"{counted(alone, 'topic')} of the qrels in no run: if nobody asked them, leave them out of the qrels"
        )
    return Hits(names, ready.names, ready.topics, np.stack(scores), np.stack(missing), grouped, cluster, tuple(notes))


def compare_hits(hits: Hits, margin: float | None = None) -> Compared:
    """Compare each run with the first by every measure, paired by topic, as one family.

    Raises:
        DataError: a run and the first have no topic in common.
    """
    several, margin = len(hits.runs) > 2, MARGIN if margin is None else margin
    candidates = []
    for run, name in enumerate(hits.runs[1:], start=1):
        failed = hits.missing[0] | hits.missing[run]
        if failed.all():
            raise DataError(f"{hits.runs[0]} and {name} have no topic in common")
        for row, measure in enumerate(hits.measures):
            values = paired(hits.scores[0, row], hits.scores[run, row])
            label = f"{name} {measure}" if several else measure
            candidates.append(Candidate(label, _place(hits.runs[0]), _place(name), measure, values, failed))
    pairs = judged(candidates, hits.clusters, margin)
    return Compared(pairs, len(hits.topics), len(hits.clusters.counts), margin, hits.notes, hits.cluster)


def _place(run: str) -> Place:
    return Place("retrieval", run, "", "", None, None, None, None, None)


def _names(runs: Sequence[Path]) -> tuple[str, ...]:
    """Name runs by their files; by their whole paths where two files have one name."""
    files = [path.resolve() for path in runs]
    if len(set(files)) < len(files):
        raise DataError(f"{next(path for path in runs if files.count(path.resolve()) > 1)}: is named twice")
    short = [path.name for path in runs]
    return tuple(name if short.count(name) == 1 else str(path) for name, path in zip(short, runs, strict=True))


def _draws(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
    if not files:
        raise DataError(
            f"{path}: is a folder without files: a folder is one run, with a file for each draw of its noise"
        )
    return files


def _about(run: RankedRun, name: str, judgments: Judgments, missing: Flags) -> Iterator[str]:
    """Yield what to know of a run: topics that are missing, or have no judgments.

    Raises:
        DataError: it has no topic of the judgments.
    """
    if missing.all():
        theirs = next(iter(judgments.grades))
        raise DataError(
            f"{run.path}: has no topic of {judgments.path} (it has {run.topics[0]!r}, the qrels {theirs!r})"
        )
    unknown = [topic for topic in run.topics if topic not in judgments.grades]
    if unknown:
        yield f"{name}: {counted(len(unknown), 'topic')} not in the qrels, left out: {named(unknown)}"
    if missing.any():
        absent = [topic for topic, flag in zip(judgments.grades, missing.tolist(), strict=True) if flag]
        said = f"{counted(len(absent), 'topic')} of the qrels missing, scored 0 and counted as failed"
        yield f"{name}: {said}: {named(absent)}"


def _ties(tied: Mapping[str, int], others: Sequence[str]) -> Iterator[str]:
    """Yield how many topics have documents with equal scores, and how these are ranked."""
    if counts := [f"{count:,} of {name}" for name, count in tied.items() if count]:
        other = f"; {', '.join(others)} may rank them otherwise" if others else ""
        yield (
            f"topics with equal scores: {named(counts)}: trec_eval ranks these documents by id, the last one first, "
            f"looks at 7 digits of a score, and never at the rank{other}"
        )


def _shallow(depths: Mapping[str, int], deepest: int) -> Iterator[str]:
    """Yield which runs end before the largest cutoff: what is below their end counts as not found."""
    if short := [f"{name} ({depth:,})" for name, depth in depths.items() if depth < deepest]:
        yield f"with fewer documents for each topic than the largest cutoff ({deepest:,}) counts: {named(short)}"


def _unjudgeable(judgments: Judgments) -> Iterator[str]:
    if topics := judgments.without_relevant:
        yield f"{counted(len(topics), 'topic')} without a relevant document, scored 0: {named(topics)}"


def _clusters(topics: Sequence[str], judgments: Judgments, path: Path | None) -> tuple[Clusters, str, list[str]]:
    """Group topics by document, and documents by domain where the file has one; returns the kind and notes, too."""
    if path is None:
        return shared_documents(topics, judgments)
    known: Mapping[str, tuple[str, str]] = read_topic_documents(path)
    alone = [topic for topic in topics if topic not in known]
    if len(alone) == len(topics):
        raise DataError(f"{path}: has no topic of the qrels (it has {next(iter(known))!r}, the qrels {topics[0]!r})")
    # a tab is in no id that was read from lines
    about = [known.get(topic, (f"\t{topic}", "")) for topic in topics]
    documents, domains = zip(*about, strict=True)
    more = f"{path.name}: {counted(len(alone), 'topic')} without a document, each by itself: {named(alone)}"
    return Clusters.of(documents, domains if any(domains) else None), "document", [more] if alone else []
