"""Tables of runs that never were: every cell's score is set by hand."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from ohr.results.folder import write_csv


def row(stage="retrieval", noise="formatting", noise_type="formatting", level=0.3, x=0.2, mean=0.6, **other):
    """Make one row of summary.csv."""
    searched, answered = stage in ("retrieval", "overall"), stage in ("generation", "overall")
    return {
        "stage": stage,
        "noise": noise,
        "noise_type": noise_type,
        "knob": "rate",
        "knob_value": level,
        "chunker": "tokens" if searched else None,
        "retriever": "bm25" if searched else None,
        "generator": "extractive" if answered else None,
        "metric": "f1" if answered else "lcs",
        "evidence_source": "all",
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
    """Make one row of doses.csv."""
    return {
        "noise": noise,
        "knob_value": level,
        "replicate": replicate,
        "r_noise": r_noise,
        "evidence_loss": r_noise / 2,
    }


def as_read(*rows):
    """Give rows as they come back from a file: text, empty where undefined."""
    return [{name: "" if value is None or value != value else str(value) for name, value in r.items()} for r in rows]


def write(folder: Path, rows, doses=None) -> Path:
    """Write a run's folder with these two tables."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "summary.csv", rows)
    write_csv(folder / "doses.csv", [dose()] if doses is None else doses)
    return folder


@pytest.fixture(scope="session")
def tables():
    """The makers of tables, for tests that cannot import this file."""
    return SimpleNamespace(row=row, clean=clean, dose=dose, as_read=as_read, write=write)
