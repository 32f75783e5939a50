"""The findings of a run: in one minute, or with every table."""

from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ohr.cli.display.console import grouped, say, say_by_stage, say_first, say_table, say_view, say_views
from ohr.cli.display.kept_screen import Kept, Part, Verdicts, keep, read_kept
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ohr.report.first_screen import Line, Summary
    from ohr.results.run import Run

_FLAG = 0.01  # chance below which as many missed intervals are worth a warning


def repeats_in_words(run: "Run") -> list[str]:
    """Return what conditions that were run twice differ by; nothing where none was."""
    rows = run.rows("repeats")
    twice, draws = [[row for row in rows if row["kind"] == kind] for kind in ("twice", "draws")]
    if not twice:  # draws alone are replicates, which nobody asked to compare
        return []
    return [*_twice(twice), *_draws(draws)]


def _twice(rows: list[dict[str, Any]]) -> list[str]:
    bad = [row for row in rows if row["scores_that_differ"]]
    cells = f"{counted(len(rows), 'cell')} run twice"
    if not bad:
        return [f"A/A: {cells}: every score is the same."]
    worst = max(bad, key=lambda row: row["largest"])
    name = " / ".join(filter(None, (worst["stage"], worst["condition"], worst["retriever"], worst["generator"])))
    scores = counted(worst["scores_that_differ"], "score")
    return [
        f"A/A: {cells}: {counted(len(bad), 'cell')} differ, most {name}: {scores} "
        f"by up to {worst['largest']:.3f}. A stage is not deterministic: repeat conditions that are compared."
    ]


def _draws(rows: list[dict[str, Any]]) -> list[str]:
    from scipy.special import bdtrc  # scipy.stats takes most of a second to import

    pairs = sum(row["pairs"] for row in rows)
    if not pairs:
        return []
    missed = round(sum(row["missed"] * row["pairs"] for row in rows))
    pairs_of = f"{counted(pairs, 'pair')} of draws of one noise"
    line = f"A/A: of {pairs_of}, the intervals of {missed} miss 0; expected {pairs / 20:.1f}."
    unlikely = bdtrc(missed - 1, pairs, 0.05) < _FLAG
    return [f"{line} That is more than chance: the intervals of this run are too short." if unlikely else line]


WIDTH = 100
"""Columns of a summary."""
_MOST_LINES = 25  # lines of a summary, with all that a command adds to it: what a small terminal shows at once
_FEWEST_ROWS = 3

wrapped = partial(wrap, width=WIDTH, break_on_hyphens=False)
"""The lines of a text in a summary; names of conditions stay whole."""


def print_summary(run: "Run", further: int = 0) -> None:
    """Print what failed, what noise costs, a verdict for each condition, and what to do; `further` lines follow it."""
    kept = read_kept(run)
    for part in kept.screens[str(further)] if kept and str(further) in kept.screens else _parts(run, further):
        if isinstance(part, str):
            say(part)
        else:
            say_table(part[0], part[1:])
    say(f"all tables: ohr show {run.folder} --details")


def keep_screens(run: "Run", *further: int) -> None:
    """Keep the screens after which so many lines are printed, and the verdicts, where they are not kept already."""
    kept = read_kept(run)
    screens = kept.screens if kept else {}
    if missing := [number for number in further if str(number) not in screens]:
        keep(
            run,
            Kept(
                {**screens, **{str(number): _parts(run, number) for number in missing}},
                kept.verdicts if kept else _verdicts_of(run),
            ),
        )


def verdicts(run: "Run") -> Verdicts:
    """Sum up the comparisons of a run with clean text, as its folder keeps them where it does."""
    kept = read_kept(run)
    return kept.verdicts if kept else _verdicts_of(run)


def _verdicts_of(run: "Run") -> Verdicts:
    from ohr.results.derived.losses import main_losses
    from ohr.results.derived.pairs import FAILED

    losses = main_losses(run)
    largest = max((loss for loss in losses if loss.is_loss), key=lambda loss: loss.lost, default=None)
    parts = None if largest is None else {part: getattr(largest, part) for part in _OF_LARGEST}
    return Verdicts(parts, sum(loss.verdict == FAILED for loss in losses), len(losses))


_OF_LARGEST = ("stage", "metric", "condition", "chunker", "retriever", "generator", "lost", "low", "high")


