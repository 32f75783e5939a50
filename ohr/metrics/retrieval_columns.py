"""Scores of what a retriever found for a batch of questions, as columns."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isnan, nan

from ohr import seeds
from ohr.contracts import Chunk, PageId, Question, RankingMetric
from ohr.metrics.cases import Outcome, counted_pages, ranking_of
from ohr.metrics.dose import evidence_text
from ohr.metrics.floors import OtherPages, read_floor
from ohr.metrics.scores import FACTS, Rules, Scores, as_score
from ohr.statistics.ranking import hit_at_k, recall_at_k, reciprocal_rank
from ohr.text.words import words


@dataclass(frozen=True, slots=True)
class Known:
    """Facts about the documents of some questions, beside the hits.

    Args:
        sizes: pages of each document.
        chunks: all chunks of each question's own pages, by question id, where the protocol has facts.
        copies: the page that counts, for each page that is there more than once: a hit on a copy is a hit.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    chunks: Mapping[str, Sequence[Chunk]] = field(default_factory=dict)
    copies: Mapping[PageId, PageId] = field(default_factory=dict)


NOTHING_KNOWN = Known()


def retrieval_scores(
    questions: Sequence[Question],
    found: Mapping[str, Sequence[Chunk]],
    rules: Rules,
    others: OtherPages,
    top_k: int,
    failed: Collection[str],
    known: Known = NOTHING_KNOWN,
) -> Scores:
    """Score retrieved passages: the published score, rank-aware ones, and the published score's floor.

    Args:
        questions: the batch.
        found: the chunks of each question's hits, best first; a question without an entry failed.
        rules: metrics and protocol.
        others: the pages from which floors are drawn.
        top_k: how many hits were asked for.
        failed: ids of questions that need a page that failed.
        known: what else there is about the questions' documents.
    """
    made, metric = Scores(), rules.protocol.retrieval
    named = ((name, rules.metrics[name]) for name in (metric, *rules.ranking_metrics))
    rankings = {name: scorer for name, scorer in named if isinstance(scorer, RankingMetric)}
    for question in questions:
        chunks, broken = found.get(question.id, ()), question.id in failed or question.id not in found
        size, by_page = known.sizes.get(question.document, 0), rules.protocol.ranked == "pages"
        seen = ranking_of(question, chunks, size, known.copies, by_page=by_page)
        wanted, ranking = seen.pages, seen.hits
        own = [chunk for chunk in chunks if not wanted.isdisjoint(counted_pages(chunk, known.copies))]
        if rules.protocol.joined == "page":  # the score must not depend on which half of the evidence came first
            own.sort(key=lambda chunk: (chunk.pages, chunk.start))
        texts = [chunk.text for chunk in own]
        ranked: dict[str, Outcome] = {name: partial(scorer.score_ranking, seen) for name, scorer in rankings.items()}
        headline = ranked.get(metric) or partial(_of_passages, texts, question, rules)
        made.add_checked(metric, headline, question.id, failed=broken)
        made.add(f"hit@{top_k}", hit_at_k(ranking, wanted, top_k), failed=broken)
        made.add(f"recall@{top_k}", recall_at_k(ranking, wanted, top_k), failed=broken)
        made.add("mrr", reciprocal_rank(ranking, wanted), failed=broken)
        # a floor is an overlap of texts, which says nothing of a ranking
        floor = nan if metric in ranked else _floor(question, texts, rules, others)
        made.add(f"{metric}_floor", floor, failed=broken, measured=True)
        for name in rules.ranking_metrics:
            made.add_checked(name, ranked[name], question.id, failed=broken)
        if rules.facts:
            cut = known.chunks.get(question.id, ())
            for name, held in ((FACTS, texts), (f"{FACTS}_chunked", [chunk.text for chunk in cut])):
                made.add_checked(name, partial(rules.surviving, question, held), question.id, failed=broken)
    return made


def _of_passages(texts: Sequence[str], question: Question, rules: Rules) -> object:
    score = rules.of_texts(rules.protocol.retrieval).score_passages(texts, evidence_text(question))
    # where no chunk of the evidence's pages was found, the metric's own rule for empty texts does not apply
    return score if texts or (known := as_score(score)) is None or isnan(known) else 0.0


def _floor(question: Question, texts: Sequence[str], rules: Rules, others: OtherPages) -> float:
    """Score as much text of another page as was retrieved of the question's own; nothing retrieved gives 0."""
    segment = rules.protocol.segment_chinese
    if not any(words(passage, segment) for passage in question.evidence):
        return nan
    length = sum(len(words(text, segment)) for text in texts)
    rng = seeds.generator(rules.seed, "read_floor", question.id)
    return read_floor(question, others, length, rng, segment) if length else 0.0
