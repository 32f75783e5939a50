"""Numbers of the studies of real documents from the kept tables, and the tables of docs/real-documents.md.

    python -m studies.real_documents [MEASURED]

MEASURED is a folder that `studies.real_pages --out` has written: its numbers are printed beside ours.
"""

import argparse
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from ohr.messages.wording import counted
from ohr.metrics.dose import Floats
from ohr.statistics.clusters import Clusters
from ohr.statistics.derived import of_means
from ohr.statistics.estimate import Estimate
from studies.answers import answer_rows
from studies.corrections import correction_rows
from studies.embedding_retrievers import embedding_part_rows, embedding_rows, joined_part_rows
from studies.further_corrections import further_correction_rows
from studies.index_and_reading import form_rows, part_rows
from studies.invention_answers import invention_answer_rows
from studies.kept_scores import Scores, first_less, line, points, retrievers, shares
from studies.rank_correlations import correlations
from studies.real_data import KEPT, OUR_COPY, copies_of
from studies.real_pages import DRAWS, SHARES
from studies.remedies import remedy_rows
from studies.smaller_models import noise_rows, size_rows

SELECTIVE = "selective.parquet"
SIGNALS = ("most words lost", "few words", "rare words")
"""By which pages are flagged; the first knows the truth."""
METRICS = ("precision lost", "edit distance", "text_edit@1.0", "text_edit@1.5")
PREDICTORS = {
    "words lost": ("words lost in order", "words"),
    "edit distance": ("edit distance", "characters"),
    "edit distance of the content": ("edit distance of the content", "characters"),
    "numbers lost": ("numbers lost", "words"),
    "words invented": ("words invented", "words"),
}
"""Of a page: the count, and what it is divided by."""


def selective(scores: Scores, chosen: Any = None) -> dict[str, dict[str, Any]]:
    """Return what replacing flagged pages brings back: in points, as a share of the loss, and beyond random pages.

    Args:
        chosen: the questions that count; all.
    """
    ends = [("MinerU", "bm25_reference"), ("gt", "bm25_reference")]
    rows: dict[str, dict[str, Any]] = {}
    for signal, share in product((*SIGNALS, "random"), SHARES):
        drawn = [(f"random {seed} {share}%", "bm25_reference") for seed in DRAWS]
        flagged = drawn if signal == "random" else [(f"{signal} {share}%", "bm25_reference")]
        row = {
            "back": scores.estimate([*ends, *flagged], _back, 1, chosen),
            "share": scores.estimate([*ends, *flagged], lambda m: _back(m) / (m[1] - m[0]), 2, chosen, zero=False),
        }
        if signal != "random":
            beyond = [*flagged, *drawn]
            row["beyond random"] = scores.estimate(beyond, lambda m: m[0] - m[1:].mean(axis=0), 2, chosen)
        rows[f"{signal} {share}%"] = row
    return rows


def _back(means: Floats) -> Any:
    return means[2:].mean(axis=0) - means[0]


@dataclass(frozen=True)
class PageLosses:
    """Pages with questions: the mean loss of each, and what the engine changed there."""

    documents: Any
    loss: Floats
    changed: Mapping[str, Floats]
    questions: int
    left_out: int

    @classmethod
    def read(cls, scores: Scores, folder: Path = KEPT) -> "PageLosses":
        """Join kept losses and pages; questions about a page that the truth does not have are left out."""
        pages = {
            row["question_id"]: row["pages"] for row in parquet.read_table(folder / "questions.parquet").to_pylist()
        }
        rows = {(row["document"], row["page"]): row for row in parquet.read_table(folder / "pages.parquet").to_pylist()}
        losses: dict[tuple[str, int], list[float]] = {}
        lost = scores.values["gt", "bm25_reference"] - scores.values["MinerU", "bm25_reference"]
        count = 0
        for question, document, value in zip(scores.ids, scores.documents, lost.tolist(), strict=True):
            of: list[int] = pages[question] or []
            if len(of) == 1 and (document, of[0]) in rows:
                losses.setdefault((document, of[0]), []).append(value)
                count += 1
        places = sorted(losses)
        changed = {
            name: np.array([min(1.0, rows[place][part] / rows[place][whole]) for place in places])
            for name, (part, whole) in PREDICTORS.items()
        }
        loss = np.array([float(np.mean(losses[place])) for place in places])
        return cls(np.array([document for document, _ in places]), loss, changed, count, len(scores.ids) - count)

    def correlations(self, domain: str = "") -> dict[str, tuple[float, float, float]]:
        """Return the rank correlation of each predictor with the loss, and how much more it is than edit distance's.

        Intervals leave out each document in turn; where a domain is given, among its pages.
        """
        mine = np.array([document.startswith(domain) for document in self.documents])
        changed = {name: column[mine] for name, column in self.changed.items()}
        return correlations(self.documents[mine], self.loss[mine], changed, "edit distance")


def concentrated(folder: Path = KEPT) -> dict[str, list[float]]:
    """Return the shares of the loss of all questions that are of 5, 10 and 20% of the pages that are asked about.

    Of those whose questions lose most, and of those that lost most words.
    """
    scores = Scores.read(folder / SELECTIVE)
    asked = {row["question_id"]: row["pages"] for row in parquet.read_table(folder / "questions.parquet").to_pylist()}
    pages = parquet.read_table(folder / "pages.parquet").to_pylist()
    words_lost = {(row["document"], row["page"]): row["words lost in order"] for row in pages}
    lost = scores.values["gt", "bm25_reference"] - scores.values["MinerU", "bm25_reference"]
    of_page: dict[tuple[Any, ...], float] = {}
    for question, document, value in zip(scores.ids, scores.documents, lost.tolist(), strict=True):
        place = (document, *(asked[question] or ()))
        of_page[place] = of_page.get(place, 0.0) + value
    orders = {
        "loss": sorted(of_page, key=lambda place: -of_page[place]),
        "words lost": sorted(of_page, key=lambda place: -words_lost.get(place, 0)),
    }
    counts = [math.ceil(len(of_page) * share / 100) for share in SHARES]
    whole = sum(of_page.values())
    return {
        name: [sum(of_page[place] for place in order[:count]) / whole for count in counts]
        for name, order in orders.items()
    }


