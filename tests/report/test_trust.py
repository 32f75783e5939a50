"""Trust in readings: tables of a run whose engines state confidences, repeat themselves, or do not."""

import json

import numpy as np
import pytest

from ohr.engine.executors.inline import Inline
from ohr.report.analyses import ANALYSES
from ohr.report.figures.choices import Wanted
from ohr.report.figures.other_figures import confidence as draw_confidence
from ohr.report.figures.panels import NothingToDraw
from ohr.report.trust import LIMITS, Stated, _agreement, chosen_threshold, share
from ohr.results.run import Run
from ohr.runner.run import run
from ohr.spec.read import read_spec

SPEC = """\
name: trust
replicates: 1
plugins: [./reader.py]
benchmark: {kind: mini, domains: [law, finance], languages: [en], max_pages: 1}
measure: [dose, pages]
knowledge_bases:
  - {name: gt}
  - {name: stated, ocr: {kind: precomputed, root: ocr}}
  - {name: fickle, ocr: {kind: fickle_reader}, repeats: 3}
  - name: corrected
    treatments: [{kind: precomputed, root: ocr}, {kind: llm_correction, generator: {kind: extractive}}]
  - {name: blur, image_noise: {kind: psf_blur, severity: [0, 0.5]}, ocr: {kind: fickle_reader}}
chunker: {kind: page}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""
READER = """\
from itertools import count

from ohr.contracts import OcrBackend, Recognition, Word

turns = count()


class FickleReader(OcrBackend, kind="fickle_reader"):
    def recognise(self, images):
        sure = (Word("berths", confidence=0.5), Word("12", confidence=95.0), Word("reading", confidence=float("nan")))
        return [Recognition(f"12 berths, reading {next(turns)}", words=sure) for _ in images]
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    from ohr.benchmarks.mini import Mini

    home = tmp_path_factory.mktemp("trust")
    (home / "trust.yaml").write_text(SPEC)
    (home / "reader.py").write_text(READER)
    mini = Mini(domains=["law", "finance"], languages=["en"], max_pages=1)
    for document in mini.documents():
        path = home / "ocr" / f"{document.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps([entry(page) for page in mini.pages(document)]))
    spec = read_spec(home / "trust.yaml", trust_plugins=True)
    return Run(run(spec, store=home / ".ohr", runs=home / "runs", executor=Inline()).folder)


def entry(page):
    """Every seventh word is misread, and the engine knows it of every second of those."""
    read = ["qqqq" if place % 7 == 6 else word for place, word in enumerate(page.text.split())]
    stated = [[word, 0.3 if place % 14 == 6 else 0.9] for place, word in enumerate(read)]
    return {"page_idx": page.index, "text": " ".join(read), "words": stated}


def rows_of(finished, analysis, condition="stated"):
    return [row for row in ANALYSES[analysis](finished) if row["condition"] == condition]


def test_it_shows_what_is_kept_and_invented(finished):
    (clean,) = rows_of(finished, "trust", "gt")
    assert (clean["words_kept"], clean["invented"], clean["numbers_kept"]) == (1, 0, 1)
    (stated,) = rows_of(finished, "trust")
    assert stated["new"] == pytest.approx(1 / 7, abs=0.06)
    assert stated["words_kept"] == pytest.approx(6 / 7, abs=0.06)
    assert stated["invented_low"] < stated["invented"] < stated["invented_high"]


def test_confidence_is_held_against_the_truth(finished):
    (row,) = rows_of(finished, "confidence")
    assert row["right"] == pytest.approx(6 / 7, abs=0.06)
    # half of the wrong words have the lower confidence, and no right one has
    assert row["discrimination"] == pytest.approx(0.75, abs=0.06)
    low, high = rows_of(finished, "reliability")
    assert (low["confidence"], low["right"]) == (pytest.approx(0.3), 0)
    assert (high["confidence"], high["right"]) == (pytest.approx(0.9), pytest.approx(12 / 13, abs=0.06))
    accepted = {row["threshold"]: row for row in rows_of(finished, "thresholds")}
    assert accepted[0.0]["accepted"] == 1
    assert accepted[0.5]["wrong"] == pytest.approx(1 / 13, abs=0.06)
    assert accepted[0.95]["accepted"] == 0


def test_a_corrected_page_has_the_confidence_of_its_reading(finished):
    (stated,), (corrected,) = (rows_of(finished, "confidence", name) for name in ("stated", "corrected"))
    assert corrected | {"condition": "stated"} == stated


def test_no_threshold_keeps_to_a_limit_that_the_best_words_break(finished):
    assert [row["threshold"] for row in rows_of(finished, "limits")] == ["none and none"] * len(LIMITS)


def test_thresholds_are_also_those_of_pages_without_noise(finished):
    chosen = {row["chosen_on"] for row in rows_of(finished, "limits", "blur-0.5")}
    assert chosen == {"blur-0.5", "fickle"}


def test_readings_of_the_same_pages_are_compared(finished):
    (row,) = ANALYSES["repeatability"](finished)
    assert (row["condition"], row["readings"], row["same"]) == ("fickle", 3, 0)
    assert 0.8 < row["agreement"] < 1
    assert row["numbers_kept"] == 0.5  # the number of the reading is another one each time
    (fickle,) = rows_of(finished, "confidence", "fickle again 2")
    assert fickle["confidence"] == 0.5


def test_a_page_that_a_reading_lacks_is_in_no_comparison(finished):
    assert not _agreement(finished, ["fickle", "nobody"])["pages"]


def test_the_figure_has_a_panel_for_each_engine(finished):
    figure = draw_confidence(finished, Wanted())
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["stated", "fickle_reader"]
    del finished.__dict__["manifest"]
    (finished.folder / "confidences.parquet").rename(finished.folder / "aside")
    with pytest.raises(NothingToDraw, match="no engine stated how sure it is"):
        draw_confidence(finished, Wanted())
    (finished.folder / "aside").rename(finished.folder / "confidences.parquet")


def stated(*documents):
    """Documents of 100 words each at the confidences .5, .7 and .9, with these numbers of wrong ones."""
    words, wrong = np.zeros((2, len(documents), 101))
    for place, counts in enumerate(documents):
        words[place, [50, 70, 90]], wrong[place, [50, 70, 90]] = 100, counts
    return Stated(tuple(map(str, range(len(documents)))), words, wrong)


@pytest.mark.parametrize(
    ("limit", "step"),
    [(0.005, None), (0.01, 71), (0.05, 71), (0.06, 51), (0.2, 0)],
)
def test_the_lowest_threshold_that_keeps_to_the_limit_is_chosen(limit, step):
    assert chosen_threshold(stated((40, 10, 1), (40, 10, 1)), limit) == step


def test_a_share_has_the_interval_of_clustered_scores():
    found = share([1] * 10, [100] * 10)
    assert (found.mean, found.low, found.high) == (0.01, 0.01, 0.01)
    spread = share([10] + [0] * 9, [100] * 10)
    assert spread.low < 0.01 < spread.high
    assert share([0] * 10, [100] * 10).high > 0
    assert np.isnan(share([], []).mean)
