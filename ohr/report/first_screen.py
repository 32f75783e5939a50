"""A run in one minute: what failed, what noise costs and where, a verdict for each condition, and what to do."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from math import isnan, nan
from statistics import fmean
from typing import NamedTuple

from ohr.messages.wording import counted, named
from ohr.report.agent_or_search import kept_sentence, side_by_side
from ohr.report.engines import Engines, matrix, pick, read_engines
from ohr.report.headlines import ACTIVITY, has_crashed, kind, lacking, what_failed, why_not_judged
from ohr.report.lead import (
    HIT,
    PARTS,
    PagesFound,
    advice,
    ends,
    found_sentence,
    in_points,
    lead_sentence,
    metric_of,
    page_sentence,
    read_pages_found,
    rounded,
    scored,
)
from ohr.report.pipelines import pipelines_sentence
from ohr.report.views.hygiene import hygiene_sentences
from ohr.report.views.page_repairs import repair_advice, repaired_sentence
from ohr.report.views.view import View
from ohr.results.derived.losses import Loss, distinctive, main_losses, read_losses
from ohr.results.derived.page_repairs import with_repairs
from ohr.results.run import Run
from ohr.results.tables.groups import ALL_STAGES, PAGE

_MOST_OTHERS = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """The verdict on one condition at one stage.

    Args:
        kind: as in `headlines.kind`.
        words: the verdict in words.
        short: the same where there is little room.
        clean: mean score on clean text, in [0, 1].
        left: mean score under the condition.
        low: of the loss's interval that holds for all comparisons of its family; nan where there is none.
        high: as `low`.
        others: pipelines with another verdict; "" where there are none.
        among: comparisons for which the interval holds together.
    """

    kind: str
    words: str
    short: str
    clean: float
    left: float
    low: float
    high: float
    others: str
    among: int = 1

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of what is left, as it is drawn: within the scale."""
        return max(0.0, self.clean - self.high), min(1.0, self.clean - self.low)

    @property
    def is_judged(self) -> bool:
        """Report whether there is something to draw: a bar of what failed would measure the failures."""
        return not isnan(self.left)

    @property
    def has_interval(self) -> bool:
        """Report whether the documents were enough for an interval."""
        return not isnan(self.low)

    @property
    def top(self) -> float:
        """The largest score that is drawn."""
        return max(value for value in (self.clean, self.left, self.ends[1]) if not isnan(value))

    @property
    def picture(self) -> str:
        """The bar in words, for who does not see it."""
        if not self.is_judged:
            return self.words
        interval = f"; 95% interval of the loss {ends(self.low, self.high, shown=self.kind == 'loss')}"
        return f"{in_points(self.left)} left of {rounded(self.clean)}{interval if self.has_interval else ''}"


@dataclass(frozen=True, slots=True)
class Line:
    """One condition, with a cell for each stage of the summary; None where the stage has no comparison."""

    condition: str
    noise: str
    level: str
    cells: tuple[Cell | None, ...]

    @property
    def name(self) -> str:
        """The noise with its level."""
        return f"{self.noise} {self.level}".rstrip()


def cell(loss: Loss, others: str, margin: float) -> Cell:
    """Judge a loss; `others` are the pipelines with another verdict."""
    words, short = verdict_words(loss, margin)
    measured = (nan, nan, nan) if kind(loss) == "failed" else (loss.mean, loss.wide_low, loss.wide_high)
    return Cell(kind(loss), words, short, loss.clean, *measured, others, loss.among)


def others_differ(loss: Loss, whole: Sequence[Loss], names: Mapping[Loss, str], margin: float) -> str:
    """Name the pipelines with another verdict on the same condition at the same stage."""
    rivals = [other for other in whole if (other.stage, other.condition) == (loss.stage, loss.condition)]
    others = [f"{names[other]}: {verdict_words(other, margin)[1]}" for other in rivals if kind(other) != kind(loss)]
    more = len(others) - _MOST_OTHERS
    return "; ".join(others[:_MOST_OTHERS]) + (f"; {more} more differ" if more > 0 else "")


