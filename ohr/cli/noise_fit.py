"""`ohr noise fit`: a channel profile from pages of truth and what an engine read on them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import say, say_json
from ohr.cli.options import AsJson, Force
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.noise_files.truth_pairs import Reading


def fit(
    gt: Annotated[
        str, typer.Option(metavar="DIR", help="Ground truth, <domain>/<document>.json; or `mini`.", show_default=False)
    ],
    ocr: Annotated[
        str,
        typer.Option(
            metavar="DIR", help="The same pages as read; with `--gt mini` or an engine's kind.", show_default=False
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The profile to write.", show_default=False)],
    engine: Annotated[str | None, typer.Option(help="The engine's name in the profile.")] = None,
    note: Annotated[str, typer.Option(help="A note kept in the profile.")] = "",
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Fit channel noise to an engine's errors; use it as `{kind: channel, profile: FILE}`.

    Both folders have the same names, in OHRBench's layout or as texts (.txt, .md), each one page. Documents of a domain
    take over the errors of documents of that domain when the profile has enough of them.
    """
    from ohr.registry import Registry
    from ohr.results.folder.replace import refuse, written

    refuse(out, "--out", force=force)
    registry = Registry()
    channel: Any = registry.load(registry.noise_family("text"), "channel")
    pages = _pages(registry, gt, ocr)
    profile = channel.fitted([(p.document, p.truth, p.read) for p in pages], engine or Path(ocr).name, note)
    with written(out, "--out", force=force) as new:
        new.write_text(profile.dumps(), encoding="utf-8")
    about = profile.fit.model_dump()
    if as_json:
        say_json(about)
        return
    learned = f"{counted(about['pages'], 'page')} of {counted(about['documents'], 'document')}"
    say(f"{learned}, {counted(about['words'], 'word')}, {about['lost']:,} lost ({about['lost'] / about['words']:.1%})")
    say(f"groups with donors of their own: {', '.join(profile.groups) or 'none'}")
    say(str(out))


def _pages(registry: Any, gt: str, ocr: str) -> "list[Reading]":
    from ohr.cli.display.progress import bars
    from ohr.errors import DataError
    from ohr.noise_files.text_twins import recorded
    from ohr.noise_files.truth_pairs import recognised

    if gt != "mini":
        return recorded(Path(gt), Path(ocr))
    benchmark = registry.load("benchmark", "mini")()
    if Path(ocr).is_dir():
        return recorded(benchmark.truth, Path(ocr))
    if ocr not in registry.names("ocr") or not registry.load("ocr", ocr).reads_images:
        raise DataError(f"{ocr}: no such folder, and no engine that reads images")
    reader = registry.load("ocr", ocr)()
    reader.check()
    with bars() as progress:
        return list(recognised(benchmark, reader, progress))
