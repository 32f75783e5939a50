"""The cost block of a run: each condition's loss against the clean text, paired on questions."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from ohr.results.derived.pairs import FAILED
from ohr.results.derived.points import Point
from ohr.results.run import Run
from ohr.results.tables.groups import ALL, STAGES
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

Scored = TypeVar("Scored", Loss, Point)

_COLUMNS = (
    "stage", "condition", "noise", "knob_value", "noise_type", "chunker", "retriever", "generator", "metric", "group",
    "clean_mean", "lost", "lost_low", "lost_high", "lost_inner_low", "lost_inner_high", "lost_p", "lost_detectable",
    "lost_wide_low", "lost_wide_high", "comparisons", "verdict", "pairs", "pairs_failed", "changed_documents",
    "questions_lost", "questions_gained", "n", "undefined", "failed", "documents", "note",
)  # fmt: skip


_OF_LOSS = ("low", "high", "inner_low", "inner_high", "p", "p_holm", "wide_low", "wide_high", "detectable")


def read_losses(run: Run, group: str = ALL, *, every_metric: bool = False) -> list[Loss]:
    """Read the losses of the stages that a run evaluates, in the order of the summary; none without a clean side.

    Args:
        run: to read.
        group: of evidence sources.
        every_metric: of every metric; by default of each stage's headline metric, and of the spec's own.

    Raises:
        DataError: the summary is missing or damaged.
    """
    shown = run.shown_metrics
    rows = run.once(run.rows("summary", _COLUMNS, by="evidence_source", group=group))
    compared = [row for row in rows if row["stage"] in STAGES and row["pairs"]]
    chosen = [row for row in compared if every_metric or row["metric"] in shown[row["stage"]]]
    families: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for row in chosen:
        families[tuple(row[name] for name in _FAMILY)].append(row)
    for members in families.values():
        among = members[0]["comparisons"]
        for row, p in zip(members, holm([row["lost_p"] for row in members], among), strict=True):
            row["lost_p_holm"] = p
    losses = [_loss(row) for row in chosen]
    return sorted(losses, key=lambda loss: (STAGES.index(loss.stage), loss.metric not in shown[loss.stage][:1]))


def distinctive(scores: Sequence[Scored]) -> list[Scored]:
    """Return losses or points without the names of chunkers and generators where there is only one: for people."""
    lone = [part for part in ("chunker", "generator") if len({getattr(score, part) for score in scores} - {""}) == 1]
    unnamed: dict[str, Any] = dict.fromkeys(lone, "")
    return [replace(score, **unnamed) for score in scores]


def _loss(row: Mapping[str, Any]) -> Loss:
    known = {
        **row,
        "level": row["knob_value"],
        "among": row["comparisons"],
        "mean": row["clean_mean"] - row["lost"],
        "clean": row["clean_mean"],
    }
    known["left_out"] = row["n"] + row["undefined"] - row["pairs"]
    known |= {name: row[f"lost_{name}"] for name in _OF_LOSS}
    ends = holm_ends(known["wide_low"], known["wide_high"], shown=known["p_holm"] <= ALPHA)
    known["wide_low"], known["wide_high"] = ends
    found: dict[str, Any] = {field.name: known[field.name] for field in fields(Loss)}
    whole: dict[str, Any] = {name: "" if value is None else value for name, value in found.items()}
    return Loss(**whole)


def left_out(run: Run) -> int:
    """Count the questions whose pages have no clean text, which no pair holds.

    Raises:
        DataError: the table of questions is missing or damaged.
    """
    return sum(not row["clean_text"] for row in run.rows("questions", ["clean_text"]))
