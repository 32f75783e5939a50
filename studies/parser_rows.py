"""Rows of engines by the parser benchmarks' definitions, beside their losses in retrieval and answers.

    python -m studies.parser_rows

From the kept studies of engines, without an engine or a model: the texts of three engines that read the first pages of
`mini` plain, photographed and faxed. OmniDocBench's scores are those of Markdown against Markdown, tables in HTML on
both sides; tests in olmOCR-bench's form are written from the ground truth.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ohr.benchmarks.known_items import known_items
from ohr.markup.page import Markup, tidy
from ohr.metrics.dose import Floats
from ohr.noise_files.page_changes import FEATURES, CleanPage, changes
from ohr.parse_scores.olmocr import PageTest, read_test, run
from ohr.parse_scores.omnidocbench import score_markdown
from ohr.results.derived.losses import Loss, read_losses
from ohr.results.run import Run
from studies.kept_scores import line
from studies.rank_correlations import correlations

KEPT = Path(__file__).parent / "kept"
RETRIEVAL, ANSWERS = (Run(KEPT / name) for name in ("engines", "engines-answers"))
BENCHMARKS = ("text_edit@1.0", "text_edit@1.5", "order_edit@1.0", "order_edit@1.5", "teds@1.5", "tests failed")
COUNTED = {"words lost": "words lost in order", "numbers lost": "numbers lost", "words invented": "words invented"}
LENIENCE = 20
"""Characters of a text for each difference that its test allows; olmOCR-bench names its number in each test."""
Values = dict[str, float]


def texts() -> dict[str, dict[str, str]]:
    """Return the text of each document's page by condition, tables in HTML."""
    pages: dict[str, dict[str, str]] = defaultdict(dict)
    for row in RETRIEVAL.rows("texts"):
        pages[row["condition"]][row["document"]] = tidy(row["text"], Markup(tables="html"))
    return dict(pages)


def tests(pages: Mapping[str, str]) -> dict[str, list[PageTest]]:
    """Write tests of each page: its rarest sentences, their order, cells of its tables, and the baseline."""
    records: dict[str, list[dict[str, Any]]] = {name: [{"type": "baseline"}] for name in pages}
    for item in known_items(pages):
        if item.source == "text":
            records[item.page].append(_presence(item.passage))
        else:
            records[item.page] += _cells(item.written)
    for name, page in pages.items():
        sentences = [each for each in records[name] if each["type"] == "present"]
        sentences.sort(key=lambda each: page.find(each["text"][:LENIENCE]))
        for first, second in pairwise(sentences):
            most = min(first["max_diffs"], second["max_diffs"])
            records[name].append({
                "type": "order", "before": first["text"], "after": second["text"], "max_diffs": most
            })  # fmt: skip
    return {
        name: [read_test({"pdf": f"{name}.pdf", "page": 1, "id": str(place), **each}) for place, each in enumerate(of)]
        for name, of in records.items()
    }


