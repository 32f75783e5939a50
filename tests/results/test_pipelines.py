"""Pipelines beside the first one of a run: how much less they lose to a noise, and what they score."""

import numpy as np
import pytest
from scipy.stats import t

from ohr.report.first_screen import summarize
from ohr.report.pipelines import pipelines_sentence
from ohr.report.views.loss_tables import beside_first
from ohr.results.derived.losses import read_losses

from .test_summary import add, halved

NOISY = {"bm25": 0.4, "dense": 0.1}
"""Shares that are lost to `blur-0.5`."""


def made(run, retrievers=NOISY, spec=None, **more):
    for retriever, share in retrievers.items():
        add(run, {"blur-0.5": halved(run.count, share)}, retriever=retriever, **more)
    return run.finish(spec=spec or {})


def sentence(study, condition="blur-0.5"):
    return pipelines_sentence(study, next(loss for loss in read_losses(study) if loss.condition == condition))


def test_the_difference_of_losses_has_the_interval_of_its_documents(runs):
    run, drawn = runs.make(120), np.random.default_rng(0)
    scores = {name: drawn.uniform(0, 1, (2, 120)) for name in ("bm25", "dense", "sparse")}
    for name, (clean, noisy) in scores.items():
        run.condition("clean", clean.tolist(), 1.0 if name == "bm25" else None, retriever=name)
        run.condition("blur-0.5", noisy.tolist(), 0.5 if name == "bm25" else None, retriever=name)
    rows = run.finish().rows("pipelines")
    assert [(row["pipeline"], row["first"], row["comparisons"]) for row in rows] == [
        ("dense", "bm25", 2),
        ("sparse", "bm25", 2),
    ]
    (first_clean, first_noisy), (clean, noisy) = scores["bm25"], scores["dense"]
    for name, values in (
        ("spared", (first_clean - first_noisy) - (clean - noisy)),
        ("scored_more", noisy - first_noisy),
    ):
        documents = values.reshape(10, 12).mean(axis=0)  # question n is about document n % 12, of domain n % 2
        parts = np.array([6 * documents[domain::2].var(ddof=1) / 12**2 for domain in (0, 1)])
        df = parts.sum() ** 2 / (parts**2 / 5).sum()  # Satterthwaite's
        reach = t.ppf(1 - 0.025 / 2, df) * np.sqrt(parts.sum())
        ends = [rows[0][f"{name}_{end}"] for end in ("low", "high")]
        assert rows[0][name] == pytest.approx(values.mean())
        assert ends == pytest.approx([values.mean() - reach, values.mean() + reach])


def test_the_first_screen_says_which_pipeline_loses_less(runs):
    study = made(runs.make(120))
    (row,) = study.rows("pipelines")
    assert row["verdict"] == "loses less" and row["spared"] == pytest.approx(0.3)
    said = summarize(study).further
    assert said.startswith(
        "Under blur (0.5), bm25 scores 60 of 100 points, dense 90 of 100. Against bm25, dense loses 30 less [95% int"
    )
    assert not said.endswith("not shown.")
    (view,) = beside_first(study)
    assert "loses less" in view.rows[0]


def test_what_is_not_shown_is_said_not_to_be(runs):
    run = runs.make(120)
    for retriever, lost in (("bm25", {0, 1, 2}), ("dense", {3, 4})):
        scores = [0.0 if number in lost else 1.0 for number in range(120)]
        add(run, {"blur-0.5": scores}, retriever=retriever)
    study = run.finish()
    assert study.rows("pipelines")[0]["verdict"] == "open"
    assert sentence(study).endswith("], not shown.")


def test_pipelines_with_the_same_scores_are_said_to_lose_the_same(runs):
    assert sentence(made(runs.make(120), {"bm25": 0.4, "dense": 0.4})).endswith("Against bm25, dense loses the same.")


def test_many_pipelines_are_named_with_what_is_shown_first(runs):
    said = sentence(made(runs.make(120), {"bm25": 0.4, "a": 0.4, "b": 0.4, "c": 0.4, "d": 0.1}))
    assert "dense" not in said and said.startswith("Under blur (0.5), bm25 scores 60 of 100 points, d 90 of 100, ")
    assert ", and 1 other in the table." in said


def test_a_pipeline_that_failed_too_often_has_no_verdict(runs):
    run = runs.make(120)
    add(run, {"blur-0.5": halved(120, 0.4)})
    for condition in ("clean", "blur-0.5"):
        run.condition(condition, 0.5, None, retriever="dense", failed={f"q{number}" for number in range(20)})
    study = run.finish()
    (row,) = study.rows("pipelines")
    assert (row["verdict"], row["note"]) == ("", "too much failed") and sentence(study) == ""


def test_one_pipeline_and_one_of_another_condition_are_beside_none(runs):
    run = runs.make(120)
    add(run, {"blur-0.5": halved(120, 0.4)})
    run.condition("clean", 1.0, None, retriever="dense")
    run.condition("skew-0.5", 0.5, None, retriever="dense")
    study = run.finish()
    assert study.rows("pipelines") == [] and beside_first(study) == [] and sentence(study) == ""


def test_pipelines_whose_scores_are_undefined_have_no_verdict(runs):
    run = runs.make(24)
    for retriever in ("bm25", "dense"):
        add(run, {"blur-0.5": [float("nan")] * 24}, retriever=retriever)
    (row,) = run.finish().rows("pipelines")
    assert (row["verdict"], row["n"]) == ("", 0)


def test_generators_are_compared_where_one_retriever_loses_most(runs):
    run = runs.make(120)
    add(run, {"blur-0.5": halved(120, 0.8)})
    for generator, share in (("small", 0.4), ("large", 0.1)):
        add(run, {"blur-0.5": halved(120, share)}, "overall", "f1", generator=generator)
    said = summarize(run.finish()).further
    assert said.startswith(
        "Under blur (0.5), bm25 + small scores 60 of 100 points of answers end to end, bm25 + large 90 of"
    )
