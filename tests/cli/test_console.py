import io
import sys
from math import nan

import pytest
from rich.console import Console
from rich.progress import Progress

from ohr.cli.display.console import as_lines, fits, grouped, say_first, say_json, say_table
from ohr.cli.display.progress import Bars, Lines, _display, bars, pace
from ohr.engine.ledger import Failure
from ohr.engine.progress import counting
from ohr.report.views.scores import curve
from ohr.report.views.view import Interval
from ohr.results.derived.losses import Point


def point(stage="retrieval", **changes) -> Point:
    metric = "lcs" if stage == "retrieval" else "f1"
    values = {
        "noise": "blur",
        "level": "0.5",
        "r_noise": 0.25,
        "evidence_loss": 0.125,
        "chunker": "page",
        "retriever": "bm25",
        "generator": "" if stage == "retrieval" else "extractive",
        "mean": 0.5,
        "low": 0.4,
        "high": 0.6,
        "n": 60,
        "documents": 12,
        "failed": 0,
        "note": "",
    }
    return Point(stage=stage, metric=metric, **(values | changes))


def test_items_that_failed_for_one_reason_are_listed_in_one_line():
    failures = [Failure("generator", f"m: {name}?", "no reply") for name in ("Where", "When")]
    failures.insert(1, Failure("ocr", "law/a page 0", "paper jam"))
    assert as_lines(failures) == [
        "generator: m: Where?: no reply (2 items, of which this is the first)",
        "ocr: law/a page 0: paper jam",
    ]


def test_a_curve_has_a_line_for_each_level_and_a_column_for_each_pipeline():
    points = [
        point(noise="clean", level="", r_noise=0.0, evidence_loss=0.0, mean=0.9, low=nan, high=nan),
        point("overall", noise="clean", level="", mean=0.3, low=0.2, high=0.4),
        point("generation", retriever="", noise="clean", level=""),
        point(retriever="dense"),
        point(),
    ]
    view = curve(points)
    assert view.headers == (
        *("noise", "level", "r_noise", "evidence\nloss"),
        *("retrieval\nlcs bm25", "retrieval\nlcs dense", "generation\nf1", "overall\nf1 bm25"),
    )
    assert view.short == (
        ("clean", "", "0.00", "0.00", "0.90", "", "0.50 ±0.10", "0.30 ±0.10"),
        ("blur", "0.5", "0.25", "0.12", "0.50 ±0.10", "0.50 ±0.10", "", ""),
    )


@pytest.mark.parametrize(
    ("mean", "low", "high", "message"),
    [
        (0.5, 0.375, 0.625, "0.50 ±0.12"),
        (0.955, 0.91, 1.0, "0.95 ±0.05"),  # whole, and its ends are rounded apart
        (0.97, 0.9, 1.0, "0.97 -0.07 +0.03"),
        (0.0, 0.0, 0.0, "0.00 ±0.00"),
        (0.9, nan, nan, "0.90"),
        (nan, nan, nan, ""),
    ],
)
def test_an_interval_that_is_cut_shows_both_sides(mean, low, high, message):
    assert Interval(mean, low, high).short() == message


def test_chunkers_and_generators_are_named_where_there_are_several():
    points = [point("overall"), point("overall", chunker="tokens", generator="llm")]
    assert curve(points).headers[4:] == ("overall\nf1 page/bm25/extractive", "overall\nf1 tokens/bm25/llm")


def test_failed_items_get_a_column():
    view = curve([point(), point("overall", failed=3)])
    assert (view.headers[-1], view.short[0][-1]) == ("failed\nquestions", "3")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (point(), "n = 60 questions in 12 documents; ± 95% interval over documents"),
        (
            point(note="few documents"),
            "n = 60 questions in 12 documents; ± 95% interval over documents (few documents)",
        ),
        (point(low=nan), "n = 60 questions in 12 documents; no intervals: fewer than 5 documents"),
    ],
)
def test_the_legend_counts_questions_and_documents(given, message):
    assert curve([given]).how == message


def test_a_piped_table_is_aligned(capsys):
    say_table(("noise", "evidence\nloss"), [("ground_truth", "0"), ("blur", "0.25")])
    assert capsys.readouterr().out == "noise         evidence loss\nground_truth  0\nblur          0.25\n"


