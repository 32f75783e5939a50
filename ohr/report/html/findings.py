"""A run's tables as plain data for its page: sentences, tables, and numbers for its charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ohr.errors import OhrError
from ohr.noise_files.stats import was_measured
from ohr.report.analyses import ANALYSES
from ohr.report.figures.panels import Axis, NothingToDraw, Panel, bounds, dose_axes, read_panels
from ohr.report.first_screen import Summary, summarize
from ohr.report.headlines import headline as sentences
from ohr.report.leaderboard.standings import Leaderboard, fairly_ranked, leaderboard, published_on, run_leaderboards
from ohr.report.public_run import PublicRun
from ohr.report.views import hygiene
from ohr.report.views.loss_tables import QUANTITIES
from ohr.report.views.protocol import page_rows
from ohr.report.views.score_tables import analyses, confused, headline_rows
from ohr.report.views.sections import SECTIONS
from ohr.report.views.view import View
from ohr.results.derived.decomposition import read_headlines
from ohr.results.derived.losses import has_sweep, left_out
from ohr.results.derived.pairs import FAILED
from ohr.results.folder.run_folder import MANIFEST
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL, PAGE, pipeline_names
from ohr.spec.read import RecordedSpec


def chart_data(run: Run, points: Sequence[Row]) -> dict[str, Any]:
    """Return curves where some noise has several levels, else a dot for each condition and pipeline."""
    several, labels = len({row["chunker"] for row in points if row["chunker"]}) > 1, run.agent_labels
    found: dict[str, Any] = {"dots": [_dot(row, several, labels) for row in points]}
    if has_sweep((row["noise"], row["condition"]) for row in points):
        found["curves"] = {axis: panels for axis in dose_axes(run) if (panels := _panels(run, axis))}
    found["decomposition"] = _decomposition(run)
    classes = ANALYSES["error_classes"](run)
    pipeline = pipeline_names(classes)
    found["classes"] = [
        {"label": " ".join(filter(None, (row["noise"], row["level"]))), "pipeline": pipeline(row), **row}
        for row in classes
    ]
    return found


def _dot(row: Row, several: bool, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the numbers of one condition and pipeline; its search has the chunker's name where there are several."""
    agent = labels.get(row["generator"] or "")
    search, generator = (agent, "") if agent else (row["retriever"], row["generator"] or "")
    names = ("stage", "condition", "noise_type", "metric", "mean", "low", "high", "lost", "lost_low", "lost_high")
    judged = {} if row["verdict"] != FAILED else dict.fromkeys(("lost", "lost_low", "lost_high"))
    return {
        **{name: row[name] for name in names},
        **judged,
        "system": [" + ".join(filter(None, (row["chunker"] if several else None, search))), generator],
        "few": bool(row["note"]),
    }


def _decomposition(run: Run) -> list[dict[str, Any]]:
    rows = read_headlines(run, own=False)
    pipeline = pipeline_names(rows)
    return [
        {name: row[name] for name in ("stage", "condition", "metric", "value", "low", "high")}
        | {"pipeline": pipeline(row), "quantity": QUANTITIES[row["quantity"]]}
        for row in rows
        if row["quantity"] in QUANTITIES
    ]


def _panels(run: Run, axis: Axis) -> list[dict[str, Any]]:
    try:
        return [_panel(panel) for panel in read_panels(run, axis)]
    except NothingToDraw:
        return []


def _panel(panel: Panel) -> dict[str, Any]:
    return {
        "stage": panel.stage,
        "group": panel.group,
        "metric": panel.metric,
        "marks": [
            {
                "x": mark.x,
                "mean": mark.point.mean,
                "low": mark.point.low,
                "high": mark.point.high,
                "few": mark.few,
                "condition": mark.point.condition,
                "noise": curve.noise,
                "type": curve.noise_type,
                "system": [curve.system.search, curve.system.generator],
                "n": mark.point.n,
            }
            for curve in panel.curves
            for mark in curve.marks
        ],
        "bounds": [
            {"which": bound.which, "x": bound.x, "y": [value / 100 for value in bound.y]}
            for bound in (*bounds(panel, "floor"), *bounds(panel, "ceiling"))
        ],
    }


