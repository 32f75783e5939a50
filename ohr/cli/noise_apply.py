"""`ohr noise apply`: noisy files, without a run."""

from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.console import say, say_first, say_json
from ohr.cli.options import AsJson, Force, PluginFiles, Workers
from ohr.messages.wording import counted


def apply(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A file or a folder.", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="A new folder.", show_default=False)],
    noise: Annotated[
        list[str],
        typer.Option(
            metavar="NOISE",
            help="As in a spec, such as '{kind: formatting, rate: 0.3}', or a YAML file with it.",
            show_default=False,
        ),
    ],
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Questions that `where` goes by: a JSON list like OHRBench's qas.json."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="As a spec's seed.")] = 0,
    dpi: Annotated[int, typer.Option(min=50, max=600, help="Resolution at which PDFs are rendered.")] = 200,
    plugin: PluginFiles = None,
    workers: Workers = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Put noise on documents: text files and JSON pages, or images and PDFs.

    OUT gets the layout of IN, a ledger of all edits (edits.jsonl), and what was done (noise.json). The same documents
    in `ohr run` get the same noise.
    """
    from ohr.cli.display.progress import bars
    from ohr.engine.executors.local import Local
    from ohr.errors import SpecError
    from ohr.files.documents import LEDGER
    from ohr.files.ohrbench_questions import read_questions
    from ohr.noise_files.apply import apply as lay
    from ohr.noise_files.apply import summary
    from ohr.registry import Registry
    from ohr.spec.read import read_noise

    files = tuple(path.resolve() for path in plugin or ())
    if len(noise) > 1:
        raise SpecError("--noise is given more than once: write a chain as one list, '[{kind: ...}, {kind: ...}]'")
    chain = read_noise(noise[0], Registry(files))
    for stage in chain.noises:
        stage.check()
    asked = read_questions(questions) if questions else ()
    executor = Local(workers)
    with bars() as progress:
        done = lay(
            source,
            target,
            chain,
            executor=executor,
            progress=progress,
            questions=asked,
            seed=seed,
            dpi=dpi,
            plugin_files=files,
            force=force,
        )
    found = summary(done)
    if as_json:
        say_json(found)
    else:
        say(f"{counted(done.files, 'file')}, {counted(done.pages, 'page')}")
        if done.words:
            rate = f"{found['edits_per_100_words']:.1f} per 100 words"
            say(f"{counted(done.edits, 'edit')}, {rate}; ledger: {target / LEDGER}")
        if done.edits < done.aimed:
            say(f"{counted(done.aimed, 'edit')} aimed at: the text has no room for more")
        if done.unasked:
            say(f"about no file of {source}: {done.unasked:,} of {counted(len(asked), 'question')}")
        say_first(f"left alone: {counted(len(done.left_alone), 'file')}", done.left_alone)
        say_first(f"failed: {counted(len(done.failures), 'file')}", list(done.failures.values()))
        say_first(f"blank: {counted(len(done.blank), 'page')} that cannot be read", done.blank)
        say(str(target))
    if done.failures or done.blank:
        raise typer.Exit(1)
