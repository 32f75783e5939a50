"""`ohr score`: what somebody else's OCR results or answers are worth, beside published numbers."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.data import root_of
from ohr.cli.display.answer_scores import print_answers, print_leaderboards, print_means
from ohr.cli.display.console import as_lines, say, say_first, say_json, say_table, say_views
from ohr.cli.display.progress import bars
from ohr.cli.options import RUNS, STORE, AnswerLayout, AsJson, RunsFolder, StoreFolder, Workers
from ohr.cli.score_hits import hits
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.report.leaderboard.ocr_results import OcrScore

app = typer.Typer(
    no_args_is_help=True, help="Score OCR results, answers or runs made elsewhere.", rich_markup_mode=None
)


class Protocol(StrEnum):
    """Which rules a benchmark is scored by."""

    CLEAN = "clean"
    REFERENCE = "reference"


class AnswerStage(StrEnum):
    """Which published scores answers are compared with."""

    GENERATION = "generation"
    OVERALL = "overall"


Kind = Annotated[
    str | None,
    typer.Option(
        "--benchmark", metavar="KIND", help="As `ohr data list` names it; OHRBench in its folders, else mini."
    ),
]
Root = Annotated[Path | None, typer.Option(metavar="DIR", help="The benchmark's folder.")]
Domains = Annotated[
    list[str] | None, typer.Option("--domains", metavar="A,B", help="Only these domains; may be repeated.")
]
Rules = Annotated[Protocol | None, typer.Option(help="`reference` repeats the published protocol to the digit.")]
Fields = Annotated[
    list[str] | None, typer.Option("--set", metavar="K=V", help="Another key of the benchmark, as in languages=[en].")
]
Name = Annotated[str | None, typer.Option(metavar="NAME", help="Of the system; by default the folder's or file's.")]


Column = Annotated[str | None, typer.Option(metavar="NAME", help="Column of the answers, of several.")]
Writer = Annotated[AnswerLayout | None, typer.Option("--from", help="Who wrote the file, where that is not clear.")]
Pick = Annotated[
    str | None, typer.Option(metavar="NAME", help="Of several systems or epochs in the file, the one to score.")
]


@app.command()
def ocr(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="OCR results: <domain>/<document>.json.", show_default=False)
    ],
    format: Annotated[
        str, typer.Option(metavar="FORMAT", help="The system, as `format` of `precomputed`.")
    ] = "ohrbench",
    benchmark: Kind = None,
    root: Root = None,
    domains: Domains = None,
    protocol: Rules = None,
    fields: Fields = None,
    name: Name = None,
    workers: Workers = None,
    store: StoreFolder = STORE,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Score a folder of OCR results: its distance from the ground truth, and its effect on retrieval."""
    from ohr.files.ohrbench_json import benchmark_root
    from ohr.report.leaderboard.ocr_results import as_base, ocr_spec, score_ocr

    root = root or (benchmark_root(folder) if benchmark is None else None)
    keys = benchmark_keys(benchmark, root, domains, protocol, fields)
    label = _label(benchmark, keys)
    with as_base(folder, keys, label, format) as base, bars() as progress:
        spec = ocr_spec(base, keys, name, label, format)
        found = score_ocr(spec, store=store, runs=runs, workers=workers, progress=progress)
    if as_json:
        say_json(found)
    else:
        _print_ocr(found)
    if found.failures:
        raise typer.Exit(1)


@app.command()
def answers(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Answers: CSV, .xlsx, JSON, YAML, Parquet or .eval.", show_default=False),
    ],
    benchmark: Kind = None,
    root: Root = None,
    domains: Domains = None,
    protocol: Rules = None,
    fields: Fields = None,
    name: Name = None,
    stage: Annotated[
        AnswerStage | None, typer.Option(help="Published scores to compare with; `overall`, where there are some.")
    ] = None,
    column: Column = None,
    layout: Writer = None,
    pick: Pick = None,
    as_json: AsJson = False,
) -> None:
    """Score a file of answers: F1 and exact match with intervals, beside published numbers.

    Files of RAGAS, DeepEval, promptfoo and inspect_ai are read too, with what they say was retrieved. Where no
    benchmark is named, one with accepted answers is scored by them.
    """
    from ohr.report.leaderboard.answer_files import score_file
    from ohr.spec.read import make_benchmark

    keys = benchmark_keys(benchmark, root, domains, protocol, fields)
    found = score_file(
        file,
        lambda: make_benchmark(keys, _label(benchmark, keys)),
        is_named=any((benchmark, root, domains, protocol, fields)),
        name=name,
        stage=stage.value if stage else None,
        layout=layout.value if layout else None,
        column=column,
        pick=pick,
    )
    if as_json:
        say_json(found)
    else:
        print_answers(found)
    if found.missing or found.errors:
        raise typer.Exit(1)


