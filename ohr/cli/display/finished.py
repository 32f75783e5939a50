"""Work that `ohr run` and `ohr demo` do with a spec: run it, draw its figures, print its results."""

import ctypes
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import shorten
from time import perf_counter
from typing import TYPE_CHECKING

import typer

from ohr.cli.display.console import as_lines, first_of, report, say, say_first, say_json
from ohr.cli.display.progress import bars
from ohr.cli.options import RunChoices
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.results.run import Run
    from ohr.runner.run import Finished
    from ohr.spec.model import Spec


_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h
_DETAILS = 500  # questions that can be opened in the report of `ohr run`: more than a person does, in a megabyte or two


def carry_out(spec: "Spec", choices: RunChoices) -> None:
    """Run a spec, draw its figures, write its report and print its results; ends with status 1 where some failed."""
    from ohr.cli.display.screen import verdicts
    from ohr.results.folder.tags_and_prices import change_tags, parse_tags
    from ohr.results.run import Run
    from ohr.runner.run import run as run_spec
    from ohr.spec.servers import sent

    _share_heap()
    options, tags = choices.for_engine(), parse_tags(choices.tag or ())
    for line in sent(spec):
        report(line)
    began = perf_counter()
    with bars() as progress:
        finished = run_spec(spec, options, progress=progress)
    seconds = perf_counter() - began
    if tags:
        change_tags(finished.folder, tags)
    run = Run.finished(finished.folder)
    figures = figures_of(run) if choices.draw else []
    again = finished.fresh or finished.repriced
    page = report_of(run, choices.trust_plugins, again=again) if choices.write else None
    if choices.as_json:
        _print_json(finished, run, figures, page, seconds)
    else:
        (_print_details if choices.details else _print)(finished, run, figures, page, seconds)
    if finished.ledger.failures or verdicts(run).unjudged:
        raise typer.Exit(1)


def _share_heap() -> None:
    """Let all threads of this process allocate from one heap, with glibc: heaps of their own took 15 MB of 300."""
    with suppress(AttributeError, OSError, TypeError):  # another C library
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 1)


def figures_of(run: "Run") -> list[Path]:
    """Draw a run's figures where they are not there and whole; without matplotlib there are none."""
    from ohr.errors import OhrError
    from ohr.report.figures.at_hand import figures_at_hand

    if drawn := figures_at_hand(run):  # who runs it again loads nothing that draws
        return drawn
    from ohr.report.figures.drawing import figures

    try:
        return figures(run)
    except OhrError as error:  # the results are written: without figures the run is still done
        report(f"no figures: {error}")
        return []


def report_of(run: "Run", trust_plugins: bool, *, again: bool) -> Path | None:
    """Write a run's report, `again` where it is there already; without jinja2 there is none."""
    from ohr.errors import OhrError
    from ohr.results.folder.run_folder import REPORT

    path = run.folder / REPORT
    try:
        if again or not path.is_file():
            from ohr.report.html.report_file import write_report

            write_report([run], path, details=_DETAILS, trust_plugins=trust_plugins)
        return path
    except OhrError as error:  # the results are written: without a report the run is still done
        report(f"no report: {error}")
        return None


def _print(finished: "Finished", run: "Run", figures: Sequence[Path], page: Path | None, seconds: float) -> None:
    from ohr.cli.display.screen import WIDTH, keep_screens, print_summary, wrapped

    closing = wrapped(_done(finished, seconds))
    if warnings := run.manifest["warnings"]:
        first = f"{counted(len(warnings), 'warning')}, the first: {warnings[0]}"
        closing.insert(0, shorten(first, WIDTH, placeholder=" …"))
    if figures:
        closing.append(f"figures: {figures[0].parent}")
    closing.append(f"results: {finished.folder}")
    if page is not None:
        closing.append(f"report:  {page}")
    failed = _failed(finished)
    closing = [line for text in failed for line in wrapped(text, subsequent_indent="    ")] + _absent(run) + closing
    keep_screens(run, 0, len(closing))
    print_summary(run, len(closing))
    for line in closing:
        say(line)


def _print_details(
    finished: "Finished", run: "Run", figures: Sequence[Path], page: Path | None, seconds: float
) -> None:
    from ohr.cli.display.screen import print_tables

    print_tables(run)
    for line in [*_failed(finished, most=10), *_absent(run)]:
        say(line)
    say(_done(finished, seconds))
    say_first("figures:", [str(path) for path in figures])
    say(f"results: {finished.folder}")
    if page is not None:
        say(f"report:  {page}")


def _failed(finished: "Finished", most: int = 3) -> list[str]:
    failures = finished.ledger.failures
    return first_of(f"failed items: {len(failures)} (questions that need them score 0)", as_lines(failures), most)


def _absent(run: "Run") -> list[str]:
    absent = run.manifest["failures"].get("absent", 0)
    lacking = f"absent: {counted(absent, 'page')} that recorded results lack (questions that need them score 0)"
    return [lacking] if absent else []


def _done(finished: "Finished", seconds: float) -> str:
    ledger = finished.ledger
    if not finished.fresh:
        return f"0 stage calls: an earlier run has finished this study ({seconds:.1f} s)"
    done = {name: count for name, count in ledger.calls.items() if count}
    if not done and ledger.failures:
        return f"nothing new was done: what was left failed ({seconds:.1f} s)"
    if not done:
        return f"0 stage calls: everything was in the store ({seconds:.1f} s)"
    done |= {f"tokens {way}": count for way, count in ledger.tokens.items() if count}
    return f"done in {seconds:.1f} s: {', '.join(f'{name} {count:,}' for name, count in done.items())}"


def _print_json(finished: "Finished", run: "Run", figures: Sequence[Path], page: Path | None, seconds: float) -> None:
    from ohr.report.first_screen import summarize
    from ohr.report.views.score_tables import curve_points

    ledger = finished.ledger
    say_json(
        {
            "folder": finished.folder,
            "summary": summarize(run),
            "curve": curve_points(run),
            "warnings": run.manifest["warnings"],
            "failures": ledger.failures,
            "absent": run.manifest["failures"].get("absent", 0),
            "calls": {name: count for name, count in ledger.calls.items() if count},
            "tokens": ledger.tokens,
            "seconds": round(seconds, 2),
            "figures": figures,
            "report": page,
        }
    )
