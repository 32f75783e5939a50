"""`ohr hand-over`: the documents and questions of a study, for a system that answers offline."""

from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import say
from ohr.cli.display.progress import bars
from ohr.cli.options import STORE, AllowEnv, Force, Limit, Overrides, SpecFile, StoreFolder, Trust, Workers
from ohr.messages.wording import counted


def hand_over(
    spec: SpecFile,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The `folder` of the study's system of the kind files.")],
    overrides: Overrides = None,
    limit: Limit = None,
    workers: Workers = None,
    force: Force = False,
    trust_plugins: Trust = False,
    allow_env: AllowEnv = None,
    store: StoreFolder = STORE,
) -> None:
    """Write documents and questions for a system that answers offline.

    `ohr run` reads its answers from `OUT/<condition>/answers.jsonl` or `answers.csv`, which README.md there describes.
    """
    from ohr.runner.hand_over import hand_over_study
    from ohr.spec.read import read_spec

    read = read_spec(spec, overrides or (), trust_plugins=trust_plugins, allow_env=allow_env or ())
    with bars() as progress:
        homes = hand_over_study(read, out, store=store, workers=workers, limit=limit, force=force, progress=progress)
    say(f"{counted(len(homes), 'condition')} in {out}: {', '.join(home.name for home in homes)}")
    say(f"answer the questions of each from its documents, as its README.md says; then: ohr run {spec}")
