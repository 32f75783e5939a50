import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ohr.cli.app import main
from ohr.results.folder.run_folder import read_manifest

from ..conftest import completion

OHR = Path(sys.executable).with_name("ohr")
BARE = ("--executor", "inline", "--no-figures", "--no-report")

PLUGIN = """\
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from ohr.contracts import Completion, Generator, Prompt


class Stumbling(Generator):
    '''Answers `7`; fails, or is interrupted, at the fifth prompt of the file's life.'''

    kind: Literal["stumbling"] = "stumbling"
    way: Literal["fail", "SIGINT", "SIGTERM"] = "fail"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        count = Path("asked")
        for prompt in prompts:
            asked = int(count.read_text()) + 1 if count.exists() else 1
            count.write_text(str(asked))
            if asked == 5 and self.way != "fail":
                signal.raise_signal(signal.Signals[self.way])
            if asked == 5:
                yield Completion("", finish="error", error="the model stumbled")
            else:
                yield Completion("7")
"""


@pytest.fixture
def stumbling(home):
    """Let `small.yaml` answer with a generator that fails once, without knowledge bases that take long."""
    (home / "stumbling.py").write_text(PLUGIN)
    lines = (home / "small.yaml").read_text().replace("extractive", "stumbling").splitlines()
    (home / "small.yaml").write_text("\n".join(["plugins: [./stumbling.py]", *lines]))
    clean = ("--set", "knowledge_bases=[{name: ground_truth}]", "--set", "evaluate=[generation]")
    quick = (*BARE, "--set", "retries=0")  # the plugin counts in this process
    return ("run", "small.yaml", "--trust-plugins", *quick, *clean)


def test_a_run_ends_with_0_and_its_folder(finished):
    home, result = finished
    folder = home / result.stdout.split("results: ")[1].splitlines()[0]
    assert result.exit_code == 0
    assert {"manifest.json", "scores.parquet", "summary.csv", "figures"} <= {path.name for path in folder.iterdir()}


def test_the_log_of_a_run_says_what_was_done(finished):
    home, result = finished
    log = (home / result.stdout.split("results: ")[1].splitlines()[0] / "run.log").read_text()
    assert re.search(r"making documents: (\d+) more to do, 0 of \1 done", log)
    assert re.search(r"making documents: \d+ done, \d+\.\d s in workers", log)
    assert "finished: 0 failed" in log


def test_a_run_prints_its_findings_in_one_minute(finished):
    lines = finished[1].stdout.splitlines()
    assert len(lines) <= 25 and max(map(len, lines[:8])) <= 100
    assert " ".join(lines[:3]) == (
        "The right page is among bm25's first 2 hits for 10 of 10 questions, whatever the condition. No condition "
        "changes answers end to end. 4 documents are too few to show any loss of retrieval: with 2 comparisons, at "
        "least 7 documents must change to show anything."
    )
    table = next(place for place, line in enumerate(lines) if line.startswith("condition  "))
    assert max(map(len, lines[table : table + 3])) <= 100
    rows = lines[table + 1 : table + 3]
    assert [re.split("  +", line)[1] for line in rows] == ["10 of 10", "10 of 10"]
    assert all(line.count("no question changed") == 2 and " unclear: 100 to " in line for line in rows)
    begin = ("all", "3", "done", "figures:", "results:", "report:")  # what was done takes two lines
    assert tuple(word for line in lines[-7:] if (word := line.split()[0]) in begin) == begin


def test_a_run_prints_its_curve_without_intervals_for_four_documents(there, ohr_here):
    said = ohr_here("run", "small.yaml", "--details").stdout
    assert said.startswith("Retrieval (LCS): too few documents (")
    lines = said[said.index("noise   ") :].splitlines()
    assert lines[0] == "noise         level  r_noise  evidence loss  retrieval lcs bm25  generation f1  overall f1 bm25"
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["ground_truth", "0.00"],
        ["formatting", "0.1"],
        ["formatting", "0.6"],
    ]
    assert lines[4].endswith(" documents; no intervals: fewer than 5 documents")


