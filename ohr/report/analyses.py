"""Structured analyses of a run: those of the paper, and the confused words. Each takes its run and returns rows."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from math import isnan, nan
from typing import Any

import numpy as np

from ohr.contracts import SOURCES
from ohr.markup.strip import strip_markup
from ohr.metrics.blocks import COUNTS
from ohr.metrics.lcs import lcs_without_formatting
from ohr.metrics.realism import QUANTILES
from ohr.noise_files.stats import NothingToCompare, of_run, page_statistics
from ohr.report.trust import confidence, limits, reliability, repeatability, thresholds, trust
from ohr.results.derived.fact_survival import STEPS, pipelines, read_survival
from ohr.results.derived.hygiene_rows import hygiene_by_kind
from ohr.results.derived.means import estimates
from ohr.results.derived.rater_agreement import agreement
from ohr.results.run import Run
from ohr.results.score_arrays import CellScores, Floats, Part, Place, ScoreTable
from ohr.results.tables.groups import ALL, STAGES
from ohr.results.tables.read_table import plain
from ohr.statistics.estimate import Estimate
from ohr.text.words import typed, words

RIGHT = 0.5
"""An answer is right when its F1 is at least this; the paper does not say what it took."""

Row = dict[str, Any]


def r_noise(run: Run) -> list[Row]:
    """Return r_noise of each condition, all questions and by evidence source (OHRBench, section 4.3)."""
    scores = ScoreTable.of(run)
    rows: list[Row] = []
    sources: list[str] = [source for source in SOURCES if source in scores.questions.groups("evidence_source")]
    for place in scores.of_stage("page"):
        whole = _estimate(scores, place, "damaged", ALL)
        means = {source: _estimate(scores, place, "damaged", source).mean for source in sources}
        bounds = {"r_noise": whole.mean, "low": whole.low, "high": whole.high}
        rows.append({**_level(place), **bounds, **means, "n": whole.n, "excluded": whole.undefined})
    return rows


def formatting_lcs(run: Run) -> list[Row]:
    """Score retrieval again without formatting commands, on both sides (OHRBench, section 4.3: Formatting Noise).

    The published score takes a word with a command glued to it for another word: `\\textbf{rent` is `textbfrent`.
    """
    protocol = run.manifest["protocol"]
    scores, rows = ScoreTable.of(run), []
    asked: dict[str, Row] = {row["question_id"]: row for row in run.rows("questions", _EVIDENCE)}
    for place in scores.of_stage("retrieval"):
        cell = scores.read(place).only([protocol["retrieval"]])
        draws = np.stack([_again(run, base, place, asked, protocol) for base, _ in scores.bases(place)])
        # what failed scores 0 again, unless it is undefined
        draws = np.where(cell.failed & ~np.isnan(draws), 0.0, draws)
        again = CellScores(("again",), draws[None], cell.failed)
        whole = scores.questions.part("evidence_source", ALL)
        (plain,), (bare,) = estimates(cell, whole), estimates(again, whole)
        gain = {"lcs": plain.mean, "without_formatting": bare.mean, "low": bare.low, "high": bare.high, "n": bare.n}
        rows.append({**_level(place), "chunker": place.chunker, "retriever": place.retriever, **gain})
    return rows


_EVIDENCE = ("question_id", "document", "pages", "evidence")


def _again(run: Run, base: str, place: Place, asked: Mapping[str, Row], protocol: Mapping[str, Any]) -> Floats:
    """Score the hits of one knowledge base and pipeline again: one value per question."""
    columns = ["question_id", "document", "pages", "start", "rank", "text"]
    where = {"kb": base, "chunker": place.chunker, "retriever": place.retriever}
    hits: dict[str, list[Row]] = defaultdict(list)
    for batch in run.table("hits", columns, **where).to_batches(10_000):
        for hit in batch.to_pylist():
            hits[hit["question_id"]].append(hit)
    return np.array([_without_formatting(question, hits[name], protocol) for name, question in asked.items()])


def _without_formatting(question: Row, hits: Sequence[Row], protocol: Mapping[str, Any]) -> float:
    own = [
        hit for hit in hits if hit["document"] == question["document"] and set(hit["pages"]) & set(question["pages"])
    ]
    own.sort(key=lambda hit: (hit["pages"], hit["start"]) if protocol["joined"] == "page" else (hit["rank"],))
    text = "\n\n".join(hit["text"] for hit in own)
    return lcs_without_formatting(text, "\n".join(question["evidence"]), segment_chinese=protocol["segment_chinese"])


def table_formats(run: Run) -> list[Row]:
    """Return the scores of table questions only, for every condition and system (OHRBench, Fig. 4)."""
    scores, rows = ScoreTable.of(run), []
    if "table" not in scores.questions.groups("evidence_source"):
        return []
    for place, metric in _headlined(run, scores):
        estimate = _estimate(scores, place, metric, "table")
        bounds = {name: getattr(estimate, name) for name in ("mean", "low", "high", "n", "failed")}
        rows.append({"stage": place.stage, "metric": metric, **_level(place), **_system(place), **bounds})
    return rows


def error_classes(run: Run) -> list[Row]:
    """Return the shares of the four classes: OCR right or wrong, answer right or wrong (OHRBench, Fig. 5).

    The OCR is wrong where the question's evidence is damaged; an answer is right from RIGHT on. A question counts once,
    with the share of its replicates that are in the class; one whose damage or score is undefined in all of them is
    excluded. `low` and `high` are the ends of 95% intervals over documents.
    """
    scores, rows = ScoreTable.of(run), []
    pages = {place.condition: place for place in scores.places if place.stage == "page"}
    whole = scores.questions.part("evidence_source", ALL)
    for place, metric in _headlined(run, scores):
        if place.stage == "retrieval":
            continue
        damaged = scores.read(pages[place.condition]).only(["damaged"]).draws[0]
        cell = scores.read(place).only([metric])
        by_class = estimates(_classes(damaged, cell), whole)
        shares = {
            name: value
            for label, each in zip(_CLASSES, by_class, strict=True)
            for name, value in ((label, each.mean), (f"{label}_low", each.low), (f"{label}_high", each.high))
        }
        counts = {"n": by_class[0].n, "excluded": by_class[0].undefined}
        rows.append({"stage": place.stage, **_level(place), **_system(place), **shares, **counts})
    return rows


_CLASSES = tuple(f"ocr_{ocr}_answer_{answer}" for ocr in ("right", "wrong") for answer in ("right", "wrong"))


def _classes(damaged: Floats, cell: CellScores) -> CellScores:
    """Score 1 in the class that a question is in, and 0 in the others: (classes, replicates, questions)."""
    values = cell.draws[0]
    defined = ~np.isnan(damaged) & ~np.isnan(values)
    draws = [
        np.where(defined, ((damaged == 0) == ocr) & ((values >= RIGHT) == answer), nan)
        for ocr in (True, False)
        for answer in (True, False)
    ]
    return CellScores(_CLASSES, np.stack(draws), np.repeat(cell.failed, len(draws), axis=0))


def _headlined(run: Run, scores: ScoreTable) -> Iterator[tuple[Place, str]]:
    """Yield the cells of each stage that a spec evaluates, with the stage's headline metric."""
    headline = run.headlines
    yield from ((place, headline[place.stage]) for place in scores.places if place.stage in STAGES)


