"""Scores of batches of questions, as columns: of what was retrieved, of replies, and of the text of pages."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isnan, nan
from types import MappingProxyType

from ohr import seeds
from ohr.contracts import (
    AnyMetric,
    CaseJudgeMetric,
    CaseMetric,
    Chunk,
    Completion,
    PageId,
    PageJudgeMetric,
    PageMetric,
    Question,
    RankingMetric,
)
from ohr.metrics.cases import NO_REPLIES, Outcome, Replies, case_outcomes, counted_pages, graded, ranking_of
from ohr.metrics.dose import Pages, evidence_text, own_text
from ohr.metrics.floors import OtherPages, constant_answers, read_floor
from ohr.metrics.references import CEILINGS
from ohr.metrics.scores import FACTS, Rules, Scores, as_score, checked_score
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
    scores, metric = Scores(), rules.protocol.retrieval
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
        scores.add_checked(metric, headline, question.id, failed=broken)
        scores.add(f"hit@{top_k}", hit_at_k(ranking, wanted, top_k), failed=broken)
        scores.add(f"recall@{top_k}", recall_at_k(ranking, wanted, top_k), failed=broken)
        scores.add("mrr", reciprocal_rank(ranking, wanted), failed=broken)
        # a floor is an overlap of texts, which says nothing of a ranking
        floor = nan if metric in ranked else _floor(question, texts, rules, others)
        scores.add(f"{metric}_floor", floor, failed=broken, measured=True)
        for name in rules.ranking_metrics:
            scores.add_checked(name, ranked[name], question.id, failed=broken)
        if rules.facts:
            cut = known.chunks.get(question.id, ())
            for name, held in ((FACTS, texts), (f"{FACTS}_chunked", [chunk.text for chunk in cut])):
                scores.add_checked(name, partial(rules.surviving, question, held), question.id, failed=broken)
    return scores


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


def answer_scores(
    questions: Sequence[Question],
    answers: Mapping[str, str | None],
    rules: Rules,
    stage: str,
    condition: str,
    failed: Collection[str],
    replies: Replies = NO_REPLIES,
    excluded: Collection[str] = (),
) -> Scores:
    """Score answers, each against the accepted answer that it matches best, or with its question and passages.

    Args:
        questions: the batch.
        answers: by question id; None, or no entry, where the generator failed.
        rules: metrics and protocol.
        stage: `generation`, `overall` or `reference`.
        condition: of the knowledge base, or the name of the reference.
        failed: ids of questions that need a page that failed.
        replies: what metrics of cases and judges need.
        excluded: ids of questions that cannot be asked under this condition: they have no score.
    """
    scores, scored = Scores(), _case_outcomes(questions, answers, rules, failed, replies, excluded)
    for question in questions:
        given = answers.get(question.id)
        broken = given is None or question.id in failed
        reads = question.id not in excluded and _has_context(stage, condition, question)
        answer = "" if broken or given is None else given
        for metric in rules.answer_metrics:
            if metric in scored:
                if reads and not broken:
                    scores.add_checked(metric, scored[metric][question.id], question.id, failed=False)
                else:
                    value = partial(_missing, rules.metrics[metric], question) if reads else partial(float, nan)
                    scores.add_checked(metric, value, question.id, failed=broken and question.id not in excluded)
            elif reads and question.answers:
                score = partial(_of_answer, metric, answer, question, rules)
                scores.add_checked(metric, score, question.id, failed=broken)
            else:
                unanswered = rules.protocol.unanswered if reads else None
                lost = broken and question.id not in excluded
                scores.add(metric, nan if unanswered is None else unanswered, failed=lost)
        for name in rules.facts:
            value = partial(rules.surviving, question, [answer]) if reads else partial(float, nan)
            scores.add_checked(name, value, question.id, failed=broken and question.id not in excluded)
    return scores


def _case_outcomes(
    questions: Sequence[Question],
    answers: Mapping[str, str | None],
    rules: Rules,
    failed: Collection[str],
    replies: Replies,
    excluded: Collection[str],
) -> dict[str, dict[str, Outcome]]:
    """Score the replies that are there by the metrics of cases and the judges, each metric all of them at once."""
    there = [q.id for q in questions if answers.get(q.id) is not None and q.id not in failed and q.id not in excluded]
    scorers = ((name, rules.metrics[name]) for name in rules.answer_metrics)
    return {
        name: case_outcomes(name, scorer, there, replies)
        for name, scorer in scorers
        if isinstance(scorer, CaseMetric | CaseJudgeMetric)
    }


def _missing(metric: AnyMetric, question: Question) -> float:
    """Return the score of a question without a reply, which the metric may leave out."""
    return metric.score_missing(question) if isinstance(metric, CaseMetric) else 0.0


def constant_scores(questions: Sequence[Question], rules: Rules) -> Scores:
    """Score the one word, yes or no, that does best as the answer to everything; of all questions at once."""

    def headline(word: str, question: Question) -> float:
        return checked_score(partial(_of_answer, rules.protocol.answer[0], word, question, rules))[0]

    chosen = constant_answers(questions, headline)
    answers = {question.id: word for question, word in zip(questions, chosen, strict=True)}
    return answer_scores(questions, answers, rules, "reference", "constant", ())


def _of_answer(metric: str, answer: str, question: Question, rules: Rules) -> object:
    """Return the best score over the accepted answers; one that is no score is returned as it is."""
    scores = [rules.of_texts(metric).score(answer, accepted) for accepted in question.answers]
    if odd := [score for score in scores if as_score(score) is None]:
        return odd[0]
    return max((score for score in scores if not isnan(score)), default=nan)


def _has_context(stage: str, condition: str, question: Question) -> bool:
    """Report whether the text that the generator may read in this cell is known for the question."""
    if stage == "generation":
        return question.is_located
    return stage != "reference" or condition not in CEILINGS or any(question.evidence)


def page_scores(
    questions: Sequence[Question],
    truth: Pages,
    kb: Pages,
    rules: Rules,
    judged: Mapping[str, Mapping[str, Completion | None]] = MappingProxyType({}),
) -> Scores:
    """Score the pages of some questions by the protocol's metrics of pages, and by the facts that are left.

    Args:
        questions: of one document.
        truth: the ground truth's pages.
        kb: the knowledge base's pages; a missing or failed page is empty text.
        rules: metrics and protocol.
        judged: by judge, its reply by the first question about the same pages; None where it gave none. Questions
            about other pages have no score.
    """
    outcomes: dict[str, dict[str, Outcome]] = defaultdict(dict)
    for asked in about_same_pages(questions):
        texts = own_text(asked[0], kb), own_text(asked[0], truth)
        for name in rules.page_metrics:
            metric = rules.metrics[name]
            if isinstance(metric, PageMetric):
                outcomes[name] |= _each(partial(metric.score_page, *texts, asked), asked)
            elif isinstance(metric, PageJudgeMetric):
                replies = judged.get(name, {})
                scored = partial(_judged, metric, replies.get(asked[0].id), texts, asked)
                outcomes[name] |= _each(scored, asked) if asked[0].id in replies else {}
        for name in rules.facts:
            outcomes[name] |= {q.id: partial(rules.surviving, q, texts[:1]) for q in asked}
    scores = Scores()
    for name, by_question in outcomes.items():
        lowest = getattr(rules.metrics.get(name), "lowest", 0.0)  # of pages; facts are no metric of the spec
        for question in questions:
            outcome = by_question.get(question.id, partial(float, nan))
            scores.add_checked(name, outcome, question.id, failed=False, lowest=lowest)
    return scores


def about_same_pages(questions: Sequence[Question]) -> Iterator[tuple[Question, ...]]:
    """Group questions of one document by the pages that they are about; those whose place is unknown are left out."""
    by_pages: dict[tuple[int, ...], list[Question]] = defaultdict(list)
    for question in questions:
        if question.pages:
            by_pages[tuple(sorted(question.pages))].append(question)
    return map(tuple, by_pages.values())


def _judged(
    metric: PageJudgeMetric, reply: Completion | None, texts: tuple[str, str], questions: Sequence[Question]
) -> Sequence[float]:
    return metric.score_page_reply(graded(reply), *texts, questions)


def _each(scored: Outcome, questions: Sequence[Question]) -> dict[str, Outcome]:
    """Return the outcome of each question where a metric scores them together; it is asked once."""
    held: list[object] = []

    def one(place: int) -> object:
        if not held:
            try:
                held.append(scored())
            except (Exception, SystemExit) as error:  # a metric may raise anything: its scores fail
                held.append(error)
        if isinstance(held[0], BaseException):
            raise held[0]
        given = list(held[0])  # type: ignore[call-overload] # a plugin may return anything
        if len(given) != len(questions):
            raise ValueError(f"{len(given)} scores for {len(questions)} questions")
        if isinstance(given[place], Exception):
            raise given[place]
        return given[place]

    return {question.id: partial(one, place) for place, question in enumerate(questions)}
