"""`ohr score`: what somebody else's OCR results, answers or runs are worth, beside published numbers."""

from dataclasses import replace
from enum import StrEnum
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ohr.cli.display.answer_scores import print_answers, print_leaderboards, print_means
from ohr.cli.display.console import as_lines, say, say_first, say_json, say_table, say_view, say_views
from ohr.cli.display.judgment import grouping, say_pairs
from ohr.cli.display.progress import bars
from ohr.cli.options import RUNS, STORE, AnswerLayout, AsJson, Clusters, Force, RunsFolder, StoreFolder, Workers
from ohr.cli.score_options import Domains, Fields, Kind, Root, Rules, benchmark_keys, label_of
from ohr.cli.score_ranks import ranks
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.report.leaderboard.ocr_results import OcrScore

app = typer.Typer(
    no_args_is_help=True, help="Score OCR results, answers or runs made elsewhere.", rich_markup_mode=None
)
app.command()(ranks)


class AnswerStage(StrEnum):
    """Which published scores answers are compared with."""

    GENERATION = "generation"
    OVERALL = "overall"


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
    from ohr.report.leaderboard.ocr_results import score_ocr
    from ohr.report.leaderboard.result_folders import as_base, is_searched, ocr_spec, unread
    from ohr.spec.read import make_benchmark

    root = root or (benchmark_root(folder) if benchmark is None else None)
    keys = benchmark_keys(benchmark, root, domains, protocol, fields)
    label = label_of(benchmark, keys)
    scored_on = make_benchmark(keys, label)
    with as_base(folder, keys, label, format) as base, bars() as progress:
        name, pages_only = name or base.resolve().name, not is_searched(scored_on)
        spec = ocr_spec({name: base}, keys, label, format, pages_only=pages_only, given={name: folder})
        found = score_ocr(spec, store=store, runs=runs, workers=workers, progress=progress)
    if base.resolve() != folder.resolve():  # files of the benchmark's own layout
        found = replace(found, warnings=[*found.warnings, *unread(folder, scored_on)])
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
        lambda: make_benchmark(keys, label_of(benchmark, keys)),
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


def _print_ocr(score: "OcrScore") -> None:
    from ohr.report.views.protocol import short_views
    from ohr.results.run import Run

    say(f"{score.name}: {score.setting}")
    if score.truth:
        _print_against_truth(score)
    say_views(short_views(Run(score.run)))
    print_leaderboards(score.leaderboards)
    say_first("warnings:", score.warnings)
    said = f"failed items: {len(score.failures)} (questions that need them score 0)"
    say_first(said, as_lines(score.failures))
    say(str(score.run))


def _print_against_truth(score: "OcrScore") -> None:
    from ohr.report.headlines import METRICS
    from ohr.report.leaderboard.ocr_results import RATIOS, TRUST

    say(f"benchmark {score.benchmark}, {counted(score.retrieval[score.truth]['domain']['all'].n, 'question')}")
    names = [score.name, score.truth]
    say_table(
        ("the text itself", *names),
        [
            (_WORDS.get(measure, measure), *(_plain(values[name].get(measure, nan)) for name in names))
            for measures, values in ((_DOSES, score.doses), (RATIOS, score.ratios), (TRUST, score.trust))
            for measure in measures
        ],
    )
    head = f"retrieval, {METRICS.get(score.metric, score.metric)} x 100 by {{}}"
    means = {name: score.retrieval[name] for name in names}
    print_means(means, score.macro, head, ("evidence_source", "domain"), "failed")
    if not isnan(score.lost["mean"]):
        low, high = (100 * score.lost[end] for end in ("low", "high"))
        interval = "" if isnan(low) else f" (95% interval {low:.2f} to {high:.2f}, paired)"
        say(f"lost against {score.truth}: {100 * score.lost['mean']:.2f}{interval}")


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
    "words_kept": "words kept",
    "misread": "words misread, of those read",
    "repeated": "invented, repeated from the page",
    "elsewhere": "invented, from elsewhere in the document",
    "new": "invented, new",
    "numbers_kept": "numbers kept",
    "amounts_kept": "amounts kept",
    "names_kept": "names kept",
}


def _plain(value: float) -> str:
    return "" if isnan(value) else f"{value:.3g}"


@app.command()
def hits(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="`topic Q0 document rank score tag`, also .gz; a folder is one run, a file for each draw of noise.",
            show_default=False,
        ),
    ],
    qrels: Annotated[
        Path, typer.Option(metavar="FILE", help="Judgments, as TREC or BEIR have them.", show_default=False)
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "--measure",
            "--metric",
            metavar="NAME",
            help="As ir_measures has it; may be repeated.  [default: nDCG@10, R@100, RR]",
        ),
    ] = None,
    margin: Annotated[
        float | None, typer.Option(min=0, max=1, help="Difference that matters; by default 0.02.")
    ] = None,
    clusters: Clusters = None,
    per_topic: Annotated[
        Path | None, typer.Option("--per-topic", metavar="FILE", help="Write the score of each topic as CSV.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Score retrievers' runs, and compare each with the first, topic by topic.

    A topic of the qrels that a run misses scores 0, as with trec_eval's option -c.
    """
    from ohr.report.comparison_report import plain
    from ohr.report.views import hits as views
    from ohr.results.derived.ranked_runs import compare_hits, read_hits
    from ohr.results.folder.replace import refuse, written

    if per_topic is not None:
        refuse(per_topic, "--per-topic", force=force)
    ranked = read_hits(runs, qrels, measure, clusters)
    compared = compare_hits(ranked, margin) if len(runs) > 1 else None
    if per_topic is not None:
        with written(per_topic, "--per-topic", force=force) as new:
            views.write_per_topic(ranked, new)
    if as_json:
        say_json({**views.plain(ranked), "comparison": plain(compared) if compared else None})
        return
    topics = grouping(len(ranked.topics), len(ranked.clusters.counts), ranked.cluster)
    say(f"{counted(len(ranked.runs), 'run')}, {topics}")
    say_first("notes:", ranked.notes, most=20)
    say_view(views.means(ranked))
    if compared is not None:
        say()
        say(f"A: {ranked.runs[0]}")
        say(f"B: {ranked.runs[1] if len(runs) == 2 else 'each of the others'}")
        say(f"margin {compared.margin:g}")
        say_pairs(compared)