app.command()(hits)


def benchmark_keys(
    kind: str | None,
    root: Path | None,
    domains: Sequence[str] | None,
    protocol: Protocol | None,
    fields: Sequence[str] | None,
) -> dict[str, Any]:
    """Gather a benchmark's keys from the command line; whether it has such keys is its own to say.

    Args:
        kind: the benchmark; where none is named, OHRBench when `root` is in its layout, else mini.

    Raises:
        SpecError: a `--set` is not of the form key=value.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    from ohr.errors import SpecError
    from ohr.files.ohrbench_json import has_bases

    keys: dict[str, Any] = {"kind": kind or ("ohrbench" if root and has_bases(root) else "mini")}
    if root is not None:
        keys["root"] = root_of(root)
    if domains:
        keys["domains"] = [name.strip() for listed in domains for name in listed.split(",")]
    if protocol is not None:
        keys["protocol"] = protocol.value
    for field in fields or ():
        key, sign, value = field.partition("=")
        if not sign or not key.isidentifier():
            raise SpecError(f"--set {field}: write it as key=value")
        try:
            keys[key] = YAML(typ="safe", pure=True).load(value)
        except YAMLError:
            raise SpecError(f"--set {field}: the value is not valid YAML") from None
    return keys


def _label(named: str | None, keys: Mapping[str, Any]) -> str:
    """Head of messages: who named no benchmark must see which one was taken."""
    return "ohr score" if named else f"ohr score: no --benchmark is named, so {keys['kind']}"


def _print_ocr(found: "OcrScore") -> None:
    from ohr.report.headlines import METRICS
    from ohr.report.leaderboard.ocr_results import RATIOS
    from ohr.report.views.protocol import short_views
    from ohr.results.run import Run

    say(f"{found.name}: {found.setting}")
    say(f"benchmark {found.benchmark}, {counted(found.retrieval[found.truth]['domain']['all'].n, 'question')}")
    names = [found.name, found.truth]
    say_table(
        ("the text itself", *names),
        [
            (_WORDS.get(measure, measure), *(_plain(values[name].get(measure, nan)) for name in names))
            for measures, values in ((_DOSES, found.doses), (RATIOS, found.ratios))
            for measure in measures
        ],
    )
    head = f"retrieval, {METRICS.get(found.metric, found.metric)} x 100 by {{}}"
    means = {name: found.retrieval[name] for name in names}
    print_means(means, found.macro, head, ("evidence_source", "domain"), "failed")
    if not isnan(found.lost["mean"]):
        low, high = (100 * found.lost[end] for end in ("low", "high"))
        interval = "" if isnan(low) else f" (95% interval {low:.2f} to {high:.2f}, paired)"
        say(f"lost against {found.truth}: {100 * found.lost['mean']:.2f}{interval}")
    say_views(short_views(Run(found.run)))
    print_leaderboards(found.leaderboards)
    say_first("warnings:", found.warnings)
    said = f"failed items: {len(found.failures)} (questions that need them score 0)"
    say_first(said, as_lines(found.failures))
    say(str(found.run))


_DOSES = ("edit_distance", "edit_distance_content", "r_noise", "r_noise_clean", "evidence_loss", "empty_pages")
_WORDS = {
    "edit_distance": "edit distance",
    "edit_distance_content": "edit distance of content",
    "r_noise_clean": "r_noise, evidence whole in gt",
    "evidence_loss": "evidence loss",
    "empty_pages": "empty pages",
    "text_errors": "text blocks with errors",
    "formula_text_errors": "formulas with wrong signs",
    "formula_structure_errors": "formulas with wrong structure",
    "redundant_commands": "redundant commands per page",
}


def _plain(value: float) -> str:
    return "" if isnan(value) else f"{value:.3g}"
