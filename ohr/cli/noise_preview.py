"""`ohr noise preview`: what each noise does to one of the user's pages."""

import os
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import report, say, say_json
from ohr.cli.options import AsJson, Force, Workers

if TYPE_CHECKING:
    from ohr.contracts import Medium, OcrBackend, Stage
    from ohr.noise_files.preview import ImageShown, ImageTrial
    from ohr.report.figures.contact_sheet import Row

_LEVELS = {"image": "0.25,0.5,1", "text": "0.1,0.3,0.6"}


def preview(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A page image, a PDF or a text.", show_default=False)],
    kinds: Annotated[str | None, typer.Option(metavar="A,B", help="Kinds of noise; all that fit the file.")] = None,
    noise: Annotated[
        list[str] | None,
        typer.Option(metavar="NOISE", help="A noise as in a spec, at the level it names if any; may be repeated."),
    ] = None,
    levels: Annotated[
        str | None, typer.Option(metavar="X,Y", help="Severities (0.25,0.5,1) or rates (0.1,0.3,0.6).")
    ] = None,
    page: Annotated[int, typer.Option(min=0, metavar="N", help="Which page, from 0.")] = 0,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to: .html, or .png for images.")] = None,
    dpi: Annotated[int, typer.Option(min=50, max=600, help="Resolution at which PDFs are rendered.")] = 150,
    width: Annotated[int, typer.Option(min=80, max=2000, help="Pixels across each picture.")] = 360,
    seed: Annotated[int, typer.Option(min=0, help="As a spec's seed.")] = 0,
    ocr: Annotated[str, typer.Option(metavar="KIND", help="Engine that reads each image; none for no engine.")] = (
        "tesseract"
    ),
    workers: Workers = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Show what each noise does to a page, at several levels.

    Images: a contact sheet with the page, a part of it at full size, what the engine reads, and its edit distance from
    what the engine reads on the clean page. Texts: before and after, side by side, with each edit marked.
    """
    from ohr.noise_files.preview import medium_of
    from ohr.results.folder.replace import refuse, written

    medium = medium_of(file)
    target = out or Path(f"{file.stem}-noise.html")
    refuse(target, "--out", force=force)
    if not target.parent.is_dir():
        from ohr.errors import SpecError

        raise SpecError(f"--out {target}: there is no folder {target.parent}")
    endings = [".html", *([".png", ".jpg", ".webp"] if medium == "image" else [])]
    if target.suffix.lower() not in endings:
        from ohr.errors import SpecError

        raise SpecError(f"--out {target}: must end in {' or '.join(endings)}")
    noises = _at_levels(
        _chosen(medium, kinds, noise or []), _levels(levels) if levels else (), _levels(_LEVELS[medium])
    )
    if medium == "text":
        found, content = _show_text(file, page, noises, seed)
    else:
        shared = {
            "path": file.resolve(),
            "index": page,
            "dpi": dpi,
            "width": width,
            "seed": seed,
            "engine": _engine(ocr),
        }
        found, content = _show_images(noises, shared, workers or os.cpu_count() or 1, target)
    with written(target, "--out", force=force) as new:
        new.write_bytes(content)
    if as_json:
        say_json({"sheet": str(target), "noises": found})
    else:
        say(str(target))


def _chosen(medium: "Medium", kinds: str | None, given: Sequence[str]) -> "list[Stage]":
    """Make the noises that were asked for, or all that need no arguments."""
    from ohr.errors import SpecError
    from ohr.registry import Registry
    from ohr.spec.read import read_noise

    registry = Registry()
    chains = [read_noise(text, registry) for text in given]
    wrong = [chain for chain in chains if chain.medium != medium]
    if wrong:
        raise SpecError(f"{wrong[0].noises[0].kind} is {wrong[0].medium} noise, which this file cannot take")
    made: list[Stage] = [noise for chain in chains for noise in chain.noises]
    if fixed := [stage.kind for chain in chains for stage in chain.noises if not stage.knob]:
        raise SpecError(f"{fixed[0]} has no strength, of which a preview shows several: see `ohr noise apply`")
    family, other = (registry.noise_family(each) for each in (medium, "text" if medium == "image" else "image"))
    names = [name.strip() for name in kinds.split(",")] if kinds else ([] if given else registry.names(family))
    for name in names:
        if name not in registry.names(family) and name in registry.names(other):
            raise SpecError(f"{name} is {other.replace('_', ' ')}, which this file cannot take")
        plugin = registry.load(family, name)
        needed = [key for key, field in plugin.model_fields.items() if field.is_required()]
        if needed and kinds:
            raise SpecError(f"{name} needs {', '.join(needed)}: write it in full, as --noise '{{kind: {name}, ...}}'")
        if not needed:
            made.append(plugin.model_validate({"kind": name}))
    for stage in made:
        stage.check()
    return made


def _levels(given: str) -> list[float]:
    from ohr.errors import SpecError

    try:
        found = [float(word) for word in given.split(",")]
    except ValueError:
        found = [-1.0]
    if not all(0 <= level <= 1 for level in found):
        raise SpecError(f"--levels {given}: must be numbers from 0 to 1, as in 0.25,0.5,1")
    return found


def _at_levels(stages: Sequence[Any], asked: Sequence[float], usual: Sequence[float]) -> list[list[Any]]:
    """Return each noise at the levels asked for; without any, at the level it names, or at the usual ones."""
    return [[stage.model_copy(update={stage.knob: level}) for level in asked or _own(stage, usual)] for stage in stages]


def _own(stage: Any, usual: Sequence[float]) -> list[float]:
    """Return the level that a noise names; else the usual ones, and a text noise's default (tables convert at 1)."""
    level = getattr(stage, stage.knob)
    if stage.knob in stage.model_fields_set:
        return [level]
    return sorted({*usual, level}) if stage.takes == "text" else list(usual)


def _engine(kind: str) -> "OcrBackend | None":
    """Make the engine; without it there is a sheet of pictures, and a line that says why."""
    from ohr.contracts import OcrBackend
    from ohr.errors import MissingExtra, PluginError
    from ohr.registry import Registry

    if kind == "none":
        return None
    engine = Registry().load("ocr", kind).model_validate({"kind": kind})
    if not isinstance(engine, OcrBackend):
        raise PluginError(f"ocr {kind} reads no images: choose an engine that does, or `none`")
    try:
        engine.check()
    except MissingExtra as error:
        report(f"no OCR text: {error}")
        return None
    return engine


def _show_text(file: Path, page: int, noises: Sequence[Sequence[Any]], seed: int) -> tuple[list[dict[str, Any]], bytes]:
    """Return what was done, and the sheet."""
    from ohr.noise_files.preview import try_texts
    from ohr.report.figures.side_by_side import change
    from ohr.report.figures.side_by_side import page as draw

    shown = try_texts(file, page, [noise for levels in noises for noise in levels], seed)
    changes = [change(f"{text.kind}, rate {text.rate:g}", text.before, text.edits) for text in shown]
    content = draw(f"{file.name}, page {page}", changes).encode("utf-8", "replace")
    return [{"kind": text.kind, "rate": text.rate, "edits": len(text.edits)} for text in shown], content


def _show_images(
    noises: Sequence[Sequence[Any]], shared: dict[str, Any], workers: int, target: Path
) -> tuple[list[dict[str, Any]], bytes]:
    """Return what was done, and the sheet in the form of the target's suffix."""
    from ohr.cli.display.progress import bars
    from ohr.engine.executors.local import Local
    from ohr.noise_files.preview import ImageTrial, try_images
    from ohr.report.figures.contact_sheet import sheet

    trials = [ImageTrial(noise=None, **shared)]
    trials += [ImageTrial(noise=noise, **shared) for levels in noises for noise in levels]
    with bars() as progress:
        shown = try_images(trials, Local(workers), progress)
    clean, *rest = zip(trials, shown, strict=True)
    left = iter(rest)
    groups = [list(islice(left, len(levels))) for levels in noises]
    rows = [_row([clean])] + [_row(group) for group in groups]
    path, index = shared["path"], shared["index"]
    content = sheet(target.suffix, f"{path.name}, page {index}", rows)
    done = [
        {
            "kind": trial.noise.kind,
            "severity": trial.level,
            "edit_distance": made.distance,
            "label_effect": made.label_effect,
            "error": made.error,
        }
        for trial, made in rest
        if trial.noise
    ]
    return done, content


def _row(group: "Sequence[tuple[ImageTrial, ImageShown]]") -> "Row":
    from ohr.report.figures.contact_sheet import Row, Tile

    noise = group[0][0].noise
    published = getattr(noise, "published", None)
    about = f"published at severity {published:.2g}" if published is not None else ""
    tiles = []
    for trial, made in group:
        notes = [] if made.distance is None or trial.noise is None else [f"edit distance {made.distance:.3f}"]
        notes += [made.label_effect] if made.label_effect != "none" else []
        notes += [made.error] if made.error else []
        title = f"severity {trial.level:g}" if trial.noise else "as it is"
        tiles.append(Tile(title, made.whole, made.detail, ", ".join(notes), made.text or ""))
    return Row(noise.kind if noise else "clean", about, tuple(tiles))