def _estimate(scores: ScoreTable, place: Place, metric: str, group: str) -> Estimate:
    part: Part = scores.questions.part("evidence_source", group)
    (estimate,) = estimates(scores.read(place).only([metric]), part)
    return estimate


def _level(place: Place) -> Row:
    return {"noise": place.noise, "level": place.knob_value}


def _system(place: Place) -> Row:
    return {"chunker": place.chunker, "retriever": place.retriever, "generator": place.generator}


def edit_distances(run: Run) -> list[dict[str, Any]]:
    """Return the distribution of pages' edit distances for each knowledge base (OHRBench, Fig. S2).

    Raises: as `page_statistics`.
    """
    page_statistics(run)  # refuses a run without clean pages
    return [
        {
            "kb": stats.kb,
            "pages": stats.pages,
            "mean": stats.distances.mean,
            **{f"q{round(100 * at)}": value for at, value in zip(QUANTILES, stats.distances.quantiles, strict=True)},
            "histogram": stats.distances.histogram,
        }
        for stats in of_run(run)
    ]


def noise_ratios(run: Run) -> list[dict[str, Any]]:
    """Return the shares of matching blocks with errors, and redundant commands per page (OHRBench, Table S3).

    Raises:
        DataError: the table of pages is missing or damaged; or as `page_statistics`.
    """
    level, counted = ["noise", "knob_value"], [*COUNTS, "redundant"]
    table = run.table("pages", level).unify_dictionaries()
    measured = page_statistics(run)
    for name in counted:
        table = table.append_column(name, measured[name])
    sums = [(name, "sum") for name in counted]
    totals = table.group_by(level, use_threads=False).aggregate([*sums, ([], "count_all")])
    return [_ratios(row) for row in totals.to_pylist()]


