"""Measures the effect of an engine, or of the channel, on a benchmark's questions, pages and retrieval."""

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path
from unittest import mock

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
from ohr.noise import channel
from ohr.noise.channel import Channel
from ohr.noise.channel.fit import align
from ohr.noise.channel.page_model import read
from ohr.retrievers.lexical.bm25 import STOPWORDS, BM25Reference
from ohr.text.words import normalise

Texts = Mapping[tuple[str, int], str]


def domains(root: Path, base: str) -> tuple[str, ...]:
    """List the domains that an engine has read."""
    return tuple(sorted(path.name for path in (root / "retrieval_base" / base).iterdir() if path.is_dir()))


class Data:
    """The pages of some domains that are in both bases, their alignment, and their questions."""

    def __init__(self, root: Path, base: str, names: tuple[str, ...]) -> None:
        bench = OhrBench(root=root, domains=names, protocol="reference")
        self.base, self.domains = base, names
        self.truth: dict[tuple[str, int], str] = {}
        self.read: dict[tuple[str, int], str] = {}
        for document in bench.documents():
            gt = {page.index: page for page in ohrbench_json.read_pages(root / "retrieval_base" / "gt", document.name)}
            for page in ohrbench_json.read_pages(root / "retrieval_base" / base, document.name):
                if page.index in gt and page.error is None and gt[page.index].error is None:
                    self.truth[document.name, page.index] = gt[page.index].text
                    self.read[document.name, page.index] = page.text
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

    def own(self, question, texts: Texts) -> str:
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

    def retrieval(self, texts: Texts, base: str) -> np.ndarray:
        """Score the questions' retrieval by the reference protocol."""
        scores = np.zeros(len(self.asked))
        for domain in self.domains:
            chunker = Reference(base=base)
            chunks = [
                chunk
                for (name, index), text in texts.items()
                if name.startswith(f"{domain}/")
                for chunk in chunker.split([Page(name, index, text)])
            ]
            places = [place for place, question in enumerate(self.asked) if question.domain == domain]
            retriever = BM25Reference()
            queries = [self.asked[place].text for place in places]
            found = retriever.search(retriever.index(chunks), queries, 2)
            for place, hits in zip(places, found, strict=True):
                asked = self.asked[place]
                own = [chunks[hit.place] for hit in hits]
                text = "\n\n".join(c.text for c in own if c.document == asked.document and c.pages[0] in asked.pages)
                wanted = self.evidence[place]
                scores[place] = LCSseq.similarity(normalise(text).split(), wanted) / len(wanted) if text else 0.0
        return scores

    def damaged(self, texts: Texts) -> np.ndarray:
        """Report which questions' evidence is damaged."""
        held = [normalise(self.own(question, texts)).split() for question in self.asked]
        kept = [LCSseq.similarity(h, w) / len(w) for h, w in zip(held, self.evidence, strict=True)]
        return np.array(kept) <= DAMAGED


def perturbed(
    data: Data,
    profiles: Mapping[str, Path],
    seed: int,
    *,
    rate: float = 0.5,
    model: str = "channel",
    only: Collection[tuple[str, int]] | None = None,
) -> dict[tuple[str, int], str]:
    """Perturb the pages (or only some) by the profiles of their documents."""
    documents: dict[str, list[Page]] = {}
    for (name, index), text in data.truth.items():
        documents.setdefault(name, []).append(Page(name, index, text))
    made = {}
    for name, pages in documents.items():
        wanted = [page for page in pages if only is None or (name, page.index) in only]
        noise = Channel(profile=str(profiles[name]), model=model, rate=rate)
        noise = noise.for_document(pages, seeds.generator(seed, "channel", name, "document")) if wanted else noise
        for page in wanted:
            rng = seeds.generator(seed, "channel", name, page.index)
            made[name, page.index] = noise.perturb(page.text, [(0, len(page.text))], rng).text
    return made


def remembered():
    """Read each page's words only once, as scripts perturb the same pages again and again."""
    return mock.patch.object(channel, "_seen", cache(read))


def measured(data: Data, texts: Texts, base: str, *, distance: bool = True) -> dict:
    """Measure questions and pages; `distance` says whether to measure the pages' edit distances, which take long."""
    terms, answers = (np.full(len(data.asked), np.nan) for _ in range(2))
    for place, question in enumerate(data.asked):
        held = normalise(data.own(question, texts)).split()
        if data.terms[place]:
            terms[place] = len(data.terms[place].intersection(held)) / len(data.terms[place])
        if data.answers[place]:
            answers[place] = f" {data.answers[place]} " in f" {' '.join(held)} "
    drop = data.retrieved - data.retrieval(texts, base)
    found = {"r_noise": data.damaged(texts), "drop": drop, "terms": terms, "answers": answers}
    return found | _pages(data, texts, distance)


def _pages(data: Data, texts: Texts, distance: bool) -> dict[str, object]:
    """Measure the pages: shares lost, runs, classes, and the distance of their content."""
    shares, runs, lost_class, all_class, distances = [], [], np.zeros(2), np.zeros(2), []
    for key in data.pages:
        wanted = data.words[key]
        kept = np.zeros(len(wanted), dtype=bool)
        for block in LCSseq.opcodes(wanted, normalise(texts[key]).split()):
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


def intraclass(values: np.ndarray, owner: np.ndarray) -> float:
    """Return the intraclass correlation of one-way analysis of variance; nan where no document has two pages."""
    _, place, size = np.unique(owner, return_inverse=True, return_counts=True)
    total, documents = len(values), len(size)
    if total <= documents or documents < 2:
        return float("nan")
    mean = np.bincount(place, values) / size
    between = float((size * (mean - values.mean()) ** 2).sum() / (documents - 1))
    within = float(((values - mean[place]) ** 2).sum() / (total - documents))
    typical = (total - float((size**2).sum()) / total) / (documents - 1)
    spread = between + (typical - 1) * within
    return (between - within) / spread if spread > 0 else 0.0


@cache
def _is_number(word: str) -> bool:
    return any(sign.isdigit() for sign in word)
