"""`ohr runs`: the runs that were done here."""

from pathlib import Path

from ohr.cli.display.console import report, say, say_json, say_table
from ohr.cli.options import RUNS, AsJson, RunsFolder


def runs(runs: RunsFolder = RUNS, as_json: AsJson = False) -> None:
    """List runs, the newest last."""
    from ohr.errors import DataError
    from ohr.results.folder import read_manifest, status

    found = []
    for folder in run_folders(runs):
        try:
            manifest = read_manifest(folder)
        except DataError as error:
            report(str(error))
            continue
        try:
            found.append(
                {
                    "name": manifest["spec"]["name"],
                    "time": manifest["started"],
                    "status": status(manifest),
                    "questions": manifest["questions"],
                    "failures": manifest.get("failures", {}).get("items", ""),
                    "path": str(folder),
                }
            )
        except (KeyError, TypeError, AttributeError):
            report(f"{folder}: its manifest is not that of a run")
    found.sort(key=lambda run: run["time"])
    if as_json:
        say_json(found)
    elif found:
        say_table(tuple(found[0]), [tuple(map(str, run.values())) for run in found])
    else:
        say(f"no runs in {runs}")


def run_folders(runs: Path, name: str = "*") -> list[Path]:
    """List the folders of runs, of each name the oldest first."""
    return sorted(path.parent for path in runs.glob(f"{name}/*/manifest.json") if not path.parent.name.startswith("."))


def locate(run: Path, runs: Path, *, finished: bool = True) -> Path:
    """Find a run by its folder, or the newest one of a name.

    Args:
        run: a folder or a name.
        runs: the folder of all runs.
        finished: of several runs of the name, take the newest finished one, if there is any.

    Raises:
        DataError: there is no such run.
    """
    from ohr.errors import DataError
    from ohr.results.folder import read_manifest, status

    if (run / "manifest.json").is_file():
        return run
    named = [folder for folder in run_folders(runs) if folder.parent.name == str(run)]
    if not named:
        raise DataError(f"no run {str(run)!r}: give its folder, or one of the names that `ohr runs` lists")
    done = [folder for folder in named if status(read_manifest(folder)) == "finished"] if finished else []
    return (done or named)[-1]