def _ratios(total: dict[str, Any]) -> dict[str, Any]:
    def share(parts: tuple[str, ...], whole: str) -> float:
        count = sum(value for name, value in total.items() if name.startswith(whole))
        return sum(total[f"{part}_sum"] for part in parts) / count if count else float("nan")

    return {
        "noise": total["noise"],
        "level": total["knob_value"],
        "pages": total["count_all"],
        "matched": share(("matched_text", "matched_formula", "matched_table"), "blocks"),
        "text_errors": share(("text_errors_text",), "matched_text"),
        "formula_text_errors": share(("text_errors_formula",), "matched_formula"),
        "formula_structure_errors": share(("structure_errors_formula",), "matched_formula"),
        "table_text_errors": share(("text_errors_table",), "matched_table"),
        "table_structure_errors": share(("structure_errors_table",), "matched_table"),
        "redundant_commands": total["redundant_sum"] / total["count_all"],
    }


def robustness(run: Run) -> list[dict[str, Any]]:
    """Return the summaries of every curve over all questions; of undefined ones only areas, whose note says why.

    Raises:
        DataError: the table of curves is missing or damaged.
    """
    rows = run.rows("curves", group=ALL)
    chunker = ("chunker",) if len({row["chunker"] for row in rows} - {None}) > 1 else ()
    names = ("stage", "noise", *chunker, "retriever", "generator", "axis", "quantity", "other", "value", "low", "high")
    return [
        {
            **{name: row[name] for name in names},
            "without one document": ""
            if isnan(row["range_low"])
            else f"{row['range_low']:.2f} to {row['range_high']:.2f}",
            "over": "" if isnan(row["from"]) else f"{row['from']:.2f} to {row['to']:.2f}",
            "note": row["note"],
        }
        for row in rows
        if row["axis"] and (row["quantity"] == "area" or not isnan(row["value"]))
    ]


MOST_CONFUSIONS = 25
"""Confusions of a condition that are listed."""
PAGES = 500
"""Pages of a condition that are compared: more take long, and do not change which confusions lead."""

_SIMILAR = 50.0
"""Similarity in percent, by rapidfuzz's ratio, from which one word may be a misreading of another; the word that a page
in another order has at the same place is none."""
_JOINED = 3  # words that are joined or split at once: `some thing` for `something`
_CHARACTERS = 50_000  # of a page; comparing takes time in the square of its words

WordPair = tuple[str, str]


def confusions(run: Run) -> list[Row]:
    """Return the words of the text without noise that a condition has as other words, with counts and an example.

    Words are compared as the metrics see them (lower case, no punctuation), without markup; the first draw of each
    condition counts. A word that is not there at all is no confusion. A run without a clean condition has no rows.
    """
    texts = _texts(run)
    clean = next((condition for condition, kind in _noise_types(run).items() if kind == "none"), None)
    if clean is None or clean not in texts:
        return []
    rows: list[Row] = []
    truth: dict[tuple[str, int], Sequence[str]] = {}
    for condition, pages in texts.items():
        if condition != clean:
            rows += _confusion_rows(condition, texts[clean], pages, truth)
    return rows


def _noise_types(run: Run) -> dict[str, str]:
    table = run.table("pages", ["condition", "noise_type"]).unify_dictionaries()
    if not table.num_rows:  # no ground truth was measured: the summary has the conditions too
        table = run.table("summary", ["condition", "noise_type"]).unify_dictionaries()
    rows = table.group_by(["condition", "noise_type"], use_threads=False).aggregate([]).to_pylist()
    return {row["condition"]: row["noise_type"] for row in rows}


def _texts(run: Run) -> Mapping[str, Mapping[tuple[str, int], str]]:
    """Read the pages of each condition's first draw, the first ones of a large run."""
    texts: dict[str, dict[tuple[str, int], str]] = defaultdict(dict)
    table = plain(run.table("texts", ["condition", "document", "page", "text"], replicate=0))
    for batch in table.to_batches(10_000):
        columns = (batch[name].to_pylist() for name in ("condition", "document", "page", "text"))
        for condition, document, page, text in zip(*columns, strict=True):
            if len(texts[condition]) < PAGES:
                texts[condition][document, page] = text or ""
    return texts