def _parts(run: "Run", further: int) -> list[Part]:
    from ohr.report.first_screen import ROWS, summarize
    from ohr.report.views.effort_and_money import spent_in_words

    summary = summarize(run)
    texts = (*summary.failed, summary.lead, summary.further, summary.hypotheses, *repeats_in_words(run))
    lead = [line for text in texts for line in wrapped(text)]
    todo = [line for text in summary.advice for line in wrapped(text, initial_indent="- ", subsequent_indent="  ")]
    closing = [*(["what to do:"] if todo else []), *todo, *wrapped(spent_in_words(run))]
    parts: list[Part] = [*lead]
    for view in summary.tables:
        parts += [_table(view.headers, view.rows), *wrapped(view.how)]
    if summary.lines and not _is_said(summary):
        tables = sum(len(view.rows) + 2 for view in summary.tables)
        around = len(lead) + tables + len(closing) + further + 4  # headers, what is left out, and how to read it
        parts += _condition_lines(summary, max(_FEWEST_ROWS, min(ROWS, _MOST_LINES - around)))
    return [*parts, *closing]


def _table(headers: "Sequence[object]", rows: "Iterable[Sequence[object]]") -> list[list[str]]:
    return [list(map(str, row)) for row in (headers, *rows)]


def _is_said(summary: "Summary") -> bool:
    about = {"engine", "right page found", "seconds a page"}
    cells = sum(
        bool(cell) and header not in about
        for view in summary.tables
        if view.title == "Engines"
        for row in view.rows
        for header, cell in zip(view.headers, row, strict=True)
    )
    return cells >= len(summary.lines) and len(summary.stages) == 1


def _condition_lines(summary: "Summary", most: int) -> "Iterator[Part]":
    """Yield a line for each condition, in words where there is room for them."""
    shown = summary.first(most)
    headers = ["condition", *(column.narrow for column in summary.columns), *summary.stages]
    rows = [_row(summary, line, "words") for line in shown]
    if _width(headers, rows) > WIDTH:
        rows = [_row(summary, line, "short") for line in shown]
    if (over := _width(headers, rows) - WIDTH) > 0:
        room = max(max(len(row[0]) for row in rows) - over, len(headers[0]))
        rows = [[_cut(name, room), *verdicts] for name, *verdicts in rows]
    yield _table(headers, rows)
    if left_out := summary.left_out(most):
        yield f"not in this list: {left_out}"
    differ = any(cell.others for line in shown for cell in line.cells if cell)
    yield f"{summary.compared}{'; *: another pipeline has another verdict' if differ else ''}"


def _width(headers: list[str], rows: list[list[str]]) -> int:
    return sum(max(map(len, column)) + 2 for column in zip(headers, *rows, strict=True)) - 2


def _cut(name: str, room: int) -> str:
    """Leave out the middle of a name that is too long: levels of one noise differ at the end."""
    return name if len(name) <= room else f"{name[: room // 2]}…{name[room // 2 + 1 - room :]}"


def _row(summary: "Summary", line: "Line", form: str) -> list[str]:
    verdicts = (f"{getattr(cell, form)}{' *' * bool(cell.others)}" if cell else "" for cell in line.cells)
    return [line.name, *(column.text(line.condition) for column in summary.columns), *verdicts]


def print_losses(run: "Run") -> None:
    """Print the losses of a run in sentences and as a table; nothing where it has no clean side to compare with."""
    from ohr.report.headlines import headline
    from ohr.report.views.loss_tables import hypotheses, losses_by_pipeline
    from ohr.results.derived.losses import distinctive, main_losses

    losses = distinctive(main_losses(run))
    for view in hypotheses(run):
        say_view(view)
        say()
        say("exploratory, not corrected for the number of comparisons:")
    for line in headline(run):
        say(line)
    for line in repeats_in_words(run):
        say(line)
    if not losses:
        return
    say()
    say_by_stage(losses_by_pipeline, losses)
    say()


def print_tables(run: "Run") -> None:
    """Print every table of a finished run that a screen shows: losses, scores, costs, and its warnings."""
    from ohr.report.views import protocol
    from ohr.report.views.score_tables import curve, curve_points
    from ohr.report.views.sections import for_screen

    scores_pages = bool(run.page_headline)
    if scores_pages:  # then the text itself is the benchmark's first number
        say_views(protocol.short_views(run))
    print_losses(run)
    if points := curve_points(run):
        say_by_stage(curve, points)
    if not scores_pages:
        say_views(protocol.short_views(run))
    say_views(for_screen(run))
    say_first("warnings:", grouped(run.manifest["warnings"]))
