"""Tells how well the channel predicts what a real engine does to retrieval: the acceptance table of `docs/channel.md`.

Cross-fit: the documents are halved (within domains); each half is predicted from the other, and both together are
compared with the real readings. Pages that are in both bases count. Each baseline goes through the same test. A row is
the mean over all runs; every run is added to the log as it ends, and those that the log has are not repeated.

    OHRBENCH_DATA=DIR python speed/channel_fit.py [--base MinerU] [--splits 20] [--seeds 10] [--log FILE]
        [--models channel independent scatter block] [--baseline-splits 2] [--baseline-seeds 1]
"""

import argparse
import json
import os
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rapidfuzz.distance import LCSseq, Levenshtein

from ohr import seeds
from ohr.benchmarks.ohrbench import OhrBench
from ohr.chunkers.reference import Reference
from ohr.contracts import Page
from ohr.files import ohrbench_json
from ohr.markup.strip import strip_markup
from ohr.metrics.answers import CLOSED_ANSWERS
from ohr.metrics.dose import DAMAGED, evidence_text
from ohr.noise.channel import Channel
from ohr.noise.channel.align import align
from ohr.noise.channel.fit import fit
from ohr.retrievers.lexical.bm25_reference import STOPWORDS, BM25Reference
from ohr.text.words import normalise
from ohr.workbench.readings import Reading
from ohr.workbench.strengths import strengths

DOMAINS = ("law", "manual", "textbook")
MODELS = ("channel", "independent", "scatter", "block")


class Data:
    """The real pages, their alignment, and what is asked of them."""

    def __init__(self, root: Path, base: str) -> None:
        bench = OhrBench(root=root, domains=DOMAINS, protocol="reference")
        self.base, self.truth, self.read = base, {}, {}
        for document in bench.documents():
            gt = {page.index: page for page in ohrbench_json.read_pages(root / "retrieval_base" / "gt", document.name)}
            for page in ohrbench_json.read_pages(root / "retrieval_base" / base, document.name):
                if page.index in gt and page.error is None and gt[page.index].error is None:
                    self.truth[document.name, page.index] = gt[page.index].text
                    self.read[document.name, page.index] = page.text
        self.names = {document.name: document for document in bench.documents()}
        self.pages = [key for key, text in self.truth.items() if normalise(text)]
        self.words = {key: normalise(self.truth[key]).split() for key in self.pages}
        self.content = {key: strip_markup(self.truth[key]) for key in self.pages}
        self.asked = [
            question
            for question in bench.questions()
            if all((question.document, page) in self.truth for page in question.pages)
            and normalise(evidence_text(question))
        ]
        self.evidence = [normalise(evidence_text(question)).split() for question in self.asked]
        self.aligned = {key: align(key[0], self.truth[key], self.read[key]) for key in self.pages}
        self.terms, self.answers = self._terms(), self._answers()
        self.retrieved = self.retrieval(self.truth, "gt")

    def own(self, question, texts) -> str:
        return "\n\n".join(texts[question.document, page] for page in sorted(question.pages))

    def _terms(self) -> list[set[str]]:
        clean = [set(normalise(self.own(question, self.truth)).split()) for question in self.asked]
        return [
            set(normalise(question.text).split()) & words - STOPWORDS
            for question, words in zip(self.asked, clean, strict=True)
        ]

    def _answers(self) -> list[str]:
        made = []
        for question in self.asked:
            held = f" {normalise(self.own(question, self.truth))} "
            wanted = [normalise(answer) for answer in question.answers]
            wanted = [a for a in wanted if a and a not in CLOSED_ANSWERS and f" {a} " in held]
            made.append(wanted[0] if wanted else "")
        return made

    def retrieval(self, texts, base: str) -> np.ndarray:
        """Score the questions' retrieval by the reference protocol."""
        scores = np.zeros(len(self.asked))
        for domain in DOMAINS:
            chunker = Reference(base=base)
            chunks = [
                chunk
                for (name, index), text in texts.items()
                if name.startswith(f"{domain}/")
                for chunk in chunker.split([Page(name, index, text)])
            ]
            places = [place for place, question in enumerate(self.asked) if question.domain == domain]
            found = BM25Reference().index(chunks).search([self.asked[place].text for place in places], 2)
            for place, hits in zip(places, found, strict=True):
                asked = self.asked[place]
                own = [chunks[hit.place] for hit in hits]
                text = "\n\n".join(c.text for c in own if c.document == asked.document and c.pages[0] in asked.pages)
                wanted = self.evidence[place]
                scores[place] = LCSseq.similarity(normalise(text).split(), wanted) / len(wanted) if text else 0.0
        return scores