def _confusion_rows(
    condition: str,
    clean: Mapping[tuple[str, int], str],
    pages: Mapping[tuple[str, int], str],
    truth: dict[tuple[str, int], Sequence[str]],
) -> list[Row]:
    counts: Counter[WordPair] = Counter()
    total: Counter[str] = Counter()
    examples: dict[WordPair, str] = {}
    for place, text in pages.items():
        if place not in clean:
            continue
        before = truth.setdefault(place, words(strip_markup(typed(clean[place][:_CHARACTERS]))))
        total.update(before)
        for pair, context in _confused(before, words(strip_markup(typed(text[:_CHARACTERS])))):
            counts[pair] += 1
            examples.setdefault(pair, f"{place[0]} page {place[1] + 1}: {context}")
    return [
        {"condition": condition, "truth": a, "read": b, "count": count}
        | {"of": total[a] or count, "example": examples[a, b]}
        for (a, b), count in counts.most_common(MOST_CONFUSIONS)
    ]


def _confused(truth: Sequence[str], read: Sequence[str]) -> Iterator[tuple[WordPair, str]]:
    from rapidfuzz.distance import Levenshtein

    opcodes: list[Any] = Levenshtein.opcodes(truth, read).as_list()
    known = frozenset(truth)
    for tag, a, b, c, d in opcodes:
        if tag != "replace":
            continue
        context = " ".join(truth[max(a - 2, 0) : b + 2])[:120]
        yield from ((pair, context) for pair in _word_pairs(truth[a:b], read[c:d]) if not _is_border(pair, known))


def _is_border(pair: WordPair, known: Collection[str]) -> bool:
    """Report whether one word is another joined to a third of the page, as at borders of lists."""
    short, long = sorted(pair, key=len)
    rests = [long.removeprefix(short), long.removesuffix(short)]
    return any(1 < len(rest) < len(long) and rest.strip() in known for rest in rests)


def _word_pairs(truth: Sequence[str], read: Sequence[str]) -> Iterator[WordPair]:
    """Pair the words of a replaced part one by one, or as one where words were joined or split."""
    from rapidfuzz import fuzz

    pairs = [(" ".join(truth), " ".join(read))]
    if len(truth) == len(read):
        pairs = list(zip(truth, read, strict=True))
    elif max(len(truth), len(read)) > _JOINED:
        return
    yield from (pair for pair in pairs if pair[0] != pair[1] and all(pair) and fuzz.ratio(*pair) >= _SIMILAR)


Rows = list[Row]


def survival(run: Run) -> Rows:
    """Return the share of facts that is left, a row for each condition and whole pipeline, a column for each step."""
    return [
        {"condition": condition, "pipeline": " / ".join(filter(None, place))}
        | {words: held[step]["mean"] if step in held else None for step, words in STEPS.items()}
        for place, conditions in pipelines(read_survival(run)).items()
        for condition, held in conditions.items()
    ]


ANALYSES: Mapping[str, Callable[[Run], Rows]] = {
    "r_noise": r_noise,
    "formatting_lcs": formatting_lcs,
    "table_formats": table_formats,
    "error_classes": error_classes,
    "confusions": confusions,
    "edit_distances": edit_distances,
    "noise_ratios": noise_ratios,
    "robustness": robustness,
    "survival": survival,
    "agreement": agreement,
    "trust": trust,
    "confidence": confidence,
    "reliability": reliability,
    "thresholds": thresholds,
    "limits": limits,
    "repeatability": repeatability,
    "hygiene": hygiene_by_kind,
}
"""By name."""

__all__ = ["ANALYSES", "analysed", "noise_ratios", "report_data"]


def report_data(run: Run) -> dict[str, Rows]:
    """Do every analysis of a run; one that has nothing to say, or no clean pages to compare with, gives no rows."""
    return {name: analysed(name, run) for name in ANALYSES}


def analysed(name: str, run: Run) -> Rows:
    """Return the rows of an analysis, none where it has no clean pages to compare with."""
    with suppress(NothingToCompare):
        return ANALYSES[name](run)
    return []
