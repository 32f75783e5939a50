"""Trust: what engines invent and keep, whether they repeat themselves, and what their confidence is worth."""

from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from itertools import combinations
from math import nan
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein

from ohr.metrics.trust import COUNTS, STEPS, numbers_in
from ohr.noise_files.stats import page_statistics
from ohr.report.engine_settings import engine_of
from ohr.results.run import Run
from ohr.statistics.clusters import Clusters, Floats
from ohr.statistics.estimate import NOTHING, Estimate
from ohr.statistics.intervals import clustered_means
from ohr.treatments import recorded_treatments

LEVELS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
"""Thresholds of confidence that are tabulated; 0 accepts every word."""
LIMITS = (0.01, 0.02, 0.05)
"""Shares of wrong words that a threshold is to keep to."""
BINS = 10
"""Bins of a reliability curve, over [0, 1]."""

_SHARES = {
    "words_kept": ("words_true", ("words_kept",)),
    "misread": ("words_read", ("words_misread",)),
    "invented": ("words_read", ("invented_repeated", "invented_elsewhere", "invented_new")),
    "repeated": ("words_read", ("invented_repeated",)),
    "elsewhere": ("words_read", ("invented_elsewhere",)),
    "new": ("words_read", ("invented_new",)),
    "numbers_kept": ("numbers_true", ("numbers_kept",)),
    "amounts_kept": ("amounts_true", ("amounts_kept",)),
    "names_kept": ("names_true", ("names_kept",)),
}
"""Shares by name: the count that each is a share of, and the counts that it adds up."""
_BOUNDED = ("words_kept", "invented", "numbers_kept", "amounts_kept", "names_kept")


def share(parts: Sequence[float], wholes: Sequence[float]) -> Estimate:
    """Estimate a share of words, such as the wrong ones, from counts by document, which is what varies.

    Each word scores 1 or 0, and the documents are the clusters: the interval is that of any mean of scores.
    """
    counted = np.array([parts, wholes], dtype=int).T
    total = counted[:, 1].sum()
    if not total:
        return NOTHING
    scores = np.concatenate([np.repeat([1.0, 0.0], [part, whole - part]) for part, whole in counted])
    clusters = Clusters.of(np.repeat(np.arange(len(counted)), counted[:, 1]))
    return clustered_means(scores[None, :], clusters)[0]


def trust(run: Run) -> list[dict[str, Any]]:
    """Return what each condition keeps, misreads and invents of its pages' words, numbers, amounts and names.

    Raises: as `page_statistics`.
    """
    table = page_statistics(run)
    about = run.table("pages", ["condition", "document"]).to_pydict()
    sums: dict[str, dict[str, Floats]] = defaultdict(lambda: defaultdict(lambda: np.zeros(len(COUNTS))))
    pages: dict[str, int] = defaultdict(int)
    counts = np.array([table[name].to_pylist() for name in COUNTS], dtype=float).T
    for condition, document, count in zip(about["condition"], about["document"], counts, strict=True):
        sums[condition][document] += count
        pages[condition] += 1
    return [{"condition": name, "pages": pages[name], **_shares(list(sums[name].values()))} for name in sums]


def _shares(documents: Sequence[Floats]) -> dict[str, Any]:
    named = [dict(zip(COUNTS, document, strict=True)) for document in documents]
    row: dict[str, Any] = {}
    for name, (whole, parts) in _SHARES.items():
        estimate = share([sum(each[part] for part in parts) for each in named], [each[whole] for each in named])
        row |= {
            name: estimate.mean,
            **({f"{name}_low": estimate.low, f"{name}_high": estimate.high} if name in _BOUNDED else {}),
        }
    return row | {"numbers_new": int(sum(each["numbers_new"] for each in named)), "documents": len(documents)}


# --- confidence -------------------------------------------------------------------------------------------


class Stated(NamedTuple):
    """The words of one condition by the confidence that was stated, in steps of 1 / STEPS: (documents, STEPS + 1)."""

    documents: tuple[str, ...]
    words: Floats
    wrong: Floats

    def of(self, steps: "slice | Floats") -> Estimate:
        """Estimate the share of wrong words among those with some confidences."""
        return share(self.wrong[:, steps].sum(axis=1), self.words[:, steps].sum(axis=1))

    def among(self, chosen: Floats) -> "Stated":
        """Leave out the documents that are not chosen."""
        return Stated(tuple(np.array(self.documents)[chosen]), self.words[chosen], self.wrong[chosen])


