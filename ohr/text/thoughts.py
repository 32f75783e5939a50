"""Thoughts that models write into their replies, and how every reader gets what remains."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

_NAMES = "|".join(
    (
        "think(?:ing)?(?:_process)?|thoughts?|reasoning(?:_content|_process)?|reflection",
        "(?:inner|internal)_monologue|chain_of_thought",
        "思考(?:过程|過程)?|思维(?:过程|链)?|思維(?:過程|鏈)?|推理(?:过程|過程)?|推論|反思|考え|생각|사고|추론",
        "pensées?|réflexion|raisonnement|gedanken?|denken|überlegung(?:en)?|pensamientos?|pensar|razonamiento",
        "pensamentos?|raciocínio|pensiero|ragionamento|мысл[иь]|размышлени[ея]|рассуждени[ея]|التفكير|تفكير|विचार",
    )
)
"""Names of thoughts in tags, in several languages."""
_ATTRIBUTE = r"""\s{1,3}[\w:.-]{1,40}\s?=\s?(?:"[^"<>\n]{0,100}"|'[^'<>\n]{0,100}'|[^\s<>"']{1,100}?)"""
_TAG = (
    r"(?P<bracket><\|?|&lt;|[\[◁⟨〈《【「『])\s{0,3}(?P<end>/|end_(?:of_)?)?\s{0,3}"
    rf"(?:\w{{1,20}}:)?(?:(?:begin|start)_(?:of_)?)?(?P<name>{_NAMES})"
    rf"(?:{_ATTRIBUTE}){{0,5}}?\s{{0,3}}(?P<empty>/?)(?:\|?>|&gt;|[\]▷⟩〉》】」』])"
)
_CHANNEL = r"(?:<\|start\|>\w{0,20})?<\|channel\|?>\s{0,3}(?P<channel>\w+)[^<\n]{0,100}(?:<\|?message\|?>)?"
"""The channels of gpt-oss and Gemma, of which `final` has the answer."""
_PLAIN = r"(?P<plain>\A\s*(?-i:analysis(?=[A-Z])))|(?P<final>(?-i:assistantfinal))"
"""The same where a tokenizer left its special tokens out."""
_SPOKEN = r"(?P<process>^here(?: is|'s) my thought process:)|(?P<response>^here(?: is|'s) my response:)"
"""Granite's words."""
_MARKS = rf"{_TAG}|{_CHANNEL}|(?P<message_end><\|end\|>|<channel\|>)|{_PLAIN}|{_SPOKEN}"
_MARK = re.compile(_MARKS, re.IGNORECASE | re.MULTILINE)
_CODE_OR_MARK = re.compile(
    rf"(?P<fence>\A\s*```)|(?P<code>```(?s:.*?)```|`[^`\n]+`)|{_MARKS}", re.IGNORECASE | re.MULTILINE
)
_TOKEN = re.compile(r"<\|(?:start\|>(?:assistant)?|(?:end|message|return|call)\|>)")
_QUOTES = tuple("`\"'“”‘’«»")
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
"""Full-width signs as those of ASCII, one for one, so that places stay."""


@lru_cache(maxsize=256)  # agents are replayed, and several metrics read one reply
def without_thoughts(reply: str) -> str:
    """Return a reply without the thoughts between marks such as `<think>` and `</think>`; else the reply as it is.

    Marks are those of known models, and tags of such names in several languages: in any case, with attributes, nested,
    repeated. What precedes a mark that closes but never opened is a thought too, since a chat template may open it. A
    mark that is never closed goes to the end: a reply that was cut in its thoughts is empty.
    A mark in quoted code or in quotation marks is text. A mark in square or Asian brackets opens where it is closed
    later, or has the name `think`: others are headings.

    >>> without_thoughts("<think>Lyon? No.</think> Paris")
    'Paris'
    >>> without_thoughts("It may be Lyon.</think>Paris"), without_thoughts("<think>It may be Lyon")
    ('Paris', '')
    """
    text = reply.translate(_WIDE)
    marks = [*_MARK.finditer(text)]
    if not marks:
        return reply
    closed = {mark["name"].lower(): mark.end() for mark in marks if mark["end"]}
    pieces: list[str] = []
    names: list[str] = []  # of the thoughts that are open
    start = place = 0
    while mark := (_MARK if names else _CODE_OR_MARK).search(text, place):
        place = mark.end()
        turn, name = _turn(mark, names, closed)
        if turn == "text":
            continue
        if turn in ("open", "nothing"):
            pieces += [] if names else [reply[start : mark.start()]]
            names += [name] if turn == "open" else []
        else:
            if not names or name == "final":
                pieces.clear()
            while names and names.pop() != name:  # of another name, it closes all
                pass
        start = place
    said = "".join([*pieces, *([] if names else [reply[start:]])])
    return (_TOKEN.sub("", said) if "channel" in text else said).strip()


def opened_thought(prompt: str) -> str:
    """Return the mark with which a prompt ends, if it opens a thought: the reply to it begins inside of one.

    >>> opened_thought("<|im_start|>assistant\n<think>\n")
    '<think>'
    """
    marks = [mark for mark in _MARK.finditer(prompt) if not prompt[mark.end() :].strip()]
    return marks[0][0] if marks and _turn(marks[0], (), {})[0] == "open" else ""


def is_mark(token: str) -> bool:
    """Report whether a special token of a model is between its thoughts and its answer."""
    return bool(
        _MARK.fullmatch(token) or _TOKEN.fullmatch(token) or re.fullmatch(r"<\|?(?:channel|message)\|?>", token)
    )


def _turn(mark: re.Match[str], names: Sequence[str], closed: Mapping[str, int]) -> tuple[str, str]:
    """Return what a mark does, `open`, `close`, `nothing` (it is left out), or it is `text`; and of which thought.

    Args:
        names: of the thoughts that are open.
        closed: by name, the end of the last tag that closes.
    """
    match mark.lastgroup:
        case "fence" | "code":  # a fence around the whole reply quotes nothing
            return "text", ""
        case "channel":
            return ("close", "final") if mark["channel"].lower() == "final" else ("open", "channel")
        case "message_end":
            return ("close" if "channel" in names else "text"), "channel"
        case "plain" | "process":
            return "open", str(mark.lastgroup)
        case "final":
            return ("close" if "plain" in names else "text"), "final"
        case "response":
            return ("close" if "process" in names else "text"), "process"
    name, text, (start, end) = mark["name"].lower(), mark.string, mark.span()
    before, closes = text[max(start - 1, 0) : start], mark["end"] and name in names
    if before in _QUOTES and text[end : end + 1] in _QUOTES and not (closes or (mark["end"] and before == "`")):
        return "text", name  # backticks around a tag that closes are those of code before and after it
    if mark["end"] or mark["empty"]:
        return "close" if mark["end"] or names else "nothing", name
    is_heading = mark["bracket"] not in ("<", "<|", "&lt;", "◁") and name != "think"
    return ("text" if is_heading and closed.get(name, 0) < end else "open"), name
