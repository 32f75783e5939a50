"""Tables of runs that never were: every score is set by hand."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from ohr.results.derived.derive import derive
from ohr.results.run import Run
from ohr.results.tables.table_files import Tables

PROTOCOL = {"name": "clean", "retrieval": "lcs", "answer": ["f1"]}
SOURCES = ("text", "table", "chart", "reading_order", "multi")


def question(number, documents=12):
    document = number % documents
    return {
        "question_id": f"q{number}",
        "document": f"d{document % 2}/{document}",
        "domain": f"d{document % 2}",
        "evidence_source": SOURCES[number % len(SOURCES)],
        "answer_form": ("String", "Numeric")[number % 2],
        "task_type": "understanding",
    }


class RunTables:
    """Writes the tables of a run into a folder."""

    def __init__(self, folder: Path, count: int, documents: int = 12, clean_text=True) -> None:
        self.folder, self.count = folder, count
        self.questions = [question(number, documents) for number in range(count)]
        self.tables = Tables(folder)
        about = {
            "text": "?",
            "answers": [["yes"]] * count,
            "evidence": [["it"]] * count,
            "relevant": [[]] * count,
            "clean_text": clean_text,
            "groups": [[]] * count,
        }
        self.tables.append(
            "questions", {**self.columns(), **about, "pages": [[0, 1][: 1 + n % 2] for n in range(count)]}
        )

    def columns(self):
        return {name: [row[name] for row in self.questions] for name in self.questions[0]}

    def base(self, condition, replicate=0, kind="formatting", level="0.1"):
        clean = kind == "none"
        knob = {"knob": None, "knob_value": None} if clean else {"knob": "rate", "knob_value": level}
        kb = condition if clean else f"{condition}#{replicate}"
        noise = {"condition": condition, "noise": condition.partition("-")[0], "noise_type": kind}
        return {"kb": kb, "replicate": replicate, **noise, **knob}

    def score(self, base, metrics, stage="retrieval", failed=(), retriever="bm25", generator=None):
        """Append a cell: metric to one value per question."""
        cell = {**base, "stage": stage, "chunker": None, "retriever": retriever, "generator": generator}
        for metric, values in metrics.items():
            status = ["failed" if name in failed else "ok" for name in self.columns()["question_id"]]
            multi = [number % 2 == 1 for number in range(self.count)]
            row = {**cell, **self.columns(), "multi_page": multi, "metric": metric, "status": status}
            self.tables.append("scores", {**row, "value": list(map(float, values))})

    def page_scores(self, base, lcs_kb, lcs_gt=None, failed=()):
        """Append what a knowledge base holds of each question's evidence."""
        truth = [1.0] * self.count if lcs_gt is None else lcs_gt
        damaged = [value if value != value else float(value <= 0.95) for value in lcs_kb]
        rest = dict.fromkeys(("term_survival", "answer_survival"), lcs_kb)
        found = {"damaged": damaged, "damaged_content": damaged, "lcs_kb": lcs_kb, "lcs_gt": truth, **rest}
        self.score(base, found, "page", failed, retriever=None)

    def condition(self, name, scores, page=1.0, kind=None, replicate=0, **cell):
        """Append a condition, `clean` without noise: what its pages hold, and scores by metric, of `lcs` or of all."""
        kind = kind or ("none" if name == "clean" else "semantic")
        base = self.base(name, replicate, kind, name.partition("-")[2] or "0.1")
        if page is not None:
            self.page_scores(base, self.each(page))
        scores = scores if isinstance(scores, dict) else {"lcs": scores}
        self.score(base, {metric: self.each(values) for metric, values in scores.items()}, **cell)

    def each(self, value):
        return [value] * self.count if isinstance(value, float) else value

    def close(self) -> Path:
        self.tables.close()
        return self.folder

    def finish(self, **more) -> Run:
        """Write the manifest, of which `spec` is added to a usual one, and make the tables that follow."""
        self.close()
        spec = {"margin": 0.02, "strata": "auto", "knowledge_bases": [], "hypotheses": [], **more.pop("spec", {})}
        manifest = {"status": "finished", "spec": spec, "protocol": PROTOCOL, **more}
        (self.folder / "manifest.json").write_text(json.dumps(manifest))
        derive(self.folder, {})
        return Run(self.folder)


@pytest.fixture
def runs(tmp_path):
    """Make runs: their questions, and the tables to append to."""
    return SimpleNamespace(make=lambda *args, **more: RunTables(tmp_path, *(args or (24,)), **more))
