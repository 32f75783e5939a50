"""One answer: every place that shows a number of a run shows the same number.

The run has pages without clean text, a question that fails, several draws of a noise, and a metric of the spec.
"""

import csv
import json
import re
import shutil
from html import unescape
from io import StringIO
from math import nan
from pathlib import Path
from types import SimpleNamespace

import pytest
from PIL import Image
from typer.testing import CliRunner

from ohr import load_run
from ohr.cli.app import app
from ohr.report.exports.written_tables import latex, markdown, views_csv
from ohr.report.figures.conditions_figure import read_sections
from ohr.report.first_screen import summarize
from ohr.report.headlines import ACTIVITY
from ohr.report.leaderboard.standings import leaderboard, run_leaderboards
from ohr.report.views.loss_tables import losses_by_pipeline
from ohr.report.views.score_tables import curve, curve_points, means_by, rows_by
from ohr.report.views.view import Interval
from ohr.results.derived.losses import read_losses
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows

PLUGINS = """\
from collections.abc import Iterator, Sequence
from typing import Literal

from ohr.contracts import Completion, Generator, Metric, Prompt


class Reader(Generator):
    '''Answers with the number of the passage; fails where it is asked about lot 5.'''

    kind: Literal["reader"] = "reader"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        for prompt in prompts:
            if "lot 5 " in prompt.question:
                yield Completion("", finish="error", error="the model stumbled")
            else:
                name = prompt.question.split()[-1].rstrip("?")
                after = " ".join(prompt.passages).partition(f"{name} has number ")[2]
                yield Completion(after.split(" ")[0] or "none")


class Length(Metric):
    '''1 where the prediction is as long as the reference, else the shorter length over the longer.'''

    kind: Literal["length"] = "length"

    def score(self, prediction: str, reference: str) -> float:
        one, two = sorted((len(prediction), len(reference)))
        return one / two
"""
SPEC = """\
name: study
plugins: [./plugins.py]
replicates: 2
retries: 0
benchmark: {kind: folder, root: docs, questions: questions.json, ground_truth: truth}
knowledge_bases:
  - name: ground_truth
  - {name: engine, ocr: {kind: precomputed, root: engine}}
  - {name: noisy, text_noise: {kind: formatting, rate: 0.6}}
chunker: {kind: tokens, size: 1024}
retrievers: [{kind: bm25, top_k: 2}]
generators: [{kind: reader}]
metrics: [{kind: length}]
decompose: true
"""
LOTS, SCANS = 14, (12, 13)
ALL = [("retrieval", "lcs"), ("generation", "f1"), ("generation", "length"), ("overall", "f1"), ("overall", "length")]
CONDITIONS = ("engine", "noisy")
"""Names of the noises, each with one level."""


def text(lot, number):
    return f"The sale. Lot {lot} is a boat. Boat{lot} has number {number} and a mast."


