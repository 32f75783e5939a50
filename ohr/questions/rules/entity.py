"""The rule that a question names what it is about, so that its document can be found among the others."""

import re

from ohr.messages.wording import counted
from ohr.questions.candidate import Candidate
from ohr.questions.texts import Texts, stems
from ohr.text.language import is_foreign
from ohr.text.porter import stem

_ENGLISH = """
    what which who whom whose when where why how many much long often far name list does did do is are was were be
    amount number value percentage total year date page question answer accord mention state say give describe
    of in on at by for to from with and or as than that this it its be been has have had not there into under per
"""
_CHINESE = "什么 哪 哪些 哪个 哪家 哪种 多少 几 谁 何时 何 为何 如何 怎样 怎么 是否 吗 呢 请问 的 在 是 了 和 与 中 年"
_ASKING = frozenset(map(stem, _ENGLISH.split())) | frozenset(_CHINESE.split())
"""Words of questions, by their stem: rare in a document, and no help in finding one."""

_NO_LETTER = re.compile(r"^\W*$")


def names_no_entity(candidate: Candidate, texts: Texts) -> str:
    """Remove questions of whose words in the document none is rare: many documents could answer them."""
    reason = _no_entity(candidate, texts)
    foreign = "; questions are verified in English and Chinese" if reason and is_foreign(candidate.question) else ""
    return reason + foreign


def asked_words(question: str) -> set[str]:
    """List the stems of a question's words, without those of asking itself."""
    return {word for word in stems(question) if word not in _ASKING and not _NO_LETTER.match(word)}


def _no_entity(candidate: Candidate, texts: Texts) -> str:
    document = texts.firsts.get(candidate.document, candidate.document)
    counts = {
        word: len(names)
        for word in asked_words(candidate.question)
        if document in (names := texts.holders.get(word, ()))
    }
    if not counts:
        return "has no word of its document but question words"
    rarest = min(counts, key=lambda word: (counts[word], word))
    if texts.is_rare(rarest):
        return ""
    return f"its rarest word, {rarest!r}, is in {counted(counts[rarest], 'document')} of {texts.different:,}"