def verdict_words(loss: Loss, margin: float) -> tuple[str, str]:
    """Return the verdict on a loss in words, and where there is little room, always with its numbers."""
    limit, change = in_points(margin), f"{rounded(loss.clean)} to {rounded(loss.mean)}"
    unjudged = "too much failed" if has_crashed(loss) else "hardly any answer"
    verdicts = {
        "loss": (f"costs {in_points(loss.lost)}", f"costs {rounded(loss.lost)} of {in_points(loss.clean)}"),
        "gain": (f"gains {in_points(-loss.lost)}",) * 2,
        "same": (f"does not cost more than {limit}", f"not more than {limit}"),
        "identical": ("no question changed" if loss.stage != PAGE else "nothing changed",) * 2,
        "failed": (f"not judged: {unjudged}", f"not judged: {unjudged}"),
        "floor": (f"not judged: {change}, near the floor", f"near the floor: {change}"),
    }
    if kind(loss) == "loss" and loss.verdict == "small":
        return (f"costs less than {limit}",) * 2
    return verdicts.get(kind(loss), (f"unclear: {change}",) * 2)


ROWS = 8
"""Conditions that a first screen has room for."""

_MOST_ADVICE = 4
_TICKS = 6  # intervals between the numbers under a bar, at most


class Column(NamedTuple):
    """A statistic of each condition: its header on the page, that on a narrow screen, and its text by condition."""

    head: str
    narrow: str
    text: Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Summary:
    """The findings that the page, the terminal and a figure begin with.

    Args:
        lead: the answer that this kind of study is made for: which engine, agent or search, or what noise costs.
        stages: that have a comparison, in words.
        lines: a verdict for each condition, in the run's order.
        advice: what to do, in sentences.
        compared: what the verdicts are of: documents, questions, the pipeline, and metrics that are not usual.
        leading: the condition that the lead is about.
        hypotheses: how many of those that the spec wrote down held; "" where it has none.
        failed: what failed, and what cannot be judged for it, in sentences: it is said first.
        found: how many questions find their right page; None where they name no pages.
        tables: what the kind of study asks for: engines under each noise, agents beside single searches.
        further: what else there is to know, in sentences.
        reference: what conditions are compared with.
        repaired: the conditions that have repairs.
    """

    lead: str
    stages: tuple[str, ...]
    lines: tuple[Line, ...]
    advice: tuple[str, ...] = ()
    compared: str = ""
    leading: str = ""
    hypotheses: str = ""
    failed: tuple[str, ...] = ()
    found: PagesFound | None = None
    tables: tuple[View, ...] = ()
    further: str = ""
    reference: str = "clean text"
    repaired: Set[str] = frozenset()

    @property
    def columns(self) -> list["Column"]:
        """Statistics of each condition, beside its verdicts; screen and page have a column for each."""
        return [Column("right page found", "right page", self.found.of)] if self.found else []

    @property
    def top(self) -> float:
        """The end of the scale, one for all stages: bars of the same length are the same score."""
        return max((cell.top for cell in self._drawn), default=0.0) or 1.0

    @property
    def legend(self) -> str:
        """The meaning of the bars, as far as they are drawn."""
        gained = "; hollow: what is gained" if any(cell.left > cell.clean for cell in self._drawn) else ""
        line = (
            f"; line: 95% interval of what is left{self._holds}"
            if any(cell.has_interval for cell in self._drawn)
            else ""
        )
        return f"Solid: what is left of the score on {self.reference}; hatched: what is lost{gained}{line}."

    @property
    def ticks(self) -> list[int]:
        """The numbers under the bars, in points of 100."""
        step = next(step for step in (5, 10, 20, 25, 50) if 100 * self.top / step <= _TICKS)
        return list(range(0, int(100 * self.top) + 1, step))

    @property
    def _holds(self) -> str:
        most = max((cell.among for cell in self._drawn), default=1)
        return ", which holds for all conditions of its pipeline and stage" if most > 1 else ""

    @property
    def _drawn(self) -> list[Cell]:
        return [cell for line in self.lines for cell in line.cells if cell and cell.is_judged]

    def first(self, most: int) -> list[Line]:
        """Return at most so many lines: that of the lead, then of each noise its last and its first level."""
        if len(self.lines) <= most:
            return list(self.lines)
        levels: dict[str, list[Line]] = defaultdict(list)
        for line in self.lines:
            levels[line.noise].append(line)
        ranked = [line for line in self.lines if line.condition == self.leading]
        others = [lines[-1] for lines in levels.values()] + [lines[0] for lines in levels.values()]
        ranked += sorted(others, key=lambda line: line.condition in self.repaired)  # what noise costs, then repairs
        chosen = list(dict.fromkeys(line.condition for line in ranked))[:most]
        return [line for line in self.lines if line.condition in chosen]

    def left_out(self, most: int) -> str:
        """Name the conditions that `first` leaves out; "" where it leaves out none."""
        chosen = self.first(most)
        return named([line.name for line in self.lines if line not in chosen])


