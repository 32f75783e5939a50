"""`ohr noise fit`: a channel profile from pages of truth and what an engine read on them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import say, say_json, say_table
from ohr.cli.options import AsJson
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ohr.contracts import Question
    from ohr.workbench.readings import Reading


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
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="For r_noise: a JSON list like OHRBench's qas.json. mini has its own."),
    ] = None,
    note: Annotated[str, typer.Option(help="A note kept in the profile.")] = "",
    as_json: AsJson = False,
) -> None:
    """Fit channel noise to an engine's errors; use it as `{kind: channel, profile: FILE}`.

    Both folders have OHRBench's layout. Documents of one domain share a severity of their own when there are enough.
    What is asked for may be read better than the rest: with questions the profile gets strengths, which bring r_noise
    near the engine's.
    """
    from ohr.errors import DataError
    from ohr.files.ohrbench_questions import read_questions
    from ohr.registry import Registry
    from ohr.workbench.strengths import strengths

    registry = Registry()
    if out.is_dir():
        raise DataError(f"{out}: is a folder")
    out.parent.mkdir(parents=True, exist_ok=True)  # fails before any page is read if the file cannot be written
    asked = read_questions(questions) if questions else _own_questions(registry, gt)
    pages = _pages(registry, gt, ocr)
    channel: Any = registry.load("text_noise", "channel")
    profile = channel.fitted([(p.document, p.truth, p.read) for p in pages], engine or Path(ocr).name, note)
    found = strengths(channel, pages, asked)
    profile = profile.strengthened(*found)
    out.write_text(profile.dumps(), encoding="utf-8")
    about = profile.fit.model_dump()
    if as_json:
        say_json(about)
        return
    learned = f"{counted(about['pages'], 'page')} of {counted(about['documents'], 'document')}"
    say(f"{learned}, {counted(about['words'], 'word')}, {about['lost']:,} lost ({about['lost'] / about['words']:.1%})")
    rows = [
        (name or "all", str(group.pages), f"{group.lost:.1%}", f"{group.strength:+.2f}")
        for name, group in profile.groups.items()
    ]
    say_table(("group", "pages", "lost a page", "strength"), rows)
    for kind, strength in found.kinds.items():
        say(f"strength of {kind} lines: {strength:+.2f}")
    if (asked or questions) and not any(found):
        say(f"r_noise left aside: too few of {counted(len(asked), 'question')} are about these pages")
    say(str(out))


def _own_questions(registry: Any, gt: str) -> "Sequence[Question]":
    return list(registry.load("benchmark", gt)().questions()) if gt == "mini" else ()


def _pages(registry: Any, gt: str, ocr: str) -> "list[Reading]":
    from ohr.cli.display.progress import bars
    from ohr.errors import DataError
    from ohr.workbench.readings import recognised, recorded

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
