"""Words that programs write around a passage of evidence, which its page does not have; texts of several passages."""

import re

from ohr.text.chinese import HAS_HAN

from .texts import letters

_NAME = (
    r"(?:documents?|docs?|passages?|contexts?|chunks?|sources?|excerpts?|extracts?|paragraphs?|sections?|snippets?|nodes?"
    r"|references?|evidence|quotes?|quotations?|citations?|text|content|file(?:name)?|page|title|url|hit|result"
    r"|文档|文件|段落|参考资料|资料库|上下文|来源|资料|片段|内容|证据|原文|引用)"
)
"""Names that programs give a passage, or the place where it is from."""
_FILE = r"[^\s,;:]{1,200}\.[a-z]{2,5}(?:[,;]?\s*\(?(?:pages?|pp?\.?)\s*\d+\)?)?"
"""A file, and perhaps a page: `x.pdf, page 3`."""
_SIGNS = r"\W{0,40}"
_WORDS = r"[^\s:：]{0,40}(?:[ \t]{1,4}[^\s:：]{1,60}){0,5}[ \t]{0,4}"
"""Few words of one line, such as `ID`, `3` or `x.pdf, page 3`: more would be a passage."""
_LABEL = rf"\A{_SIGNS}(?:[\w-]{{1,20}}[ \t]){{0,2}}{_NAME}(?![a-z])"
"""The beginning of a text that names it: `Document`, `Relevant context`."""
_FROM = r"(?:sources?|references?|citations?|sections?|file(?:name)?|page|title|url|来源|文件|引用)"
_LINE = rf"(?:{_NAME}(?![a-z]){_WORDS}[:：]?|{_FROM}(?![a-z]){_WORDS}[:：][ \t]{{0,4}}\S{{0,60}}{_WORDS})"
"""A line that says what a passage is, or where it is from; after `Document 3:` a passage may follow."""
_WRAPPERS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\A{_SIGNS}?<[^<>\n]{{1,60}}>|</[^<>\n]{{1,60}}>{_SIGNS}\Z",  # <1-hop>, <context> ... </context>
        rf"\A{_SIGNS}?[\[【][^\[\]【】\n]{{1,100}}[\]】]|[\[【][^\[\]【】\n]{{1,100}}[\]】]{_SIGNS}\Z",  # [1]
        r"\A\s*(?:第\s?\d{1,5}\s?页|[Pp]age \d{1,5})\s?[:：]",  # 第5页：
        # Document(page_content='...', metadata={})
        r"\A\w{1,20}\((?:page_content|text|content)=['\"]|['\"](?:, \w{1,20}=[^\n]{0,400})?\)\s*\Z",
        rf"\A{_SIGNS}\(?\d{{1,4}}[.):：]\s|\({_NAME}\b[^()\n]{{0,100}}\){_SIGNS}\Z",  # 1. or (1), (Source: x.pdf)
        rf"{_LABEL}\s*[:：]\s*{_FILE}{_SIGNS}",  # Source: x.pdf, page 3
        rf"{_LABEL}{_WORDS}[:：]",  # Document 3:
        rf"\A{_SIGNS}{_LINE}\n(?!\s*\n)|(?<!\n)\n[^\w\n]{{0,4}}{_LINE}\Z",  # lines of their own in a paragraph
    )
)
_LABEL_ALONE = re.compile(rf"{_SIGNS}{_LINE}", re.IGNORECASE)
_MOST_READINGS = 24
_BETWEEN = re.compile(r"\n[^\S\n]*\n\s*|(?<=\S)\|(?=\S)|\n[^\S\n]*[-=_*]{3,}[^\S\n]*\n")
"""Between passages: blank lines, lines of dashes, and the sign with which DeepEval joins contexts."""
_FEWEST_LETTERS, _FEWEST_SIGNS, _MOST_PARTS = 12, 6, 60
"""Letters of a part, or of one with Chinese, since one word is on any page; and parts of a text."""


def unwrapped(passage: str) -> list[str]:
    """Return a passage without what a program may have written around it, the readings that leave out least first.

    Signs at its ends need not be left out: they do not count where a passage is looked for.
    """
    readings = [passage]
    for reading in readings:  # it grows
        for wrapper in _WRAPPERS:
            rest = wrapper.sub("", reading, count=1).strip()
            if rest not in readings and len(readings) < _MOST_READINGS and is_long(rest):
                readings.append(rest)
    return readings[1:]


def divided(text: str) -> list[str]:
    """Return the passages of a text that may hold several; none where it holds one."""
    parts = [part for part in _BETWEEN.split(text) if letters(part).text]
    return parts if 1 < len(parts) <= _MOST_PARTS else []


def is_long(passage: str) -> bool:
    """Report whether a part of a text is long enough that it is not on a page by chance."""
    return len(letters(passage).text) >= (_FEWEST_SIGNS if HAS_HAN.search(passage) else _FEWEST_LETTERS)


def is_label(part: str) -> bool:
    """Report whether a part of a text may only say what comes before or after it: `Source: x.pdf, page 3`."""
    return bool(_LABEL_ALONE.fullmatch(part.strip()))
