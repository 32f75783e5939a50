"""Measures what each accident of OHRBench's published code is worth: the table in docs/ohrbench.md.

Reference protocol, BM25, top 2, with one accident repaired at a time, then all, then the clean protocol with its
defaults: mean LCS x 100, and the share of questions that find the same pages in the same order.

    OHRBENCH_DATA=DIR python speed/ohrbench_accidents.py [DOMAIN ...]
"""

import os
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from statistics import fmean

from ohr.benchmarks.ohrbench import OhrBench
from ohr.chunkers.reference import Reference
from ohr.chunkers.tokens import Tokens
from ohr.contracts import Chunk, Hit, Page, Question
from ohr.metrics.dose import evidence_text
from ohr.metrics.lcs import lcs_of_passages
from ohr.ocr.precomputed import Precomputed
from ohr.retrievers.lexical.bm25 import BM25
from ohr.retrievers.lexical.bm25_reference import BM25Reference
from ohr.retrievers.lexical.words import STOPWORDS
from ohr.testing import indexed
from ohr.text.porter import stem

ROOT = Path(os.environ.get("OHRBENCH_DATA", "data/ohrbench"))
BASES = ("gt", "MinerU")
TOP_K = 2


@dataclass(frozen=True)
class Repaired:
    """Which accidents are repaired; the names of the fields are the rows of the table."""

    chunks_of_constant_size: bool = False
    true_term_frequencies: bool = False
    empty_pages_give_no_chunk: bool = False
    where_nothing_matches_nothing_is_found: bool = False
    chunks_joined_in_order_of_the_page: bool = False
    chinese_cut_into_words: bool = False
    names_in_another_unicode_form_matched: bool = False


class ConstantSize(Reference):
    """The reference chunker, whose room for text does not depend on the file's name."""

    def _label(self, page: Page) -> str:
        return ""


class TrueFrequencies:
    """The published BM25 over all words of a chunk, not the different ones."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        from rank_bm25 import BM25Okapi

        self.engine = BM25Okapi([self.stems(chunk.text) for chunk in chunks])

    @staticmethod
    def stems(text: str) -> list[str]:
        return [stem(word) for word in re.findall(r"\w+", text.lower()) if word not in STOPWORDS]

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        asked = [self.stems(" ".join(dict.fromkeys(re.findall(r"\w+", query.lower())))) for query in queries]
        totals = [self.engine.get_scores(query) for query in asked]
        return [[Hit(int(place), float(t[place])) for place in (-t).argsort(kind="stable")[:k]] for t in totals]


Found = tuple[float, tuple[tuple[str, int], ...]]
"""A question's score, and the pages of the chunks that were found for it."""


def reference(base: str, domain: str, repaired: Repaired) -> dict[str, Found]:
    matched = repaired.names_in_another_unicode_form_matched
    bench = OhrBench(root=ROOT, domains=(domain,), protocol="clean" if matched else "reference")
    chunker = (ConstantSize if repaired.chunks_of_constant_size else Reference)(base=base)
    chunks = chunked(bench, base, chunker.split)
    if repaired.empty_pages_give_no_chunk:
        chunks = [chunk for chunk in chunks if chunk.text]
    index = TrueFrequencies(chunks) if repaired.true_term_frequencies else indexed(BM25Reference(), chunks)
    questions = bench.questions()
    ranked = index.search([question.text for question in questions], TOP_K)
    if repaired.where_nothing_matches_nothing_is_found:
        ranked = [[hit for hit in hits if hit.score > 0] for hits in ranked]
    by_page, chinese = repaired.chunks_joined_in_order_of_the_page, repaired.chinese_cut_into_words
    return scored(questions, chunks, ranked, by_page=by_page, chinese=chinese)


def clean(base: str, domain: str) -> dict[str, Found]:
    bench = OhrBench(root=ROOT, domains=(domain,))
    chunks, questions = chunked(bench, base, Tokens().split), bench.questions()
    ranked = indexed(BM25(), chunks).search([question.text for question in questions], TOP_K)
    return scored(questions, chunks, ranked, by_page=True, chinese=True)


def chunked(bench: OhrBench, base: str, split: Callable[[Sequence[Page]], list[Chunk]]) -> list[Chunk]:
    source = Precomputed(root=ROOT / "retrieval_base" / base)
    return [chunk for document in bench.documents() for chunk in split(source.recorded(document))]


def scored(
    questions: Sequence[Question],
    chunks: Sequence[Chunk],
    ranked: Sequence[Sequence[Hit]],
    *,
    by_page: bool,
    chinese: bool,
) -> dict[str, Found]:
    made = {}
    for question, hits in zip(questions, ranked, strict=True):
        found = [chunks[hit.place] for hit in hits]
        own = [c for c in found if c.document == question.document and c.pages[0] in question.pages]
        if by_page:
            own.sort(key=lambda chunk: (chunk.pages, chunk.start))
        score = lcs_of_passages([c.text for c in own], evidence_text(question), chinese) if own else 0.0
        made[question.id] = score, tuple((chunk.document, chunk.pages[0]) for chunk in found)
    return made


def measured(name: str, evaluate: Callable[[str, str], dict[str, Found]], domains: Sequence[str]) -> None:
    means, same = [], []
    for base in BASES:
        found: dict[str, Found] = {}
        for domain in domains:
            found |= evaluate(base, domain)
        PUBLISHED.setdefault(base, found)
        means.append(f"{100 * fmean(score for score, _ in found.values()):.2f}")
        kept = fmean(found[name][1] == pages for name, (_, pages) in PUBLISHED[base].items())
        same.append(f"{100 * kept:.1f}%")
    print(f"| {name} | {' | '.join(means + same)} |", flush=True)


PUBLISHED: dict[str, dict[str, Found]] = {}
"""Results of the protocol without a repair, by base: measured first."""


def main(domains: Sequence[str]) -> None:
    names = [field.name for field in fields(Repaired)]
    print("| repaired | gt | MinerU | same top 2, gt | same top 2, MinerU |\n|---|---|---|---|---|")
    rows = {"nothing (`reference`)": Repaired()}
    rows |= {name.replace("_", " "): replace(Repaired(), **{name: True}) for name in names}
    rows["all of these"] = Repaired(**dict.fromkeys(names, True))
    for name, repaired in rows.items():
        measured(name, partial(reference, repaired=repaired), domains)
    measured("`clean` with its defaults (`tokens`, `bm25`)", clean, domains)


if __name__ == "__main__":
    main(sys.argv[1:] or sorted(path.name for path in (ROOT / "retrieval_base" / "gt").iterdir()))