def read_stated(run: Run) -> dict[str, Stated]:
    """Read the words of each condition whose engine states confidences."""
    names = ["condition", "document", "domain", "confidence", "words", "wrong"]
    rows = run.rows_if_any("confidences", names)
    documents: dict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    for row in rows:
        documents[row["condition"]].setdefault((row["domain"], row["document"]), 0)
    stated = {}
    for condition, known in documents.items():
        # by domain, then in an order that nobody has chosen: each half of every second one has all domains
        order = sorted(known, key=lambda each: (each[0], sha256(each[1].encode()).digest()))
        places = {each: place for place, each in enumerate(order)}
        counts = np.zeros((2, len(order), STEPS + 1))
        for row in rows:
            if row["condition"] == condition:
                at = places[row["domain"], row["document"]], round(row["confidence"] * STEPS)
                counts[(slice(None), *at)] += row["words"], row["wrong"]
        stated[condition] = Stated(tuple(name for _, name in order), *counts)
    return stated


def confidence(run: Run) -> list[dict[str, Any]]:
    """Return for each condition how right its words are, how sure the engine was, and whether it is sure of right ones.

    `discrimination` is the chance that a right word has a higher confidence than a wrong one, ties counted half (the
    area under the ROC curve): .5 says nothing, 1 all. `gap` is the mean confidence less the share of right words.
    """
    steps, rows = np.arange(STEPS + 1) / STEPS, []
    for condition, stated in read_stated(run).items():
        wrong, mean = stated.of(slice(None)), float((stated.words @ steps).sum() / stated.words.sum())
        right = {"right": 1 - wrong.mean, "right_low": 1 - wrong.high, "right_high": 1 - wrong.low}
        gap, discrimination = mean - (1 - wrong.mean), _discrimination(stated)
        row = {"condition": condition, "words": int(stated.words.sum()), "confidence": mean, **right}
        rows.append({**row, "gap": gap, "discrimination": discrimination, "documents": len(stated.documents)})
    return rows


def _discrimination(stated: Stated) -> float:
    wrong = stated.wrong.sum(axis=0)
    right = stated.words.sum(axis=0) - wrong
    below = np.concatenate([[0.0], np.cumsum(wrong)[:-1]])
    pairs = right.sum() * wrong.sum()
    return float((right * (below + wrong / 2)).sum() / pairs) if pairs else nan


