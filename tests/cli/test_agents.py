"""A run with agents as a user sees it: its plan, one question's steps, the effort beside the score, the figures."""

import csv
import json
from pathlib import Path

import pytest

from ohr.report.html.question_list import QuestionList
from ohr.results.run import Run
from ohr.results.tables.read_table import read_rows

from .conftest import command

TESTS = Path(__file__).parents[1]
SPEC = f"""\
name: crew
plugins: [{TESTS / "plugins.py"}, {TESTS / "crew.py"}]
replicates: 1
benchmark: {{kind: tiny, size: 6}}
knowledge_bases:
  - {{name: clean}}
  - {{name: dosed, text_noise: {{kind: formatting, rate: [0.2, 0.5]}}}}
chunker: {{kind: page}}
retrievers: [{{kind: bm25}}]
generators: [{{kind: parrot}}]
agents:
  - {{kind: scout, model: {{kind: clerk}}, retriever: {{kind: bm25}}}}
  - {{kind: watcher, model: {{kind: clerk, sees: true}}, retriever: {{kind: eye}}}}
evaluate: [retrieval, overall]
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A folder in which the spec was planned and run once, and what the commands said."""
    home = tmp_path_factory.mktemp("crew")
    (home / "crew.yaml").write_text(SPEC)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        planned = command("plan", "crew.yaml", "--trust-plugins")
        done = command("run", "crew.yaml", "--trust-plugins", "--executor", "inline", "--no-figures", "--details")
    assert planned.exit_code == done.exit_code == 0
    return home, planned.stdout, done.stdout


@pytest.fixture
def folder(ran, monkeypatch):
    """The run's folder; the working folder is where it was started."""
    monkeypatch.chdir(ran[0])
    return next((ran[0] / "runs" / "crew").glob("*-*"))


def test_a_plan_counts_questions_of_agents_and_bounds_their_calls(ran):
    # scout has 36 questions; those of watcher on dosed text are those on clean text
    assert "agent questions        48     0         48" in ran[1]
    assert "at most 96 calls of agents" in ran[1]


def test_a_finished_run_has_nothing_left(folder):
    plan = command("plan", "crew.yaml", "--trust-plugins").stdout
    assert "agent questions        48     48        0" in plan and "calls of agents" not in plan


def test_the_run_notes_which_noise_reaches_which_agent(ran):
    assert "watcher reads page images only: noise of text alone (dosed) cannot reach it" in ran[2]


def test_one_question_is_shown_with_the_steps_of_each_agent(folder):
    lines = command("show", "crew", "--question", "q0", "--condition", "clean").stdout.splitlines()
    assert lines[:3] == [
        "q0  law/0  text",
        "  In what year was the harbour of law/0 built?",
        "  accepted: 1900",
    ]
    scout = lines.index("overall on clean, page/scout; f1 1.00")
    assert lines[scout + 1] == "  answered after 1 call, 1 search, 0 pictures, 10 + 2 tokens, 0.5 s"
    assert lines[scout + 3].startswith("  1. model is asked (for all questions")
    assert lines[scout + 6] == "  2. retriever searches 'In what year was the harbour of law/0 built?': law/0:0"
    assert lines[scout + 7] == "  3. model is asked (pages law/0:0):"
    assert lines[scout + 9] == "     < 1900"


def test_a_question_as_json_has_whole_steps(folder):
    found = json.loads(command("show", "crew", "--question", "q0", "--json").stdout)
    assert {row["generator"] for row in found["answers"]} == {"parrot", "scout", "watcher"}
    (watched,) = [row for row in found["answers"] if row["generator"] == "watcher" and row["kb"] == "clean"]
    assert [step["kind"] for step in watched["steps"]] == ["search", "ask", "ask"]
    assert watched["end"] == "answered" and watched["images"] == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--question", "q111"), "no question 'q111'"),
        (("--question", "q0", "--condition", "clear"), "nothing under the condition 'clear'"),
    ],
)
def test_what_is_not_there_is_named(folder, words, message):
    result = command("show", "crew", *words)
    assert result.exit_code == 2 and message in result.stderr and "Did you mean" in result.stderr


