"""`ohr runs`: the runs that were done here, their tags, and in which settings they differ."""

from collections import defaultdict
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import fits, report, say, say_json, say_table
from ohr.cli.options import RUNS, AsJson, RunsFolder
from ohr.messages.wording import points, shortened

if TYPE_CHECKING:
    from ohr.cli.display.kept_screen import Verdicts
    from ohr.results.listing import ListedRun
    from ohr.results.run import Run

Where = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="List only runs with this tag, name or status; may be repeated."),
]
Tag = Annotated[
    list[str] | None,
    typer.Option(metavar="KEY=VALUE", help="Tag the runs RUN..., in place of listing; KEY= removes the tag."),
]
Diff = Annotated[bool, typer.Option("--diff", help="List the settings in which runs of one name differ, instead.")]

_WIDEST = 40  # letters of a setting or tag in a table


def runs(
    chosen: Annotated[
        list[Path] | None, typer.Argument(metavar="[RUN...]", help="Names or folders; all runs.", show_default=False)
    ] = None,
    where: Where = None,
    diff: Diff = False,
    tag: Tag = None,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """List runs, the newest last.

    A run that was limited to some documents, or to a sample of the questions, is marked. The largest loss is that of
    all comparisons with clean text that show one, in points of 100.
    """
    from ohr.results.folder.tags_and_prices import parse_tags
    from ohr.results.listing import list_runs

    if tag and (where or diff):
        raise typer.BadParameter("--tag changes the runs that you name: leave out --where and --diff")
    if tag:
        _tag([locate(run, runs, finished=False) for run in chosen or ()], tag)
        return
    found, faults = list_runs(runs)
    for fault in faults:
        report(fault)
    wanted = parse_tags(where or ())
    found = [run for run in found if run.has(wanted) and _is_chosen(run, chosen, runs)]
    if diff:
        _print_differences(found, as_json)
    elif as_json:
        say_json([_plain(run) for run in found])
    elif found:
        _print(found)
    else:
        say(f"no runs{' like these' if where or chosen else ''} in {runs}")


def _is_chosen(run: "ListedRun", chosen: Sequence[Path] | None, runs: Path) -> bool:
    return not chosen or any(
        str(one) == run.name or run.run.folder.resolve() in (one.resolve(), (runs / one).resolve()) for one in chosen
    )


def _tag(folders: Sequence[Path], words: Sequence[str]) -> None:
    from ohr.results.folder.tags_and_prices import change_tags, parse_tags

    if not folders:
        raise typer.BadParameter("name the runs to tag, as in: ohr runs RUN --tag KEY=VALUE")
    changes = parse_tags(words)
    if own := {"name", "status"} & set(changes):
        raise typer.BadParameter(f"{own.pop()} is a run's own: take another key for a tag")
    for folder in folders:
        say(f"{folder}: {_tags(change_tags(folder, changes)) or 'no tags'}")


def _tags(tags: "dict[str, str]") -> str:
    return " ".join(f"{key}={value}" for key, value in sorted(tags.items()))


def _print(found: Sequence["ListedRun"]) -> None:
    headers = ["run", "started (UTC)", "status", "questions", "failed items", "largest loss shown", "tags"]
    rows = [
        [
            f"{run.name}/{run.id}",
            run.started[:16].replace("T", " "),
            run.state,
            f"{run.questions:,}",
            "" if run.failures is None else f"{run.failures:,}",
            _loss(run),
            shortened(_tags(dict(run.tags)), _WIDEST),
        ]
        for run in found
    ]
    empty = set() if any(run.tags for run in found) else {"tags"}
    for narrow in ((), ("started (UTC)",), ("started (UTC)", "largest loss shown")):  # the name of a run is never cut
        kept = [at for at, header in enumerate(headers) if header not in {*empty, *narrow}]
        shown = [headers[at] for at in kept], [[row[at] for at in kept] for row in rows]
        if fits(*shown):
            break
    say_table(*shown)


def _loss(run: "ListedRun") -> str:
    loss, unjudged, compared = _verdicts(run)
    first = f"{unjudged} of {compared} not judged: too much failed" if unjudged else ""
    none = "none" if run.status == "finished" and not unjudged else ""
    largest = f"{points(loss['lost'])} {loss['stage']} {loss['metric']}, {loss['condition']}" if loss else none
    return "; ".join(filter(None, (first, largest)))


def _verdicts(run: "ListedRun") -> "Verdicts":
    """Return the largest loss that a run shows, and how many of how many comparisons cannot be judged.

    A run that is damaged or not finished shows none.
    """
    from ohr.cli.display.kept_screen import Verdicts
    from ohr.cli.display.screen import verdicts
    from ohr.errors import DataError
    from ohr.results.run import Run

    if run.status != "finished":
        return Verdicts(None, 0, 0)
    try:
        return verdicts(Run.finished(run.run.folder))
    except DataError as error:
        report(str(error))
        return Verdicts(None, 0, 0)


def _plain(run: "ListedRun") -> dict[str, Any]:
    loss, unjudged, _ = _verdicts(run)
    return {
        "name": run.name,
        "time": run.started,
        "status": run.status,
        "partial": run.partial,
        "questions": run.questions,
        "failures": run.failures,
        "not_judged": unjudged,
        "largest_loss": loss,
        "tags": run.tags,
        "path": run.run.folder,
    }


def _print_differences(found: Sequence["ListedRun"], as_json: bool) -> None:
    """Print a table for each name: a row for each setting that differs, a column for each run."""
    from ohr.results.listing import differences

    named: defaultdict[str, list[ListedRun]] = defaultdict(list)
    for run in found:
        named[run.name].append(run)
    differing = {name: differences(several) for name, several in named.items()}
    if as_json:
        ids = {name: [run.id for run in several] for name, several in named.items()}
        say_json(
            {name: {s: dict(zip(ids[name], values, strict=True)) for s, values in differing[name]} for name in ids}
        )
        return
    for name, several in named.items():
        if len(several) == 1:
            say(f"{name}: one run")
        elif not differing[name]:
            say(f"{name}: {len(several)} runs with the same settings")
        else:
            rows = [[setting, *(shortened(value, _WIDEST) for value in values)] for setting, values in differing[name]]
            say_table([name, *(run.id for run in several)], rows)


def open_run(run: Path, runs: Path) -> "Run":
    """Open a finished run that a user names as for `locate`.

    Raises:
        DataError: there is no such run, it is not finished, or it is damaged.
    """
    from ohr.results.run import Run

    return Run.finished(locate(run, runs))


def locate(run: Path, runs: Path, *, finished: bool = True) -> Path:
    """Find a run by its folder, by NAME/ID as `ohr runs` lists it, or the newest one of a name.

    Args:
        run: a folder or a name.
        runs: the folder of all runs.
        finished: of several runs of the name, take the newest finished one that is no part of its study (`--limit`),
            if there is any, else the newest finished one; a line on stderr says which, where a newer run exists.

    Raises:
        DataError: there is no such run.
    """
    from ohr.errors import DataError
    from ohr.results.listing import list_runs, run_folders

    for folder in (run, runs / run):
        if (folder / "manifest.json").is_file():
            return folder
    folders = run_folders(runs)
    named = [folder for folder in folders if folder.parent.name == str(run)]
    if not named and run.is_dir():
        raise DataError(f"{run}: the folder holds no run: it has no manifest.json")
    if not named:
        nearest = get_close_matches(str(run), {folder.parent.name for folder in folders}, n=1)
        hint = f". Did you mean {nearest[0]}?" if nearest else ""
        raise DataError(f"no run {str(run)!r}: give its folder, or one of the names that `ohr runs` lists{hint}")
    if not finished:
        return named[-1]
    listed, _ = list_runs(runs, str(run))
    done = [found for found in listed if found.status == "finished"]
    whole = [found for found in done if not found.partial]
    if not done:
        return named[-1]  # whoever reads it says why it has no results
    taken, newest = (whole or done)[-1], listed[-1]
    if taken != newest:
        report(f"{run}: run {taken.id}; there is a newer one, {newest.id} ({newest.state})")
    return taken.run.folder
