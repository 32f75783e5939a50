"""Tables of runs that never were: every cell's score is set by hand."""

import json
from math import nan
from pathlib import Path
from types import SimpleNamespace

import pytest

from ohr.results.derived.losses import Point
from ohr.results.tables.schema import schema
from ohr.results.tables.table_files import Tables

HEADLINE = {"retrieval": "lcs", "generation": "f1", "overall": "f1"}


def row(stage="retrieval", noise="formatting", noise_type="formatting", level=0.3, x=0.2, mean=0.6, **other):
    """Make one row of the summary."""
    searched, answered = stage in ("retrieval", "overall"), stage in ("generation", "overall")
    return {
        **blank("summary"),
        "stage": stage,
        "condition": condition(noise, level),
        "noise": noise,
        "noise_type": noise_type,
        "knob": "rate",
        "knob_value": None if level is None else str(level),
        "chunker": "tokens" if searched else None,
        "retriever": "bm25" if searched else None,
        "generator": "extractive" if answered else None,
        "metric": "f1" if answered else "lcs",
        "by": "evidence_source",
        "group": "all",
        "evidence_source": other.get("group", "all"),
        "mean": mean,
        "low": mean - 0.1,
        "high": mean + 0.1,
        "n": 90,
        "failed": 0,
        "documents": 17,
        "kb_r_noise": x,
        "kb_evidence_loss": x / 2,
        "floor": 0.2,
        "ceiling": 0.9,
        **other,
    }


def clean(stage="retrieval", mean=0.8, **other):
    """Make the row of the knowledge base without noise."""
    return row(stage, "ground_truth", "none", None, 0.0, mean, **other)


def dose(noise="formatting", level=0.3, replicate=0, r_noise=0.2):
    """Make one row of the doses."""
    named = {"kb": f"{condition(noise, level)}#{replicate}", "condition": condition(noise, level), "noise": noise}
    return {
        **blank("doses"),
        **named,
        "knob_value": None if level is None else str(level),
        "replicate": replicate,
        "r_noise": r_noise,
        "evidence_loss": r_noise / 2,
    }


def condition(noise, level):
    return noise if level is None else f"{noise}-{level}"


def blank(table):
    """A row with nothing in it."""
    return {field.name: 0 if str(field.type) == "int64" else nan if str(field.type) == "double" else None
            for field in schema(table)}  # fmt: skip


def points(*rows):
    """Return rows of the summary as points."""
    names = {"level": "knob_value", "r_noise": "kb_r_noise", "evidence_loss": "kb_evidence_loss"}
    found = ({name: row[names.get(name, name)] for name in Point.__slots__} for row in rows)
    return [Point(**{name: "" if value is None else value for name, value in one.items()}) for one in found]


def write(folder: Path, rows, doses=None) -> Path:
    """Write a run's folder with these two tables."""
    folder.mkdir(parents=True, exist_ok=True)
    with Tables(folder, ("summary", "doses")) as tables:
        tables.append_rows("summary", rows)
        tables.append_rows("doses", [dose()] if doses is None else doses)
    protocol = {"retrieval": "lcs", "answer": ["f1"]}
    (folder / "manifest.json").write_text(json.dumps({"status": "finished", "spec": {}, "protocol": protocol}))
    return folder


@pytest.fixture(scope="session")
def tables():
    """The makers of tables, for tests that cannot import this file."""
    return SimpleNamespace(row=row, clean=clean, dose=dose, points=points, write=write, headline=HEADLINE)
