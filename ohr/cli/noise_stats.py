"""`ohr noise stats`: how noisy knowledge bases are, and whether the noise looks real."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ohr.cli.display.console import say, say_json, say_table
from ohr.cli.options import RUNS, AsJson, RunsFolder

if TYPE_CHECKING:
    from ohr.metrics.realism import Stats

_DOSE = {
    "questions": "n",
    "r_noise": "r_noise",
    "r_noise_clean": "r_clean",
    "r_content": "r_content",
    "evidence_loss": "loss",
    "term_survival": "terms",
    "answer_survival": "answers",
    "edit_distance": "E.D.",
    "edit_distance_content": "E.D. content",
    "empty_pages": "empty",
}

_KEY = (
    "r_clean: r_noise of evidence that is whole in the ground truth; r_content: of the content, without markup\n"
    "loss: evidence words lost; terms, answers: words of questions, and answers, that survive\n"
    "E.D., empty: all pages; by kind of question, the pages that such questions need"
)


def stats(
    source: Annotated[
        Path, typer.Argument(metavar="RUN|DIR", help="A run, or a folder of pages or texts.", show_default=False)
    ],
    gt: Annotated[Path | None, typer.Option(metavar="DIR", help="Ground truth; `gt` in or beside DIR.")] = None,
    questions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Questions; qas_v2.json or qas.json near the ground truth.")
    ] = None,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Show the dose of each level by evidence source, edit distances, and formatting commands per page.

    DIR is one knowledge base, or a folder of several with the ground truth `gt` among them.
    """
    found = _of(source, gt, questions, runs)
    if as_json:
        say_json(found)
        return
    _print_doses(found)
    if not any(level.pages for level in found):
        say("pages: there are no clean ones to compare them with")
        return
    _print_distances(found)
    _print_commands(found)


def _of(source: Path, gt: Path | None, questions: Path | None, runs: Path) -> "list[Stats]":
    from ohr.cli.display.progress import bars
    from ohr.cli.runs import open_run
    from ohr.noise_files.stats import find_folders, of_folder, of_run

    if (source / "manifest.json").is_file() or not source.is_dir():
        return of_run(open_run(source, runs))
    from ohr.engine.progress import counting

    folders = find_folders(source, gt, questions)
    found = []
    with bars() as progress, counting(progress, "knowledge bases", len(folders.bases)) as advance:
        for name in folders.bases:
            found.append(of_folder(name, folders))
            advance(1)
    return found


def _print_doses(found: "list[Stats]") -> None:
    rows = [
        (level.kb, source, *(_shown(getattr(dose, field)) for field in _DOSE))
        for level in found
        for source, dose in level.doses.items()
    ]
    say_table(("kb", "questions", *_DOSE.values()), rows)
    say(_KEY)
    say()


def _print_distances(found: "list[Stats]") -> None:
    from ohr.metrics.realism import BINS, QUANTILES

    say("edit distance of pages: quantiles, and share of the pages in each tenth of [0, 1]")
    rows = [
        (level.kb, what, str(level.pages), *map(_shown, part.quantiles), *(f"{share:.2f}" for share in part.histogram))
        for level in found
        for what, part in (("text", level.distances), ("content", level.content))
    ]
    tenths = [f"{place / BINS:g}-" for place in range(BINS)]
    say_table(("kb", "of", "pages", *(f"{100 * q:g}%" for q in QUANTILES), *tenths), rows)
    say()


def _print_commands(found: "list[Stats]") -> None:
    kinds = sorted({kind for level in found for kind in level.commands})
    say("formatting commands per page; redundant: beyond those of the ground truth")
    rows = [
        (
            level.kb,
            f"{sum(level.commands.values()):.1f}",
            f"{level.redundant:.1f}",
            *(f"{level.commands.get(kind, 0):.1f}" for kind in kinds),
        )
        for level in found
    ]
    say_table(("kb", "all", "redundant", *kinds), rows)
    edited = [level for level in found if level.edits]
    if edited:
        rules = sorted({rule for level in edited for rule in level.edits})
        say()
        say("edits of text noise per page, by rule")
        edits = [(level.kb, *(f"{level.edits.get(rule, 0):.1f}" for rule in rules)) for level in edited]
        say_table(("kb", *rules), edits)


def _shown(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return "" if value != value else f"{value:.3f}"  # nan differs from itself