def test_a_run_reports_what_the_benchmark_left_out(there, ohr_here):
    assert re.search(r"^\d+ warnings?, the first: left out ", ohr_here("run", "small.yaml").stdout, re.M)
    assert "\nwarnings:\n  left out " in ohr_here("run", "small.yaml", "--details").stdout


def test_a_run_reports_its_work(finished):
    done = re.search(r"^done in [^:]+: (.+?)\n(figures|results): ", finished[1].stdout, re.M | re.S)
    assert [part.split()[0] for part in done[1].replace("\n", " ").split(", ")] == [
        "documents",
        "indexes",
        "searches",
        "answers",
        "empty",
        "tokens",
        "tokens",
    ]


def test_a_piped_run_says_nothing_on_stderr(finished):
    assert finished[1].stderr == ""


def test_a_second_run_does_nothing_and_names_the_same_folder(finished, there, ohr_here):
    result = ohr_here("run", "small.yaml")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == finished[1].stdout.splitlines()[-1]
    assert "\n0 stage calls: an earlier run has finished this study (" in result.stdout


def test_a_run_as_json_gives_everything_a_script_needs(finished, there, ohr_here):
    report = json.loads(ohr_here("run", "small.yaml", "--json").stdout)
    assert report.keys() == {
        "folder",
        "summary",
        "curve",
        "warnings",
        "failures",
        "absent",
        "calls",
        "tokens",
        "seconds",
        "figures",
        "report",
    }
    assert report["folder"] == finished[1].stdout.split("results: ")[1].splitlines()[0]
    assert report["calls"] == {}
    assert len(report["curve"]) == 3 * 3
    expected = {
        "noise": "ground_truth",
        "level": "",
        "r_noise": 0.0,
        "evidence_loss": 0.0,
        "stage": "retrieval",
        "metric": "lcs",
        "chunker": "page",
        "retriever": "bm25",
        "generator": "",
        "mean": 1.0,
        "low": None,
        "high": None,
        "n": report["curve"][0]["n"],
        "documents": 4,
        "failed": 0,
        "note": "points only",
    }
    assert {name: report["curve"][0][name] for name in expected} | {"mean": 1.0} == expected


def test_a_run_without_matplotlib_is_done_and_says_what_to_install(ohr, monkeypatch):
    monkeypatch.setattr("ohr.extras.find_spec", lambda name: None)
    small = ("--set", "knowledge_bases=[{name: ground_truth}]", "--set", "evaluate=[retrieval]")
    result = ohr("run", "small.yaml", *small, "--executor", "inline")
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "no figures: matplotlib is not installed: pip install 'ohr[report]'",
        "no report: jinja2 is not installed: pip install 'ohr[report]'",
    ]
    assert "figures:" not in result.stdout


def test_a_failed_item_is_reported_and_ends_with_1_and_the_next_run_tries_it_again(ohr, stumbling):
    result = ohr(*stumbling, "--details")
    assert result.exit_code == 1
    (line,) = [line for line in result.stdout.splitlines() if line.startswith("  generator: ")]
    assert "failed items: 1 (questions that need them score 0)" in result.stdout.splitlines()
    assert line.startswith("  generator: stumbling on reference / closed_book: ")
    assert line.endswith(": the model stumbled")
    result = ohr(*stumbling)
    assert result.exit_code == 0
    assert ": answers 1\n" in result.stdout


def test_too_many_failures_end_with_1_and_a_sentence(ohr, stumbling):
    result = ohr(*stumbling, "--set", "max_failures=0")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.startswith(
        "stopped: 1 item failed (max_failures: 0), the last: generator on stumbling on reference / closed_book: "
    )
    assert result.stderr.endswith(": the model stumbled. Finished results are kept; run again to resume\n")


@pytest.mark.parametrize(("way", "who"), [("SIGINT", "by the user (Ctrl-C)"), ("SIGTERM", "by SIGTERM")])
def test_a_signal_ends_with_its_own_status_and_the_next_run_resumes(home, ohr, stumbling, way, who):
    words = [*stumbling, "--set", f"generators.0.way={way}"]
    first = subprocess.run([OHR, *words], capture_output=True, text=True, check=False)
    kept = int((home / "asked").read_text()) - 1
    (stopped,) = (read_manifest(folder)["reason"] for folder in (home / "runs/small").iterdir())
    second = ohr(*words)
    assert (first.returncode, first.stdout) == (128 + signal.Signals[way], "")
    assert stopped == who
    assert first.stderr == "interrupted; run the same command again to resume\n"
    assert kept == 4
    assert second.exit_code == 0
    assert not list(home.glob("runs/small/.new-*"))


