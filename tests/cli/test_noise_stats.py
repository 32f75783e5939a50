"""`ohr noise stats`: doses by evidence source, edit distances, formatting commands; of runs and of folders."""

import json

import numpy as np
import pytest

from ohr.results.tables.read_table import read_rows
from ohr.store import open_store

pytestmark = pytest.mark.usefixtures("there")


def printed(ohr, *words):
    done = ohr("noise", "stats", *words, "--json")
    assert done.exit_code == 0, done.stderr
    return {level["kb"]: level for level in json.loads(done.stdout)}


def test_the_dose_over_all_questions_is_that_of_the_run(ohr_here, there):
    (folder,) = (there / "runs" / "small").iterdir()
    found, rows = printed(ohr_here, "small"), read_rows(folder / "doses.parquet")
    assert [row["kb"] for row in rows] == list(found)
    for row in rows:
        for field in ("r_noise", "evidence_loss", "term_survival"):
            assert found[row["kb"]]["doses"]["all"][field] == pytest.approx(row[field])
        rules = found[row["kb"]]["edits"]
        assert sum(rules.values()) * found[row["kb"]]["pages"] == pytest.approx(row["edits"])


def test_sources_divide_the_questions(ohr_here):
    for level in printed(ohr_here, "small").values():
        counted = [dose["questions"] for source, dose in level["doses"].items() if source != "all"]
        assert sum(counted) == level["doses"]["all"]["questions"] and len(counted) > 1


def test_more_noise_has_longer_distances_and_more_commands(ohr_here):
    found = printed(ohr_here, "small")
    clean, mild, severe = (found[name] for name in ("ground_truth", "formatting-0.1", "formatting-0.6"))
    assert clean["distances"]["histogram"][0] == 1 and clean["redundant"] == 0 and clean["edits"] == {}
    assert 0 < mild["redundant"] < severe["redundant"]
    assert mild["distances"]["mean"] < severe["distances"]["mean"]
    for level in found.values():
        assert sum(level["distances"]["histogram"]) == pytest.approx(1)
        assert level["distances"]["quantiles"] == sorted(level["distances"]["quantiles"])


def test_a_folder_of_the_same_pages_has_the_same_statistics(ohr_here, there, tmp_path):
    from ohr.dataset.inputs import read_inputs
    from ohr.graph.cache_keys import Keys
    from ohr.spec.read import read_spec

    spec = read_spec(there / "small.yaml")
    keys = Keys(spec, read_inputs(spec))
    for base in spec.knowledge_bases:
        for document in keys.inputs.documents:
            name = "gt" if base.name == "ground_truth" else base.name
            path = tmp_path / "retrieval_base" / name / f"{document.name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            pages = open_store(there / ".ohr").get(keys.document(base, document, ()))["pages"]
            path.write_text(json.dumps([{"page_idx": page["index"], "text": page["text"]} for page in pages]))
    asked = [
        {
            "ID": q.id,
            "questions": q.text,
            "answers": list(q.answers),
            "doc_name": q.document,
            "evidence_page_no": list(q.pages),
            "evidence_context": list(q.evidence),
            "evidence_source": q.evidence_source,
        }
        for q in keys.inputs.questions
    ]
    (tmp_path / "qas.json").write_text(json.dumps(asked))
    of_run, of_folder = printed(ohr_here, "small"), printed(ohr_here, tmp_path / "retrieval_base")
    assert set(of_folder) == {"formatting-0.1", "formatting-0.6"}
    for name, level in of_folder.items():
        for part in ("doses", "distances", "content", "commands", "redundant"):
            assert json.dumps(level[part]) == json.dumps(of_run[name][part])
    one = printed(ohr_here, tmp_path / "retrieval_base" / "formatting-0.6")
    assert one["formatting-0.6"] == of_folder["formatting-0.6"]


def test_noise_that_was_applied_is_counted_from_its_ledger(ohr_here, tmp_path):
    (tmp_path / "gt" / "law").mkdir(parents=True)
    text = "The harbour company leased the old ferry berth to the council for ninety years. " * 20
    (tmp_path / "gt" / "law" / "a.json").write_text(json.dumps([{"page_idx": 0, "text": text}]))
    done = ohr_here(
        "noise", "apply", tmp_path / "gt", tmp_path / "noisy", "--noise", "{kind: formatting, rate: 0.3}", "--json"
    )
    found = printed(ohr_here, tmp_path / "noisy")["noisy"]
    assert sum(found["edits"].values()) == json.loads(done.stdout)["edits"] > 0
    assert np.isnan(float(found["doses"]["all"]["r_noise"] or "nan"))  # no questions here


def test_it_prints_tables(ohr_here):
    said = ohr_here("noise", "stats", "small").stdout
    assert "edit distance of pages" in said and "formatting commands per page" in said and "by rule" in said


def test_missing_parts_are_reported(ohr_here, tmp_path):
    assert "no run 'nobody'" in ohr_here("noise", "stats", "nobody").stderr
    (tmp_path / "x").mkdir()
    assert "no ground truth" in ohr_here("noise", "stats", tmp_path / "x").stderr
    (tmp_path / "gt").mkdir()
    assert "no knowledge base" in ohr_here("noise", "stats", tmp_path / "x").stderr


def test_the_tables_have_a_key_and_no_row_of_nothing(ohr_here):
    tables = ohr_here("noise", "stats", "small").stdout.split("\n\n")
    assert "r_clean: r_noise of evidence that is whole" in tables[0]
    assert tables[-1].startswith("edits of text noise per page")
    assert [line.split()[0] for line in tables[-1].splitlines()[2:]] == ["formatting-0.1", "formatting-0.6"]


def test_texts_are_measured_as_pages_are(ohr_here, tmp_path):
    source, noisy, more = tmp_path / "notes", tmp_path / "noisy", tmp_path / "more"
    source.mkdir()
    for name in ("lease.txt", "rent.md", "rent.txt"):
        (source / name).write_text(f"The {name} says that the company leased the berth. It paid well. " * 9)
    pages = [{"page_idx": index, "text": "The ferry leaves at nine in the morning. " * 9} for index in (0, 1)]
    (source / "ferry.json").write_text(json.dumps(pages))
    noise = ("--noise", "{kind: formatting, rate: 0.6}", "--workers", 1, "--json")
    applied = json.loads(ohr_here("noise", "apply", source, noisy, *noise).stdout)
    found = printed(ohr_here, noisy, "--gt", source)["noisy"]
    assert found["pages"] == applied["pages"] == 5
    assert sum(found["edits"].values()) * 5 == pytest.approx(applied["edits"])
    assert found["distances"]["quantiles"][0] > 0

    more.mkdir()
    (more / "LICENSE.md").write_text("What only one folder has is no document.")
    (more / "ferry.json").write_text(json.dumps(pages))
    assert printed(ohr_here, noisy, "--gt", more)["noisy"]["pages"] == 2


@pytest.mark.parametrize("name", ["other.txt", "other.json", "page.png"])
def test_a_ground_truth_of_other_documents_is_refused(ohr_here, tmp_path, name):
    for folder, file in (("noisy", "mine.txt"), ("truth", name)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / file).write_text("[]")
    done = ohr_here("noise", "stats", tmp_path / "noisy", "--gt", tmp_path / "truth")
    assert done.exit_code == 2 and "none of its files is named as one of" in done.stderr
