"""`ohr hand-over`: the documents and questions of a study, for a system that answers offline."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import say
from ohr.cli.display.progress import bars
from ohr.cli.options import STORE, Force, StoreFolder, StudyOptions, Workers, command_of
from ohr.messages.wording import counted


@dataclass(frozen=True, kw_only=True)
class HandOver(StudyOptions):
    """Options of `ohr hand-over`."""

    out: Annotated[Path, typer.Argument(metavar="OUT", help="The `folder` of the study's system of the kind files.")]
    workers: Workers = None
    force: Force = False
    store: StoreFolder = STORE


@command_of(HandOver)
def hand_over(given: HandOver) -> None:
    """Write documents and questions for a system that answers offline.

    `ohr run` reads its answers from `OUT/<condition>/answers.jsonl` or `answers.csv`, which README.md there describes.
    """
    from ohr.runner.hand_over import hand_over_study
    from ohr.runner.run_options import RunOptions

    spec = given.read()
    with bars() as progress:
        options = RunOptions(store=given.store, workers=given.workers, limit=given.limit, progress=progress)
        homes = hand_over_study(spec, given.out, options, force=given.force)
    say(f"{counted(len(homes), 'condition')} in {given.out}: {', '.join(home.name for home in homes)}")
    say(f"answer the questions of each from its documents, as its README.md says; then: ohr run {given.spec}")
