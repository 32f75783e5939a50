"""Statistics of pages: made by the run that asks for them, or from its texts, and kept by content."""

import shutil

import pytest

from ohr.contracts import Page
from ohr.engine.executors.inline import Inline
from ohr.errors import DataError, SpecError
from ohr.metrics.blocks import COUNTS
from ohr.metrics.commands import KINDS
from ohr.metrics.realism import see
from ohr.noise_files import stats as statistics
from ohr.noise_files.stats import of_run
from ohr.report.analyses import ANALYSES, report_data
from ohr.report.html.findings import read_findings
from ohr.report.html.report_file import write_report
from ohr.results.run import Run
from ohr.results.tables.read_table import read_columns, read_rows
from ohr.runner.run import run
from ohr.spec.read import read_spec

SPEC = """\
name: pages
benchmark: {kind: mini, domains: [law], languages: [en, zh], max_pages: 1}
knowledge_bases:
  - {name: ground_truth}
  - {name: formatting, text_noise: {kind: formatting, rate: 0.6}}
chunker: {kind: page}
retrievers: [{kind: bm25, top_k: 1}]
evaluate: [retrieval]
replicates: 1
"""


def study(home, *overrides):
    (home / "pages.yaml").write_text(SPEC)
    spec = read_spec(home / "pages.yaml", overrides)
    return run(spec, store=home / ".ohr", runs=home / "runs", executor=Inline()).folder


@pytest.fixture(scope="module")
def unmeasured(tmp_path_factory):
    return study(tmp_path_factory.mktemp("unmeasured"))


@pytest.fixture(scope="module")
def made(unmeasured):
    return statistics.page_statistics(Run(unmeasured)).to_pylist()


def test_they_are_those_of_the_metrics(unmeasured, made):
    texts = {(row["kb"], row["document"], row["page"]): row["text"] for row in read_rows(unmeasured / "texts.parquet")}
    assert [(row["kb"], row["document"], row["page"]) for row in made] == list(texts)
    for row in made:
        truth = Page(row["document"], row["page"], texts["ground_truth", row["document"], row["page"]])
        text = texts[row["kb"], truth.document, truth.index]
        page = see(truth, Page(truth.document, truth.index, text), (), {})
        assert row["edit_distance"] == page.dose.edit_distance
        assert row["edit_distance_content"] == page.dose.edit_distance_content
        assert row["redundant"] == page.redundant
        assert all(row[f"commands_{kind}"] == page.commands.get(kind, 0) for kind in KINDS)
        assert all(row[count] == page.blocks.get(count, 0) for count in COUNTS)
    assert any(row["edit_distance"] for row in made)


def test_a_run_that_asks_for_them_has_the_same(made, tmp_path):
    folder = study(tmp_path, "measure=[dose, pages]")
    assert read_rows(folder / "page_statistics.parquet") == made
    (distance, *_) = (row["edit_distance"] for row in read_rows(folder / "doses.parquet") if row["kb"] == "formatting")
    pages = [row["edit_distance"] for row in made if row["kb"] == "formatting"]
    assert distance == pytest.approx(sum(pages) / len(pages))


def test_a_run_that_does_not_ask_has_no_distances(unmeasured):
    assert not (unmeasured / "page_statistics.parquet").exists()
    doses = read_columns(unmeasured / "doses.parquet", ["edit_distance", "edit_distance_content"]).to_pylist()
    assert all(value != value for row in doses for value in row.values())


@pytest.fixture
def no_measuring(monkeypatch):
    def refuse(pairs):
        raise AssertionError(f"{len(pairs)} pages are measured again")

    monkeypatch.setattr(statistics, "_measure", refuse)


def test_pages_that_were_measured_are_not_measured_again(unmeasured, made, no_measuring):
    assert statistics.page_statistics(Run(unmeasured)).to_pylist() == made


def test_a_run_that_was_moved_without_its_store_is_measured_from_its_texts(unmeasured, made, tmp_path):
    folder = shutil.copytree(unmeasured, tmp_path / "moved")
    assert statistics.page_statistics(Run(folder)).to_pylist() == made


