"""Tables for papers: the numbers of the summary, in a form that no name can break."""

import csv
import re
import shutil
import subprocess
from html import unescape
from io import StringIO
from math import nan

import numpy as np
import pytest
from markdown_it import MarkdownIt
from pylatexenc.latex2text import LatexNodes2Text
from pylatexenc.latexwalker import LatexWalker

from ohr.errors import DataError
from ohr.report.exports.paper import Wanted, paper_table
from ohr.report.exports.written_tables import latex, latex_escaped, markdown, markdown_escaped, one_line, summary_csv
from ohr.results.derived.losses import read_losses
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows
from tests.report.exports.conftest import CONDITIONS, HOSTILE, MADE, condition, scores

NAMES = [
    HOSTILE,
    r"\\[2cm]",
    "a & b \\\\ \\hline",
    "{}}{",
    "$x^2$",
    "100%",
    "[text](http://evil.org)",
    "![](x.png)",
    "_a_ **b** `c`",
    "&lt;b&gt;",
    "<!-- -->",
    "a|b\\|c\\",
    "two\nlines\r\n",
    "http://evil.org www.evil.org me@evil.org",
    "naïve 中文 שלום α",
    "nul\0bell\a rtl\u202e half\ud800",
    "*starred*",
    "# title",
]


def test_a_cell_is_the_mean_of_the_summary_with_its_interval(made):
    table = paper_table(Run(made), Wanted())
    rows = {row[0]: row for row in table.rows}
    assert table.headers[: table.labels] == ("Condition", "OCR", "Level", "r_noise (%)")
    assert table.headers[4:6] == ("bm25", "dense")
    assert table.shared[4:] == (*["Retrieval (LCS)"] * 2, "Generation (F1)", *["Overall (F1)"] * 2)
    assert list(rows) == ["clean (clean)", "blur", "=1+1", HOSTILE]  # the last of the sweep has the name
    wanted = {"stage": "overall", "metric": "f1", "condition": "=1+1", "retriever": "dense"}
    (line,) = read_rows(made / "summary.parquet", by="evidence_source", group="all", **wanted)
    assert line["mean"] == pytest.approx(scores(3, 24).mean())
    mean, low, high = (f"{100 * line[name]:.1f}" for name in ("mean", "low", "high"))
    assert rows["=1+1"][-1] == f"{mean} [{low}, {high}]"
    assert rows["=1+1"][:3] == ("=1+1", "rapidocr", "")
    assert table.how.startswith("24 questions in 24 documents. Chunker tokens, generator extractive. ")


def test_a_loss_is_paired_and_the_clean_row_shows_its_mean(made):
    rows = paper_table(Run(made), Wanted("loss", stage="retrieval")).rows
    assert rows[0][4] == f"({100 * scores(0, 24).mean():.1f})"
    assert re.fullmatch(r"15\.0 \[\d+\.\d, \d+\.\d\]\*", rows[1][4])
    (loss,) = (
        loss
        for loss in read_losses(Run(made))
        if (loss.stage, loss.condition, loss.retriever) == ("retrieval", "blur-0.2", "bm25")
    )
    assert loss.is_shown  # so the asterisk
    table = paper_table(Run(made), Wanted("loss", stage="retrieval"))
    stars = sum(cell.endswith("*") for row in table.rows for cell in row[4:])
    assert stars == sum(each.is_shown for each in read_losses(Run(made)) if each.stage == "retrieval")
    assert ", each alone (" in table.title
    assert "An asterisk: the difference is shown among all conditions of its pipeline" in table.how
    assert "A loss is the clean score less the noisy one" in paper_table(Run(made), Wanted("loss")).how


def test_groups_are_columns_with_their_size_and_pipelines_rows(made):
    table = paper_table(Run(made), Wanted("mean", by="evidence_source"))
    assert table.headers[:2] == ("Stage", "Pipeline")
    assert list(table.headers[table.labels :]) == [
        "text (n = 12)",
        "multimodal (n = 12)",
        "table (n = 12)",
        "all (n = 24)",
    ]
    assert [table.rows[place][:2] for place in sorted(table.starts)] == [
        ("Retrieval (LCS)", "bm25"),
        ("Retrieval (LCS)", "dense"),
        ("Generation (F1)", ""),
        ("Overall (F1)", "bm25"),
        ("Overall (F1)", "dense"),
    ]
    assert all(row[:2] == ("", "") for place, row in enumerate(table.rows) if place not in table.starts)


def test_a_column_that_would_repeat_the_condition_is_left_out(one):
    engines = [CONDITIONS[0], condition("tesseract", "tesseract", "semantic", engine="tesseract")]
    table = paper_table(Run(one(conditions=engines)), Wanted())
    assert table.headers[: table.labels] == ("Condition", "r_noise (%)")


def test_failed_scores_are_counted_where_they_are(one):
    folder = one(failed=frozenset({("blur-0.2", "q1"), ("blur-0.2", "q2")}))
    table = paper_table(Run(folder), Wanted("mean"))
    assert all(cell.endswith(" (2 failed)") for cell in table.rows[1][4:])
    assert not any("failed" in cell for cell in table.rows[0])
    assert "Up to 2 questions of a mean failed and scored 0." in table.how


