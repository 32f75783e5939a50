"""The page of real documents has the numbers of the kept tables, and the project has no text of OHRBench."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyarrow import compute, parquet

from studies import real_documents as studies
from studies.answers import of_evidence, reached
from studies.corrections import Corrections, corrected
from studies.further_corrections import decided, passages_of
from studies.index_and_reading import TABLE as PARTS
from studies.index_and_reading import only_with_both
from studies.kept_scores import retrievers
from studies.real_figure import draw
from studies.remedies import repaired
from tests.report.html.unpacked import unpacked

ROOT = Path(__file__).parents[1]
WORDS = 8
"""With which a passage begins; fewer may be anybody's."""
PAGE = (ROOT / "docs" / "real-documents.md").read_text(encoding="utf-8")


def test_the_figure_has_a_panel_for_each_study_that_was_measured(tmp_path):
    draw(tmp_path / "figure.svg")
    drawn = (tmp_path / "figure.svg").read_text(encoding="utf-8")
    assert [letter for letter in "abcdefg" if f"<!-- {letter}. " in drawn] == list("abcefg")


@pytest.mark.parametrize(
    ("rows", "heading"),
    [
        (studies.correlation_rows, "| pages | of the page |"),
        (studies.invention_rows, "| words added |"),
        (studies.selective_rows, "| domain | pages replaced |"),
        (studies.retriever_rows, "| evidence | retriever |"),
        (studies.remedy_rows, "| chunks read x"),
        (studies.form_rows, "| form of BM25 |"),
        (studies.part_rows, "| BM25 | questions of |"),
        (studies.embedding_rows, "| retriever | questions of | score on the truth |"),
        (
            lambda: [*studies.embedding_part_rows(), *studies.joined_part_rows()],
            "| retriever | questions of | noisy index alone |",
        ),
        (studies.answer_rows, "| scores of | questions |"),
        (studies.size_rows, "| model | on the truth |"),
        (studies.noise_rows, "| model | noise | retrieval on the truth |"),
        (studies.invention_answer_rows, "| words added to the truth |"),
        (studies.correction_rows, "| text of | words or points |"),
        (studies.further_correction_rows, "| passages | words or points |"),
    ],
    ids=[
        "correlations",
        "invention",
        "selective",
        "retrievers",
        "remedies",
        "forms",
        "parts",
        "embedding retrievers",
        "parts of embedding retrievers",
        "answers",
        "sizes",
        "noises",
        "invention answers",
        "corrections",
        "further corrections",
    ],
)
def test_the_page_has_the_rows_of_the_kept_numbers(rows, heading):
    lines, kept = PAGE.splitlines(), list(rows())
    start = 2 + next(place for place, line in enumerate(lines) if line.startswith(heading))
    assert lines[start : start + len(kept)] == kept and not lines[start + len(kept)].startswith("|")


def written(values, digits=2):
    """Write a number with its interval as sentences do: without a zero before the point."""
    mean, low, high = (re.sub(r"^(-?)0\.", r"\1.", f"{value:.{digits}f}") for value in values)
    return f"{mean} [{low}, {high}]"


def ends(estimate, unit=1.0):
    """Return an estimate and the ends of its interval."""
    return tuple(unit * value for value in (estimate.mean, estimate.low, estimate.high))


def test_the_sentences_have_the_kept_numbers():
    scores, joined, remedies, answers = (
        studies.Scores.read(studies.KEPT / f"{name}.parquet")
        for name in ("selective", "retrievers", "remedies", "answers")
    )
    loss = scores.estimate([("gt", "bm25_reference"), ("MinerU", "bm25_reference")], lambda means: means[0] - means[1])
    predicted, spared = studies.PageLosses.read(scores).correlations(), retrievers(joined)
    repairs, losses = repaired(remedies), reached(answers)
    more, overlap = (tuple(-100 * repairs[name][place] for place in (0, 2, 1)) for name in ("four", "overlap"))
    index_and_reading = studies.Scores.read(studies.KEPT / PARTS)
    alone, page = Corrections.read("MinerU", of="passage"), Corrections.read("MinerU")
    misread = page.change("words_misread")
    round_two = decided()
    less = round_two["4"]
    textbooks, law, manuals = (passages_of(domain).change("words_kept") for domain in ("textbook", "law", "manual"))
    ratio, better = written(ends(losses["ratio"])), written(predicted["words lost less edit distance"])
    said = [
        better,
        *(written(predicted[name]) for name in ("words lost", "edit distance")),
        written(ends(studies.selective(scores)["most words lost 10%"]["share"])),
        written(ends(studies.forgiven()[20]["text_edit@1.5"][1])),
        *(studies.points(spared[name]["loss"]) for name in ("bm25", "minilm", "hybrid")),
        *(written(ends(spared[name]["spared"], 100), 1) for name in ("minilm", "hybrid")),
        studies.points(loss),
        "{:.1f} points [{:.1f}, {:.1f}] less".format(*more),
        written(overlap, 1),
        studies.points(only_with_both(index_and_reading, "bm25")),
        studies.points(losses["retrieval"]),
        written(ends(losses["answers"], 100), 1),
        ratio,
        written(ends(of_evidence(answers))),
        *(written(ends(corrected()[name])) for name in ("regained", "more")),
        written(ends(alone.change("words_kept"))),
        written(ends(page.change("invented"))),
        written((-misread.mean, -misread.high, -misread.low)),
        *(written(ends(round_two[name])) for name in ("3", "1 again", "2 again")),
        written((-less.mean, -less.high, -less.low)),
        studies.points(round_two["5"]),
        *(written(ends(estimate), 1) for estimate in (textbooks, law, manuals)),
    ]
    said += [
        "have {}, {} and {}".format(*(f"{share:.2f}"[1:] for share in shares))
        for shares in studies.concentrated().values()
    ]
    assert [text for text in said if text not in PAGE] == []
    readme, examples = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/examples/index.md"))
    assert f"**{100 * loss.mean:.0f} of " in readme and ratio in readme
    assert all(text in examples for text in (studies.points(loss), better, ratio))


def test_a_reader_sees_his_rows_beside_ours(tmp_path, monkeypatch, capsys):
    for name in ("index_and_reading.parquet", "smaller_models.parquet"):
        shutil.copy(studies.KEPT / name, tmp_path)
    table = parquet.read_table(tmp_path / "smaller_models.parquet")
    halved = table.set_column(table.column_names.index("value"), "value", compute.divide(table["value"], 2.0))
    parquet.write_table(halved, tmp_path / "smaller_models.parquet")
    monkeypatch.setattr(sys, "argv", ["real_documents", str(tmp_path)])
    studies.main()
    shown = capsys.readouterr().out
    assert "form: 4 rows, equal to ours\n" in shown
    assert "size: 3 rows, 2 differ\n" in shown and shown.count("  yours: | ") == 2 + 6  # 1.5B is ours
    assert shown.splitlines()[-1].startswith("not measured: ") and "retrievers.parquet" in shown.splitlines()[-1]


def test_kept_tables_have_numbers_and_ids_only():
    for path in studies.KEPT.glob("*.parquet"):
        texts = {field.name for field in parquet.read_schema(path) if "string" in str(field.type)}
        known = {"question_id", "document", "domain", "evidence_source", "condition", "retriever", "outcome", "of"}
        assert texts <= known, path.name


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
        words = unpacked(file.read_text(encoding="utf-8", errors="replace")).split()
        if both := passages.intersection(zip(*(words[start:] for start in range(WORDS)), strict=False)):
            shared[file.name] = both
    assert len(passages) > 1000 and not shared
