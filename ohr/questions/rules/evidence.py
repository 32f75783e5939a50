"""Rules about evidence: it is on its page, holds the answer, and is of the source that the question names."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ohr.contracts import EvidenceSource, Span
from ohr.dataset.evidence import best_match
from ohr.markup.regions import Kind
from ohr.markup.strip import strip_markup
from ohr.messages.wording import counted, named, quoted
from ohr.metrics.answers import CLOSED_ANSWERS
from ohr.questions.candidate import Candidate, Evidence, Removal
from ohr.questions.numbers import numbers
from ohr.questions.texts import Texts, holds_number, letters, stems
from ohr.text.words import normalise

from .rule import Rule

_LEAST = 0.5
"""Share of an answer's words that the evidence has: answers join passages with words of their own."""

_WRITTEN_SHORT = ("Yes/No", "Boolean", "YES/NO")
_KINDS: dict[EvidenceSource, frozenset[Kind]] = {
    "table": frozenset({"table"}),
    "formula": frozenset({"inline_formula", "block_formula"}),
    "chart": frozenset({"chart", "table"}),  # the table of a chart's values is how ground truths write one
}


def evidence_not_on_its_page(candidate: Candidate, texts: Texts) -> str:
    """Remove questions without evidence, and those with a passage that its page does not hold word for word."""
    if not candidate.evidence:
        return "has no evidence"
    for passage in candidate.evidence:
        if texts.span(candidate.document, passage.page, passage.text) is None:
            return _missing(candidate, passage, texts)
    return ""


def _missing(candidate: Candidate, passage: Evidence, texts: Texts) -> str:
    if candidate.document not in texts.truth or passage.page < 0:
        return f"no page of {candidate.document or 'any document'} holds {quoted(passage.text)}"
    where = f"page {passage.page + 1} of {candidate.document}"
    page = texts.pages.get((candidate.document, passage.page))
    if page is None:
        return f"there is no {where}"
    match = best_match(page, passage.text)
    return f"not on {where}: {quoted(passage.text)}" + (f"; the best match is {quoted(match)}" if match else "")


def located(candidate: Candidate, texts: Texts) -> Candidate:
    """Return a candidate with its evidence in the words of its page, and the characters there.

    A passage that its page does not hold stays, at -1. Passages of a page that overlap become one.
    """
    evidence: list[Evidence] = []
    for passage in candidate.evidence:
        span = texts.span(candidate.document, passage.page, passage.text)
        if span is None:
            evidence.append(replace(passage, start=-1, end=-1))
            continue
        start, end = span
        overlapping = [each for each in evidence if each.page == passage.page and each.start < end and start < each.end]
        start, end = (
            min([start, *(each.start for each in overlapping)]),
            max([end, *(each.end for each in overlapping)]),
        )
        place = evidence.index(overlapping[0]) if overlapping else len(evidence)
        evidence = [each for each in evidence if each not in overlapping]
        text = texts.pages[candidate.document, passage.page][start:end]
        evidence.insert(place, Evidence(passage.page, text, start, end))
    return replace(candidate, evidence=tuple(evidence))


def answer_not_in_evidence(candidate: Candidate, texts: Texts) -> str:  # noqa: ARG001 # as every reason
    """Remove questions of understanding whose evidence does not hold their answer.

    Answers of reasoning are in no evidence; those of a task that is not known may be.
    """
    return what_evidence_lacks(candidate) if candidate.task == "understanding" else ""


def what_evidence_lacks(candidate: Candidate) -> str:
    """Return in words what of the first answer the evidence lacks, numbers or words; "" if it holds the answer.

    Yes and no are in no evidence; half of an answer's words are enough where it has no number.
    """
    if candidate.answer_form in _WRITTEN_SHORT or not candidate.answers:
        return ""
    answer, evidence = candidate.answers[0], "\n".join(passage.text for passage in candidate.evidence)
    if normalise(answer) in CLOSED_ANSWERS or _is_verbatim(answer, evidence):
        return ""
    plain = f"{evidence}\n{strip_markup(evidence)}"
    held = {abs(value) for readings in numbers(plain) for value in readings}  # (3,243) may be a cost of 3,243
    if lacking := sum(held.isdisjoint(map(abs, readings)) for readings in numbers(answer)):
        return f"the evidence lacks {counted(lacking, 'number')} of the answer {quoted(answer)}"
    there, wanted = set(stems(plain)), [word for word in stems(answer) if not word.isdecimal()]
    if numbers(answer) or not wanted:  # units are often at the head of a table
        return ""
    share = sum(word in there for word in wanted) / len(wanted)
    return f"the evidence has {share:.0%} of the words of the answer {quoted(answer)}" if share < _LEAST else ""


def _is_verbatim(answer: str, evidence: str) -> bool:
    if numbers(answer):
        return holds_number(evidence, answer)
    return bool(letters(answer).text) and letters(answer).text in letters(evidence).text


def other_source(candidate: Candidate, texts: Texts) -> str:
    """Remove questions on a table, formula or chart with evidence that is in none, where the truth marks such parts."""
    kinds = _KINDS.get(candidate.source)
    if not kinds:
        return ""
    marked = any(
        region.kind in kinds
        for page in texts.truth.get(candidate.document, ())
        for region in texts.regions(candidate.document, page.index)
    )
    spans = [
        (passage.page, texts.span(candidate.document, passage.page, passage.text)) for passage in candidate.evidence
    ]
    if not marked or any(span and _touches(candidate, page, span, kinds, texts) for page, span in spans):
        return ""
    return f"no passage of its evidence is in a {candidate.source}"


def _touches(candidate: Candidate, page: int, span: Span, kinds: frozenset[Kind], texts: Texts) -> bool:
    start, end = span
    around = texts.regions(candidate.document, page)
    return any(region.kind in kinds and region.start < end and start < region.end for region in around)


def several_pages(candidate: Candidate, texts: Texts) -> str:  # noqa: ARG001
    """Remove questions with evidence on several pages where the task asked for one page."""
    if candidate.notes.get("pages") != "single" or len(candidate.pages) < 2:
        return ""
    return f"the evidence is on {counted(len(candidate.pages), 'page')}, and the task asks for one"


def _ambiguous(candidates: Sequence[Candidate], texts: Texts) -> Iterator[Removal]:
    passages = [passage.text for candidate in candidates for passage in candidate.evidence]
    holders = iter(texts.documents_with(passages))
    for candidate in candidates:
        shared = [next(holders) for _ in candidate.evidence]
        own = texts.firsts.get(candidate.document)
        both = frozenset.intersection(*shared) if shared else frozenset()
        if others := [name for name in both if name != candidate.document and texts.firsts[name] != own]:
            names = named(sorted(others))
            yield Removal(candidate.id, ambiguous_document.name, f"all of its evidence is also in {names}")


ambiguous_document = Rule("ambiguous_document", _ambiguous)
"""Removes questions with evidence that other documents have word for word, too, except copies of their own one."""