def _presence(text: str) -> dict[str, Any]:
    return {"type": "present", "text": text, "max_diffs": len(text) // LENIENCE}


def _cells(row: str) -> Iterator[dict[str, Any]]:
    cells = [cell.strip() for cell in row.strip().strip("|").split("|")]
    for left, cell in pairwise(cells):
        if left and cell:
            yield {"type": "table", "cell": cell, "left": left}


def page_values(truth: str, tables: int, page: str, of_page: list[PageTest]) -> Values:
    """Return what the benchmarks and ohr say of a page whose truth has some tables; nan where nothing is scored."""
    values: Values = {}
    for version in ("1.0", "1.5"):
        scores = score_markdown(truth, page, version)
        values[f"text_edit@{version}"] = scores.text.distance if scores.text else math.nan
        values[f"order_edit@{version}"] = scores.order.distance if scores.order else math.nan
        lacking = tables - len(scores.tables)  # a table that was not read has a similarity of 0
        similarities = [*(table.teds for table in scores.tables), *[0.0] * lacking]
        values[f"teds@{version}"] = fmean(similarities) if similarities else math.nan
    values["tests failed"] = 1 - fmean(run(test, page).passed for test in of_page)
    clean = CleanPage(0, truth)
    changed = dict(zip(FEATURES, changes([clean], {0: page}).tolist(), strict=True))
    values["edit distance"] = min(1.0, changed["edit distance"] / len(truth))
    return values | {name: min(1.0, changed[feature] / len(clean.words)) for name, feature in COUNTED.items()}


def all_values() -> dict[str, dict[str, Values]]:
    """Return the values of each page by condition and document, with its losses of retrieval and answers."""
    pages = texts()
    truth = pages.pop("clean")
    of_pages = tests(truth)
    tables = {name: len(score_markdown(page, page, "1.5").tables) for name, page in truth.items()}
    confidence = {
        (row["condition"], row["document"]): row["confidence"]
        for row in RETRIEVAL.rows("readings")
        if row["confidence"] is not None
    }
    lost = page_losses(RETRIEVAL, "retrieval", "lcs"), page_losses(ANSWERS, "overall", "f1")
    return {
        condition: {
            name: {
                **page_values(truth[name], tables[name], page, of_pages[name]),
                "doubt": 1 - confidence.get((condition, name), math.nan),
                "loss of retrieval": lost[0].get((condition, name), math.nan),
                "loss of answers": lost[1].get((condition, name), math.nan),
            }
            for name, page in read.items()
        }
        for condition, read in pages.items()
    }


def page_losses(of: Run, stage: str, metric: str) -> dict[tuple[str, str], float]:
    """Return the mean loss of the questions on each document, by condition and document."""
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in of.rows("scores", stage=stage, metric=metric):
        scores[row["condition"], row["document"]].append(row["value"])
    means = {place: fmean(values) for place, values in scores.items()}
    return {place: means["clean", place[1]] - mean for place, mean in means.items()}


def engine_rows(values: Mapping[str, Mapping[str, Values]]) -> Iterator[str]:
    """Yield a line for each engine and kind of page."""
    retrieval, answers = (
        {loss.condition: _interval(loss) for loss in read_losses(of) if loss.stage == stage}
        for of, stage in ((RETRIEVAL, "retrieval"), (ANSWERS, "overall"))
    )
    for condition, pages in values.items():
        means = [float(np.nanmean([page[name] for page in pages.values()])) for name in BENCHMARKS]
        yield line(condition, *(f"{mean:.3f}" for mean in means), retrieval[condition], answers[condition])


def _interval(loss: Loss) -> str:
    lost, low, high = (round(100 * value, 1) + 0.0 for value in (loss.lost, loss.wide_low, loss.wide_high))
    return f"{lost} [{low}, {high}]"


def correlation_rows(values: Mapping[str, Mapping[str, Values]]) -> Iterator[str]:
    """Yield a line for each predictor: its rank correlation with the losses of pages, over all engines and kinds."""
    pages = [
        (name, {**page, "teds failed": 1 - page["teds@1.5"]}) for of in values.values() for name, page in of.items()
    ]
    predictors = [*BENCHMARKS[:4], "teds failed", "tests failed", *COUNTED, "edit distance", "doubt"]
    for name in predictors:
        cells = [name]
        for loss in ("loss of retrieval", "loss of answers"):
            scored = [(document, page) for document, page in pages if not math.isnan(page[name] + page[loss])]
            columns: Mapping[str, Floats] = {name: np.array([page[name] for _, page in scored])}
            documents = np.array([document for document, _ in scored])
            value, low, high = correlations(documents, np.array([page[loss] for _, page in scored]), columns)[name]
            cells += [str(len(scored)), f"{value:.2f} [{low:.2f}, {high:.2f}]"]
        yield line(*cells)


def main() -> None:
    """Print both tables."""
    values = all_values()
    for rows in (engine_rows, correlation_rows):
        print("\n".join(rows(values)), end="\n\n")


if __name__ == "__main__":
    main()