def write(home: Path) -> None:
    """Write documents of which the last two are scans: an engine reads them, and the truth has no text of them."""
    questions = []
    for lot in range(LOTS):
        name, number = f"sale{lot}", 4000 + 7 * lot
        (home / "docs").mkdir(exist_ok=True)
        Image.new("RGB", (60, 80), "white").save(home / f"docs/{name}.png")
        wrong = text(lot, number).replace("0", "O") if lot % 3 == 0 else text(lot, number)
        clean = "" if lot in SCANS else text(lot, number)
        for folder, held in (("truth", clean), ("engine", wrong)):
            path = home / folder / "documents" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps([{"page_idx": 0, "text": held}]))
        asked = f"In lot {lot} which number has Boat{lot}?"
        evidence = f"Boat{lot} has number {number}"
        questions.append(
            {"question": asked, "answers": [str(number)], "document": name, "page": 1, "evidence": evidence}
        )
    (home / "questions.json").write_text(json.dumps(questions))
    (home / "plugins.py").write_text(PLUGINS)
    (home / "study.yaml").write_text(SPEC)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The folder of the run, what it printed, and a function that runs a command beside it."""
    home = tmp_path_factory.mktemp("study")
    write(home)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        patch.setenv("COLUMNS", "400")

        def ohr(*words):
            return CliRunner().invoke(app, list(words), catch_exceptions=False)

        done = ohr("run", "study.yaml", "--trust-plugins", "--executor", "inline", "--no-figures", "--details")
        assert done.exit_code == 1, done.stderr  # a question failed
        (folder,) = (home / "runs/study").glob("*-*")
        yield SimpleNamespace(home=home, folder=folder, said=done.stdout, ohr=ohr)


# --- what each place says -----------------------------------------------------------------------------------
#
# A quantity is named by noise, stage, metric and one of: clean, mean, lost, low, high, pairs, failed, n, less, more;
# and for all conditions of a pipeline together: wide_low, wide_high, and among, how many.


def of_summary_csv(study):
    found = {}
    names = {"clean": "clean_mean", "mean": "mean", "lost": "lost", "low": "lost_low", "high": "lost_high"}
    names |= {"pairs": "pairs", "failed": "failed", "n": "n", "less": "questions_lost", "more": "questions_gained"}
    names |= {"among": "comparisons", "wide_low": "lost_wide_low", "wide_high": "lost_wide_high", "p": "lost_p"}
    with (study.folder / "summary.csv").open(newline="") as opened:
        for row in csv.DictReader(opened):
            if (row["by"], row["group"]) == ("evidence_source", "all") and row["noise"] in CONDITIONS:
                for name, column in names.items():
                    found[row["noise"], row["stage"], row["metric"], name] = float(row[column] or "nan")
    for stage, metric in ALL:
        ends_of_holm(found, stage, metric)
    return found


def ends_of_holm(numbers, stage, metric):
    """Move the ends of intervals that hold for all to 0 where Holm's method shows a difference and they hold 0."""
    known = sorted((numbers[noise, stage, metric, "p"], noise) for noise in CONDITIONS)
    steps = [(p, noise) for p, noise in known if p == p]
    shown = True
    for place, (p, noise) in enumerate(steps):
        shown = shown and (len(CONDITIONS) - place) * p <= 0.05
        low, high = (numbers[noise, stage, metric, end] for end in ("wide_low", "wide_high"))
        if shown and low <= 0 <= high:
            numbers[noise, stage, metric, "wide_low" if low + high > 0 else "wide_high"] = 0.0


def of_python(study):
    names = ("clean", "mean", "lost", "low", "high", "pairs", "failed", "wide_low", "wide_high", "among")
    rows = load_run(study.folder).frame("losses", library="arrow", group="all").to_pylist()
    rows = [{name: nan if value is None else value for name, value in row.items()} for row in rows]
    found = {(r["noise"], r["stage"], r["metric"], name): r[name] for r in rows for name in names}
    for r in rows:
        found[r["noise"], r["stage"], r["metric"], "less"] = r["questions_lost"]
        found[r["noise"], r["stage"], r["metric"], "more"] = r["questions_gained"]
    return found


def of_compare(study):
    found = {}
    for noise in CONDITIONS:
        made = json.loads(study.ohr("compare", "study:ground_truth", f"study:{noise}", "--json").stdout)
        for pair in made["pairs"]:
            about = {"clean": pair["first"]["mean"], "mean": pair["second"]["mean"], "pairs": pair["n"]}
            about |= {name: pair[name] for name in ("lost", "low", "high")}
            about |= {"less": pair["questions_lost"], "more": pair["questions_gained"]}
            about = {name: nan if value is None else value for name, value in about.items()}
            found |= {(noise, pair["stage"], pair["metric"], name): value for name, value in about.items()}
    return found


def of_compare_within_the_run(study):
    """Read the interval of the run: that of a comparison's own rows holds for these."""
    numbers = {}
    for noise in CONDITIONS:
        compared = json.loads(study.ohr("compare", "study:ground_truth", f"study:{noise}", "--json").stdout)
        for line in compared["within_run"]:
            place, ends = (noise, *line.split()[:2]), re.search(r"\[(.+), (.+)\], holds for all (\d+)$", line)
            numbers[*place, "among"] = float(re.search(r"among the (\d+) conditions", line)[1])
            if ends:
                assert float(ends[3]) == numbers[*place, "among"]
                numbers |= {(*place, "wide_low"): float(ends[1]), (*place, "wide_high"): float(ends[2])}
    return numbers


