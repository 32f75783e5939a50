"""`ohr init`: a study of your own documents."""

from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import say


def init(
    folder: Annotated[Path, typer.Argument(help="Folder of PDFs, or of page images.", show_default=False)],
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your questions: CSV, JSON or JSON Lines; else they are looked for."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Write a spec, and questions to fill in, for your own documents."""
    from ohr.errors import DataError
    from ohr.workbench.init import start

    made = start(folder, Path(), questions)
    if there := [path for path in made.files if path.exists() and not force]:
        raise DataError(f"{', '.join(map(str, there))}: there already; --force replaces")
    for path, text in made.files.items():
        path.write_text(text, encoding="utf-8")
    for note in made.notes:
        say(note)
    say(f"written: {', '.join(map(str, made.files))}")
    say(f"next:    ohr check {made.spec}")
    say(f"         ohr run {made.spec}")