def summarize(run: Run, *, advise: bool = True) -> Summary:
    """Sum up a run: its verdicts, and with `advise` what to do, and whether its hypotheses held.

    Raises:
        DataError: a table is missing or damaged.
    """
    whole, hypotheses = headline_losses(run), _hypotheses(run) if advise else ""
    failed = (*what_failed(run.manifest), *why_not_judged(whole), *hygiene_sentences(run))
    if not whole:
        lacks, helps = lacking(run)
        engines = read_engines(run, whole, None)
        said = f"This run cannot show a cost of noise: {lacks}."
        text = _joined(pick(engines) if engines else "", repaired_sentence(run), page_sentence(run), said)
        tables, todo = _tables(run, engines, "scores"), (helps,) if helps else ()
        return Summary(text, (), (), todo, hypotheses=hypotheses, failed=failed, tables=tables)
    names = dict(zip(whole, (loss.system for loss in distinctive(whole)), strict=True))
    repaired = with_repairs(run)
    lead = _leading([loss for loss in whole if loss.condition not in repaired] or whole)
    engines, chosen = read_engines(run, whole, lead), _chosen(whole, lead)
    searched = next(((loss.chunker or "", loss.retriever or "") for loss in chosen if loss.stage == "retrieval"), None)
    found = read_pages_found(run, preferred=searched)
    heads = {loss.stage: ACTIVITY[loss.stage] for loss in chosen}
    cost = lead_sentence(run, chosen, lead if kind(lead) == "loss" else None, names[lead])
    answer = _joined(pick(engines) if engines else "", kept_sentence(run), repaired_sentence(run))
    costs = _joined(found_sentence(found, whole, run.reference) if found else "", cost)
    return Summary(
        answer or costs,
        tuple(heads.values()),
        _lines(whole, chosen, tuple(heads), names, run.choices.margin),
        tuple(filter(None, (repair_advice(run), *advice(run, chosen, lead))))[:_MOST_ADVICE] if advise else (),
        _compared(chosen, lead, names, repaired),
        lead.condition,
        hypotheses,
        failed,
        found,
        _tables(run, engines, f"{scored(lead)}{f' with {names[lead]}' if names[lead] else ''}"),
        _joined(costs if answer else "", pipelines_sentence(run, lead)),
        run.reference,
        repaired,
    )


def _joined(*sentences: str) -> str:
    return " ".join(filter(None, sentences))


def _tables(run: Run, engines: Engines | None, of: str) -> tuple[View, ...]:
    agents = side_by_side(run) if run.agent_labels else None
    return tuple(view for view in (agents, matrix(engines, of) if engines else None) if view is not None)


def headline_losses(run: Run) -> list[Loss]:
    """Read the losses that a summary is about: of each stage's headline metric, or of pages found where it has none.

    A run that scores the text of the pages alone has those of its headline metric.
    """
    losses = read_losses(run, every_metric=True)
    known = [loss for loss in losses if loss.metric == run.headlines[loss.stage]]
    stages = {loss.stage for loss in known}
    found = [loss for loss in losses if loss.stage not in stages and loss.metric.startswith(HIT)] + known
    return found or main_losses(run)


