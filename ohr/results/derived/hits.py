"""Runs of retrievers elsewhere: the score of each topic, means, and comparisons with the first run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ohr.errors import DataError
from ohr.files.trec import Judgments, RankedRun, read_qrels, read_run, read_topic_documents
from ohr.messages.wording import counted, named
from ohr.results.derived.comparison import Candidate, Compared, judged
from ohr.results.derived.measures import USUAL, Measures
from ohr.results.derived.pairs import paired
from ohr.results.derived.topics import shared_documents
from ohr.results.score_arrays import Flags, Floats, Place
from ohr.statistics.clusters import Clusters
from ohr.statistics.comparison import MARGIN
from ohr.statistics.estimate import Estimate
from ohr.statistics.intervals import clustered_means


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
    """Return the files of a run: itself, or those in its folder."""
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