INTERRUPTING = """
import signal

class Odd:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIG{})

class Holder:
    odd = Odd()
"""


@pytest.mark.parametrize("way", ["INT", "TERM"])
def test_a_signal_that_an_import_makes_an_error_is_an_interruption(home, way):
    """Python turns what `__set_name__` raises into a RuntimeError."""
    (home / "odd.py").write_text(INTERRUPTING.format(way))
    (home / "odd.yaml").write_text("plugins: [./odd.py]\n" + (home / "small.yaml").read_text())
    ended = subprocess.run(
        [OHR, "run", "odd.yaml", "--trust-plugins"], capture_output=True, text=True, check=False, cwd=home
    )
    assert ended.returncode == 128 + signal.Signals[f"SIG{way}"]
    assert ended.stderr == "interrupted; run the same command again to resume\n"


def test_an_address_needs_the_cluster_executor(ohr):
    result = ohr("run", "small.yaml", "--address", "127.0.0.1:6379")
    assert result.exit_code == 2
    assert result.stderr == "--address 127.0.0.1:6379: only --executor ray connects to a cluster\n"


def test_a_run_without_figures_draws_none(ohr):
    small = ("--set", "knowledge_bases=[{name: ground_truth}]", "--set", "evaluate=[retrieval]")
    result = ohr("run", "small.yaml", *small, *BARE)
    assert result.exit_code == 0
    folder = Path(result.stdout.split("results: ")[1].splitlines()[0])
    assert "figures:" not in result.stdout
    assert not (folder / "figures").exists()


def test_an_unknown_stage_cannot_be_made_again(ohr):
    result = ohr("run", "small.yaml", "--fresh", "page")
    assert result.exit_code == 2
    assert "Did you mean 'pages'?" in result.stderr
    assert ohr("runs").stdout == "no runs in runs\n"


def test_an_unknown_option_ends_with_2(ohr):
    result = ohr("run", "small.yaml", "--worker", "2")
    assert result.exit_code == 2
    assert "No such option: --worker" in result.stderr


def test_a_folder_that_cannot_be_made_is_a_sentence(ohr):
    small = ("--set", "knowledge_bases=[{name: ground_truth}]", "--set", "evaluate=[retrieval]", "--workers", "1")
    result = ohr("run", "small.yaml", *small, "--runs", "small.yaml/runs")
    assert result.exit_code == 2
    assert result.stderr == "small.yaml/runs/small: Not a directory\n"


def test_the_demo_says_what_to_install(ohr, monkeypatch):
    monkeypatch.setattr("ohr.extras.find_spec", lambda name: None)
    result = ohr("demo")
    assert result.exit_code == 2
    assert "ocr tesseract: tesserocr is not installed: pip install 'ohr[tesseract]'" in result.stderr.splitlines()
    assert result.stderr.splitlines()[-1] == "all that the demo needs: pip install 'ohr[demo]'"


def test_plot_draws_again(there, ohr_here):
    result = ohr_here("plot", "small", "--x", "r_noise", "--columns", "all")
    assert result.exit_code == 0
    assert all(Path(line).is_file() for line in result.stdout.splitlines())
    assert {Path(line).suffix for line in result.stdout.splitlines()} == {".svg", ".png"}


def test_plot_draws_for_a_paper_or_a_talk(there, ohr_here, tmp_path):
    wanted = ("--metric", "f1", "--x", "r_noise", "--columns", "all", "--style", "slides", "--out", tmp_path)
    result = ohr_here("plot", "small", "--format", "pdf,png", *wanted)
    assert result.exit_code == 0
    names = [Path(line).name for line in result.stdout.splitlines()]
    assert names == ["performance-f1-all-slides.pdf", "performance-f1-all-slides.png"]
    assert all((tmp_path / name).is_file() for name in names)


