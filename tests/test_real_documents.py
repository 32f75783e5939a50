"""The page of real documents has the numbers of the kept tables, and the project has no text of OHRBench."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from pyarrow import parquet

from studies import real_documents as studies
from studies.remedies import repaired

ROOT = Path(__file__).parents[1]
WORDS = 8
"""With which a passage begins; fewer may be anybody's."""
PAGE = (ROOT / "docs" / "real-documents.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("rows", "heading"),
    [
        (studies.correlation_rows, "| pages | of the page |"),
        (studies.invention_rows, "| words added |"),
        (studies.selective_rows, "| domain | pages replaced |"),
        (studies.retriever_rows, "| evidence | retriever |"),
        (studies.remedy_rows, "| chunks read x"),
    ],
    ids=["correlations", "invention", "selective", "retrievers", "remedies"],
)
def test_the_page_has_the_rows_of_the_kept_numbers(rows, heading):
    lines, kept = PAGE.splitlines(), list(rows())
    start = 2 + next(place for place, line in enumerate(lines) if line.startswith(heading))
    assert lines[start : start + len(kept)] == kept and not lines[start + len(kept)].startswith("|")


def test_the_sentences_have_the_kept_numbers():
    scores, joined = (studies.Scores.read(studies.KEPT / name) for name in (studies.SELECTIVE, "retrievers.parquet"))
    share = studies.selective(scores)["most words lost 10%"]["share"]
    ratio = studies.forgiven()[20]["text_edit@1.5"][1]
    loss = scores.estimate([("gt", "bm25_reference"), ("MinerU", "bm25_reference")], lambda means: means[0] - means[1])
    predicted, spared = studies.PageLosses.read(scores).correlations(), studies.retrievers(joined)
    shares = [predicted[name] for name in ("words lost", "edit distance", "words lost less edit distance")]
    shares += [(share.mean, share.low, share.high), (ratio.mean, ratio.low, ratio.high)]
    said = [f"{value:.2f} [{low:.2f}, {high:.2f}]".replace("0.", ".") for value, low, high in shares]
    said += [studies.points(spared[name]["loss"]) for name in ("bm25", "minilm", "hybrid")]
    said += [studies.points(spared[name]["spared"]).replace("0.", ".") for name in ("minilm", "hybrid")]
    said += [studies.points(loss)]
    more, overlap = (
        repaired(studies.Scores.read(studies.KEPT / "remedies.parquet"))[name] for name in ("four", "overlap")
    )
    said += ["{:.1f} points [{:.1f}, {:.1f}] less".format(*(-100 * end for end in (more[0], more[2], more[1])))]
    said += [
        "{:.1f} [{:.1f}, {:.1f}]".format(*(-100 * end for end in (overlap[0], overlap[2], overlap[1]))).replace(
            "0.", "."
        )
    ]
    assert [text for text in said if text not in PAGE] == []
    assert f"**{100 * loss.mean:.0f} of " in (ROOT / "README.md").read_text(encoding="utf-8")


def test_kept_tables_have_numbers_and_ids_only():
    for path in studies.KEPT.glob("*.parquet"):
        table = parquet.read_table(path)
        texts = {name for name in table.column_names if str(table.schema.field(name).type) == "string"}
        assert texts <= {"question_id", "document", "domain", "evidence_source", "condition", "retriever"}, path.name


@pytest.mark.skipif("OHRBENCH_DATA" not in os.environ, reason="OHRBENCH_DATA is not set")
def test_no_passage_of_ohrbench_is_in_the_project():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()
    endings = (".md", ".py", ".json", ".yaml", ".html", ".txt", ".csv", ".ipynb", ".js")
    files = [ROOT / name for name in listed.split("\0") if name.endswith(endings)]
    asked = json.loads((Path(os.environ["OHRBENCH_DATA"]) / "qas.json").read_text(encoding="utf-8"))
    texts = [question["evidence_context"] for question in asked]
    flat = [text for each in texts for text in ([each] if isinstance(each, str) else each)]
    passages = {tuple(text.split()[:WORDS]) for text in flat}
    passages = {passage for passage in passages if len(passage) == WORDS}
    shared = {}
    for file in filter(Path.is_file, files):
        words = file.read_text(encoding="utf-8", errors="replace").split()
        if both := passages.intersection(zip(*(words[start:] for start in range(WORDS)), strict=False)):
            shared[file.name] = both
    assert len(passages) > 1000 and not shared