def reliability(run: Run) -> list[dict[str, Any]]:
    """Return the share of right words in each bin of confidence, a curve for each condition."""
    rows = []
    for condition, stated in read_stated(run).items():
        for number in range(BINS):
            last = number == BINS - 1
            steps = slice(number * STEPS // BINS, (number + 1) * STEPS // BINS + last)
            count, wrong = stated.words[:, steps].sum(axis=0), stated.of(steps)
            if not count.sum():
                continue
            mean = float(count @ (np.arange(STEPS + 1)[steps] / STEPS) / count.sum())
            right = {"right": 1 - wrong.mean, "right_low": 1 - wrong.high, "right_high": 1 - wrong.low}
            bounds = {"from": number / BINS, "to": (number + 1) / BINS}
            rows.append({"condition": condition, **bounds, "confidence": mean, **right, "words": int(count.sum())})
    return rows


def thresholds(run: Run) -> list[dict[str, Any]]:
    """Return the share of words that each threshold accepts, and of those the share that is wrong."""
    rows = []
    for condition, stated in read_stated(run).items():
        for level in LEVELS:
            accepted = slice(round(level * STEPS), None)
            wrong = stated.of(accepted)
            words = stated.words[:, accepted].sum()
            bounds = {"wrong": wrong.mean, "wrong_low": wrong.low, "wrong_high": wrong.high}
            share_accepted = float(words / stated.words.sum())
            rows.append({"condition": condition, "threshold": level, "accepted": share_accepted, **bounds})
    return rows


def limits(run: Run) -> list[dict[str, Any]]:
    """Return the threshold that keeps wrong words under a limit, and whether it keeps it on documents held out.

    The documents are halved, within domains, in an order that their names' hashes decide. The lowest threshold that
    keeps to the limit on one half is judged on the other, and the other way round: each document is judged by a
    threshold that was chosen without it. It is chosen under the same noise, and again where the same engine reads
    pages without noise, as somebody does who tries an engine on clean pages. `holds` is `yes` where the interval of
    the wrong share ends below the limit, `no` where it begins above, `none` where no threshold was found, else `open`.
    """
    stated_by_condition, rows = read_stated(run), []
    plain = plain_conditions(run)
    for condition, stated in stated_by_condition.items():
        for chosen_on in dict.fromkeys((condition, plain.get(condition, condition))):
            other = stated_by_condition.get(chosen_on)
            if other is not None and len(stated.documents) > 1:
                rows += [
                    {"condition": condition, "chosen_on": chosen_on, **_held_out(stated, other, limit)}
                    for limit in LIMITS
                ]
    return rows


def _held_out(stated: Stated, chosen_on: Stated, limit: float) -> dict[str, Any]:
    halves = {name: place % 2 for place, name in enumerate(stated.documents)}
    accepted = np.zeros((2, len(stated.documents)))
    chosen: list[int | None] = []
    for half in (0, 1):
        mine = np.array([halves.get(name, half) != half for name in chosen_on.documents], dtype=bool)
        threshold = chosen_threshold(chosen_on.among(mine), limit)
        chosen.append(threshold)
        if threshold is not None:
            judged = np.array([halves[name] == half for name in stated.documents])
            accepted[:, judged] = [each[judged, threshold:].sum(axis=1) for each in (stated.words, stated.wrong)]
    wrong = share(accepted[1], accepted[0])
    holds = "yes" if wrong.high <= limit else "no" if wrong.low > limit else "open" if wrong.n else "none"
    return {
        "limit": limit,
        "threshold": " and ".join("none" if each is None else f"{each / STEPS:.2f}" for each in chosen),
        "accepted": float(accepted[0].sum() / stated.words.sum()),
        "wrong": wrong.mean,
        "wrong_low": wrong.low,
        "wrong_high": wrong.high,
        "holds": holds,
    }


def chosen_threshold(stated: Stated, limit: float) -> int | None:
    """Return the lowest step from which on at most this share of the words is wrong; None where no step does that."""
    words, wrong = (np.cumsum(each.sum(axis=0)[::-1])[::-1] for each in (stated.words, stated.wrong))
    keeping = np.flatnonzero((words > 0) & (wrong <= limit * words))
    return int(keeping[0]) if keeping.size else None


def plain_conditions(run: Run) -> dict[str, str]:
    """Return for each condition the one in which the same engine reads pages without noise."""
    engines, plain = engine_of(run), dict[str, str]()
    for base in run.manifest["spec"].get("knowledge_bases", ()):
        if (
            all(each.family == "ocr" or not each.acts for each in recorded_treatments(base))
            and base.get("condition") in engines
        ):
            plain.setdefault(engines[base["condition"]], base["condition"])
    return {condition: plain[engine] for condition, engine in engines.items() if engine in plain}


# --- repeatability ----------------------------------------------------------------------------------------


def repeatability(run: Run) -> list[dict[str, Any]]:
    """Return how far the readings of the same pages agree, for each condition that was read several times.

    `same` is the share of pages of which all readings are equal; `agreement` the mean likeness of two of them, 1 less
    the edit distance; `numbers_kept` the share of the first reading's numbers that another one has, too.
    """
    readings: dict[str, list[str]] = defaultdict(list)
    for copy, original in run.choices.repeats.items():
        readings[original] = [*(readings[original] or [original]), copy]
    return [
        {"condition": original, "readings": len(names), **_agreement(run, names)}
        for original, names in readings.items()
    ]


def _agreement(run: Run, conditions: Sequence[str]) -> dict[str, Any]:
    texts: dict[tuple[str, int, int], list[str]] = defaultdict(list)
    for condition in conditions:
        for row in run.rows("texts", ["document", "page", "replicate", "text"], condition=condition):
            texts[row["document"], row["page"], row["replicate"]].append(row["text"] or "")
    # pages that each reading has, and some with text
    every = {place: read for place, read in texts.items() if any(read) and len(read) == len(conditions)}
    numbers = [numbers_in(read[0]) & numbers_in(other) for read in every.values() for other in read[1:]]
    stated = [numbers_in(read[0]).total() for read in every.values() for _ in read[1:]]
    likeness = [
        fmean(1 - Levenshtein.normalized_distance(*pair) for pair in combinations(read, 2)) for read in every.values()
    ]
    same = [len(set(read)) == 1 for read in every.values()]
    return {
        "pages": len(every),
        "same": fmean(same) if same else nan,
        "agreement": fmean(likeness) if likeness else nan,
        "numbers_kept": sum(each.total() for each in numbers) / sum(stated) if sum(stated) else nan,
    }
