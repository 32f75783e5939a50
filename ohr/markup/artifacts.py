"""Artifacts: what programs and models write into a page's text although the page does not have it."""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from ohr.contracts import Span
from ohr.text.loops import loops

from .fences import code_blocks

Kind = Literal[
    "loop", "refusal", "prompt", "preamble", "fence", "front_matter", "coordinates", "special_tokens", "image_data",
    "selection_marks",
]  # fmt: skip
"""Kinds of artifacts."""
KINDS: tuple[Kind, ...] = get_args(Kind)
"""All kinds."""
WORDS: Mapping[str, str] = {
    "loop": "a loop",
    "refusal": "a refusal in place of text",
    "prompt": "a part of a prompt",
    "preamble": "a line that introduces the text",
    "fence": "a code fence around the page",
    "front_matter": "YAML before the text",
    "coordinates": "coordinates",
    "special_tokens": "special tokens of a model",
    "image_data": "a picture as base64",
    "selection_marks": "marks of selected boxes",
}
"""The kinds in words, as a page has them."""


class Artifact(NamedTuple):
    """One artifact of a text.

    Attributes:
        kind: what it is.
        spans: where it is, ascending: of a fence both ends, of a loop all but the first occurrence.
    """

    kind: Kind
    spans: tuple[Span, ...]


def artifacts(text: str) -> list[Artifact]:
    """Return the artifacts of a page's text, by kind; a refusal is the whole text. Linear in the text's length."""
    if is_refusal(text):
        return [Artifact("refusal", ((0, len(text)),))]
    found = [*_prompts(text), *_around(text)]
    found += _marks(text, next((artifact.spans for artifact in found if artifact.kind == "fence"), None))
    pictures = covered([artifact for artifact in found if artifact.kind == "image_data"])
    return [*(Artifact("loop", (span,)) for span in _loops(text, pictures)), *found]


def _marks(text: str, fence: Sequence[Span] | None) -> Iterator[Artifact]:
    """Yield the single marks of a page, perhaps in a fence; those in its code are its own."""
    start, end = (fence[0][1], fence[1][0]) if fence else (0, len(text))
    blocks = code_blocks(text, start, end)
    ends = [block_end for _, block_end in blocks]
    for kind, needle, pattern in _PATTERNS:
        if needle not in text or (pattern is _JSON_POSITION and not _is_layout(text, start)):
            continue
        for match in pattern.finditer(text):
            place, before = bisect_right(ends, match.start()), text[max(match.start() - 2, 0) : match.start()]
            is_inline = before.endswith("`") and before != "``"
            if not is_inline and (place == len(blocks) or match.start() < blocks[place][0]):
                yield Artifact(kind, (match.span(),))


def _loops(text: str, pictures: Sequence[Span]) -> Iterator[Span]:
    """Yield what loops repeat; those inside of a picture's base64 are none."""
    starts = [start for start, _ in pictures]
    for loop in loops(text):
        place = bisect_right(starts, loop.start) - 1
        if place < 0 or loop.end > pictures[place][1]:
            yield loop.once, loop.end


def unfenced(text: str) -> str:
    """Return what is inside the fence around a page; what is before the fence goes with it. Else the text."""
    fence = next((artifact for artifact in _around(text) if artifact.kind == "fence"), None)
    return text if fence is None else text[fence.spans[0][1] : fence.spans[1][0]]


def without_front_matter(text: str, keys: Collection[str]) -> str:
    """Return a text without YAML at its start, where that has none but these keys."""
    match = _FRONT_MATTER.match(text)
    return text[match.end() :] if match and set(_KEY.findall(match[0])) <= set(keys) else text


def without_artifacts(text: str, kinds: Collection[str]) -> tuple[str, list[Artifact]]:
    """Return a text without its artifacts of some kinds, and these artifacts; a loop stays once.

    Lines that are then empty are left out where others are around them; a text without artifacts stays as it is.
    """
    removed = [artifact for artifact in artifacts(text) if artifact.kind in kinds]
    spans = covered(removed)
    if not spans:
        return text, []
    borders = [0, *(border for span in spans for border in span), len(text)]
    left = "".join(text[start:end] for start, end in zip(borders[::2], borders[1::2], strict=True))
    return BLANK_LINES.sub("\n\n", left).strip("\n"), removed


