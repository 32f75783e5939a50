"""`ohr init`: a study of your own documents."""

from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import say
from ohr.cli.options import Force


def init(
    folder: Annotated[Path, typer.Argument(help="Folder of PDFs, or of page images.", show_default=False)],
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Your questions: CSV, .xlsx, JSON or JSON Lines; else they are looked for."),
    ] = None,
    force: Force = False,
) -> None:
    """Write a spec, and questions to fill in, for your own documents."""
    from ohr.new_study.wizard import start
    from ohr.results.folder.replace import refuse, written

    made = start(folder, Path(), questions)
    for path in made.files:
        refuse(path, "", force=force)
    for path, text in made.files.items():
        with written(path, "", force=force) as new:
            new.write_text(text, encoding="utf-8")
    for note in made.notes:
        say(note)
    say(f"written: {', '.join(map(str, made.files))}")
    for place, command in enumerate(made.commands):
        say(f"{'next:' if not place else '':9}{command}")