def test_a_table_on_a_terminal_is_drawn(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    say_table(("noise", "[bold]"), [("blur", "0.25")])
    assert [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()] == [
        ["noise", "[bold]"],
        ["─" * 13],
        ["blur", "0.25"],
    ]


def test_a_table_fits_a_pipe_and_a_wide_terminal_but_not_a_narrow_one(monkeypatch):
    table = (("noise", "evidence\nloss"), [("ground_truth", "0")])
    assert fits(*table)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    assert fits(*table)
    monkeypatch.setenv("COLUMNS", "20")
    assert not fits(*table)


def test_a_long_list_is_cut_and_counted(capsys):
    say_first("warnings:", [str(number) for number in range(12)])
    lines = capsys.readouterr().out.splitlines()
    assert (len(lines), lines[0], lines[-1]) == (12, "warnings:", "  and 2 more")


def test_json_has_null_where_a_number_is_undefined(capsys):
    say_json({"mean": nan, "text": "é"})
    assert capsys.readouterr().out == '{\n "mean": null,\n "text": "é"\n}\n'


def test_json_has_a_set_in_order(capsys):
    say_json({"numbers": frozenset(("elo", "accuracy"))})
    assert capsys.readouterr().out.split() == ["{", '"numbers":', "[", '"accuracy",', '"elo"', "]", "}"]


def test_a_short_run_writes_nothing_into_a_pipe(capsys):
    with bars() as progress, counting(progress, "ocr", 2) as advance:
        advance(2)
    assert capsys.readouterr() == ("", "")


def test_lines_that_differ_in_names_and_numbers_only_are_counted_with_the_first():
    lines = [f"law/doc_{n}: page {n} was cut" for n in range(20)]
    assert grouped([*lines, "top_k is 9", "no chunk has a word"]) == [
        "law/doc_0: page 0 was cut (19 more like this: see the report)",
        "top_k is 9",
        "no chunk has a word",
    ]


def test_a_log_shows_the_progress_of_a_step_when_time_has_passed(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr("ohr.cli.display.progress.monotonic", lambda: now[0])
    lines = Lines(silence=0.05)
    with counting(lines, "ocr", 3) as advance:
        advance(1)
        now[0] += 0.06
        advance(1)
        advance(1)
    message = capsys.readouterr().err.splitlines()
    assert len(message) == 1
    assert message[0].startswith("ocr: 2 of 3 (")


@pytest.mark.parametrize(("rate", "words"), [(12.34, "12.3/s"), (0.05, "0.1/s"), (0.016, "62 s each"), (0.0, "0.0/s")])
def test_a_slow_pace_is_in_seconds_for_each_item(rate, words):
    assert pace(rate) == words


def test_bars_of_slow_work_are_first_and_what_waits_for_it_has_no_time_left():
    display = _display()
    shown = Bars(display)
    for phase in ("making documents", "answering", "reading pages"):
        shown.update(phase, 0, 10)
        shown.update(phase, 2, 10)
    (table,) = display.get_renderables()
    assert [str(cell) for cell in table.columns[0].cells] == [
        "reading pages", "answering", "making documents"
    ]  # fmt: skip
    assert [bool(str(cell)) for cell in table.columns[-1].cells] == [True, True, False]
    shown.update("reading pages", 10, 10)
    shown.update("answering", 10, 10)
    (table,) = display.get_renderables()
    assert [bool(str(cell)) for cell in table.columns[-1].cells] == [True]


def test_a_bar_shows_what_is_done_and_goes_when_the_phase_ends():
    display = Progress(console=Console(file=io.StringIO()))
    with counting(Bars(display), "ocr", 3) as advance:
        advance(2)
        assert [(task.description, task.completed, task.total) for task in display.tasks] == [("ocr", 2, 3)]
        advance(1)
        assert display.tasks == []


def test_a_step_with_nothing_to_do_has_no_bar():
    display = Progress(console=Console(file=io.StringIO()))
    with counting(Bars(display), "ocr", 0) as advance:
        advance(0)
        assert display.tasks == []


def test_the_legend_tells_apart_stages_with_other_questions():
    """Questions without evidence count for answers, but not for retrieval."""
    message = curve([point(n=3), point("generation", n=5), point("overall", n=5)]).how
    assert message.startswith("n = 3 questions in retrieval, 5 in generation and overall; 12 documents; ")
