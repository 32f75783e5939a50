"""The example studies: pages and sentences are those of the kept runs, and say what the scores of these say."""

import re
from collections import Counter, defaultdict
from statistics import fmean

import pytest
from markupsafe import escape

from ohr.report.engines import engine_pairs
from ohr.report.first_screen import summarize
from ohr.report.headlines import kind
from ohr.report.lead import rounded
from ohr.results.derived.losses import read_losses
from ohr.results.run import Run
from ohr.spec.read import read_spec
from speed.readme_from_demo import placed
from studies.claims import CLAIMS, _loss
from studies.examples import LARGEST, PAGES, ROOT, RUNS, TEXT, parts

RUN = {name: Run.finished(RUNS / name) for name in CLAIMS}
SENTENCES = parts()
_MACHINE = re.compile(rb"/(?:home|root|tmp|work|mnt)/")
_OF = re.compile(r"(-?\d[\d.]*) of (?:the |its )?(\d[\d.]*) points")


def scores(run: Run) -> dict[tuple[str, str, str, str], dict[str, float]]:
    """The scores of the headline metrics, as they were measured: by cell, and by question."""
    cells = defaultdict(dict)
    for row in run.rows("scores"):
        if row["metric"] == run.headlines.get(row["stage"]):
            cells[row["stage"], row["kb"], row["retriever"] or "", row["generator"] or ""][row["question_id"]] = row[
                "value"
            ]
    return cells


def pairs(run: Run) -> set[tuple[str, str]]:
    """Loss and clean score of every noisy cell, as a sentence writes them."""
    cells = scores(run)
    clean = {(stage, *pipeline): values for (stage, kb, *pipeline), values in cells.items() if kb == "clean"}
    found = set()
    for (stage, _, *pipeline), noisy in cells.items():
        truth = clean[(stage, *pipeline)]
        both = [name for name in noisy if name in truth]
        before, after = (fmean(side[name] for name in both) for side in (truth, noisy))
        found.add((rounded(before - after), rounded(before)))
    return found


@pytest.mark.parametrize("name", CLAIMS)
def test_a_kept_run_is_of_its_spec(name: str):
    assert RUN[name].manifest["spec"] == read_spec(ROOT / "pipelines" / f"study-{name}.yaml").resolved
    assert RUN[name].manifest["failures"]["items"] == 0


@pytest.mark.parametrize("name", CLAIMS)
def test_a_page_begins_with_what_its_run_says(name: str):
    page = (PAGES / f"{name}.html").read_bytes()
    assert len(page) <= LARGEST
    assert str(escape(summarize(RUN[name], advise=False).lead)) in page.decode()  # else: python -m studies.examples


@pytest.mark.parametrize("name", CLAIMS)
def test_nothing_names_the_machine_that_ran_it(name: str):
    for file in (PAGES / f"{name}.html", *(RUNS / name).iterdir()):
        assert not _MACHINE.search(file.read_bytes()), file


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "index.md"], ids=lambda page: page.name)
def test_the_first_number_of_a_page_is_that_of_the_scores(page):
    (number,) = re.findall(r"cost retrieval\s\*\*(.*?)\*\*", page.read_text(encoding="utf-8"))
    (loss,) = _OF.findall(number)
    assert loss in pairs(RUN["cascade"])
    assert "costs {} of {} points".format(*loss) in summarize(RUN["cascade"], advise=False).lead, "as its picture says"


def test_the_text_has_the_sentences_of_the_kept_runs():
    written = TEXT.read_text(encoding="utf-8")
    assert "<!-- study: cascade -->" in written
    assert placed(written, SENTENCES, "study") == written  # else: python -m studies.examples


@pytest.mark.parametrize("name", CLAIMS)
def test_losses_in_sentences_are_those_of_the_scores(name: str):
    losses = set(_OF.findall(SENTENCES[name]))
    assert losses
    assert losses <= pairs(RUN[name])


def test_one_condition_shows_a_loss_of_answers_and_engines_of_photos_do_not_differ_in_them():
    run = RUN["engines-answers"]
    losses = [loss for loss in read_losses(run) if (loss.stage, loss.metric) == ("overall", run.headlines["overall"])]
    assert len(losses) == 10
    assert [loss.condition for loss in losses if kind(loss) == "loss"] == ["tesseract photo"]
    answers = next(loss for loss in losses if loss.condition == "tesseract photo")
    assert not any(pair.shown for pair in engine_pairs(run, answers))
    assert summarize(run).lead.startswith(
        "Pick rapidocr: it loses 21 points of retrieval less than tesseract under off axis"
    )


def test_the_agent_is_compared_with_a_single_search_on_the_same_questions():
    cells = scores(RUN["agents"])
    means = {cell: fmean(values.values()) for cell, values in cells.items() if cell[0] == "overall"}
    assert {len(cells[cell]) for cell in means} == {30}
    for kb in ("clean", "blurred scan"):
        ahead = means["overall", kb, "", "react"] - means["overall", kb, "bm25", "qwen2.5-coder-1.5b"]
        assert f"by {rounded(ahead)} points [-" in SENTENCES["agents"].replace("\n", " ")
    ends = Counter(row["end"] for row in RUN["agents"].rows("answers", generator="react"))
    assert ends == {"answered": 60}
    (repair,) = RUN["agents"].rows("repair")
    assert repair["verdict"] not in ("repairs", "compounds")
    effort = [row for row in RUN["agents"].rows("effort", stage="overall") if row["generator"] == "react"]
    assert [(row["calls"], row["searches"]) for row in effort] == [(2, 1)] * 2  # it reads once and never searches again


def test_the_engines_are_said_to_differ_where_a_paired_comparison_shows_it():
    summary = summarize(RUN["engines"])
    assert summary.lead.startswith(
        "Pick rapidocr: it loses 32 points of retrieval less than tesseract under off axis 0.6 ["
    )
    assert summary.lead.endswith("text_layer, pp_structure do not differ clearly from it.")
    photo = _loss(RUN["engines"], "retrieval", "tesseract photo", "bm25")
    shown = {
        frozenset((pair.first.condition, pair.second.condition))
        for pair in engine_pairs(RUN["engines"], photo)
        if pair.shown
    }
    assert shown == {frozenset(("tesseract photo", f"{engine} photo")) for engine in ("rapidocr", "pp_structure")}
    (matrix,) = summary.tables
    assert matrix.headers == (
        "engine",
        "as they are",
        "off axis 0.6",
        "binarization 0.8",
        "right page found",
        "seconds a page",
    )
    losses = {loss.condition: kind(loss) for loss in read_losses(RUN["engines"]) if loss.metric == "lcs"}
    assert [losses[name] for name in ("tesseract", "rapidocr", "pp_structure")] == ["open", "open", "loss"]
