"""A run's tables as plain data for its page: sentences, tables, and numbers for its charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ohr.errors import OhrError
from ohr.noise_files.page_statistics import was_measured
from ohr.report.headlines import headline as sentences
from ohr.report.html.charts import chart_data
from ohr.report.leaderboard.runs import run_leaderboards
from ohr.report.leaderboard.standings import Leaderboard, fairly_ranked, published_on
from ohr.report.summary import Summary, summarize
from ohr.report.views.boards import leaderboard
from ohr.report.views.scores import analyses, confused, headline_rows
from ohr.report.views.sections import SECTIONS
from ohr.report.views.view import View
from ohr.results.derived.losses import left_out
from ohr.results.folder.run_folder import MANIFEST
from ohr.results.run import Row, Run
from ohr.spec.from_manifest import RecordedSpec


@dataclass(frozen=True)
class Findings:
    """The parts of a run that the page shows.

    Args:
        run: that is shown.
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


def read_findings(run: Run, *, trust_plugins: bool = False, pages: bool = False) -> Findings:
    """Read what the page shows of a finished run.

    Args:
        run: to read.
        trust_plugins: run the plugin files of its spec.
        pages: measure what its pages look like, if the run has not done it.

    Raises:
        DataError: the run is not finished, or a table is missing or damaged.
    """
    boards, note = _leaderboards(run, trust_plugins)
    pages = pages or was_measured(run)
    points = headline_rows(run)
    sections: dict[str, Sequence[View]] = {name: made(run) for name, made in SECTIONS.items()}
    sections |= {"leaderboard": leaderboard(boards), "errors": analyses(run, pages=pages)}
    sections["words"] = confused(run) if pages else []
    if not pages:
        note = {**note, "words": _NOT_MEASURED}
    charts = chart_data(run, [row for row in points if row["metric"] == run.headlines[row["stage"]]])
    return Findings(run, _facts(run, points), summarize(run), sentences(run), charts, sections, note)


_NOT_MEASURED = (
    "Not measured in this run, nor are edit distances, faulty blocks and retrieval without markup: "
    "`ohr report RUN --pages` does it now, `measure: [dose, pages]` in the spec with each run."
)

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
    """Place the run among published rows; without these, return the reason."""
    try:
        benchmark = RecordedSpec(run.manifest, run.folder / MANIFEST, trust_plugins=trust_plugins).benchmark
        boards = run_leaderboards(run, published_on(benchmark))
        return fairly_ranked(boards, benchmark, run.manifest["questions"]), {}
    except OhrError as error:
        note = {"leaderboard": f"No published rows: {str(error).splitlines()[0]}"}
        return run_leaderboards(run, ()), note
