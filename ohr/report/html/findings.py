"""A run's tables as plain data for its page: sentences, tables, and numbers for its charts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ohr.errors import OhrError
from ohr.noise_files.page_statistics import was_measured
from ohr.report.headlines import headline as sentences
from ohr.report.html import effort, protocol, sheets
from ohr.report.html import run_tables as tables
from ohr.report.html.charts import chart_data
from ohr.report.html.sheets import Sheet
from ohr.report.leaderboard.runs import run_leaderboards
from ohr.report.leaderboard.standings import Leaderboard, fairly_ranked, published_on
from ohr.results.derived.losses import distinctive, left_out, read_losses
from ohr.results.folder.manifest_choices import read_choices
from ohr.results.folder.run_folder import MANIFEST, headlines, read_finished, shown_metrics
from ohr.results.tables.groups import ALL, STAGES
from ohr.results.tables.read_table import read_rows
from ohr.spec.from_manifest import RecordedSpec

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Findings:
    """The parts of a run that the page shows.

    Args:
        folder: of the run.
        manifest: what the run says of itself.
        facts: label and value, for the top of the page.
        headline: the result in sentences.
        charts: data of each chart, by name.
        sections: title, and the tables in it, by the section's name.
    """

    folder: Path
    manifest: Mapping[str, Any]
    facts: Sequence[tuple[str, str]]
    headline: Sequence[str]
    charts: Mapping[str, Any]
    sections: Mapping[str, Sequence[Sheet]] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    """Why a part is not there, by the section's name."""

    @property
    def name(self) -> str:
        """The run's name."""
        return str(self.manifest.get("name") or self.folder.parent.name)


def read_findings(folder: Path, *, trust_plugins: bool = False, pages: bool = False) -> Findings:
    """Read what the page shows of a finished run.

    Args:
        folder: of the run.
        trust_plugins: run the plugin files of its spec.
        pages: measure what its pages look like, if the run has not done it.

    Raises:
        DataError: the run is not finished, or a table is missing or damaged.
    """
    manifest = read_finished(folder)
    headline, shown = headlines(manifest), shown_metrics(manifest)
    boards, note = _leaderboards(folder, manifest, trust_plugins)
    pages = pages or was_measured(folder)
    points, losses = _points(folder, shown), distinctive(read_losses(folder))
    sections: dict[str, Sequence[Sheet]] = {
        "hypotheses": tables.hypotheses(folder, manifest),
        "cost": [tables.losses(losses)] if losses else [],
        "curves": [tables.means(points)],
        "protocol": protocol.sheets(folder, manifest),
        "effort": effort.sheets(folder),
        "robustness": tables.robustness(folder),
        "decomposition": tables.decomposition(folder, shown),
        "leaderboard": sheets.leaderboard(boards),
        "groups": [sheet for trait in ("evidence_source", "domain") for sheet in sheets.by_group(folder, trait, shown)],
        "errors": [sheet for _, sheet in sheets.analyses(folder, pages=pages)],
        "words": sheets.confused(folder) if pages else [],
        "attribution": tables.attribution(folder, headline),
        "doses": tables.doses(folder),
        "failures": tables.failures(folder, manifest),
        "provenance": tables.provenance(manifest),
    }
    if not pages:
        note = {**note, "words": _NOT_MEASURED}
    facts = _facts(folder, manifest, points)
    charts = chart_data(folder, [row for row in points if row["metric"] == headline[row["stage"]]])
    return Findings(folder, manifest, facts, sentences(folder), charts, sections, note)


_NOT_MEASURED = (
    "Not measured in this run, nor are edit distances, faulty blocks and retrieval without markup: "
    "`ohr report RUN --pages` does it now, `measure: [dose, pages]` in the spec with each run."
)

# --- words and numbers ------------------------------------------------------------------------------------


def _facts(folder: Path, manifest: Mapping[str, Any], points: Sequence[Row]) -> list[tuple[str, str]]:
    spec, missing = manifest["spec"], left_out(folder)
    kind = spec.get("benchmark", {}).get("kind", "")
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


def _points(folder: Path, shown: Mapping[str, Sequence[str]]) -> list[Row]:
    """Read the means of all questions in each stage's headline metric and the spec's own, the headline first."""
    rows = read_rows(folder / "summary.parquet", by="evidence_source", group=ALL)
    order = {stage: number for number, stage in enumerate(STAGES)}
    repeats = read_choices(folder).repeats  # a condition that was run twice is shown once
    kept = [r for r in rows if r["metric"] in shown.get(r["stage"], ()) and r["condition"] not in repeats]
    return sorted(kept, key=lambda row: (order[row["stage"]], shown[row["stage"]].index(row["metric"])))


def _leaderboards(
    folder: Path, manifest: Mapping[str, Any], trust_plugins: bool
) -> tuple[Sequence[Leaderboard], Mapping[str, str]]:
    """Place the run among published rows; without these, return the reason."""
    try:
        benchmark = RecordedSpec(manifest, folder / MANIFEST, trust_plugins=trust_plugins).benchmark
        boards = run_leaderboards(folder, published_on(benchmark))
        return fairly_ranked(boards, benchmark, manifest["questions"]), {}
    except OhrError as error:
        note = {"leaderboard": f"No published rows: {str(error).splitlines()[0]}"}
        return run_leaderboards(folder, ()), note
