"""`ohr noise validate`: which noise two sides of the same pages look like."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import say, say_first, say_json, say_table
from ohr.cli.display.noise_costs import COST_HEADS, COST_KEY, cost_cells, cost_row
from ohr.cli.options import RUNS, STORE, AsJson, RunsFolder, StoreFolder, Workers
from ohr.cli.score_options import Domains, Fields, Kind, Root, Rules, benchmark_keys
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.contracts import Benchmark, Treatment
    from ohr.noise_files.likeness import Likeness
    from ohr.noise_files.text_twins import Pages, Twins
    from ohr.runner.noise_cost import Cost


PAGES = 400
"""Pages that are compared where the command names no other number."""


def validate(
    ocr: Annotated[
        str,
        typer.Option(metavar="DIR", help="The noisy pages; with a benchmark, or an engine's kind.", show_default=False),
    ],
    gt: Annotated[
        str | None, typer.Option(metavar="DIR", help="The same pages, clean; or `mini`.", show_default=False)
    ] = None,
    format: Annotated[str, typer.Option(metavar="FORMAT", help="Of --ocr, as of `precomputed`.")] = "ohrbench",
    noise: Annotated[
        list[str] | None,
        typer.Option(metavar="NOISE", help="Only this kind or, of texts, noise as in a spec; repeatable. All kinds."),
    ] = None,
    pages: Annotated[int, typer.Option(min=1, metavar="N", help="About how many pages are compared.")] = PAGES,
    benchmark: Kind = None,
    root: Root = None,
    domains: Domains = None,
    protocol: Rules = None,
    fields: Fields = None,
    cost: Annotated[
        bool,
        typer.Option(help="Compare what noises and the noisy pages cost retrieval; of a benchmark with questions."),
    ] = True,
    workers: Workers = None,
    store: StoreFolder = STORE,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Find which of ohr's noises pages look like that are there clean and noisy, as texts or images, and how strong.

    With a benchmark, noises at the noisy pages' dose are then compared by what they cost retrieval.
    """
    from ohr.noise_files.chosen_noises import image_noises, text_noises

    _refuse_unused(gt, benchmark or root, domains=domains, protocol=protocol, set=fields)
    if gt and not benchmark and _holds_images(Path(gt)):
        _refuse_unused(gt, None, format=format != "ohrbench", pages=pages != PAGES)
        raise typer.Exit(_validate_images(Path(gt), Path(ocr), image_noises(noise or ()), as_json=as_json))
    noises = text_noises(noise or ())
    keys = benchmark_keys(benchmark or gt, root, domains, protocol, fields)
    own = _benchmark(keys) if benchmark or root or gt in (None, "mini") else None
    noisy, twins = _twins(own, gt or str(keys["kind"]), ocr, format)
    costs = _costs(own, keys, noisy, store, runs, workers) if own and cost and twins.changed else []
    _say(twins, _judged(twins, noises, pages), costs, as_json=as_json)


def _refuse_unused(gt: str | None, named: object, **given: object) -> None:
    """Refuse options that would be ignored: a second clean side, and those of a benchmark or of texts alone.

    Args:
        gt: the folder of clean pages.
        named: a benchmark is named.
        given: whether each option was.
    """
    if gt and named:
        raise typer.BadParameter("--gt and --benchmark (or --root) both name the clean pages: leave one out")
    unused = [f"--{name}" for name, value in given.items() if value]
    if unused and gt not in (None, "mini"):
        raise typer.BadParameter(f"{' and '.join(unused)}: not used with the folder of --gt: leave it out")


def _holds_images(folder: Path) -> bool:
    """Report whether a folder holds images or PDFs, and no texts."""
    from ohr.files.documents import files
    from ohr.noise_files.apply import FORMS

    suffixes = {path.suffix.lower() for path in files(folder)} if folder.is_dir() else set()
    return bool(suffixes & set(FORMS["image"])) and ".json" not in suffixes


def _validate_images(gt: Path, ocr: Path, kinds: Sequence[str], *, as_json: bool) -> int:
    from ohr.cli.display.progress import bars
    from ohr.noise_files.validate_images import validate_images

    with bars() as progress:
        report = validate_images(gt, ocr, progress=progress, kinds=kinds)
    if as_json:
        say_json(report)
        return 0
    say(counted(report.pages, "page"))
    for what, names in (
        ("images without a twin, left out", report.unpaired),
        ("pages that were not found", report.lost),
    ):
        if names:
            say_first(f"{what}: {len(names):,}", list(names))
    say_table(*report.table())
    match report.match:
        case None:
            say("looks like none of these noises")
        case "none":
            say("the two sides are equal: no noise, or severity 0 of any")
        case kind:
            say(f"looks like {kind}")
    return 0


def _say(twins: "Twins", judged: "list[Likeness]", costs: "list[Cost]", *, as_json: bool) -> None:
    if as_json:
        rows = {"noises": [_row(each) for each in judged], "costs": [cost_row(each) for each in costs]}
        say_json({"twins": _counts(twins), **rows})
        return
    _print(twins, judged)
    if costs:
        say_table(COST_HEADS, [cost_cells(each) for each in costs])
        say(COST_KEY)