def test_few_documents_have_no_interval_and_nan_is_empty(one):
    def undefined(place, count):
        return np.full(count, nan if place else 0.5)

    table = paper_table(Run(one(score=undefined)), Wanted())
    assert table.rows[1][4:] == ("",) * 5
    few = one(name="few", questions=MADE.questions[:2], score=lambda place, count: np.full(count, 0.5))
    assert "No interval: too few documents." in paper_table(Run(few), Wanted()).how


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(metric="rouge"), "has no metric 'rouge'. Choose one of: em, f1"),
        (Wanted(by="domain"), "all questions have the same domain"),
        (Wanted("loss", by="domain"), "all questions have the same domain"),
        (Wanted(stage="page"), "has no stage 'page'"),
    ],
)
def test_what_a_run_lacks_is_named(made, wanted, said):
    with pytest.raises(DataError, match=re.escape(said)):
        paper_table(Run(made), wanted)


def test_a_run_without_clean_text_has_no_losses(one):
    with pytest.raises(DataError, match="has no condition without noise"):
        paper_table(Run(one(conditions=CONDITIONS[1:3])), Wanted("loss"))


# --- LaTeX ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_latex_shows_a_name_and_runs_none_of_it(name):
    written = latex_escaped(name)
    assert not re.search(r"(?<!\\)[#$%&_]", written.replace("$-$", "-").replace("\\ensuremath", ""))
    assert "\n" not in written and not written.startswith(("[", "*"))
    nodes, *_ = LatexWalker(written, tolerant_parsing=False).get_latex_nodes()
    shown = LatexNodes2Text(math_mode="text").nodelist_to_text(nodes)
    assert squeezed(shown.replace("ˆ", "^")) == squeezed(one_line(name))


def squeezed(text):
    """Leave out white space, and quotation marks, which LaTeX writes as two."""
    return re.sub(r"[\s\"'’”]", "", text)


def test_a_latex_table_has_one_cell_for_each_column(made):
    for wanted in (Wanted(), Wanted("loss", by="evidence_source"), Wanted("mean", stage="generation")):
        text = latex(paper_table(Run(made), wanted), Run(made), "my study_1")
        layout = re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)[1]
        rows = re.findall(r"^    (.*) \\\\$", text, re.M)
        for row in rows:
            spans = sum(int(n) - 1 for n in re.findall(r"\\multicolumn\{(\d+)\}", row))
            assert len(re.split(r"(?<!\\)&", row)) + spans == len(layout)
        assert len(rows) >= 6
        for name in ("toprule", "bottomrule", "end{tabular}", "end{table}", r"label{tab:my-study-1}"):
            assert text.count(f"\\{name}") == 1
        LatexWalker(text, tolerant_parsing=False).get_latex_nodes()


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX is installed")
def test_the_table_compiles(made, tmp_path):
    body = latex(paper_table(Run(made), Wanted()), Run(made), "study")
    document = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n" + body + "\\end{document}\n"
    (tmp_path / "table.tex").write_text(document, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "table.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-2000:]


# --- Markdown ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_markdown_shows_a_name_and_makes_no_markup_of_it(name):
    source = f"| a | b |\n| --- | --- |\n| {markdown_escaped(name)} | end |\n"
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(source)
    shown, end = re.findall(r"<td>(.*?)</td>", html)
    assert (unescape(shown).strip(), end) == (one_line(name).strip(), "end")
    assert "<" not in shown


def test_a_markdown_table_has_a_row_for_each_condition(made):
    text = markdown(paper_table(Run(made), Wanted(stage="retrieval")))
    html = MarkdownIt("commonmark").enable("table").render(text)
    assert html.count("<tr>") == 6
    assert re.findall(r"<th.*?>(.*?)</th>", html)[-2:] == ["Retrieval (LCS) bm25", "Retrieval (LCS) dense"]
    assert len({len(line) for line in text.splitlines() if line.startswith("|")}) == 1
    assert "<td>=1+1</td>" in html and unescape(html).count(HOSTILE) == 1


# --- CSV --------------------------------------------------------------------------------------------------


def test_the_csv_has_every_row_with_all_digits(made):
    lines = list(csv.DictReader(StringIO(summary_csv(Run(made)))))
    rows = read_rows(made / "summary.parquet")
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        assert float(line["mean"] or nan) == pytest.approx(row["mean"], rel=0, abs=0, nan_ok=True)
        assert (line["n"], line["knob_value"]) == (str(row["n"]), row["knob_value"] or "")
    assert {line["run"] for line in lines} == {Run(made).id} == {f"study/{made.name}"}
    assert {line["engine"] for line in lines} == {"ground_truth", "tesseract", "rapidocr"}


def test_a_name_in_the_csv_is_no_formula(made):
    names = {line["condition"] for line in csv.DictReader(StringIO(summary_csv(Run(made))))}
    assert "'=1+1" in names and "=1+1" not in names


def test_the_csv_is_read_by_pandas(made):
    pandas = pytest.importorskip("pandas")
    found = pandas.read_csv(StringIO(summary_csv(Run(made), metric="lcs", by="evidence_source", stage="retrieval")))
    assert set(found["metric"]) == {"lcs"} and set(found["stage"]) == {"retrieval"}
    assert found["lost"].dtype == float
    assert found.groupby("level")["mean"].mean().index.tolist() == [0.2, 0.8]
    with pytest.raises(DataError, match="has no scores with metric rouge"):
        summary_csv(Run(made), metric="rouge")
