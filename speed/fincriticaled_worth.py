"""Prints the worth of each repair of FinCriticalED's scoring, on predictions of its sample.

    python -m speed.fincriticaled_worth

Three predictions are made of `exact` here: the two columns of page 3 exchanged, parentheses and percent signs lost, and
spaces between signs and digits, as cut cells of tables have them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from ohr.benchmarks.fincriticaled import matching, occurrences
from ohr.benchmarks.fincriticaled.annotations import agreement, read_export
from ohr.benchmarks.fincriticaled.judging import judge_postprocess, parse_reply
from ohr.benchmarks.fincriticaled.lexical import page_scores
from ohr.benchmarks.fincriticaled.matching import compat_det, strict_det
from ohr.benchmarks.fincriticaled.release_files import GoldPage, read_data_set, read_predictions
from ohr.benchmarks.fincriticaled.totals import Record, aggregate, ffa_recall_style
from samples.fincriticaled import MODELS, SAMPLE

PAGES = read_data_set(SAMPLE).pages
Predictions = Mapping[int, str]
Scorer = Callable[[str, str], Record]


def predictions() -> dict[str, Predictions]:
    found: dict[str, Predictions] = {
        model.__name__: read_predictions(SAMPLE / f"results/{model.__name__}_zero-shot") for model in MODELS
    }
    exact = found["exact"]
    rows = [row.split("<td>") for row in PAGES[3].html.split("</tr>")]
    swapped = "</tr>".join("<td>".join([*row[:-2], *row[:-3:-1]]) for row in rows)
    return found | {
        "swapped_columns": {**exact, 3: swapped},
        "without_signs": {index: re.sub("[()%]", "", text) for index, text in exact.items()},
        "spaced_signs": {
            index: re.sub(r"(?<=[$(€])(?=\d)|(?<=\d)(?=[)%])", " ", text) for index, text in exact.items()
        },
    }


@contextmanager
def without(repair: str) -> Iterator[None]:
    """Leave one rule of the strict match out."""
    edges = occurrences.Edges
    lenient = {
        "whole values": lambda mine, gold: mine[2:] == gold[2:],
        "signs": lambda mine, gold: mine.left in ("", gold.left) and mine.right in ("", gold.right),
    }
    if repair in lenient:
        with patch.object(edges, "fit", lenient[repair]):
            yield
    elif repair == "each occurrence once":
        with patch.object(matching, "_matched", every_occurrence):
            yield
    elif repair == "free gaps at signs":
        with patch.object(occurrences, "_AT_SIGN", re.compile("(?!)")):
            yield
    else:
        yield


def every_occurrence(facts: Sequence[object], page: occurrences.PageText) -> dict[int, occurrences.Occurrence]:
    made: dict[int, occurrences.Occurrence] = {}
    equal: dict[str, list[int]] = defaultdict(list)
    for place, fact in enumerate(facts):
        equal[occurrences.pattern_of(fact)].append(place)
    for pattern, places in equal.items():
        for place, occurrence in matching._pairs(facts, places, page.find(pattern)):
            made.setdefault(place, occurrence)
    return made


def records(scorer: Scorer, read: Predictions) -> list[Record]:
    return [scorer(page.tagged, read[page.index]) for page in PAGES]


def in_place(gold: str, text: str) -> Record:
    return strict_det(gold, text, context_veto=True)


def facts() -> None:
    read = predictions()
    print(f"{'FFA x 100, 176 facts':34}", *(f"{name:>15}" for name in read))
    row("published search", compat_det, read)
    row("clean", strict_det, read)
    for repair in ("whole values", "signs", "each occurrence once", "free gaps at signs"):
        with without(repair):
            row(f"clean without {repair}", strict_det, read)
    row("clean, in place", in_place, read)
    for name, scorer in (("published search", compat_det), ("clean", strict_det)):
        found = (100 - aggregate(records(scorer, one))["missing_rate"] for one in read.values())
        print(f"{f'found, {name}':34}", *(f"{one:15.1f}" for one in found))


def row(name: str, scorer: Scorer, read: Mapping[str, Predictions]) -> None:
    print(f"{name:34}", *(f"{ffa(records(scorer, one)):15.1f}" for one in read.values()))


def ffa(made: Sequence[Record]) -> float:
    return ffa_recall_style(aggregate(made))["entity_error"]


def judge() -> None:
    print(f"\n{'judge about without_commas, x 100':34} {'FFA':>15} {'acc_found':>15} {'missing_rate':>15}")
    for mode in ("reference", "clean"):
        made = [judged(page, mode) for page in PAGES]
        rates = aggregate(made)
        print(f"{mode:34}", *(f"{rate:15.1f}" for rate in (ffa(made), rates["entity_acc"], rates["missing_rate"])))


def judged(page: GoldPage, mode: str) -> Record:
    reply = (SAMPLE / f"judge/reply_{page.index}.txt").read_text(encoding="utf-8")
    text = (SAMPLE / f"results/without_commas_zero-shot/pred_{page.index}.txt").read_text(encoding="utf-8")
    return judge_postprocess(page.tagged, text, parse_reply(reply).diagnostics, mode)


def words() -> None:
    """A page without a prediction is left out in the published mean, and scores 0 in the clean one."""
    exact = predictions()["exact"]
    total = 100 * sum(page_scores(page.html, exact[page.index])["rouge1"] for page in PAGES if page.index < 3)
    print(f"\nROUGE-1 x 100 of three exact pages of six: reference {total / 3:.1f}, clean {total / len(PAGES):.1f}")


def annotators() -> None:
    tasks = read_export(SAMPLE / "annotations.json")
    for mode in ("reference", "clean"):
        made = agreement(tasks, 3, mode)
        print(f"Fleiss' kappa, {mode}: {made.fleiss:.3f} over {made.items} spans")


if __name__ == "__main__":
    facts()
    judge()
    words()
    annotators()
