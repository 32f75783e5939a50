"""Tables of losses: against the clean text, of hypotheses, by stage, and by the parts of a noise."""

from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from typing import Any

from ohr.report.headlines import VERDICTS, kind
from ohr.report.views.view import Cell, Interval, View, ends, head
from ohr.results.derived.decomposition import TABLE
from ohr.results.derived.losses import Loss, page_losses, read_losses
from ohr.results.derived.pairs import FAILED, MOST_FAILED
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL, pipeline_names

QUANTITIES = {
    "total": "total loss",
    "index_alone": "noisy index alone",
    "reading_alone": "noisy reading alone",
    "gain_of_repairing_index": "gain of a clean index",
    "gain_of_repairing_reading": "gain of clean reading",
    "overlap": "overlap",
}
"""Quantities of a loss by stage, and their headers."""


def against_clean_text(run: Run) -> list[View]:
    """Return the loss of every condition and pipeline against what it is compared with; none without that."""
    losses = read_losses(run) or page_losses(run)
    pipeline = pipeline_names(map(asdict, losses))
    lines: list[dict[str, Cell]] = [
        {
            "stage": loss.stage,
            "metric": loss.metric,
            "pipeline": pipeline(asdict(loss)),
            "condition": loss.condition,
            "clean": loss.clean,
            "score": loss.mean,
            "lost [95% interval, alone]": Interval(loss.lost, loss.low, loss.high, is_difference=True),
            "holds for all": _for_all(loss),
            "verdict alone": VERDICTS[loss.verdict],
            "among all": VERDICTS[_AMONG.get(kind(loss), kind(loss))],
            "detectable": loss.detectable,
            "questions": f"-{loss.questions_lost} +{loss.questions_gained}",
            "compared": loss.pairs,
            "failed": loss.pairs_failed,
            "left out": loss.left_out,
        }
        for loss in losses
    ]
    how = (
        "Lost: the clean score minus this one, question by question, with an interval over documents for this row "
        "alone, and one that holds for all conditions of its pipeline and stage, with how many these are. Verdicts "
        "likewise; the findings above are those among all. Detectable: the loss that four of five such studies would "
        "show among as many. Questions: those that score less, and more. Not shown: the interval holds 0, which is not "
        "the same as no loss. "
        "Failed: compared questions that failed and scored 0; beyond "
        f"{100 * MOST_FAILED:.0f}% there is no verdict."
    )
    return [View.whole(f"Loss against {run.reference}", how, lines, lines[0])] if lines else []


def beside_first(run: Run) -> list[View]:
    """Return each pipeline beside the first one under each noise; none where there is one."""
    lines: list[dict[str, Cell]] = [
        {
            "stage": row["stage"],
            "condition": row["condition"],
            "pipeline": row["pipeline"],
            **{name: row[name] for name in ("clean", "score")},
            f"scores more than {row['first']}": Interval.of(row, *_columns("scored_more"), is_difference=True),
            f"loses less than {row['first']}": Interval.of(row, *_columns("spared"), is_difference=True),
            "verdict on the loss": "not shown" if row["verdict"] == "open" else row["verdict"] or row["note"],
            "among": row["comparisons"],
        }
        for row in run.once(run.rows_if_any("pipelines"))
    ]
    how = (
        "Scores more: under the noise, question by question. Loses less: the loss of the first pipeline less that of "
        "this one; who scores less on clean text has less to lose. 95% intervals over documents hold for all rows of "
        "a stage together, each column by itself."
    )
    return [View.of("Which pipeline bears the noise?", how, lines)] if lines else []


def _columns(name: str) -> tuple[str, str, str]:
    return name, f"{name}_low", f"{name}_high"


def _for_all(loss: Loss) -> str:
    """Write the interval that holds for all conditions of a pipeline, with how many these are; "" without one."""
    held = ends(loss.wide_low, loss.wide_high)
    return f"{held} of {loss.among}" if held and loss.among > 1 else held


_AMONG = {"loss": "worse", "gain": "better"}  # kinds of `headlines.kind` as verdicts


def losses_by_pipeline(losses: Sequence[Loss]) -> View:
    """Return the losses in two dimensions: a line for each condition, a column for each pipeline."""
    lines: dict[str, dict[str, str]] = {}
    for loss in losses:
        line = lines.setdefault(loss.condition, {"lost to": loss.noise, "level": loss.level})
        line[head(loss)] = _loss(loss)
    how = (
        "lost: clean score less this one, question by question, with its 95% interval over documents, alone; "
        "-n +m: questions that score less, and more\n"
        "not shown: the interval holds 0, each loss judged alone; `finds`: the loss that four of five such studies "
        "show among as many conditions"
    )
    names = dict.fromkeys(("lost to", "level", *map(head, losses)))
    return View.whole("Losses", how, lines.values(), names)