@dataclass(frozen=True)
class Findings:
    """The parts of a run that the page shows.

    Args:
        facts: label and value, for the top of the page.
        summary: the result in one minute.
        headline: the result in sentences, in statistical form.
        charts: data of each chart, by name.
        sections: title, and the tables in it, by the section's name.
    """

    run: Run
    facts: Sequence[tuple[str, str]]
    summary: Summary
    headline: Sequence[str]
    charts: Mapping[str, Any]
    sections: Mapping[str, Sequence[View]] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    """Why a part is not there, by the section's name."""

    @property
    def name(self) -> str:
        """The run's name."""
        return self.run.name


def read_findings(run: Run, *, trust_plugins: bool = False, pages: bool = False, texts: bool = True) -> Findings:
    """Read what the page shows of a finished run.

    Args:
        trust_plugins: run the plugin files of its spec.
        pages: measure what its pages look like, if the run has not done it.
        texts: show words of its pages.

    Raises:
        DataError: the run is not finished, or a table is missing or damaged.
    """
    boards, note = _leaderboards(run, trust_plugins)
    run = run if texts else PublicRun(run.folder)
    pages = pages or was_measured(run)
    points = headline_rows(run)
    sections: dict[str, Sequence[View]] = {name: made(run) for name, made in SECTIONS.items()}
    sections |= {"leaderboard": leaderboard(boards), "errors": analyses(run, pages=pages)}
    sections["words"] = confused(run) if pages and texts else []
    if not pages and texts:
        note = {**note, "words": _NOT_MEASURED}
    if not texts:
        note = {**note, "questions": _WITHOUT_TEXTS}
        sections["hygiene"] = hygiene.views(run, texts=False)
    shown = [row for row in points if row["metric"] == run.headlines[row["stage"]]] or _page_points(run)
    facts, charts = _facts(run, shown), chart_data(run, shown)
    return Findings(run, facts, summarize(run), sentences(run), charts, sections, note)


def _page_points(run: Run) -> list[Row]:
    """Return the main scores of pages, which a run without others is about."""
    main = run.page_headline.get(PAGE, ())
    return [row for row in page_rows(run, by="evidence_source", group=ALL) if row["metric"] in main]


_NOT_MEASURED = (
    "Not measured in this run, nor are edit distances, faulty blocks, what is invented, and retrieval without markup: "
    "`ohr report RUN --pages` does it now, `measure: [dose, pages]` in the spec with each run."
)

_WITHOUT_TEXTS = "This report leaves out the texts of questions, answers and pages."

# --- words and numbers ------------------------------------------------------------------------------------


def _facts(run: Run, points: Sequence[Row]) -> list[tuple[str, str]]:
    manifest, missing = run.manifest, left_out(run)
    kind = manifest["spec"].get("benchmark", {}).get("kind", "")
    return [
        ("Benchmark", str(kind)),
        ("Questions", f"{manifest['questions']:,}"),
        ("Documents", f"{manifest.get('documents', 0):,}"),
        ("With questions", f"{manifest['documents_asked']:,}" if "documents_asked" in manifest else ""),
        ("Conditions", f"{len({row['condition'] for row in points}):,}"),
        ("Without clean text", f"{missing:,}" if missing else ""),
        ("Failed items", f"{manifest['failures'].get('items', 0):,}"),
        ("Protocol", str(manifest["protocol"].get("name", ""))),
        ("Started", str(manifest.get("started", ""))[:16].replace("T", " ")),
    ]


def _leaderboards(run: Run, trust_plugins: bool) -> tuple[Sequence[Leaderboard], Mapping[str, str]]:
    try:
        benchmark = RecordedSpec(run.manifest, run.folder / MANIFEST, trust_plugins=trust_plugins).benchmark
        boards = run_leaderboards(run, published_on(benchmark))
        return fairly_ranked(boards, benchmark, run.manifest["questions"]), {}
    except OhrError as error:
        note = {"leaderboard": f"No published rows: {str(error).splitlines()[0]}"}
        return run_leaderboards(run, ()), note
