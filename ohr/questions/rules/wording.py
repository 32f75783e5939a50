"""Rules about wording: length, an answer that is the question, phrases that only a reader of the page understands."""

import re

from ohr.messages.wording import counted, quoted
from ohr.questions.candidate import Candidate
from ohr.questions.texts import Texts, letters
from ohr.text.words import words

from .entity import asked_words

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