def question_values(data: Data, texts, base: str, *, retrieval: bool = True) -> dict[str, np.ndarray]:
    """Measure each question: damaged, retrieval drop (0 where it is not asked for), terms and answer that survive."""
    damaged, terms, answers = (np.full(len(data.asked), np.nan) for _ in range(3))
    for place, question in enumerate(data.asked):
        held = normalise(data.own(question, texts)).split()
        wanted = data.evidence[place]
        damaged[place] = LCSseq.similarity(held, wanted) / len(wanted) <= DAMAGED
        if data.terms[place]:
            terms[place] = len(data.terms[place].intersection(held)) / len(data.terms[place])
        if data.answers[place]:
            answers[place] = f" {data.answers[place]} " in f" {' '.join(held)} "
    drop = data.retrieved - data.retrieval(texts, base) if retrieval else np.zeros(len(data.asked))
    return {"r_noise": damaged, "drop": drop, "terms": terms, "answers": answers}


def page_values(data: Data, texts, *, distance: bool) -> dict[str, object]:
    """Measure the pages: shares lost, runs, classes, and the distance of their content."""
    shares, runs, lost_class, all_class, distances = [], [], np.zeros(2), np.zeros(2), []
    for key in data.pages:
        wanted = data.words[key]
        kept = np.zeros(len(wanted), dtype=bool)
        held = normalise(texts[key]).split()
        for block in LCSseq.opcodes(wanted, held):
            if block.tag == "equal":
                kept[block.src_start : block.src_end] = True
        shares.append(1 - kept.mean())
        change = np.flatnonzero(np.diff(np.concatenate([[0], ~kept, [0]])))
        runs.append(change[1::2] - change[::2])
        number = np.array([_is_number(word) for word in wanted])
        for row, kind in enumerate((number, ~number)):
            lost_class[row] += (~kept & kind).sum()
            all_class[row] += kind.sum()
        if distance:
            distances.append(Levenshtein.normalized_distance(data.content[key], strip_markup(texts[key])))
    lengths = np.concatenate(runs)
    _, owner = np.unique([key[0] for key in data.pages], return_inverse=True)
    rate = lost_class / all_class
    return {
        "missing": np.array(shares),
        "median missing": float(np.median(shares)),
        "singletons": float((lengths == 1).mean()),
        "in runs of 10+": float(lengths[lengths >= 10].sum() / lengths.sum()),
        "intraclass": intraclass(np.array(shares), owner),
        "numbers to words": float(rate[0] / rate[1]),
        "distance": np.array(distances),
    }


def measured(data: Data, texts, base: str, *, distance: bool) -> dict:
    """Measure questions and pages."""
    return question_values(data, texts, base) | page_values(data, texts, distance=distance)


def intraclass(values: np.ndarray, owner: np.ndarray) -> float:
    """Give the intraclass correlation of one-way analysis of variance; nan where no document has two pages."""
    size = np.bincount(owner)
    size, total, documents = size[size > 0], len(values), int((size > 0).sum())
    if total <= documents or documents < 2:
        return float("nan")
    mean = np.bincount(owner, values)[np.bincount(owner) > 0] / size
    _, place = np.unique(owner, return_inverse=True)
    between = float((size * (mean - values.mean()) ** 2).sum() / (documents - 1))
    within = float(((values - mean[place]) ** 2).sum() / (total - documents))
    typical = (total - float((size**2).sum()) / total) / (documents - 1)
    spread = between + (typical - 1) * within
    return (between - within) / spread if spread > 0 else 0.0


@cache
def _is_number(word: str) -> bool:
    return any(sign.isdigit() for sign in word)


def halves(data: Data, split: int) -> list[set[str]]:
    """Halve the documents within their domains."""
    rng = np.random.default_rng(split)
    made: list[set[str]] = [set(), set()]
    for domain in DOMAINS:
        names = sorted({name for name, _ in data.truth if name.startswith(f"{domain}/")})
        for place, number in enumerate(rng.permutation(len(names)).tolist()):
            made[place % 2].add(names[number])
    return made


