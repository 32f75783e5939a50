"""Losses of a run's conditions against the clean text, and points on its curves, read from its summary."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import nan
from typing import Any, TypeVar

from ohr.messages.wording import counted
from ohr.results.derived.pairs import FAILED
from ohr.results.run import Run
from ohr.results.tables.groups import ALL, ALL_STAGES, PAGE, STAGES
from ohr.statistics.comparison import holm, holm_ends
from ohr.statistics.signs import ALPHA, fewest


@dataclass(frozen=True, slots=True)
class Loss:
    """The loss of one condition in one pipeline: the clean score less the noisy one, question by question.

    Args:
        chunker: "" where the stage has none, as are the other parts.
        clean: mean of the clean scores over the pairs; `mean` is that of the noisy ones.
        low: of the 95% interval of `lost`; nan where there are too few documents.
        inner_low: of the 90% interval, with which equivalence is tested.
        p: two-sided p value of no difference; nan where no question differs.
        among: comparisons of its family: the conditions of its pipeline that are compared with clean text at its stage.
        p_holm: the same, adjusted for all comparisons of its family.
        wide_low: of the interval that holds together with those of all comparisons of its family: the one to print of a
            loss that was picked because it is the largest.
        detectable: the true loss that at least four of five studies like this one would show in such a family; nan
            where unknown.
        verdict: as in `ohr.statistics.comparison.Comparison`; `failed` where too much failed for one, `floor` where the
            clean score is too near its floor.
        pairs: questions that are compared.
        pairs_failed: those of them that failed on a side, and scored 0 there.
        left_out: questions that are not compared: no clean text, or undefined on one side.
        questions_lost: questions that score less than on the clean text.
        questions_gained: questions that score more.
        failed: questions that failed on the noisy side.
    """

    stage: str
    condition: str
    noise: str
    level: str
    noise_type: str
    chunker: str
    retriever: str
    generator: str
    metric: str
    group: str
    clean: float
    mean: float
    lost: float
    low: float
    high: float
    inner_low: float
    inner_high: float
    p: float
    among: int
    p_holm: float
    wide_low: float
    wide_high: float
    detectable: float
    verdict: str
    pairs: int
    pairs_failed: int
    left_out: int
    questions_lost: int
    questions_gained: int
    failed: int
    documents: int
    changed_documents: int
    note: str

    @property
    def is_shown(self) -> bool:
        """Whether a difference is shown among all comparisons of its family."""
        return self.p_holm <= ALPHA and self.verdict != FAILED

    @property
    def system(self) -> str:
        """The parts of the pipeline, for people."""
        return " / ".join(filter(None, (self.chunker, self.retriever, self.generator)))

    @property
    def pairs_in_words(self) -> str:
        """How many scores are compared, with what each is of."""
        words = ("part of a page", "parts of pages") if self.stage == PAGE else ("question",)
        return counted(self.pairs, *words)

    @property
    def fewest(self) -> int:
        """With how many changed documents, at least, a difference can be shown in its family."""
        return fewest(self.among)

    @property
    def is_loss(self) -> bool:
        """Whether a loss is shown among all comparisons of its family."""
        return self.is_shown and self.lost > 0

    @property
    def is_gain(self) -> bool:
        """Whether a gain is shown among all comparisons of its family."""
        return self.is_shown and self.lost < 0


_FAMILY = ("stage", "metric", "chunker", "retriever", "generator")
"""Columns that comparisons share which are judged together: a reader who asks what conditions cost a pipeline does not
pay for the other pipelines of the run."""

_COMPUTED = ("mean", "p_holm", "left_out")
"""Fields of a loss that are in no column of the summary."""


def read_losses(run: Run, group: str = ALL, *, every_metric: bool = False) -> list[Loss]:
    """Read the losses of the stages that a run evaluates, in the order of the summary; none without a clean side.

    Args:
        run: to read.
        group: of evidence sources.
        every_metric: of every metric; by default of each stage's headline metric, and of the spec's own.

    Raises:
        DataError: the summary is missing or damaged.
    """
    return _read(run, group, run.shown_metrics, every_metric=every_metric)


def page_losses(run: Run) -> list[Loss]:
    """Read the losses of the text of the pages, by the protocol's scores of pages; none where it has none.

    Arguments and errors are those of `read_losses`.
    """
    names = tuple(run.manifest.get("protocol", {}).get("page") or ())
    return _read(run, ALL, {PAGE: names}, every_metric=False) if names else []


def main_losses(run: Run) -> list[Loss]:
    """Read the losses by each stage's headline metric; by that of pages where the run shows no other.

    Arguments and errors are those of `read_losses`.
    """
    return read_losses(run) or [loss for loss in page_losses(run) if (loss.metric,) == run.page_headline[PAGE]]


def _read(run: Run, group: str, shown: Mapping[str, Sequence[str]], *, every_metric: bool) -> list[Loss]:
    columns = _columns(Loss)
    names = [*(column for column in columns.values() if column not in _COMPUTED), "n", "undefined"]
    rows = run.once(run.rows("summary", names, by="evidence_source", group=group))
    compared = [row for row in rows if row["stage"] in shown and row["pairs"]]
    chosen = [row for row in compared if every_metric or row["metric"] in shown[row["stage"]]]
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in chosen:
        families[tuple(row[name] for name in _FAMILY)].append(row)
    for members in families.values():
        adjusted = holm([row["lost_p"] for row in members], members[0]["comparisons"])
        for row, p in zip(members, adjusted, strict=True):
            wide = holm_ends(row["lost_wide_low"], row["lost_wide_high"], shown=p <= ALPHA)
            row |= {"p_holm": p, "lost_wide_low": wide[0], "lost_wide_high": wide[1]}
            row |= {"mean": row["clean_mean"] - row["lost"], "left_out": row["n"] + row["undefined"] - row["pairs"]}
    losses = [Loss(**_values(row, columns)) for row in chosen]
    return sorted(losses, key=lambda loss: (ALL_STAGES.index(loss.stage), loss.metric not in shown[loss.stage][:1]))


def left_out(run: Run) -> int:
    """Count the questions whose pages have no clean text, which no pair holds.

    Raises:
        DataError: the table of questions is missing or damaged.
    """
    return sum(not row["clean_text"] for row in run.rows("questions", ["clean_text"]))


@dataclass(frozen=True, slots=True)
class Point:
    """One level of noise through one pipeline, for one group of evidence sources.

    Args:
        noise: name of the entry in the spec; its levels make a curve.
        level: the value of the knob, "" where there is no noise.
        r_noise: of all questions, as is `evidence_loss`, whatever the group.
        chunker: "" where the stage has none, as are the other parts.
        low: of the 95% interval over documents; nan where there are too few documents.
        n: questions in the mean.
        condition: the level of the noise, whatever the replicate.
        group: of evidence sources.
        floor: nan where there is none, as is `ceiling`.
        df: degrees of freedom of the interval.
        interval: how it was made, as in `ohr.statistics.estimate.Estimate`.
    """

    noise: str
    level: str
    r_noise: float
    evidence_loss: float
    stage: str
    metric: str
    chunker: str
    retriever: str
    generator: str
    mean: float
    low: float
    high: float
    n: int
    documents: int
    failed: int
    note: str
    condition: str = ""
    noise_type: str = "none"
    group: str = ALL
    floor: float = nan
    ceiling: float = nan
    df: float = nan
    interval: str = ""


def read_points(run: Run, **equal: str) -> list[Point]:
    """Read the points of the stages that a spec evaluates, in the order of the summary.

    Args:
        run: to read.
        equal: column of the summary to the value that it must have, such as `group="all"`.

    Raises:
        DataError: the summary is missing or damaged.
    """
    columns = _columns(Point)
    rows = run.once(run.rows("summary", list(columns.values()), by="evidence_source", **equal))
    return [Point(**_values(row, columns)) for row in rows if row["stage"] in STAGES]


_OF_LOSS = ("low", "high", "inner_low", "inner_high", "p", "wide_low", "wide_high", "detectable")
_NAMES: Mapping[type, Mapping[str, str]] = {
    Loss: {"level": "knob_value", "clean": "clean_mean", "among": "comparisons", **{n: f"lost_{n}" for n in _OF_LOSS}},
    Point: {"level": "knob_value", "r_noise": "kb_r_noise", "evidence_loss": "kb_evidence_loss"},
}
"""Fields whose column in the summary has another name."""


def _columns(kind: type[Loss | Point]) -> dict[str, str]:
    return {field.name: _NAMES[kind].get(field.name, field.name) for field in fields(kind)}


def _values(row: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    return {name: "" if row[column] is None else row[column] for name, column in columns.items()}


def has_sweep(conditions: Iterable[tuple[str, str]]) -> bool:
    """Report whether any noise has several levels: its conditions are a curve, not a list of engines.

    Args:
        conditions: noise and condition of each point, without conditions that were only repeated.
    """
    levels: dict[str, set[str]] = defaultdict(set)
    for noise, condition in conditions:
        levels[noise].add(condition)
    return any(len(held) > 1 for held in levels.values())


Scored = TypeVar("Scored", Loss, Point)


def distinctive(scores: Sequence[Scored]) -> list[Scored]:
    """Return losses or points without the names of chunkers and generators where there is only one: for people."""
    lone = [part for part in ("chunker", "generator") if len({getattr(score, part) for score in scores} - {""}) == 1]
    unnamed: dict[str, Any] = dict.fromkeys(lone, "")
    return [replace(score, **unnamed) for score in scores]
