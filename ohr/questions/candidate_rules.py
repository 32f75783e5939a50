"""Rules that verify candidates without a model, each with a name and a check of its own."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from rapidfuzz import fuzz, process

from ohr.contracts import EvidenceSource
from ohr.dataset.evidence import best_match
from ohr.markup.regions import Kind
from ohr.markup.strip import strip_markup
from ohr.messages.wording import counted, named, quoted
from ohr.metrics.answers import CLOSED_ANSWERS
from ohr.questions.candidate import Candidate, Evidence, Removal
from ohr.questions.number_readings import numbers
from ohr.questions.truth_texts import Texts, holds_number, letters, stems
from ohr.text.language import is_foreign
from ohr.text.porter import stem
from ohr.text.words import normalise, words

Check = Callable[[Sequence[Candidate], Texts], Iterator[Removal]]
Reason = Callable[[Candidate, Texts], str]


class Rule(NamedTuple):
    """A rule by its name, which is what it removes.

    Attributes:
        check: yields a removal for each candidate that breaks the rule, each candidate at most once.
        runs: False for a rule that is off, or needs a model and has none.
    """

    name: str
    check: Check
    runs: bool = True


def of_each(reason: Reason) -> Rule:
    """Make a rule that looks at each candidate alone; `reason`, whose name it has, is empty for one that stays."""
    name = reason.__name__

    def check(candidates: Sequence[Candidate], texts: Texts) -> Iterator[Removal]:
        for candidate in candidates:
            if words := reason(candidate, texts):
                yield Removal(candidate.id, name, words)

    return Rule(name, check)


EXAMPLE_NAMES = ("Tarn Valley", "Skelby", "青溪铁路", "云岭镇")
"""Names in the examples of `writing/prompts`; ohr made them up, so few documents have them."""


def copies_the_example(candidate: Candidate, texts: Texts) -> str:
    """Remove questions with a name of the prompt's example that the document does not have."""
    if candidate.origin == "imported":
        return ""
    said = letters(" ".join((candidate.question, *candidate.answers, *(each.text for each in candidate.evidence)))).text
    there = texts.documents.get(candidate.document, "")
    names = (name for name in EXAMPLE_NAMES if letters(name).text in said and letters(name).text not in there)
    return next((f"says {quoted(name)}, which only the prompt's example has" for name in names), "")


_ASKING_ENGLISH = """
    what which who whom whose when where why how many much long often far name list does did do is are was were be
    amount number value percentage total year date page question answer accord mention state say give describe
    of in on at by for to from with and or as than that this it its be been has have had not there into under per
"""
_ASKING_HAN = (
    "什么 哪 哪些 哪个 哪家 哪种 多少 几 谁 何时 何 为何 如何 怎样 怎么 是否 吗 呢 请问 的 在 是 了 和 与 中 年"
)
_ASKING = frozenset(map(stem, _ASKING_ENGLISH.split())) | frozenset(_ASKING_HAN.split())
"""Words of questions, by their stem: rare in a document, and no help in finding one."""

_NO_LETTER = re.compile(r"^\W*$")


def names_no_entity(candidate: Candidate, texts: Texts) -> str:
    """Remove questions of whose words in the document none is rare: many documents could answer them."""
    document = texts.firsts.get(candidate.document, candidate.document)
    counts = {
        word: len(names)
        for word in asked_words(candidate.question)
        if document in (names := texts.holders.get(word, ()))
    }
    reason = "has no word of its document but question words"
    if counts:
        rarest = min(counts, key=lambda word: (counts[word], word))
        if texts.is_rare(rarest):
            return ""
        reason = f"its rarest word, {rarest!r}, is in {counted(counts[rarest], 'document')} of {texts.different:,}"
    return reason + ("; questions are verified in English and Chinese" if is_foreign(candidate.question) else "")


def asked_words(question: str) -> set[str]:
    """List the stems of a question's words, without those of asking itself."""
    return {word for word in stems(question) if word not in _ASKING and not _NO_LETTER.match(word)}


_FEWEST, _MOST = 3, 80
"""Words of a question: OHRBench's have 5 to 60, those of mini 8 to 45; fewer ask for nothing that can be found."""