def _benchmark(keys: Mapping[str, Any]) -> "Benchmark":
    from ohr.spec.read import make_benchmark

    own = make_benchmark(dict(keys), "ohr noise validate")
    own.check()
    return own


def _twins(own: "Benchmark | None", gt: str, ocr: str, format: str) -> "tuple[Pages, Twins]":
    """Return the noisy pages, and their twins; `gt` is a folder, or the name of the benchmark."""
    from ohr.noise_files.text_twins import of_benchmark, of_folder, pair, tidied

    clean = of_benchmark(own) if own else of_folder(Path(gt))
    if not own and format != "ohrbench":
        clean = tidied(clean)
    noisy = _noisy(own, clean, ocr, format)
    return noisy, pair(clean, noisy, (gt, ocr))


def _judged(twins: "Twins", noises: "Mapping[str, Sequence[Treatment]]", pages: int) -> "list[Likeness]":
    from ohr.cli.display.progress import bars
    from ohr.engine.progress import counting
    from ohr.noise_files.likeness import likenesses

    if not twins.changed:
        return []
    with bars() as progress, counting(progress, "noises", len(noises)) as advance:
        return likenesses(twins.documents, noises, pages, lambda _: advance(1))


def _costs(
    own: "Benchmark", keys: Mapping[str, Any], noisy: "Pages", store: str, runs: Path, workers: int | None
) -> "list[Cost]":
    from ohr.cli.display.progress import bars
    from ohr.runner.noise_cost import compared

    if not own.questions():
        return []
    with bars() as progress, TemporaryDirectory() as work:
        return compared(own, keys, noisy, Path(work), store=store, runs=runs, workers=workers, progress=progress)


def _noisy(own: "Benchmark | None", clean: "Pages", ocr: str, format: str) -> "Pages":
    from ohr.cli.display.progress import bars
    from ohr.noise_files.text_twins import of_engine, of_folder, of_own_layout, of_results
    from ohr.registry import Registry
    from ohr.spec.read import make_ocr

    registry = Registry()
    if own and not Path(ocr).is_dir() and ocr in registry.names("ocr"):
        engine: Any = registry.load("ocr", ocr)()
        engine.check()
        with bars() as progress:
            return of_engine(own, engine, progress)
    if format == "ohrbench":
        return (of_own_layout(own, Path(ocr)) if own else None) or of_folder(Path(ocr))
    results: Any = make_ocr({"kind": "precomputed", "root": ocr, "format": format}, "ohr noise validate")
    results.check()
    return of_results(results, clean)


def _counts(twins: "Twins") -> dict[str, object]:
    return {
        "documents": len(twins.documents),
        "pages": twins.pages,
        "changed_pages": twins.changed,
        "left_out": list(twins.left_out),
    }


def _row(found: "Likeness") -> dict[str, object]:
    from ohr.noise_files.chosen_noises import set_fields

    return {
        "kind": found.noise.kind,
        "noise": set_fields(found.noise),
        "severity": found.severity.mean,
        "low": found.severity.low,
        "high": found.severity.high,
        "matched": found.matched,
        "distance": found.distance,
        "limit": found.limit,
        "features_off": found.off,
        "worst": found.worst,
        "worst_noisy": found.seen,
        "worst_under": found.under,
    }


def _print(twins: "Twins", judged: "list[Likeness]") -> None:
    size = f"{counted(len(twins.documents), 'document')}, {counted(twins.pages, 'page')}"
    say(f"{size}, {twins.changed:,} of them changed")
    if twins.left_out:
        say_first(f"left out, as one side lacks them or has no text: {len(twins.left_out):,}", list(twins.left_out))
    if not judged:
        say("the two sides are equal: no noise, or severity 0 of any")
        return
    say_table(_HEADS, [_shown(each) for each in judged])
    matched = [each.noise.kind for each in judged if each.matched]
    say(f"looks like {' or '.join(matched)}" if matched else "looks like none of these noises")


_HEADS = (
    "noise",
    "severity",
    "95% interval",
    "distance",
    "limit",
    "features off",
    "fits worst",
    "noisy",
    "under it",
    "",
)


def _shown(found: "Likeness") -> tuple[str, ...]:
    from ohr.noise_files.chosen_noises import set_fields

    severity = found.severity
    interval = f"{max(severity.low, 0):.3f} to {min(severity.high, 1):.3f}" if severity.low == severity.low else ""
    return (
        " ".join([found.noise.kind, *(f"{name}={_plain(value)}" for name, value in set_fields(found.noise).items())]),
        f"{severity.mean:.3f}",
        interval,
        f"{found.distance:.1f}" if found.distance < _FAR else f">{_FAR}",
        f"{found.limit:.1f}",
        str(found.off),
        found.worst,
        f"{found.seen:.5f}",
        f"{found.under:.5f}",
        "matched" if found.matched else "not matched",
    )


_FAR = 100
"""Larger distances are printed as this one."""


def _plain(value: object) -> str:
    return ",".join(f"{name}:{share}" for name, share in value.items()) if isinstance(value, dict) else str(value)