def of_export(study):
    found = {}
    for row in csv.DictReader(StringIO(study.ohr("export", "study", "--csv", "-").stdout, newline="")):
        if (row["by"], row["group"]) == ("evidence_source", "all") and row["noise"] in CONDITIONS:
            about = {"clean": row["clean_mean"], "mean": row["mean"], "lost": row["lost"], "n": row["n"]}
            about |= {"among": row["comparisons"]}
            place = row["noise"], row["stage"], row["metric"]
            found |= {(*place, name): float(value) for name, value in about.items()}
    return found


def of_figures(study):
    found = {}
    for metric in ("lcs", "f1", "length"):
        for section in read_sections(Run(study.folder), "all", metric):
            for row in section.rows:
                if row.loss is not None:
                    about = {"mean": row.point.mean, "n": row.point.n, "clean": row.loss.clean, "lost": row.loss.lost}
                    about |= {"low": row.loss.low, "high": row.loss.high, "pairs": row.loss.pairs}
                    about |= {name: getattr(row.loss, name) for name in ("wide_low", "wide_high", "among")}
                    place = row.point.noise, row.point.stage, metric
                    found |= {(*place, name): value for name, value in about.items()}
    return found


def of_loss_table(rows):
    """Read the rows of a table of losses, by header; the interval is in brackets or in columns of its own."""
    found = {}
    for row in rows:
        header = "lost [95% interval, alone]"
        lost, low, high, *_ = (*map(float, re.findall(r"-?[\d.]+", row[header])), nan, nan)
        about = {"clean": row["clean"], "mean": row["score"], "lost": lost}
        about |= {"low": row.get(f"{header} low", low) or nan}
        about |= {"high": row.get(f"{header} high", high) or nan}
        less, more = re.fullmatch(r"'?-(\d+) \+(\d+)", row["questions"]).groups()
        about |= {"pairs": row["compared"], "less": less, "more": more}
        if row["holds for all"]:
            ends = re.fullmatch(r"\[(.+), (.+)\] of (\d+)", row["holds for all"]).groups()
            about |= dict(zip(("wide_low", "wide_high", "among"), ends, strict=True))
        place = row["condition"], row["stage"], row["metric"]
        found |= {(*place, name): float(value) for name, value in about.items()}
    return found


def of_report(study):
    page = (study.folder / "report.html").read_text(encoding="utf-8")
    losses = []
    for table in re.findall(r"<table>.*?</table>", page, re.DOTALL):
        headers = [unescape(cell) for cell in re.findall(r"<th [^>]*>(.*?)</th>", table)]
        rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr.*?</tr>", table)[1:]]
        losses += [dict(zip(headers, row, strict=True)) for row in rows if "detectable" in headers]
    return of_loss_table(losses)


def of_first_screen(study):
    """Read the verdicts that the screen, the page and a figure begin with: a cell for each condition and stage."""
    metrics = {"retrieval": "lcs", "answers from the right page": "f1", "answers end to end": "f1"}
    stages = {words: stage for stage, words in ACTIVITY.items()}
    summary, numbers = summarize(Run(study.folder)), {}
    for line in summary.lines:
        for words, cell in zip(summary.stages, line.cells, strict=True):
            about = {"clean": cell.clean, "among": cell.among, "wide_low": cell.low, "wide_high": cell.high}
            about |= {"mean": cell.left} if cell.is_judged else {}
            numbers |= {(line.noise, stages[words], metrics[words], name): value for name, value in about.items()}
    return numbers


def of_leaderboard(study):
    """Read the leaderboards of the report, whose title begins with the stage."""
    page = (study.folder / "report.html").read_text(encoding="utf-8")
    boards = re.findall(r"<(?:h3|summary)>(\w+): [^<]*<(.*?)</table>", page, re.DOTALL)
    cells = [
        (stage.lower(), re.findall(r"<td[^>]*>(.*?)</td>", row)) for stage, rows in boards for row in rows.split("<tr")
    ]
    metrics = {"retrieval": "lcs", "generation": "f1", "overall": "f1"}
    return {
        (row[1], stage, metrics[stage], "mean"): float(row[2]) for stage, row in cells if row and row[1] in CONDITIONS
    }


def of_table_csv(study):
    numbers = of_loss_table(csv.DictReader(exported(study, "cost", "csv").splitlines()))
    return {name: value for name, value in numbers.items() if not name[-1].startswith("wide_")}


