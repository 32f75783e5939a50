"""Times the summary of 20 levels, and compares its peak memory at 10,000 rows of scores with that at 1,000,000."""

import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from time import perf_counter, process_time
from typing import Any

import numpy as np

from ohr.metrics.dose import QUESTION_PARTS
from ohr.results.derived.derive import derive
from ohr.results.tables.table_files import Tables

RETRIEVERS = ("bm25", "dense", "hybrid")
RETRIEVAL = ("lcs", "hit@2", "recall@2", "mrr", "lcs_floor")
SOURCES = ("text", "table", "formula", "chart", "reading_order")


def write(folder: Path, levels: int, questions: int, documents: int) -> int:
    """Write the tables of a run that never was, a clean knowledge base and some levels; returns the rows of scores."""
    rng, rows = np.random.default_rng(0), 0
    places = np.arange(questions)
    names = [f"question {place}" for place in places]
    held = {
        "document": [f"domain{place % documents % 3}/document {place % documents}" for place in places],
        "domain": [f"domain{place % documents % 3}" for place in places],
        "evidence_source": [SOURCES[place % 5] for place in places],
        "answer_form": [("String", "Numeric", "Yes/No")[place % 3] for place in places],
        "task_type": [("understanding", "reasoning")[place % 2] for place in places],
    }
    with Tables(folder) as tables:
        about = {"text": "?", "answers": [["yes"]] * questions, "evidence": [["it"]] * questions, "clean_text": True}
        about |= {"groups": [[]] * questions, "pages": [[0]] * questions}
        tables.append(
            "questions",
            {"question_id": names, **about, **held},
        )
        for level in range(levels + 1):
            name = f"blur-{level}" if level else "clean"
            base = {"kb": name, "condition": name, "noise": name.partition("-")[0], "replicate": 0}
            base |= {"noise_type": "semantic" if level else "none", "knob": "severity", "knob_value": str(level)}
            for retriever in (None, *RETRIEVERS):
                metrics = RETRIEVAL if retriever else QUESTION_PARTS
                stage = "retrieval" if retriever else "page"
                cell = {**base, "stage": stage, "chunker": None, "retriever": retriever, "generator": None}
                for start in range(0, questions, 2000):
                    part = slice(start, start + 2000)
                    count = len(names[part])
                    columns: dict[str, Any] = {column: each[part] * len(metrics) for column, each in held.items()}
                    values = rng.random(count * len(metrics)).round()
                    columns |= {"question_id": names[part] * len(metrics), "multi_page": False, "status": "ok"}
                    columns |= {"metric": [metric for metric in metrics for _ in range(count)], "value": values}
                    tables.append("scores", {**cell, **columns})
                    rows += len(values)
    return rows


def measure(levels: int, questions: int, documents: int) -> None:
    """Derive the tables of such a run and print their cost."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [sys.executable, __file__, "write", folder, *map(str, (levels, questions, documents))], check=True
        )
        subprocess.run([sys.executable, __file__, "derive", folder], check=True)


def peak() -> float:
    """Return this process's peak memory so far, in MB."""
    return getrusage(RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", folder, levels, questions, documents]:
            rows = write(Path(folder), int(levels), int(questions), int(documents))
            print(f"{rows:,} rows of scores, {levels} levels, {questions} questions: ", end="", flush=True)
        case ["derive", folder]:
            import scipy.optimize  # noqa: F401 # loaded before the clock starts, as in a run

            before, began, cpu = peak(), perf_counter(), process_time()
            derive(Path(folder), {})
            print(
                f"{perf_counter() - began:.2f} s ({process_time() - cpu:.2f} s CPU), "
                f"{peak() - before:.0f} MB above {before:.0f} MB"
            )
        case _:
            print("limits: 2 s for 20 levels of 24 questions; 300 MB, and no more for 1,000,000 rows than for 10,000")
            for size in ((5, 24, 12), (20, 24, 12), (20, 480, 60), (20, 2300, 136), (200, 230, 60)):
                measure(*size)
