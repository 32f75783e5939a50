"""`ohr score`: what somebody else's OCR results or answers are worth, beside published numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.data import root_of
from ohr.cli.display.console import as_lines, say, say_first, say_json, say_table, say_view, say_views
from ohr.cli.display.progress import bars
from ohr.cli.options import RUNS, STORE, AsJson, RunsFolder, StoreFolder, Workers
from ohr.cli.score_hits import hits
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.report.leaderboard.answers import AnswerScore
    from ohr.report.leaderboard.ocr_results import OcrScore
    from ohr.report.leaderboard.standings import Leaderboard
    from ohr.results.derived.means import Breakdown
    from ohr.statistics.estimate import Estimate

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


@app.command()
def ocr(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="OCR results: <domain>/<document>.json.", show_default=False)
    ],
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
    with as_base(folder, keys, label) as base, bars() as progress:
        spec = ocr_spec(base, keys, name, label)
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
        Path, typer.Argument(metavar="FILE", help="Ids and answers: CSV, .xlsx, JSON or JSONL.", show_default=False)
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
    column: Annotated[str | None, typer.Option(metavar="NAME", help="Column of the answers, of several.")] = None,
    as_json: AsJson = False,
) -> None:
    """Score a file of answers: F1 and exact match with intervals, beside published numbers."""
    from ohr.report.leaderboard.answers import score_answers, survey_answers
    from ohr.spec.read import make_benchmark

    keys = benchmark_keys(benchmark, root, domains, protocol, fields)
    made = make_benchmark(keys, _label(benchmark, keys))
    given, notes = survey_answers(file, column)
    found = score_answers(made, given, name or file.stem, stage.value if stage else None)
    found = replace(found, warnings=[*notes, *found.warnings])
    if as_json:
        say_json(found)
    else:
        _print_answers(found)
    if found.missing:
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
    _print_means(means, found.macro, head, ("evidence_source", "domain"), "failed")
    if not isnan(found.lost["mean"]):
        low, high = (100 * found.lost[end] for end in ("low", "high"))
        interval = "" if isnan(low) else f" (95% interval {low:.2f} to {high:.2f}, paired)"
        say(f"lost against {found.truth}: {100 * found.lost['mean']:.2f}{interval}")
    say_views(short_views(Run(found.run)))
    _print_leaderboards(found.leaderboards)
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


def _print_answers(found: "AnswerScore") -> None:
    from ohr.results.tables.groups import TRAITS

    total = found.given + len(found.missing)
    say(f"{found.name}: {found.given:,} of {counted(total, 'question')} answered, protocol {found.protocol}")
    say(f"benchmark {found.benchmark}")
    own = [trait for trait in next(iter(found.scores.values())) if trait not in TRAITS]
    _print_means(found.scores, found.macro, "{}, x 100", ("evidence_source", "domain", *own), "missing")
    if found.aggregates:
        lines = [
            (name, _with_interval(value, is_share=unit == "share"), str(value.n))
            for name, (unit, value) in found.aggregates.items()
        ]
        say_table(("number of the protocol", "value", "n"), lines)
    _print_leaderboards(found.leaderboards)
    say_first("warnings about the file and the benchmark:", found.warnings)
    if found.blank:
        say(f"{counted(found.blank, 'blank answer')}, scored 0; the reference code leaves them out of its mean")
    say_first(f"scores that failed, counted as 0: {len(found.failures):,}", found.failures)
    left_out = set(found.left_out)
    scored = [name for name in found.missing if name not in left_out]
    say_first(f"questions without an answer, scored 0: {len(scored):,}", scored)
    say_first(f"questions without an answer, which this protocol leaves out: {len(found.left_out):,}", found.left_out)
    say_first(f"answers to no question, left out: {len(found.unknown):,}", found.unknown)


def _print_means(
    found: "Mapping[str, Breakdown]", macro: Mapping[str, float], head: str, traits: Sequence[str], failed: str
) -> None:
    """Print the means of each trait's groups, a column for each name, and the mean over domains."""
    for by in traits:
        rows = [
            [group, *(_with_interval(means[by][group]) for means in found.values()), str(first.n), str(first.failed)]
            for group, first in next(iter(found.values()))[by].items()
        ]
        say_table((head.format(by.replace("_", " ")), *found, "n", failed), rows)
    say(f"mean over domains: {', '.join(f'{name} {100 * macro[name]:.2f}' for name in found)}")


def _with_interval(estimate: "Estimate", *, is_share: bool = True) -> str:
    from ohr.report.views.view import Interval

    return Interval(estimate.mean, estimate.low, estimate.high, is_share).short()


def _print_leaderboards(boards: "Sequence[Leaderboard]") -> None:
    from ohr.report.views.boards import leaderboard

    for view in leaderboard(boards):
        say()
        say(view.heading)
        say_view(view)


def _plain(value: float) -> str:
    return "" if isnan(value) else f"{value:.3g}"
