"""Tells how well the channel predicts what a real engine does to retrieval: the acceptance table of `docs/channel.md`.

Cross-fit: the documents are halved (within domains); each half is predicted from the other, and both together are
compared with the real readings. Pages that are in both bases count. Each baseline goes through the same test.

    OHRBENCH_DATA=DIR python tests/speed/channel_fit.py [--base MinerU] [--splits 20] [--seeds 10] [--models channel]
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

import numpy as np
from rapidfuzz.distance import LCSseq, Levenshtein

from ohr import layout, seeds
from ohr.benchmarks.ohrbench import OhrBench
from ohr.chunkers.reference import Reference
from ohr.contracts import Page
from ohr.metrics.answers import CLOSED_ANSWERS
from ohr.metrics.dose import DAMAGED, evidence_text
from ohr.noise.channel import Channel
from ohr.noise.channel.align import align
from ohr.noise.channel.fit import fit
from ohr.noise.channel.spread import intraclass
from ohr.retrievers.bm25_reference import STOPWORDS, BM25Reference
from ohr.text import normalise, strip_markup

DOMAINS = ("law", "manual", "textbook")
MODELS = ("channel", "independent", "scatter", "block")


class Data:
    """The real pages, their alignment, and what is asked of them."""

    def __init__(self, root: Path, base: str) -> None:
        bench = OhrBench(root=root, domains=DOMAINS, protocol="reference")
        self.base, self.truth, self.read = base, {}, {}
        for document in bench.documents():
            gt = {page.index: page for page in layout.read_pages(root / "retrieval_base" / "gt", document.name)}
            for page in layout.read_pages(root / "retrieval_base" / base, document.name):
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


def question_values(data: Data, texts, base: str) -> dict[str, np.ndarray]:
    """Measure each question: damaged, retrieval drop, terms and answer that survive."""
    damaged, terms, answers = (np.full(len(data.asked), np.nan) for _ in range(3))
    for place, question in enumerate(data.asked):
        held = normalise(data.own(question, texts)).split()
        wanted = data.evidence[place]
        damaged[place] = LCSseq.similarity(held, wanted) / len(wanted) <= DAMAGED
        if data.terms[place]:
            terms[place] = len(data.terms[place].intersection(held)) / len(data.terms[place])
        if data.answers[place]:
            answers[place] = f" {data.answers[place]} " in f" {' '.join(held)} "
    drop = data.retrieved - data.retrieval(texts, base)
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


@cache
def _is_number(word: str) -> bool:
    return any(sign.isdigit() for sign in word)


def halves(data: Data, split: int) -> list[set[str]]:
    """Halve the documents within their domains."""
    rng, made = np.random.default_rng(split), [set(), set()]
    for domain in DOMAINS:
        names = sorted({name for name, _ in data.truth if name.startswith(f"{domain}/")})
        for place, number in enumerate(rng.permutation(len(names)).tolist()):
            made[place % 2].add(names[number])
    return made


def fitted(data: Data, split: int, folder: Path) -> dict[str, Path]:
    """Fit a profile to each half of the documents, and give each document that of the other half."""
    profiles = {}
    for number, half in enumerate(halves(data, split)):
        path = folder / f"{split}-{number}.json"
        rest = [aligned for aligned in data.aligned.values() if aligned.document not in half]
        path.write_text(fit(rest, data.base).dumps(), encoding="utf-8")
        profiles |= dict.fromkeys(half, path)
    return profiles


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


@dataclass
class Row:
    """One line of the table: what is real, what is predicted, how far they may lie apart."""

    name: str
    real: float
    made: float
    limit: float

    @property
    def passed(self) -> bool:
        return bool(abs(self.made - self.real) <= self.limit)

    def __str__(self) -> str:
        verdict = "PASS" if self.passed else "FAIL"
        apart = self.made - self.real
        return f"{self.name:34} {self.real:8.3f} {self.made:8.3f} {apart:+8.3f} {self.limit:8.3f}  {verdict}"


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


def rows(data: Data, real: dict, made: list[dict]) -> list[Row]:
    """Compare."""
    documents = np.array([question.document for question in data.asked])
    domain = np.array([question.domain for question in data.asked])
    source = np.array([question.evidence_source for question in data.asked])
    found = []
    groups = [("pooled", np.ones(len(domain), dtype=bool))]
    groups += [(name, domain == name) for name in DOMAINS] + [(name, source == name) for name in np.unique(source)]
    for measure, told in (("r_noise", "r_noise"), ("drop", "BM25 LCS drop")):
        for name, here in groups:
            error = clustered_error(real[measure][here].astype(float), documents[here], domain[here])
            value = float(np.mean([one[measure][here].mean() for one in made]))
            found.append(Row(f"{told}, {name}", float(real[measure][here].mean()), value, 2 * error))
    for measure, told, limit in (("terms", "query-term survival", 0.02), ("answers", "answer-string survival", 0.035)):
        found.append(
            Row(
                told,
                float(np.nanmean(real[measure])),
                float(np.mean([np.nanmean(one[measure]) for one in made])),
                limit,
            )
        )
    error = median_error(real["missing"], np.array([name for name, _ in data.pages]))
    for told, limit in (
        ("median missing", 2 * error), ("singletons", 0.04), ("in runs of 10+", 0.04), ("intraclass", 0.1),
        ("numbers to words", 0.25 * real["numbers to words"]),
    ):  # fmt: skip
        found.append(Row(told, real[told], float(np.mean([one[told] for one in made])), limit))
    distances = [np.abs(_ks(real["distance"], one["distance"])) for one in made if len(one["distance"])]
    found.append(Row("KS of content edit distance", 0.0, float(np.mean(distances)), 0.10))
    return found


def _ks(one: np.ndarray, other: np.ndarray) -> float:
    grid = np.sort(np.concatenate([one, other]))
    ranks = [np.searchsorted(np.sort(values), grid, side="right") / len(values) for values in (one, other)]
    return float(np.abs(ranks[0] - ranks[1]).max())


def main() -> None:
    """Run the test and print its table."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--base", default="MinerU")
    asked.add_argument("--splits", type=int, default=20)
    asked.add_argument("--seeds", type=int, default=10)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--models", nargs="+", default=list(MODELS))
    asked.add_argument("--distances", type=int, default=1, help="seeds of a split on which page distances are measured")
    asked.add_argument("--without-domains", action="store_true", help="severity of all documents together")
    asked.add_argument("--json", type=Path)
    given = asked.parse_args()
    began = perf_counter()
    data = Data(Path(os.environ["OHRBENCH_DATA"]), given.base)
    real = measured(data, data.read, given.base, distance=True)
    told = f"{len(data.pages)} pages with words, {len(data.asked)} questions"
    print(f"{told}; read in {perf_counter() - began:.0f} s", flush=True)
    made = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        for split in range(given.first, given.first + given.splits):
            profiles = fitted(data, split, Path(folder))
            for seed in range(given.seeds):
                for model in given.models:
                    texts = predicted(data, profiles, model, seed, not given.without_domains)
                    made[model].append(measured(data, texts, given.base, distance=seed < given.distances))
            print(f"split {split}: {perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    report = {}
    for model in given.models:
        table = rows(data, real, made[model])
        failed = sum(not row.passed for row in table)
        print(f"\n{model}: {given.splits} splits x {given.seeds} seeds; {failed} of {len(table)} rows fail")
        print(f"{'':34} {'real':>8} {'made':>8} {'apart':>8} {'limit':>8}")
        print("\n".join(map(str, table)), flush=True)
        report[model] = [[row.name, row.real, row.made, row.limit, row.passed] for row in table]
    if given.json:
        given.json.write_text(json.dumps(report))


if __name__ == "__main__":
    main()