@pytest.mark.parametrize(
    ("words", "known"),
    [
        (("--metric", "rouge"), "this run has no metric 'rouge'; choose one of: lcs"),
        (("--columns", "all,images"), "no column 'images'; choose one of: text, multimodal, reading_order, all"),
        (("--format", "eps"), "no format 'eps'; choose one of: svg, pdf, png"),
        (("--x", "noise"), "'r_noise', 'evidence_loss', 'condition'"),
    ],
)
def test_plot_refuses_what_it_does_not_know_and_lists_what_it_does(there, ohr_here, words, known):
    result = ohr_here("plot", "small", *words)
    assert result.exit_code == 2
    assert known in result.stderr


def test_plot_of_no_run_says_how_to_find_one(ohr):
    result = ohr("plot", "nothing")
    assert result.exit_code == 2
    assert result.stderr == "no run 'nothing': give its folder, or one of the names that `ohr runs` lists\n"


def test_a_misspelled_run_and_a_folder_without_one_are_reported(there, ohr_here, tmp_path):
    result = ohr_here("show", "smal")
    assert result.stderr.endswith("or one of the names that `ohr runs` lists. Did you mean small?\n")
    result = ohr_here("show", tmp_path)
    assert (result.exit_code, result.stderr.count("the folder holds no run: it has no manifest.json")) == (2, 1)


def test_runs_are_listed(finished, there, ohr_here):
    (run,) = json.loads(ohr_here("runs", "--json").stdout)
    keys = {"name", "time", "status", "partial", "questions", "failures", "not_judged", "largest_loss", "tags", "path"}
    assert run.keys() == keys
    path = finished[1].stdout.split("results: ")[1].splitlines()[0]
    assert (run["name"], run["failures"], run["path"], run["partial"]) == ("small", 0, path, "")
    header, line = ohr_here("runs").stdout.splitlines()
    assert header.split() == [
        "run",
        "started",
        "(UTC)",
        "status",
        "questions",
        "failed",
        "items",
        "largest",
        "loss",
        "shown",
    ]
    assert line.startswith(f"{path.removeprefix('runs/')}  ") and "  finished  " in line


def test_a_damaged_run_is_reported_and_the_others_listed(home, finished, ohr):
    folder = finished[0] / finished[1].stdout.split("results: ")[1].splitlines()[0]
    shutil.copytree(folder, home / "runs/small/whole")
    (home / "runs/small/broken").mkdir()
    (home / "runs/small/broken/manifest.json").write_text("{")
    result = ohr("runs", "--json")
    assert result.exit_code == 0
    assert [run["path"] for run in json.loads(result.stdout)] == ["runs/small/whole"]
    assert result.stderr.startswith("runs/small/broken/manifest.json: not readable as JSON: ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--fresh", "answer"], "--fresh answer: Choose one of: all, pages,"),
        (["--fresh", "documents", "none.yaml"], "none.yaml"),
        (["none.yaml", "--fresh", "all"], "none.yaml"),
    ],
)
def test_fresh_takes_a_stage_whatever_is_in_the_working_folder(home, monkeypatch, capsys, words, message):
    (home / "documents").mkdir()
    monkeypatch.setattr("sys.argv", ["ohr", "run", *words, *(["small.yaml"] if "none.yaml" not in words else [])])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith(message)


def test_replies_that_were_cut_are_counted_and_warned_of(home, ohr, chat_server):
    chat_server.replies = [(200, {}, completion("in 19", "length"))] * 2
    server = f"generators=[{{kind: openai, name: g, base_url: '{chat_server.url}', model: m}}]"
    sets = ("--set", server, "--set", "evaluate=[generation]", "--set", "knowledge_bases=[{name: ground_truth}]")
    report = json.loads(ohr("run", "small.yaml", *sets, *BARE, "--json").stdout)
    manifest = json.loads((Path(report["folder"]) / "manifest.json").read_text())
    counts = manifest["cut_replies"]["g"]
    assert counts["cut"] == 2
    assert f"g: 2 of {counts['replies']} replies were cut at max_tokens; raise it" in report["warnings"]