def predicted(data: Data, profiles: dict[str, Path], model: str, seed: int, domains: bool) -> dict:
    """Perturb every page by the profile that was not fitted on its document."""
    texts, rate = {}, 0.5
    noises: dict[str, Channel] = {}
    documents = defaultdict(list)
    for (name, index), text in data.truth.items():
        documents[name].append(Page(name if domains else f"none/{name}", index, text))
    for (name, index), text in data.truth.items():
        if name not in noises:
            first = Channel(profile=str(profiles[name]), model=model, rate=rate)
            noises[name] = first.for_document(documents[name], seeds.generator(seed, "channel", name, "document"))
        rng = seeds.generator(seed, "channel", name, index)
        texts[name, index] = noises[name].perturb(text, [(0, len(text))], rng).text
    return texts


@dataclass(frozen=True)
class Row:
    """One line of the table: what is real, and how far what is predicted may lie apart."""

    name: str
    real: float
    limit: float

    def passes(self, made: float) -> bool:
        """Tell whether a prediction is near enough."""
        return abs(made - self.real) <= self.limit

    def told(self, made: float) -> str:
        """Give the line."""
        verdict = "PASS" if self.passes(made) else "FAIL"
        return f"{self.name:34} {self.real:8.3f} {made:8.3f} {made - self.real:+8.3f} {self.limit:8.3f}  {verdict}"


def clustered_error(values: np.ndarray, documents: np.ndarray, strata: np.ndarray) -> float:
    """Standard error of a mean, clustered by document within fixed domains."""
    total = 0.0
    for stratum in np.unique(strata):
        here = strata == stratum
        _, owner = np.unique(documents[here], return_inverse=True)
        sums = np.bincount(owner, values[here] - values[here].mean())
        if len(sums) > 1:
            total += float((sums**2).sum()) * len(sums) / (len(sums) - 1)
    return float(np.sqrt(total)) / len(values)


def median_error(values: np.ndarray, documents: np.ndarray, draws: int = 200) -> float:
    """Standard error of a median, by resampling documents."""
    rng = np.random.default_rng(0)
    names, owner = np.unique(documents, return_inverse=True)
    groups = [values[owner == number] for number in range(len(names))]
    return float(
        np.std(
            [
                np.median(np.concatenate([groups[n] for n in rng.integers(0, len(names), len(names))]))
                for _ in range(draws)
            ]
        )
    )


FIXED = {"query-term survival": 0.02, "answer-string survival": 0.035, "singletons": 0.04, "in runs of 10+": 0.04,
         "intraclass": 0.1, "KS of content edit distance": 0.1}  # fmt: skip
"""Limits that are distances; the others are standard errors of the real values, and a share."""


def groups(data: Data) -> dict[str, np.ndarray]:
    """Give which questions are pooled, by domain, and by evidence source."""
    domain = np.array([question.domain for question in data.asked])
    source = np.array([question.evidence_source for question in data.asked])
    found = {"pooled": np.ones(len(domain), dtype=bool)} | {name: domain == name for name in DOMAINS}
    return found | {str(name): source == name for name in np.unique(source)}


def summary(data: Data, values: dict, real: dict) -> dict[str, float]:
    """Reduce what was measured of one run to the table's rows."""
    made: dict[str, float] = {}
    for measure, told in (("r_noise", "r_noise"), ("drop", "BM25 LCS drop")):
        made |= {f"{told}, {name}": float(values[measure][here].mean()) for name, here in groups(data).items()}
    made["query-term survival"] = float(np.nanmean(values["terms"]))
    made["answer-string survival"] = float(np.nanmean(values["answers"]))
    for told in ("median missing", "singletons", "in runs of 10+", "intraclass", "numbers to words"):
        made[told] = values[told]
    if len(values["distance"]):
        made["KS of content edit distance"] = _ks(real["distance"], values["distance"])
    return made


def table(data: Data, real: dict) -> list[Row]:
    """Give the rows with the real values and their limits."""
    documents = np.array([question.document for question in data.asked])
    domain = np.array([question.domain for question in data.asked])
    found = []
    for name, value in summary(data, real, real).items():
        measure, _, group = name.partition(", ")
        if group:
            here = groups(data)[group]
            values = real["r_noise" if measure == "r_noise" else "drop"][here].astype(float)
            limit = 2 * clustered_error(values, documents[here], domain[here])
        elif name == "median missing":
            limit = 2 * median_error(real["missing"], np.array([document for document, _ in data.pages]))
        else:
            limit = FIXED[name] if name in FIXED else 0.25 * value
        found.append(Row(name, value, limit))
    return found


