"""Conformance of generators and metrics."""

import numpy as np

from ohr.contracts import Generator, Metric, Prompt
from ohr.testing.stage import TEXTS, as_json, check_stage, require


def prompts() -> list[Prompt]:
    """Return prompts that any generator must accept."""
    asked = ("When did the lease begin?", "Is rent due in May?", "租金是多少？", "", "What?")
    passages = (TEXTS[3:5], TEXTS[3:4], TEXTS[7:8], (), TEXTS[-1:])
    return [
        Prompt(question, tuple(read), "Answer briefly.", f"Question: {question}\n\nDocuments: {' '.join(read)}")
        for question, read in zip(asked, passages, strict=True)
    ]


def check_generator(generator: Generator) -> None:
    """Check a generator."""
    check_stage(generator)
    require(generator, list(generator.answer([])) == [], "no prompt must give no completion")
    asked = prompts()
    given = list(generator.answer(asked))
    require(generator, asked == prompts(), "it must not change the prompts")
    require(generator, len(given) == len(asked), f"{len(asked)} prompts gave {len(given)} completions")
    for completion in given:
        require(generator, completion.error is None, f"a prompt failed: {completion.error}")
        require(generator, completion.finish in ("stop", "length"), f"finish is {completion.finish!r}")
        counts = (completion.tokens_in, completion.tokens_out, completion.seconds)
        require(generator, min(counts) >= 0, f"tokens and seconds must not be negative: {counts}")
    turned = list(generator.answer(asked[::-1]))[::-1]
    same = [completion.text for completion in turned] == [completion.text for completion in given]
    require(generator, same, "completions must come in the order of the prompts, and be repeatable")


def check_metric(metric: Metric) -> None:
    """Check a metric: a pure function into [0, 1] or nan, at an end of its range where both texts are the same."""
    check_stage(metric)
    for prediction in TEXTS:
        for reference in TEXTS:
            value = metric.score(prediction, reference)
            require(metric, isinstance(value, float), f"a score must be a float, not {type(value).__name__}")
            require(metric, np.isnan(value) or 0 <= value <= 1, f"{value} is outside [0, 1]")
            require(
                metric, as_json(value) == as_json(metric.score(prediction, reference)), "one pair must give one score"
            )
    same = metric.score(TEXTS[3], TEXTS[3])
    require(metric, same in (0.0, 1.0), f"equal texts must score the best there is, not {same}")
    require(metric, abs(metric.score("zebra", TEXTS[3]) - same) > 0.5, "texts without a common word must score badly")