_LONGEST_ANSWER = 60
"""Words of an answer: longer ones are copied passages, which token F1 cannot compare."""

NO_ANSWER = "has no answer"

_THING = (
    r"(?:document|passage|excerpt|extract|text|paragraph|section|snippet|context|page|article|table|figure|chart|graph|"
    r"diagram|image|picture|illustration|plot|formula|equation|content|information|statement|example)s?"
)
_NEAR = r"(?:given|provided|presented|above|below|following|preceding|previous|attached|mentioned|shown|accompanying)"
_SAYS = (
    r"(?:according to|based (?:up)?on|as per|in|from|within|on|of|by|mentioned in|described in|shown in|listed in|"
    r"stated in|given in|using|per|with|to)"
)
_ENDS = (  # what may follow the phrase where nothing says which table or text is meant
    r"(?=\s*(?:[?,.;:!)]|$|(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|does|do|did|has|have|had|"
    r"can|could|will|would|should|and|or|as|that was|provided|given|above|below|shown|mentioned)\b))"
)
_TEXT = r"(?:document|passage|excerpt|extract|text|snippet)"
_WHICH = r"(?:of|on|about|for|titled|entitled|called|named|identified|numbered|known)"
"""Words after a text that the question itself tells apart: the document on blood pressure."""
_ENGLISH = re.compile(  # tried on the questions of OHRBench, of which one in twenty has such a phrase
    rf"\b(?:this|these) {_THING}{_ENDS}"
    rf"|\b(?:the|this|these|that|those) {_NEAR} (?:{_THING}|proofs?|models?|problems?|data|code|list)\b"
    rf"|\b(?:according to|based on|as per|in|from|by) (?:the|this) {_TEXT}\b(?! {_WHICH}\b)(?=[ ,.?;:)]|$|'s)"
    rf"|\b(?:does|do|did) (?:the|this) {_TEXT} (?!{_WHICH}\b)[a-z]+"
    rf"|\b(?:the|this) {_THING} (?:above|below|provided|given|shown here)\b"
    rf"|\b{_SAYS} the (?:same )?{_THING}{_ENDS}"
    r"|\bthe (?:above|aforementioned|passage|excerpt|snippet)\b"
    r"(?=\s*(?:[?,.]|$|(?:says?|states?|mentions?|describes?)\b))"
    rf"|\b(?:does|do|did|is|was) the {_THING} (?:say|state|mention|describe|show|list|give|define|mentioned)\b"
    r"|\bas (?:shown|mentioned|stated|described|listed|seen|given) (?:above|below|here)\b"
    r"|\bthe authors?(?: of (?:this|the) \w+)?\b(?=\s+(?:say|state|mention|claim|argue|suggest|propose|describe)s?\b)",
    re.IGNORECASE,
)
_SHEET = "(?:文档|文件|文章|文本|段落|段文字|表格|图表|图片|图像|章节|页面|材料|资料|内容|公式|片段|上下文|示意图)"
_CHINESE = re.compile(
    rf"(?:本|该|此|这[个篇份段张幅页]?|上述|以上|下述|以下|前述|给定的?|所给的?|提供的){_SHEET}"
    r"|(?:根据|依据|按照|依照|在|从|由|如|据)(?:本|该|此|上|下|这)[文表图页节段](?:[中里内上]|所[示述列]|[，,、：:。？?]|$|的)"
    r"|(?:^|[，,。；;：:])(?:本|该|此|上|下)[文表图](?:[中里内]|所[示述列]|显示|给出|提到|列出)"
    rf"|(?:^|[，,。；;：:]|在|从|由|根据|依据|按照|如|据)(?:[文表图]|{_SHEET})(?:[中里内]|所[示述列]|[，,])"
    r"|(?:上文|下文|前文|后文)(?:[中里]|所[述示]|提[到及]|的|[，,])"
    rf"|(?:根据|依据|按照){_SHEET}(?=[，,、：:]|$)"
)


def context_dependent(candidate: Candidate, texts: Texts) -> str:  # noqa: ARG001 # as every reason
    """Remove questions that point at "this table" or "the document", which a search over many documents cannot find."""
    phrase = _ENGLISH.search(candidate.question) or _CHINESE.search(candidate.question)
    return f"says {quoted(phrase[0])}, which only a reader of the page understands" if phrase else ""