def _ks(one: np.ndarray, other: np.ndarray) -> float:
    grid = np.sort(np.concatenate([one, other]))
    ranks = [np.searchsorted(np.sort(values), grid, side="right") / len(values) for values in (one, other)]
    return float(np.abs(ranks[0] - ranks[1]).max())


class Log:
    """Runs by model, split and seed, in a file of JSON lines if there is one."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path and path.exists() else []
        self.runs = {(r["model"], r["split"], r["seed"]): r["rows"] for r in map(json.loads, lines)}

    def add(self, model: str, split: int, seed: int, rows: dict[str, float]) -> None:
        """Keep a run."""
        self.runs[model, split, seed] = rows
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps({"model": model, "split": split, "seed": seed, "rows": rows}) + "\n")

    def mean(self, model: str) -> tuple[int, dict[str, float]]:
        """Give how many runs there are, and the mean of each row over those that have it."""
        runs = [rows for (name, _, _), rows in self.runs.items() if name == model]
        names = dict.fromkeys(name for rows in runs for name in rows)
        return len(runs), {name: float(np.mean([rows[name] for rows in runs if name in rows])) for name in names}


def fitted(data: Data, split: int, base: str, folder: Path) -> dict[str, Path]:
    """Fit a profile to each half; gives for each document that of the other half."""
    profiles: dict[str, Path] = {}
    for number, half in enumerate(halves(data, split)):
        path = folder / f"{split}-{number}.json"
        made = fit([page for page in data.aligned.values() if page.document not in half], base)
        readings = [Reading(*key, text, data.read[key]) for key, text in data.truth.items() if key[0] not in half]
        asked = [question for question in data.asked if question.document not in half]
        path.write_text(made.strengthened(*strengths(Channel, readings, asked)).dumps())
        profiles |= dict.fromkeys(half, path)
    return profiles


def main() -> None:
    """Run the test and print its table."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--base", default="MinerU")
    asked.add_argument("--splits", type=int, default=20)
    asked.add_argument("--seeds", type=int, default=10)
    asked.add_argument("--baseline-splits", type=int, default=2)
    asked.add_argument("--baseline-seeds", type=int, default=1)
    asked.add_argument("--models", nargs="+", default=list(MODELS), choices=MODELS)
    asked.add_argument("--distances", type=int, default=1, help="seeds of a split on which page distances are measured")
    asked.add_argument("--without-domains", action="store_true", help="all documents together")
    asked.add_argument("--log", type=Path)
    given = asked.parse_args()
    began = perf_counter()
    data = Data(Path(os.environ["OHRBENCH_DATA"]), given.base)
    real = question_values(data, data.read, given.base) | page_values(data, data.read, distance=True)
    told = f"{len(data.pages)} pages with words, {len(data.asked)} questions"
    print(f"{told}; read in {perf_counter() - began:.0f} s", flush=True)
    log = Log(given.log)
    counts = {
        model: (given.splits, given.seeds) if model == "channel" else (given.baseline_splits, given.baseline_seeds)
        for model in given.models
    }
    wanted = [
        (seed, split, model)  # all splits once, then again: a test that is broken off has seen many splits
        for model, (splits, often) in counts.items()
        for split in range(splits)
        for seed in range(often)
        if (model, split, seed) not in log.runs
    ]
    with tempfile.TemporaryDirectory() as folder:
        profiles: dict[int, dict[str, Path]] = {}
        for seed, split, model in sorted(wanted):
            if split not in profiles:
                profiles[split] = fitted(data, split, given.base, Path(folder))
            texts = predicted(data, profiles[split], model, seed, not given.without_domains)
            values: dict[str, Any] = question_values(data, texts, given.base)
            values |= page_values(data, texts, distance=seed < given.distances)
            log.add(model, split, seed, summary(data, values, real))
            print(f"{model}, split {split}, seed {seed}: {perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    rows = table(data, real)
    for model in given.models:
        runs, made = log.mean(model)
        failed = sum(not row.passes(made[row.name]) for row in rows)
        print(f"\n{model}: {runs} runs; {failed} of {len(rows)} rows fail")
        print(f"{'':34} {'real':>8} {'made':>8} {'apart':>8} {'limit':>8}")
        print("\n".join(row.told(made[row.name]) for row in rows), flush=True)


if __name__ == "__main__":
    main()