def forgiven(folder: Path = KEPT) -> dict[int, dict[str, tuple[Estimate, Estimate]]]:
    """Return by percent of invented words how far each metric of a page rises, and that over what precision loses."""
    rows = parquet.read_table(folder / "invention.parquet").to_pylist()
    results: dict[int, dict[str, tuple[Estimate, Estimate]]] = {}
    for percent in sorted({row["percent"] for row in rows}):
        of_percent = [row for row in rows if row["percent"] == percent]
        clusters = Clusters.of(*np.array([(row["document"], row["document"].split("/")[0]) for row in of_percent]).T)
        results[percent] = {}
        for metric in METRICS:
            values = [np.nan if row[metric] is None else row[metric] for row in of_percent]
            columns = np.array([values, [row["precision lost"] for row in of_percent]])
            of = of_means(columns, clusters, {"rise": lambda m: m[0], "ratio": lambda m: m[0] / m[1]})
            results[percent][metric] = of["rise"], of["ratio"]
    return results


def correlation_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each predictor of the loss of a page: all pages, and each domain."""
    pages = PageLosses.read(Scores.read(folder / SELECTIVE), folder)
    for domain in ("", "law/", "manual/", "textbook/"):
        for name, values in pages.correlations(domain).items():
            yield line(domain.rstrip("/") or "all", name, f"{values[0]:.2f} [{values[1]:.2f}, {values[2]:.2f}]")


def invention_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each metric under each share of invented words, and for what it costs retrieval."""
    for percent, metrics in forgiven(folder).items():
        for metric, (rise, ratio) in metrics.items():
            over = shares(ratio) if metric != METRICS[0] else ""
            yield line(f"{percent}%", metric, f"{rise.mean:.3f} [{rise.low:.3f}, {rise.high:.3f}]", over)
        scores = Scores.read(folder / "invention_scores.parquet")
        cells = [("gt", "bm25_reference"), (f"{percent}%", "bm25_reference")]
        yield line(f"{percent}%", "loss of retrieval, points", points(scores.estimate(cells, first_less)), "")


def selective_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each choice of pages that are replaced by clean text, and for a tenth in each domain."""
    scores = Scores.read(folder / SELECTIVE)
    for domain in ("all", *sorted(set(scores.domains))):
        chosen = None if domain == "all" else scores.domains == domain
        for name, row in selective(scores, chosen).items():
            if domain == "all" or name.endswith(" 10%"):
                beyond = points(row["beyond random"]) if "beyond random" in row else ""
                yield line(domain, name, points(row["back"]), shares(row["share"]), beyond)


def retriever_rows(folder: Path = KEPT) -> Iterator[str]:
    """Yield a line for each retriever: all questions, and each source of evidence."""
    scores = Scores.read(folder / "retrievers.parquet")
    sources = {"all": None, **{name: scores.sources == name for name in sorted(set(scores.sources))}}
    for group, chosen in sources.items():
        for name, row in retrievers(scores, chosen).items():
            spared = points(row["spared"]) if row["spared"] else ""
            yield line(group, f"`{name}`", row["loss"].n, f"{100 * row['score']:.1f}", points(row["loss"]), spared)


def main() -> None:
    """Print the tables, and where a folder is given its rows beside ours where they differ."""
    parser = argparse.ArgumentParser(description="Tables of the studies of real documents.")
    parser.add_argument("measured", type=Path, nargs="?", default=KEPT, help="a folder of your own measurements")
    measured = parser.parse_args().measured
    if not measured.is_dir():
        parser.error(f"{measured}: no such folder")
    if len(copies := copies_of(measured)) > 1:
        print(f"the tables of {measured} are of {len(copies)} copies of the data: measure all of them on one\n")
    if others := copies - {OUR_COPY}:
        print(f"{counted(len(others), 'copy', 'copies')} of the data is not ours, so that numbers differ\n")
    retrieval = correlation_rows, invention_rows, selective_rows, retriever_rows, form_rows, part_rows, remedy_rows
    embedded = embedding_rows, embedding_part_rows, joined_part_rows
    asked = answer_rows, size_rows, noise_rows, invention_answer_rows
    missing: dict[str, None] = {}
    for rows in (*retrieval, *embedded, *asked, correction_rows, further_correction_rows):
        table = rows.__name__.removesuffix("_rows").replace("_", " ")
        try:
            theirs = list(rows(measured))
        except FileNotFoundError as error:
            missing[Path(str(error.filename or error)).name] = None
            continue
        except (pyarrow.ArrowException, KeyError, ValueError, IndexError) as error:
            print(f"{table}: a table of {measured} is damaged, or none of ours: {type(error).__name__}: {error}\n")
            continue
        pairs = list(zip_longest(rows(), theirs, fillvalue="no such row"))
        differing = sum(ours != yours for ours, yours in pairs)
        if measured != KEPT:
            print(f"{table}: {counted(len(pairs), 'row')}, {f'{differing:,} differ' if differing else 'equal to ours'}")
        for ours, yours in pairs:
            print(ours if ours == yours else f"{ours}\n  yours: {yours}")
        print()
    if missing:
        print(f"not measured: {', '.join(missing)}")


if __name__ == "__main__":
    main()
