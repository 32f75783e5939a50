"""`ohr export`: what it writes, and what it refuses."""

from pathlib import Path

import pytest


def test_several_tables_are_written_at_once(ohr_here, tmp_path):
    tables = {form: tmp_path / f"new/table.{form}" for form in ("latex", "markdown", "csv")}
    options = [word for form, path in tables.items() for word in (f"--{form}", path)]
    result = ohr_here("export", "small", *options)
    assert result.stdout.splitlines() == [str(path) for path in tables.values()]
    assert tables["latex"].read_text().count(r"\begin{tabular}") == 1
    assert tables["markdown"].read_text().count("| formatting ") == 2
    assert tables["csv"].read_text().startswith("run,stage,condition,engine,")


def test_a_dash_prints_the_table_alone(ohr_here, tmp_path):
    result = ohr_here("export", "small", "--markdown", "-", "--csv", tmp_path / "a.csv", "--values", "mean")
    assert result.stdout.startswith("Mean scores in percent (small).\n\n| Condition")
    assert result.stderr == f"{tmp_path / 'a.csv'}\n"


def test_tables_of_the_report_are_written_one_below_the_other(ohr_here):
    text = ohr_here("export", "small", "--table", "groups", "--latex", "-").stdout
    labels = [line for line in text.splitlines() if "\\label" in line]
    assert len(labels) == len(set(labels)) == text.count(r"\end{table}") >= 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "name what to write: --latex, --markdown or --csv FILE, --mlflow URI, --texts, --trec or --answers DIR"),
        (["--latex", "--csv"], "the option before --csv needs a file"),
        (["--csv", "-", "--latex", "-"], "only one table can be printed"),
        (["--latex", "table.tex", "--table", "losses"], "--table: Choose one of: hypotheses, cost, repairs, curves,"),
        (["--latex", "table.tex", "--table", "effort"], "has no table 'effort'"),
        (["--latex", "table.tex", "--table", "cost", "--by", "domain"], "leave out --values, --metric, --by and"),
        (["--latex", "table.tex", "--metric", "rouge"], "has no metric 'rouge'"),
        (["--latex", "table.tex", "--by", "domain"], "all questions have the same domain"),
        (["--latex", "table.tex", "--by", "domian"], "Did you mean 'domain'? (got 'domian')"),
    ],
)
def test_what_cannot_be_written_is_refused(ohr_here, options, said):
    result = ohr_here("export", "small", *options)
    assert result.exit_code == 2 and said in " ".join(result.stderr.split())
    assert not Path("table.tex").exists()


def test_answers_are_exported_and_scored(ohr_here, tmp_path):
    done = ohr_here("export", "small", "--answers", tmp_path / "out", "--as", "promptfoo")
    *_, written, again = done.stdout.splitlines()
    assert again.startswith("score them again: ohr score answers FILE --benchmark mini --set ")
    assert written.endswith(f" answers in 6 files of promptfoo in {tmp_path / 'out'}")
    file = next((tmp_path / "out").glob("ground_truth--*bm25*"))
    scored = ohr_here("score", "answers", file)
    assert scored.exit_code == 0 and "benchmark: the file itself" in scored.stdout
    assert "compared with the reference contexts word by word" in scored.stdout
    keys = ("--benchmark", "mini", "--domains", "law", "--set", "languages=[en]", "--set", "max_pages=1")
    scored = ohr_here("score", "answers", file, *keys, "--from", "promptfoo")
    assert scored.exit_code == 1 and "questions without an answer, scored 0:" in scored.stdout  # it asked only some
    assert "contexts located on the benchmark's pages by their words" in scored.stdout


def test_a_folder_that_holds_the_run_is_refused(ohr_here):
    folder = next(Path("runs/small").glob("*-*"))
    for target in (folder, Path("runs"), Path()):
        result = ohr_here("export", "small", "--trec", target, "--force")
        assert (result.exit_code, "holds the run itself" in " ".join(result.stderr.split())) == (2, True), target
    assert (folder / "manifest.json").is_file()
