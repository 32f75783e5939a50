"""Keeps the runs of the example studies, and writes their pages and sentences from the kept runs alone.

    python -m studies.examples keep RUN    # copies what the pages need to studies/kept/NAME
    python -m studies.examples             # writes docs/examples/NAME.html, and the marked parts of README.md and docs

The sentences are those of `studies.claims`; a test compares them with the texts.
"""

import json
import shutil
import sys
from pathlib import Path

from ohr.report.html.write import write_report
from ohr.results.run import Run
from speed.readme_from_demo import placed

from .claims import CLAIMS

ROOT = Path(__file__).parents[1]
RUNS = ROOT / "studies" / "kept"
PAGES = ROOT / "docs" / "examples"
TEXTS = (ROOT / "README.md", PAGES / "index.md")
"""Texts with parts between `<!-- study: NAME -->` and `<!-- end of NAME -->`."""
MOST = 3_000_000
"""Bytes of a page."""
LEFT_OUT = ("report.html", "run.log", "events.jsonl", "figures", "*.csv")
"""What the pages do not need: `ohr report` and `ohr plot` make it again from the tables."""


def keep(folder: Path) -> Path:
    """Copy a finished run without what can be made again, and without what names a machine."""
    run = Run.finished(folder)
    place = RUNS / run.name
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(folder, place, ignore=shutil.ignore_patterns(*LEFT_OUT))
    manifest = json.loads((place / "manifest.json").read_text(encoding="utf-8"))
    manifest |= {"process": {}, "store": ""}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return place


def parts() -> dict[str, str]:
    """Return the sentences of each study, by its name."""
    return {name: claim(Run.finished(RUNS / name)) for name, claim in CLAIMS.items()}


def write() -> None:
    """Write a page for each kept run, and its sentences into the texts."""
    for folder in sorted(RUNS.iterdir()):
        page = PAGES / f"{folder.name}.html"
        write_report([Run.finished(folder)], page, images=6, details=40, force=True)
        if page.stat().st_size > MOST:
            raise SystemExit(f"{page}: {page.stat().st_size:,} bytes, of {MOST:,} that a page may have")
    for file in TEXTS:
        file.write_text(placed(file.read_text(encoding="utf-8"), parts(), "study"), encoding="utf-8")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["keep", folder]:
            print(keep(Path(folder)))
        case []:
            write()
        case _:
            raise SystemExit(__doc__)