def test_texts_that_were_deleted_are_missed_in_one_sentence(unmeasured, tmp_path):
    folder = shutil.copytree(unmeasured, tmp_path / "moved")
    (folder / "texts.parquet").unlink()
    with pytest.raises(DataError, match=r"texts\.parquet"):
        statistics.page_statistics(Run(folder))


def test_a_run_without_clean_pages_says_what_would_have_them(tmp_path):
    folder = study(tmp_path, "knowledge_bases=[{name: formatting, text_noise: {kind: formatting, rate: 0.6}}]")
    with pytest.raises(DataError, match=r"no knowledge base without noise.*measure: \[dose, pages\]"):
        statistics.page_statistics(Run(folder))


@pytest.mark.parametrize("value", ["[colors]", "pages"])
def test_what_is_measured_has_names(tmp_path, value):
    (tmp_path / "pages.yaml").write_text(SPEC)
    with pytest.raises(SpecError, match="measure"):
        read_spec(tmp_path / "pages.yaml", [f"measure={value}"])


def test_a_report_shows_them_when_they_are_asked_for(unmeasured, made, no_measuring):
    without, asked = read_findings(Run(unmeasured)), read_findings(Run(unmeasured), pages=True)
    assert "`ohr report RUN --pages`" in without.notes["words"] and "words" not in asked.notes
    measured = {"Edit distances of pages", "Blocks with errors"}
    assert not measured & {sheet.title for sheet in without.sections["errors"]}
    assert measured <= {sheet.title for sheet in asked.sections["errors"]}


def test_the_report_says_that_pages_were_not_measured(unmeasured, made, tmp_path):
    pytest.importorskip("jinja2")
    (page,) = write_report([Run(unmeasured)], tmp_path / "report.html")
    assert "Not measured in this run" in page.read_text(encoding="utf-8")


def test_without_clean_pages_the_other_analyses_are_done(tmp_path):
    folder = study(tmp_path, "knowledge_bases=[{name: formatting, text_noise: {kind: formatting, rate: 0.6}}]")
    data = report_data(Run(folder))
    assert data["edit_distances"] == data["noise_ratios"] == [] and data["r_noise"]
    (level,) = of_run(Run(folder))
    assert (level.pages, level.edits, level.commands) == (0, {}, {}) and level.doses["all"].questions
    assert read_findings(Run(folder), pages=True).sections["errors"]
    with pytest.raises(DataError, match="no knowledge base without noise"):
        ANALYSES["edit_distances"](Run(folder))


def test_texts_that_lack_a_page_are_no_empty_page(unmeasured, tmp_path):
    from pyarrow import parquet

    folder = shutil.copytree(unmeasured, tmp_path / "moved")
    table = parquet.read_table(folder / "texts.parquet")
    parquet.write_table(table.slice(0, table.num_rows - 1), folder / "texts.parquet")
    with pytest.raises(DataError, match=r"texts\.parquet: has no text of .* in formatting; run it again"):
        statistics.page_statistics(Run(folder))
    with pytest.raises(DataError, match="run the spec again"):
        of_run(Run.finished(folder))


@pytest.mark.parametrize("value", [[0.1, 0.1, 1], [float("nan")] * 30, [10**30] * 30, [0.5] * 30])
def test_kept_statistics_of_another_shape_are_made_again(unmeasured, made, monkeypatch, value):
    size = len(made[0]) - 3
    store = statistics._store(Run(unmeasured))
    monkeypatch.setattr(statistics, "key", lambda *parts: f"odd-{abs(hash(parts))}")
    odd = value if len(value) < 30 else value[:1] * size
    pairs = {(row["kb"], row["document"], row["page"]): row["text"] for row in read_rows(unmeasured / "texts.parquet")}
    truth = {place[1:]: text for place, text in pairs.items() if place[0] == "ground_truth"}
    for (_, *place), text in pairs.items():
        store.put(statistics.key("page statistics", statistics._VERSION, truth[tuple(place)], text), odd)
    assert statistics._made_now.__wrapped__(unmeasured / "texts.parquet").to_pylist() == made