def of_ends_in_table_csv(study):
    """Read the interval that holds for all, which is a text there."""
    numbers = of_loss_table(csv.DictReader(exported(study, "cost", "csv").splitlines()))
    return {name: value for name, value in numbers.items() if name[-1] in ("wide_low", "wide_high", "among")}


def of_table_markdown(study):
    lines = [line for line in exported(study, "cost", "markdown").splitlines() if line.startswith("|")]
    headers, _, *rows = ([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines)
    return of_loss_table(dict(zip(headers, row, strict=True)) for row in rows)


def of_table_latex(study):
    lines = [line.strip() for line in exported(study, "cost", "latex").splitlines() if line.endswith(r" \\")]
    plain = (line.removesuffix(r" \\").replace(r"\%", "%").replace("$-$", "-").replace("{}", "") for line in lines)
    headers, *rows = (line.split(" & ") for line in plain)
    return of_loss_table(dict(zip(headers, row, strict=True)) for row in rows)


def of_table_of_scores(study):
    found = {}
    for row in csv.DictReader(exported(study, "curves", "csv").splitlines()):
        if row["condition"] in CONDITIONS:
            place = row["condition"], row["stage"], row["metric"]
            found |= {(*place, "mean"): float(row["score"]), (*place, "n"): float(row["n"])}
    return found


def of_table_by_stage(study):
    """Read the whole loss of the table that splits it by stage."""
    rows = [r for r in csv.DictReader(exported(study, "decomposition", "csv").splitlines()) if r["table"][:3] == "All"]
    names = {"lost": "total loss", "low": "total loss low", "high": "total loss high"}
    return {
        (row["condition"], row["stage"], row["metric"], name): float(row[header] or "nan")
        for row in rows
        for name, header in names.items()
    }


def exported(study, table, form, run="study"):
    return study.ohr("export", run, "--table", table, f"--{form}", "-").stdout


def of_screen(study):
    """Read the table of losses, which has a column for each stage and metric."""
    lines = study.said.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("lost to"))
    found = {}
    for line in lines[start + 1 : start + 3]:
        noise = line.split()[0]
        cells = re.findall(r"(-?[\d.]+)(?: \[(-?[\d.]+), (-?[\d.]+)\])? -(\d+) \+(\d+)", line)
        for place, cell in zip(ALL, cells, strict=True):
            numbers = (float(number or "nan") for number in cell)
            about = dict(zip(("lost", "low", "high", "less", "more"), numbers, strict=True))
            found |= {(noise, *place, name): value for name, value in about.items()}
    return found


def of_curve_on_screen(study):
    """Read the table of means, which has a column for each stage and metric."""
    lines = study.said.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("noise  "))
    means = {}
    for line in lines[start + 2 : start + 4]:
        cells = re.findall(r"([\d.]+) (?:±|-[\d.]+ \+)", line)
        means |= {(line.split()[0], *place, "mean"): float(cell) for place, cell in zip(ALL, cells, strict=True)}
    return means


def of_json_of_run(study):
    done = study.ohr("run", "study.yaml", "--trust-plugins", "--executor", "inline", "--no-figures", "--json")
    points = [point for point in json.loads(done.stdout)["curve"] if point["noise"] in CONDITIONS]
    return {(p["noise"], p["stage"], p["metric"], name): p[name] for p in points for name in ("mean", "n")}


def of_show(study):
    """Read the tables of means by group, of which `micro` is over all questions."""
    means, stage = {}, ""
    for line in study.ohr("show", "study", "--details").stdout.partition("scored by")[2].splitlines():
        stage = line.split(",")[0] if ", by " in line or "; all" in line else stage
        if line.startswith(CONDITIONS):
            noise, *_, metric, n, _, micro, _, _ = line.split()
            means |= {(noise, stage, metric, "mean"): float(micro), (noise, stage, metric, "n"): float(n)}
    return means


def score_keys(study):
    keys = ("--set", f"root={study.home / 'docs'}", "--set", f"questions={study.home / 'questions.json'}")
    return *keys, "--set", f"ground_truth={study.home / 'truth'}"


def of_score(study):
    made = study.ohr("score", "ocr", "engine", "--benchmark", "folder", *score_keys(study), "--json")
    found = json.loads(made.stdout)
    mean, clean = (found["retrieval"][name]["evidence_source"]["all"] for name in ("engine", found["truth"]))
    about = {"clean": clean["mean"], "mean": mean["mean"], "n": mean["n"], "lost": found["lost"]["mean"]}
    about |= {"low": found["lost"]["low"], "high": found["lost"]["high"]}
    return {("engine", "retrieval", "lcs", name): value for name, value in about.items()}


