"""`ohr score hits`: any retriever's runs, as TREC has them, in ohr's table of means and comparisons."""

from pathlib import Path
from typing import Annotated

import typer

from ohr.cli.display.comparison import grouping, say_pairs
from ohr.cli.display.console import say, say_first, say_json, say_view
from ohr.cli.options import AsJson, Clusters, Force
from ohr.messages.wording import counted


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
    from ohr.report.comparison import plain
    from ohr.report.views import hits as views
    from ohr.results.derived.ranked_runs import compare_hits, read_hits
    from ohr.results.folder.replace import refuse, written

    if per_topic is not None:
        refuse(per_topic, "--per-topic", force=force)
    found = read_hits(runs, qrels, measure, clusters)
    compared = compare_hits(found, margin) if len(runs) > 1 else None
    if per_topic is not None:
        with written(per_topic, "--per-topic", force=force) as new:
            views.write_per_topic(found, new)
    if as_json:
        say_json({**views.plain(found), "comparison": plain(compared) if compared else None})
        return
    say(f"{counted(len(found.runs), 'run')}, {grouping(len(found.topics), len(found.clusters.counts), found.cluster)}")
    say_first("notes:", found.notes, most=20)
    say_view(views.means(found))
    if compared is not None:
        say()
        say(f"A: {found.runs[0]}")
        say(f"B: {found.runs[1] if len(runs) == 2 else 'each of the others'}")
        say(f"margin {compared.margin:g}")
        say_pairs(compared)