def covered(found: Collection[Artifact]) -> list[Span]:
    """Return the spans that artifacts cover, ascending, joined where they overlap."""
    joined: list[Span] = []
    for start, end in sorted(span for artifact in found for span in artifact.spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


BLANK_LINES = re.compile(r"\n(?:[ \t]*\n){2,}")
"""Several blank lines in a row."""

# --- single marks -----------------------------------------------------------------------------------------

_DEEPSEEK = r"<\|ref\|>[^<\n]{0,200}<\|/ref\|>\s{0,9}<\|det\|>[^<]{0,2000}<\|/det\|>[ \t]*\n?|<\|grounding\|>"
_NUMBERS = r"[\d\s.,\[\]()-]{3,2000}"
_POSITION = re.compile(
    rf"{_DEEPSEEK}|<\|(?:det|box_start|quad_start)\|>{_NUMBERS}<\|(?:/det|box_end|quad_end)\|>[ \t]*\n?"  # Qwen-VL
    r"|<\|(?:/?ref|/?det|object_ref_(?:start|end)|(?:box|quad)_(?:start|end))\|>"
    r"|<(?:loc|x|y|patch_index)_[\d.]{1,9}>(?:<(?:loc|x|y|patch_index)_[\d.]{1,9}>){0,99}"  # Florence, DocTags, Kosmos
    rf"|<(?P<tag>bbox|box|quad|poly(?:gon)?)>{_NUMBERS}</(?P=tag)>"
)
_BARE_POSITION = re.compile(r"^[a-z_]{3,20}\[(?:\[\d{1,4}(?:, ?\d{1,4}){3}\](?:, ?)?){1,99}\][ \t]*\n?", re.MULTILINE)
"""DeepSeek-OCR's, where a tokenizer left its special tokens out."""
_JSON_POSITION = re.compile(
    rf"\"(?:bbox(?:_2d)?|box_2d|bounding_?box|poly(?:gon)?)\"\s{{0,9}}:\s{{0,9}}\[{_NUMBERS}\]\s{{0,9}},?\s{{0,9}}"
)
"""Those of dots.ocr and Qwen-VL."""
_LAYOUT_KEY = re.compile(r"\"(?:text|text_content|label|category|type)\"\s{0,9}:")


def _is_layout(text: str, start: int) -> bool:
    """Report whether a page is the JSON of a layout, not a text about one."""
    return text[start : start + 99].lstrip().startswith(("[", "{")) and _LAYOUT_KEY.search(text) is not None


_HTML_POSITION = re.compile(r"[ \t]data-(?:bbox|polygon)=(?:\"[^\"<>]{0,200}\"|'[^'<>]{0,200}')")
"""Those of Qwen-VL and Chandra."""
_SPECIAL = re.compile(
    r"(?<!['\"])(?:<\|im_start\|>(?:system|user|assistant)?\n?|<\|(?!/?(?:ref|det|grounding|object_ref_|box_|quad_))/?\w{1,40}\|>"
    r"|<｜[^<>\n]{1,40}｜>|</?(?:start|end)_of_(?:turn|image|text)>|(?:<(?:pad|unk|eos|bos)>\s?){3,99}|</s>(?=\s{0,9}\Z))"
)
_DATA = r"data:(?:image/[\w.+-]{1,60}(?:;[\w=-]{1,40}){0,3}|[\w./+-]{1,60}(?:;[\w=-]{1,40}){0,2};base64),[\w+/=%-]*+"
_PICTURE = re.compile(
    rf"!\[[^\[\]\n]{{0,300}}\]\(<?{_DATA}>?(?:[ \t]{{1,9}}\"[^\"\n]{{0,300}}\")?\)"
    rf"|<img\b[^<>]{{0,300}}?\bsrc=[\"']?{_DATA}[^<>]{{0,300}}>"
    rf"|^\[[^\[\]\n]{{1,300}}\]:[ \t]{{0,9}}<?{_DATA}>?[^\n]{{0,300}}\n?|<{_DATA}>|{_DATA}(?<=[\w+/=%-]{{40}})",
    re.MULTILINE | re.IGNORECASE,
)
_PATTERNS: tuple[tuple[Kind, str, re.Pattern[str]], ...] = (
    ("coordinates", "<", _POSITION),
    ("coordinates", "[[", _BARE_POSITION),
    ("coordinates", '"', _JSON_POSITION),
    ("coordinates", "data-", _HTML_POSITION),
    ("special_tokens", "<", _SPECIAL),
    ("image_data", "data:", _PICTURE),
    ("selection_marks", "selected:", re.compile(r":(?:un)?selected:[ \t]?")),  # Azure
)
"""Kinds, what a text must hold to have one, and how one looks."""

# --- what is around a page --------------------------------------------------------------------------------

_FRONT_MATTER = re.compile(
    r"\s{0,99}---[ \t]*\n(?:[A-Za-z_][\w-]{0,60}:(?:[ \t][^\n]*)?\n(?:(?:[ \t]|- )[^\n]*\n){0,99}){1,99}"
    r"---[ \t]*(?:\n|\Z)"
)
_KEY = re.compile(r"^([\w-]+):", re.MULTILINE)
_WAS_READ = (
    r"(?:(?:extract|transcrib|convert|recogni[sz])ed[^:\n]{0,30}\b(?:text|content|markdown|page|document|tables?)\b"
    r"|\b(?:text|content)[^:\n]{0,20}\b(?:extracted|transcribed|(?:from|in|of) (?:the|this|your) (?:\w+ )?"
    r"(?:image|picture|scan|screenshot))\b|\btranscri(?:pt|ption) (?:of|from) (?:the|this|your) (?:\w+ )?"
    r"(?:image|page|document|scan|text)\b|\btranscription(?=[*_ ]*[:：][*_ ]*\n)|\b(?:ocr|markdown)\b)[^\n]{0,120}"
)
_SURE = r"(?:sure|certainly|of course|okay|absolutely)(?: thing)?"
_PREAMBLE = re.compile(
    rf"\s{{0,99}}[*_]{{0,3}}(?:(?:{_SURE}[!,.] )?(?:here(?: is|'s|’s| are)|below (?:is|are)|the following is)\b"
    rf"[^\n]{{0,30}}?{_WAS_READ}"
    rf"|{_SURE}! (?:here|below|i(?: have|'ve|'ll|’ve|’ll)|the following)\b[^\n]{{0,150}}"
    r"|(?:以下是|这是)[^\n]{0,30}(?:识别|提取|转录|图片|图像)[^\n]{0,120})"
    r"[:：][*_ \t]*\n\s*",
    re.IGNORECASE,
)
_OPENED = re.compile(r"\s{0,99}(`{3,99}|~{3,99})[ \t]*([\w-]{0,20})[ \t]*\n")
_PAGE_LANGUAGES = ("markdown", "md", "html", "latex", "text")
"""Languages that models name for a page, and seldom for a part of it."""


def _around(text: str) -> Iterator[Artifact]:
    """Yield what is before a page's text, from outside to inside, and the fence around it."""
    start = 0
    while token := _SPECIAL.match(text, start):
        start = token.end()
    if match := _front_matter(text, start):
        yield Artifact("front_matter", (match.span(),))
        start = match.end()
    if match := _PREAMBLE.match(text, start):
        yield Artifact("preamble", (match.span(),))
        start = match.end()
    if fence := _fence(text, start):
        yield fence
        if match := _front_matter(text, fence.spans[0][1]):
            yield Artifact("front_matter", (match.span(),))


def _front_matter(text: str, start: int) -> re.Match[str] | None:
    """Return YAML that begins at a place: a title, or several keys that are all in small letters."""
    if not (match := _FRONT_MATTER.match(text, start)):
        return None
    keys = _KEY.findall(match[0])
    return match if keys == ["title"] or (len(keys) > 1 and all(map(str.islower, keys))) else None


def _fence(text: str, start: int) -> Artifact | None:
    """Return the fence around a page: one without another in it, or of Markdown around whole blocks of code."""
    if not (opened := _OPENED.match(text, start)):
        return None
    mark, language = opened[1], opened[2].lower()
    end = len(text.rstrip())
    if end - len(mark) < opened.end() or not text.endswith(mark, opened.end(), end):
        return None
    inside = text[opened.end() : end - len(mark)].rstrip(" \t")
    if mark in inside:
        further = [line.strip() for line in inside.split("\n") if line.strip().startswith(mark)]
        names = [line[len(mark) :] for line in further]
        # each second one closes a block, and names no language
        if language not in _PAGE_LANGUAGES or len(names) % 2 or any(names[1::2]):
            return None
    return Artifact("fence", (opened.span(), (opened.end() + len(inside), len(text))))


# --- what a model says in place of a page -----------------------------------------------------------------

_IMAGE = r"(?:images?|pictures?|photos?|screenshots?|scans?|pages?|documents?|files?|pdf)\b(?! \d)"
_WHOSE = (
    r"(?: (?:an?|any|the|this|that|your|of|in|from|on|provided|attached|uploaded|scanned|actual|readable|directly))"
)
_OBJECT = rf"{_WHOSE}{{0,4}} (?:(?:hand)?written |visible |legible )?(?:text|contents?|handwriting|{_IMAGE})"
_REFUSED = re.compile(
    # how it begins
    r"(?:(?:(?:i'm|i am) )?(?:very |really |so )?sorry\b|(?:my )?apolog(?:ies|i[sz]e)\b|i apologi[sz]e\b"
    r"|unfortunately\b|as an ai\b[^.,\n]{0,60},|thank you for [^.,\n]{0,60}"
    r"|it (?:appears|seems)(?: that)?\b|[,.!\s]|but\b|however\b|for (?:the|any) confusion\b){0,14}"
    # what cannot be done
    r"(?:i(?: can(?:no|')t| can not| could(?: not|n't)| do(?: not|n't)| won't| will not"
    r"|(?: am|'m) (?:unable|not able) to) (?:\w{2,12}ly )?"
    r"(?:(?:read|see|view|extract|transcribe|recogni[sz]e|process|ocr|make out|access|identify|analy[sz]e|interpret)"
    rf"(?: this[.!]|{_OBJECT})|provide{_WHOSE}{{0,3}} (?:transcri|ocr\b|extract)"
    r"|(?:assist|help)(?: you)? with (?:(?:this|that|your) request\b|(?:this|that)[.!]?\Z|transcri|extract|reading"
    rf"|(?:this|that|your) {_IMAGE}))"
    # what there is instead
    rf"|(?:the|this) (?:provided |uploaded |attached )?{_IMAGE} (?:you (?:provided|uploaded|attached|shared) )?"
    r"(?:(?:is|appears(?: to be)?|seems to be) (?:completely |entirely |mostly |too )?"
    r"(?:blank|empty|blurry|illegible|unreadable|not (?:readable|legible))(?:[.,!]|\Z| (?:or|and|to|so|with)\b)"
    r"|(?:contains no|(?:does not|doesn't) contain any) (?:\w{4,10} )?text\b)"
    r"|no (?:readable |visible |legible )?text (?:is |was |could be )?"
    r"(?:found|detected|visible|extracted|recogni[sz]ed)\b"
    r"|(?:there is|there's|i see) no (?:readable |visible |legible )?text (?:visible )?"
    rf"(?:in|on) (?:the|this) (?:provided )?{_IMAGE}"
    rf"|unable to (?:read|extract|transcribe){_OBJECT}"
    rf"|please (?:provide|share|send|upload|attach){_OBJECT}[^.!?\n]{{0,40}}\b(?:i can|me to) "
    r"(?:read|transcribe|extract|help|assist|process|convert|analy[sz]e)\b)"
    r"|(?:(?:(?:非常|很)?抱歉|对不起|很遗憾|[，,]|但(?:是)?){1,6}我?|我)(?:无法|不能)[^。\n]{0,15}"
    r"(?:图片|图像|照片|(?:识别|提取|读取|转录|处理)[^。\n]{0,15}(?:文字|文本|文档|内容))",
    re.IGNORECASE,
)
"""Replies that name what cannot be done, which is to read, and what cannot be read."""
_LONGEST_REFUSAL = 400
"""Characters: a longer text that begins as a refusal has something else to say."""


def is_refusal(text: str) -> bool:
    """Report whether a text says that a page cannot be read, in place of the page."""
    if len(text) > 2 * _LONGEST_REFUSAL or len(said := text.strip().strip("*_#>[(\"' ")) > _LONGEST_REFUSAL:
        return False
    return _REFUSED.match(said.replace("’", "'")) is not None


_PROMPTS = (
    "raw_text_start", "raw_text_end", "just return the plain text representation of this document",
    "image of one page of a", "attached is one page of a document", "do not hallucinate",
    "extract the text from the above document", "as if you were reading it naturally",
    "convert the document to markdown", "convert the following document to markdown",
    "return only the markdown", "return only the extracted text",
    "output the layout information from the pdf image", "parse the reading order of this document",
    "you are an expert ocr", "you are an ocr", "recognize the text in the image", "extract all text from this image",
    "qwenvl html", "提取文档图片中正文", "请识别图",
)  # fmt: skip
"""Parts of the prompts of olmOCR, Nanonets, Zerox, DeepSeek-OCR, dots.ocr, Dolphin, Qwen-VL and HunyuanOCR, and of
scripts."""


_PROMPT = re.compile(
    rf"^[ \t]*+free ocr\.[ \t]*+$|(?<![a-z])(?:{'|'.join(map(re.escape, _PROMPTS))})(?![a-z])", re.MULTILINE
)


def _prompts(text: str) -> Iterator[Artifact]:
    """Yield the lines that repeat a prompt."""
    lower = text.replace("İ", "i").lower()  # the only letter that becomes two
    if not any(
        part in lower for part in ("free ocr.", *_PROMPTS)
    ):  # a search for words is faster than one for patterns
        return
    end = -1
    while match := _PROMPT.search(lower, end + 1):
        end = next_line if (next_line := lower.find("\n", match.end())) >= 0 else len(text)
        yield Artifact("prompt", ((lower.rfind("\n", 0, match.start()) + 1, end),))