def of_score_on_screen(study):
    lines = study.ohr("score", "ocr", "engine", "--benchmark", "folder", *score_keys(study)).stdout.splitlines()
    row = next(line for line in lines if line.startswith("all "))
    mean, clean = re.findall(r"([\d.]+) (?:±|-[\d.]+ \+)", row)
    (lost,) = (line for line in lines if line.startswith("lost against"))
    numbers = (mean, clean, *re.findall(r"-?\d+\.\d+", lost))
    names = ("mean", "clean", "lost", "low", "high")
    return {("engine", "retrieval", "lcs", name): float(n) / 100 for name, n in zip(names, numbers, strict=True)}


PLACES = {
    of_python: (1e-9, 90), of_compare: (1e-5, 70), of_export: (1e-5, 36), of_figures: (1e-5, 65),
    of_report: (0.00051, 80), of_screen: (0.0051, 50), of_curve_on_screen: (0.0051, 10), of_json_of_run: (1e-5, 20),
    of_show: (0.00006, 20), of_score: (1e-5, 6), of_score_on_screen: (0.000051, 5),
    of_compare_within_the_run: (0.00051, 20), of_leaderboard: (0.00051, 6), of_first_screen: (1e-5, 20),
    of_table_csv: (1e-5, 70), of_ends_in_table_csv: (0.00051, 18),
    of_table_markdown: (0.00051, 80), of_table_latex: (0.00051, 80), of_table_of_scores: (1e-5, 20),
    of_table_by_stage: (1e-5, 12),
}  # fmt: skip
"""How near a place's numbers are printed, and how many quantities it has at least."""


@pytest.mark.parametrize("place", PLACES)
def test_each_place_shows_the_numbers_of_the_summary(study, place):
    near, least = PLACES[place]
    known, shown = of_summary_csv(study), place(study)
    shared = {name: value for name, value in shown.items() if name in known}
    assert len(shared) >= least
    wrong = {n: (v, known[n]) for n, v in shared.items() if v != pytest.approx(known[n], abs=near + 1e-5, nan_ok=True)}
    assert not wrong


def test_two_conditions_are_a_family_at_each_stage(study):
    known = of_summary_csv(study)
    assert {known[noise, *place, "among"] for noise in CONDITIONS for place in ALL} == {2}
    ends = {known[noise, *place, end] for noise in CONDITIONS for place in ALL for end in ("low", "wide_low")}
    assert len({end for end in ends if end == end}) > 6  # the interval that holds for all is no copy of the other


def test_the_tables_of_the_screen_have_the_same_cells_in_every_form(study):
    run = Run(study.folder)
    means = [row for row in rows_by(run, "evidence_source") if row["stage"] == "overall"]
    views = [curve(curve_points(run)), losses_by_pipeline(read_losses(run)), means_by(means, "evidence_source")]
    views += leaderboard(run_leaderboards(run, ()))
    assert len(views) == 6
    for view in views:
        lines = [line for line in markdown(view).splitlines() if line.startswith("|")]
        assert [tuple(map(str.strip, line.strip("|").split(" | "))) for line in lines[2:]] == list(view.long)
        text = latex(view, run, "x").replace("$-$", "-").replace("\\%", "%").replace(r"\_", "_")
        assert all(" & ".join(row) in text for row in view.long)
        for row, cells in zip(csv.DictReader(StringIO(views_csv([view]), newline="")), view.rows, strict=True):
            values = [cell.value if isinstance(cell, Interval) else cell for cell in cells]
            texts = ["" if value is None or value != value else str(value) for value in values]
            assert [row[header] for header in view.headers] == texts


