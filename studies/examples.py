"""Keep the runs of the example studies, and write their pages, figure and sentences from the kept runs alone.

    python -m studies.examples keep RUN    # copies what the pages need to studies/kept/NAME
    python -m studies.examples derive      # makes the tables again that follow from scores, after a change
    python -m studies.examples             # writes docs/examples/NAME.html, the figure, and the marked sentences

The specs are pipelines/study-NAME.yaml; a test compares the kept runs, the pages and the sentences.
"""

import json
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from ohr.report.figures.summary import summary
from ohr.report.figures.wanted import Wanted
from ohr.report.html.write import write_report
from ohr.results.derived.derive import ROWS
from ohr.results.derived.pairs import ScoredRun
from ohr.results.folder.whole_files import listed
from ohr.results.run import Run
from ohr.results.tables.table_files import write_table
from speed.readme_from_demo import placed
from studies.claims import CLAIMS

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "studies" / "kept"
PAGES = ROOT / "docs" / "examples"
FIGURE = ROOT / "docs" / "images" / "cascade.png"
TEXT = PAGES / "index.md"
"""The text with sentences between `<!-- study: NAME -->` and `<!-- end of NAME -->`."""
LARGEST = 3_000_000
"""Bytes of a page."""
_DERIVED = ("summary", "curves", "variance", "hypotheses", "repair", "effort")
_LEFT_OUT = ("report.html", "run.log", "events.jsonl", "figures", "*.csv")
"""Files that the pages do not need: `ohr report` and `ohr plot` make them again from the tables."""


def keep(folder: Path) -> Path:
    """Copy a finished run without what can be made again, and without what names a machine."""
    run = Run.finished(folder)
    name = run.manifest["name"]
    if not (ROOT / "pipelines" / f"study-{name}.yaml").is_file():
        raise SystemExit(f"{folder}: is of no example study: pipelines/study-{name}.yaml is missing")
    place = RUNS / name
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns(*_LEFT_OUT))
    manifest = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
    manifest |= {"process": {}, "store": "", "machine": manifest["machine"] | {"system": "Linux"}}
    _record(place, manifest)
    return place


def _record(place: Path, manifest: dict) -> None:
    """Write a manifest that names the files of its folder as they are."""
    manifest["files"] = listed(place, sorted(place.glob("*.parquet")))
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def derive() -> None:
    """Make the tables of the kept runs again that follow from their scores."""
    for place in sorted(RUNS.iterdir()):
        run = ScoredRun(Run(place))
        for table in _DERIVED:
            write_table(place, table, ROWS[table](run))
        _record(place, run.run.manifest)


def parts() -> dict[str, str]:
    """Return the sentences of each study, by its name."""
    return {name: claim(Run.finished(RUNS / name)) for name, claim in CLAIMS.items()}


def write() -> None:
    """Write a page for each kept run, the figure of the cascade, and the sentences into the text."""
    with TemporaryDirectory() as folder:  # ohr notes in a folder what it wrote there
        for name in CLAIMS:
            page = Path(folder, f"{name}.html")
            write_report([Run.finished(RUNS / name)], page, images=6)
            if page.stat().st_size > LARGEST:
                raise SystemExit(f"{page.name}: {page.stat().st_size:,} bytes, of {LARGEST:,} that a page may have")
            shutil.copy(page, PAGES)
    summary(Run.finished(RUNS / "cascade"), Wanted()).savefig(FIGURE)
    TEXT.write_text(placed(TEXT.read_text(encoding="utf-8"), parts(), "study"), encoding="utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["keep", folder]:
            print(keep(Path(folder)))
        case ["derive"]:
            derive()
        case []:
            write()
        case _:
            raise SystemExit(__doc__)