def unusable_length(candidate: Candidate, texts: Texts) -> str:  # noqa: ARG001
    """Remove questions without text, with very few or very many words, and answers that are empty or a passage."""
    size = len(words(candidate.question))
    if not _FEWEST <= size <= _MOST:
        return f"the question has {counted(size, 'word')} ({_FEWEST} to {_MOST} are usable)"
    if not any(answer.strip() for answer in candidate.answers):
        return NO_ANSWER
    longest = max(len(words(answer)) for answer in candidate.answers)
    return f"an answer has {longest} words (at most {_LONGEST_ANSWER})" if longest > _LONGEST_ANSWER else ""


def answer_repeats_question(candidate: Candidate, texts: Texts) -> str:  # noqa: ARG001
    """Remove questions with an answer that is the question, or all that it names: "Who is Lisk?", "Lisk"."""
    asked, named = letters(candidate.question).text, asked_words(candidate.question)
    for answer in candidate.answers:
        if letters(answer).text == asked:
            return f"the answer {quoted(answer)} is the question"
        if named and named == asked_words(answer):
            return f"the answer {quoted(answer)} is all that the question names"
    return ""


_LEAST_SHARE = 0.5
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
    return f"the evidence has {share:.0%} of the words of the answer {quoted(answer)}" if share < _LEAST_SHARE else ""


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
    touched = any(
        region.kind in kinds and region.start < span[1] and span[0] < region.end
        for passage in candidate.evidence
        if (span := texts.span(candidate.document, passage.page, passage.text))
        for region in texts.regions(candidate.document, passage.page)
    )
    if not marked or touched:
        return ""
    return f"no passage of its evidence is in a {candidate.source}"


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


_LEAST, _LEAST_ELSEWHERE = 80, 92
"""Similarity in percent (rapidfuzz's `ratio`: twice the common letters in order, of all letters) from which on two
questions with equal numbers, names and answers are the same, within a document, and across documents where all their
rare words are equal. Chosen on mini."""
_NAME = re.compile(r"(?<=\S )[A-Z]\w*")
"""A word with a capital inside a sentence."""


def _near_duplicates(candidates: Sequence[Candidate], texts: Texts) -> Iterator[Removal]:
    """Remove questions with the words of an earlier one, or with its numbers and answer and almost its letters."""
    same_words: dict[tuple[str, ...], Candidate] = {}
    groups: defaultdict[object, dict[str, str]] = defaultdict(dict)
    by_id = {candidate.id: candidate for candidate in candidates}
    for candidate in candidates:
        asked, order = letters(candidate.question).text, tuple(stems(candidate.question))
        answer = letters(candidate.answers[0]).text if candidate.answers else ""
        figures, rare = numbers(candidate.question), frozenset(filter(texts.is_rare, order))
        names = rare & {word for name in _NAME.findall(candidate.question) for word in stems(name)}
        keys: dict[object, int] = {
            (candidate.document, answer, figures, names): _LEAST,
            (answer, figures, rare): _LEAST_ELSEWHERE,
        }
        nearest = (  # in each group, if it is as near as the group needs
            process.extractOne(asked, groups.get(key, {}), scorer=fuzz.ratio, score_cutoff=least)
            for key, least in keys.items()
        )
        first = same_words.get(order) or next((by_id[match[2]] for match in nearest if match), None)
        if first:
            yield Removal(candidate.id, "near_duplicate", f"asks the same as {first.id}: {quoted(first.question)}")
            continue
        same_words[order] = candidate
        for key in keys:
            groups[key][candidate.id] = asked


RULES: tuple[Rule, ...] = (
    of_each(unusable_length),
    of_each(copies_the_example),
    of_each(answer_repeats_question),
    of_each(context_dependent),
    of_each(evidence_not_on_its_page),
    of_each(several_pages),
    of_each(other_source),
    of_each(answer_not_in_evidence),
    of_each(names_no_entity),
    ambiguous_document,
    Rule("near_duplicate", _near_duplicates),
)
"""All rules in the order in which they are run: a fault that is seen in the question alone comes first."""