def test_means_losses_and_counts_are_those_of_the_scores(study):
    """The same numbers by hand, from the table of scores: 12 questions have clean text, and one of them failed."""
    scores = read_rows(study.folder / "scores.parquet", stage="overall", metric="length")
    by_question: dict[str, dict[str, list[float]]] = {}
    for row in scores:
        by_question.setdefault(row["question_id"], {}).setdefault(row["condition"], []).append(row["value"])
    means = [{name: sum(drawn) / len(drawn) for name, drawn in one.items()} for one in by_question.values()]
    clean, noisy = ([one[name] for one in means][: LOTS - len(SCANS)] for name in ("ground_truth", "noisy"))
    known = of_summary_csv(study)
    place = ("noisy", "overall", "length")
    assert known[*place, "clean"] == pytest.approx(sum(clean) / 12, abs=1e-5)
    assert known[*place, "mean"] == pytest.approx(sum(noisy) / 12, abs=1e-5)
    assert known[*place, "lost"] == pytest.approx(known[*place, "clean"] - known[*place, "mean"], abs=1e-5)
    assert (known[*place, "n"], known[*place, "pairs"], known[*place, "failed"]) == (12, 12, 1)


def test_a_comparison_of_two_noises_is_the_difference_of_their_losses(study):
    made = json.loads(study.ohr("compare", "study:engine", "study:noisy", "--json").stdout)
    known = of_summary_csv(study)
    assert made["questions"] == 12
    assert made["notes"] == ["2 questions left out of every mean and comparison: the pages have no clean text"]
    for pair in made["pairs"]:
        lost = {noise: known[noise, pair["stage"], pair["metric"], "lost"] for noise in CONDITIONS}
        assert pair["lost"] == pytest.approx(lost["noisy"] - lost["engine"], abs=1e-5)


def test_questions_without_clean_text_keep_scores_of_their_own(study):
    rows = read_rows(study.folder / "summary.parquet", by="clean_text", condition="engine", metric="f1")
    overall = {row["group"]: (row["n"], row["mean"]) for row in rows if row["stage"] == "overall"}
    assert (overall["yes"][0], overall["no"][0]) == (12, 2)
    assert overall["no"][1] == 0.5  # lot 12 is misread, lot 13 is not


def test_what_failed_comes_first_and_what_is_left_out_last(study):
    lines = study.said.splitlines()
    assert lines[0].endswith("the model stumbled. Repair that and run the spec again: only what failed is done again.")
    assert "2 questions left out of every mean and comparison: the pages have no clean text." in lines
    assert [line for line in lines if line.startswith("Answers end to end (length)")]
    assert Run(study.folder).manifest["documents_asked"] == LOTS


def test_a_condition_that_was_run_twice_is_shown_once(study):
    text = (study.home / "study.yaml").read_text()
    (study.home / "twice.yaml").write_text(text.replace("name: study", "name: twice\naa: true"))
    run = ("run", "twice.yaml", "--trust-plugins", "--executor", "inline", "--no-figures")
    said = study.ohr(*run).stdout
    assert "A/A: 6 cells run twice" in said
    curve = json.dumps(json.loads(study.ohr(*run, "--json").stdout)["curve"])
    tables = [exported(study, name, "csv", "twice") for name in ("curves", "cost", "decomposition")]
    for text in (said.partition("warnings:")[0], curve, study.ohr("show", "twice").stdout, *tables):
        assert "noisy" in text and "engine again" not in text and "ground_truth again" not in text


@pytest.fixture
def earlier(study, tmp_path):
    """A copy of the run without some tables, and a function that runs a command on it."""

    def without(*tables):
        folder = shutil.copytree(study.folder, tmp_path / "earlier")
        manifest = json.loads((folder / "manifest.json").read_text())
        for name in tables:
            (folder / f"{name}.parquet").unlink()
            del manifest["files"][f"{name}.parquet"]
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return lambda *words: study.ohr(words[0], str(folder), *words[1:])

    return without


READS = [("show",), ("export", "--csv", "-"), ("export", "--table", "cost", "--markdown", "-"), ("report",)]


def test_a_run_from_before_some_tables_is_shown_without_them(earlier):
    ohr = earlier("aggregates", "pipelines", "repair", "effort", "decomposition", "swap_scores")
    assert [ohr(*words).exit_code for words in READS] == [0] * len(READS)
    refused = ohr("export", "--table", "decomposition", "--csv", "-")
    assert refused.exit_code == 2 and "has no table 'decomposition'" in refused.stderr


def test_a_run_without_its_summary_is_refused_in_one_sentence(earlier):
    ohr = earlier("summary")
    for words in READS:
        refused = ohr(*words)
        assert refused.exit_code == 2
        assert "summary" in refused.stderr and len(refused.stderr.strip().splitlines()) == 1