def _loss(loss: Loss) -> str:
    if loss.verdict == FAILED:
        why = f": {loss.pairs_failed} of {loss.pairs} failed" if loss.pairs_failed else ": hardly any answer"
        return f"{loss.lost:z.2f} not judged{why}"
    interval = Interval(loss.lost, loss.low, loss.high, is_difference=True).short()
    finds = f", finds {loss.detectable:.2f}" if loss.verdict == "open" and not isnan(loss.detectable) else ""
    verdict = "" if loss.verdict in ("worse", "better", "") else f" {VERDICTS[loss.verdict]}"
    return f"{interval} -{loss.questions_lost} +{loss.questions_gained}{verdict}{finds}"


def hypotheses(run: Run) -> list[View]:
    """Return the comparisons that were written down before the run; none where there are none."""
    known = run.manifest.get("hypotheses") or {}
    before = "after scores of this run were known" if known.get("scores_before") else "before any score was known"
    shown = [
        {
            "hypothesis": row["name"],
            "expected": row["expected"],
            "found": VERDICTS[row["verdict"]],
            "held": {True: "yes", False: "no", None: "not judged"}[row["held"]],
            "lost [95% interval, alone]": (
                Interval(row["difference"]) if row["held"] is None else Interval.of(row, "difference")
            ).long(),
            "p (Holm)": f"{row['p_holm']:.2g}" if row["p_holm"] < 0.001 else row["p_holm"],
            "margin": row["margin"],
        }
        for row in run.rows("hypotheses")
    ]
    how = f"Written down {before}, first run {known.get('time', '')}; judged as one family. All else is exploratory."
    return [View.of("Hypotheses", how, shown)] if shown else []


def by_stage(run: Run) -> list[View]:
    """Return the loss by stage of every group of questions, all of them first, where the run has it."""
    rows = [r for r in run.rows_if_any(TABLE) if r["metric"] in run.shown_metrics.get(r["stage"], ())]
    groups = dict.fromkeys(row["evidence_source"] for row in rows)
    return [_by_stage([row for row in rows if row["evidence_source"] == group], group) for group in groups]


def _by_stage(rows: Sequence[Row], group: str) -> View:
    pipeline = pipeline_names(rows)
    lines: dict[tuple[str, ...], dict[str, Interval]] = {}
    for row in rows:
        place = (row["stage"], row["metric"], pipeline(row), row["condition"])
        lines.setdefault(place, {})[row["quantity"]] = Interval.of(row, "value")
    headers = ("stage", "metric", "pipeline", "condition", *QUANTITIES.values())
    cells = tuple((*place, *(line.get(name) for name in QUANTITIES)) for place, line in lines.items())
    how = (
        "Loss with a noisy index alone, with noisy reading alone, and what either repair alone brings back; the "
        "overlap comes back only with both. 95% intervals over documents."
    )
    return View("All questions" if group == ALL else group.replace("_", " "), how, headers, cells)


def attribution(run: Run, *, wide: bool = False) -> list[View]:
    """Return the cost of each part of a noise, in the dose and in the headline scores, where the run has it.

    Args:
        wide: with a column for each measure and pipeline, for a screen.
    """
    headline = {"page": "damaged", **run.headlines}
    rows = [
        row
        for row in run.rows_if_any("attribution", evidence_source=ALL)
        if row["metric"] == headline.get(row["stage"])
    ]
    pipeline = pipeline_names(rows)
    shown: list[dict[str, Any]] = [
        {
            "condition": row["condition"],
            "method": row["method"].replace("_", " "),
            "part": row["part"],
            "measure": "r_noise" if row["stage"] == "page" else f"{row['stage']} {row['metric']}",
            "pipeline": pipeline(row),
            "cost": Interval.of(row, "cost"),
            "n": row["n"],
        }
        for row in rows
    ]
    how = (
        "What a part of a noise adds to r_noise and takes from a score, with 95% intervals over documents: what is "
        "gained without it (leave one out), or its Shapley share, where every set of parts aims at as many edits."
    )
    if not wide:
        return [View.of("Cost of each part", how, shown)] if shown else []
    lines: dict[tuple[str, ...], dict[str, Cell]] = {}
    for row in shown:
        about = {name: row[name] for name in ("condition", "method", "part")}
        head = " ".join(filter(None, (row["measure"], row["pipeline"])))
        lines.setdefault(tuple(about.values()), about)[head] = row["cost"]
    names = dict.fromkeys(name for line in lines.values() for name in line)
    return [View.whole("Cost of each part", how, lines.values(), names)] if shown else []