def test_the_effort_of_a_question_is_beside_its_score(folder):
    rows = list(csv.DictReader((folder / "effort.csv").read_text().splitlines()))
    clean = {row["generator"]: row for row in rows if row["condition"] == "clean" and row["stage"] == "overall"}
    assert {name: float(row["calls"]) for name, row in clean.items()} == {"parrot": 1, "scout": 1, "watcher": 2}
    scout = clean["scout"]
    assert (float(scout["tokens_in"]), float(scout["seconds"]), float(scout["score"])) == (10, 0.5, 1)
    # one call for all 12 questions: 12 tokens and half a second
    assert float(scout["shared_tokens"]) == 1 and float(scout["shared_seconds"]) == pytest.approx(0.5 / 12, rel=1e-4)
    noisy = [float(row["calls"]) for row in rows if row["generator"] == "scout"]
    assert noisy == sorted(noisy) and noisy[-1] > 1  # it asks again where it did not find


def test_figures_say_what_agents_look_at(folder, tmp_path):
    from ohr.report.figures.drawing import draw
    from ohr.report.figures.panels import read_panels

    names = {path.name for path in draw(Run(folder), formats=["svg"], out=tmp_path)}
    assert {"effort.svg", "performance.svg"} <= names
    assert Run(folder).agent_labels == {"scout": "scout [text]", "watcher": "watcher [image]"}
    systems = {curve.system.retriever for panel in read_panels(Run(folder), "r_noise") for curve in panel.curves}
    assert systems == {"bm25", "scout [text]", "watcher [image]"}


def test_a_run_without_agents_has_no_figure_of_effort(there):
    from ohr.report.figures.choices import Wanted
    from ohr.report.figures.other_figures import effort
    from ohr.report.figures.panels import NothingToDraw

    with pytest.raises(NothingToDraw, match="no agents"):
        effort(Run(next((there / "runs" / "small").glob("*-*"))), Wanted())


def test_an_agents_loss_is_beside_that_of_a_single_search(folder):
    rows = {(row["agent"], row["condition"]): row for row in read_rows(folder / "repair.parquet")}
    assert len(rows) == 4 and {row["generator"] for row in rows.values()} == {"parrot"}
    # scout reads the same text as bm25 and parrot, and finds the same years
    scout = rows["scout", "dosed-0.5"]
    assert scout["lost_agent"] == scout["lost_single"] > 0 and scout["more_retained"] == scout["gap"] == 0
    assert scout["retained_agent"] == scout["retained_single"] < 1 and scout["verdict"] == "identical"
    watcher = rows["watcher", "dosed-0.5"]
    assert watcher["lost_agent"] == 0 and watcher["retained_agent"] == 1 > watcher["retained_single"]
    assert watcher["more_retained_low"] > 0 and watcher["verdict"] == "looks past it"  # the images are clean


def test_the_report_has_what_agents_take_and_repair(folder):
    page = (folder / "report.html").read_text()
    assert "Does an agent repair noise?" in page and "Calls, tokens and seconds" in page


def test_questions_are_shown_with_pipelines_that_have_the_metric(folder):
    pipelines = QuestionList(Run(folder)).pipelines
    assert [pipeline.retriever for pipeline in pipelines if pipeline.stage == "retrieval"] == ["bm25"]
    assert [pipeline.generator for pipeline in pipelines if pipeline.stage == "overall"] == [
        "parrot",
        "scout",
        "watcher",
    ]


def test_a_run_and_show_print_whether_agents_repair_noise(ran, folder):
    for text in (ran[2], command("show", "crew", "--details").stdout):
        (line,) = [line for line in text.splitlines() if line.startswith("dosed-0.5") and "looks past it" in line]
        assert line.split()[:5] == ["dosed-0.5", "watcher", "[image]", "bm25", "+"]
        assert "where more is kept, the agent repairs some of the noise" in " ".join(text.split())