# --- the pipeline that is summed up -----------------------------------------------------------------------


def _leading(losses: Sequence[Loss]) -> Loss:
    """Choose the largest loss that is shown, of all stages and pipelines; one that may be nearly 0 comes after others.

    Where none is shown, it is the largest difference of the last stage, in the best pipeline on clean text.
    """
    if shown := [loss for loss in losses if kind(loss) == "loss"]:
        return max(shown, key=lambda loss: (loss.wide_low > 0, loss.lost))
    stage = next(stage for stage in reversed(ALL_STAGES) if any(loss.stage == stage for loss in losses))
    return max(_ranked([loss for loss in losses if loss.stage == stage])[0], key=lambda loss: loss.lost)


def _ranked(losses: Sequence[Loss]) -> list[list[Loss]]:
    """Group the losses of a stage by pipeline, the best clean score first: no pipeline is chosen by its loss."""
    pipelines: dict[tuple[str, ...], list[Loss]] = defaultdict(list)
    for loss in losses:
        pipelines[tuple(getattr(loss, part) for part in PARTS)].append(loss)
    return sorted(pipelines.values(), key=lambda mine: -fmean(loss.clean for loss in mine))


def _chosen(losses: Sequence[Loss], lead: Loss) -> list[Loss]:
    """Return the losses of one pipeline at each stage: the lead's, or the best that shares its parts."""
    chosen = []
    for stage in ALL_STAGES:
        here = [loss for loss in losses if loss.stage == stage]
        fitting = [loss for loss in here if _fits(loss, lead)]
        chosen += [loss for mine in _ranked(fitting or here)[:1] for loss in mine]
    return chosen


def _fits(loss: Loss, lead: Loss) -> bool:
    parts = [(getattr(loss, part), getattr(lead, part)) for part in PARTS]
    return all(mine == other or not (mine and other) for mine, other in parts)


def _hypotheses(run: Run) -> str:
    held = [row["held"] for row in run.rows("hypotheses", ["held"])]
    if not held:
        return ""
    unjudged = f"; {held.count(None)} cannot be judged" if None in held else ""
    return f"{held.count(True)} of {counted(len(held), 'hypothesis', 'hypotheses')} of the spec held{unjudged}."


def _compared(chosen: Sequence[Loss], lead: Loss, names: Mapping[Loss, str], repaired: Set[str]) -> str:
    size = f"{counted(lead.documents, 'document')}, {lead.pairs_in_words}"
    systems = {ACTIVITY[loss.stage]: names[loss] for loss in chosen if names[loss]}
    parts = [f"{stage} with {system}" for stage, system in systems.items()]  # where an agent answers, they differ
    if len(set(systems.values())) == 1:
        parts = [f"with {next(iter(systems.values()))}"]
    metrics = dict.fromkeys(metric for loss in chosen if (metric := metric_of(loss)))
    mended = [loss.condition for loss in dict.fromkeys(chosen) if loss.condition in repaired]
    parts += [f"with a repair: {named(list(dict.fromkeys(mended)))}"] if mended else []
    return "; ".join([size, *parts] + [f"scored by {named(list(metrics))}"] * bool(metrics))


# --- the verdicts -----------------------------------------------------------------------------------------


def _lines(
    whole: Sequence[Loss], chosen: Sequence[Loss], stages: Sequence[str], names: Mapping[Loss, str], margin: float
) -> tuple[Line, ...]:
    by_condition: dict[str, dict[str, Loss]] = defaultdict(dict)
    for loss in chosen:
        by_condition[loss.condition][loss.stage] = loss
    lines = []
    for condition, by_stage in by_condition.items():
        cells: list[Cell | None] = [
            cell(by_stage[stage], others_differ(by_stage[stage], whole, names, margin), margin)
            if stage in by_stage
            else None
            for stage in stages
        ]
        first = next(iter(by_stage.values()))
        lines.append(Line(condition, first.noise, first.level, tuple(cells)))
    return tuple(lines)
