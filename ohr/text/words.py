"""Text as the metrics see it: normalised words, and content without markup."""

import html
import re
import string
import unicodedata
import warnings
from collections.abc import Callable
from functools import cache, lru_cache

HAN = "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Chinese characters, as the inside of a regular expression's character class."""

_PUNCTUATION = string.punctuation.encode()
_ARTICLES = frozenset(("a", "an", "the"))
_ARTICLE = re.compile(r"(?<![a-z0-9_])(?:an?|the)(?![a-z0-9_])")
HAS_HAN = re.compile(f"[{HAN}]")
"""Finds a Chinese character."""

_HAN_RUN = re.compile(f"([{HAN}]+)")


def normalise(text: str) -> str:
    """Give the text as the published scores compare it.

    Lower case; the 32 characters of `string.punctuation` deleted (so `3.14` becomes `314`, and other punctuation such
    as `“` or `，` stays); the words a, an, the dropped; white space collapsed to single spaces, none at the ends.
    Source: OHRBench, `normalize_answer` of `metric/common.py`, which takes these steps in this order.

    Edge cases: text of punctuation and articles only gives the empty string.
    """
    return " ".join(_normal_words(text))


def _normal_words(text: str) -> list[str]:
    # as bytes, where signs are deleted several times as fast
    bare = text.lower().encode("utf-8", "surrogatepass").translate(None, _PUNCTUATION)
    # word by word, since most words are plain letters, in which no article can hide
    found = [word for word in bare.decode("utf-8", "surrogatepass").split() if word not in _ARTICLES]
    if text.isascii() and not _CONTROL.search(text):
        return found
    odd = {word for word in found if not (word.isascii() and word.isalnum())}
    if not _ARTICLE.search(" ".join(odd)):
        return found
    # `a–b`: an article beside a sign that is in no word
    parts = {word: _ARTICLE.sub(_without_article, word).split() for word in odd}
    return [part for word in found for part in parts.get(word, (word,))]


def _without_article(match: re.Match[str]) -> str:
    around = match.string[max(match.start() - 1, 0) : match.start()] + match.string[match.end() : match.end() + 1]
    return match[0] if any(_in_word(sign) for sign in around) else " "


def _in_word(sign: str) -> bool:
    # not `\w`: a combining mark or a joiner continues a word, a superscript digit does not (Unicode TR 18, annex C)
    return unicodedata.category(sign)[0] in "LM" or unicodedata.category(sign) in ("Nd", "Nl", "Pc") or sign in _JOINERS


_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f]")
"""Signs of ASCII that are neither in a word nor white space."""

_JOINERS = "\u200c\u200d"


@lru_cache(maxsize=512)
def words(text: str, segment_chinese: bool = True) -> tuple[str, ...]:
    """Cut a text into normalised words.

    Args:
        text: any text.
        segment_chinese: cut each run of Chinese characters with jieba, as the clean protocol does; the reference
            protocol leaves an unspaced run as one word.

    Edge cases: text without a word gives an empty tuple; what stands beside a Chinese run without a space (`2021年`)
    is a word of its own. Where a run is cut depends on its neighbours, as with any Chinese segmenter.
    """
    pieces = _normal_words(text)
    if not segment_chinese or text.isascii() or not HAS_HAN.search(text):
        return tuple(pieces)
    return tuple(word for piece in pieces for word in ([piece] if piece.isascii() else chinese_words(piece)))


@lru_cache(maxsize=512)
def words_beside_chinese(text: str) -> frozenset[str]:
    """Give the words of `words` that are not Chinese, for whom needs no others: no dictionary has to be read."""
    if text.isascii() or not HAS_HAN.search(text):
        return frozenset(words(text))
    pieces = " ".join(_normal_words(text))
    return frozenset(_HAN_RUN.sub(" ", pieces).split())


def chinese_words(piece: str) -> list[str]:
    """Cut a text without white space into parts that together are all of it, each run of Chinese into its words."""
    found: list[str] = []
    for run in _HAN_RUN.split(piece):
        found += _chinese_run(run) if _HAN_RUN.match(run) else [run] * bool(run)
    return found


@lru_cache(maxsize=1 << 15)
def _chinese_run(run: str) -> tuple[str, ...]:
    """Keep what was cut: every rate, seed and comparison meets the same pages again."""
    return tuple(chinese_cutter()(run))


@cache
def chinese_cutter() -> Callable[[str], list[str]]:
    """Give jieba's cutter with its own dictionary; what it cuts includes white space."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # jieba's own escapes and pkg_resources
        import jieba
    jieba.setLogLevel("ERROR")
    cutter = jieba.Tokenizer()
    # what initialize() does, less the cache file that it would share with everyone in the temporary folder
    cutter.FREQ, cutter.total = cutter.gen_pfdict(cutter.get_dict_file())
    cutter.initialized = True
    cut: Callable[[str], list[str]] = cutter.lcut
    return cut


# --- content without markup -------------------------------------------------------------------------------

_ARGUMENT = r"\s*\{(?:[^{}]|\{[^{}]*\})*\}"
_OPTION = r"(?:\s*\[[^\[\]]*\])?"
_SPACE = "\x1f"  # a space of a formula that stays when the meaningless ones go

_EQUATION = r"(?:equation|align|gather|multline|eqnarray|displaymath|math)\*?"
# Here and in the rules below, what must not stand before a sign is looked at after the sign: an expression that begins
# with a sign is found many times as fast.
_MATHS = re.compile(
    r"\$(?<!\\\$)\$(.{1,4000}?)(?<!\\)\$\$"  # bounded: an engine in a loop repeats an opening for pages
    r"|\\(?<!\\\\)\[(.{1,4000}?)\\\]"
    r"|\\(?<!\\\\)\((.{1,4000}?)\\\)"
    rf"|(\\begin\{{{_EQUATION}\}}.{{1,4000}}?\\end\{{{_EQUATION}\}})"
    # as in pandoc: no space inside the dollars and no digit after them, so `$5 and $10` is money
    r"|\$(?<![\\$]\$)(?=\S)((?:[^$\\\n]|\n(?!\s*\n)|\\.){1,4000}?)(?<!\s)\$(?![\d$])"
    r"|\$(?<![\\$]\$)(?=[ \t][^$\n]*[\\^_={])((?:[^$\\\n]|\\.)+?)(?<=[ \t])\$(?![\d$])",
    re.DOTALL,
)
_NOTATION = re.compile(r"[\\^_{}=+*/<>|-]")
_PROSE = re.compile(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}")
_GREEK = {
    unicodedata.name(letter).rpartition(" ")[2].replace("LAMDA", "LAMBDA").lower(): letter
    for letter in "αβγδεζηθικλμνξπρστυφχψω"
}
_GREEK_COMMAND = re.compile(rf"\\(?:var)?({'|'.join([*_GREEK, *map(str.title, _GREEK)])})(?![A-Za-z])")
_FUNCTION = re.compile(r"\\((?:arc)?(?:cos|sin|tan)h?|cot|det|dim|exp|inf|lim|ln|log|max|min|sup)(?![A-Za-z])")
_TEXT_IN_MATHS = re.compile(r"\\(?:text[a-z]*|mbox)\s*\{([^{}]*)\}")
_WITHOUT_TRACE = re.compile(
    r"\\(?:[ ,;:!>]|(?:q?quad|thinspace|left|right|[bB]igg?[lrm]?|(?:display|text)style|(?:no)?limits|prime"
    r"|math[a-z]+|bm|pmb|boldsymbol|operatorname\*?|rm|bf|it|hat|bar|(?:wide)?tilde|vec|dot)(?![A-Za-z]))"
)
_PARTS = re.compile(r"\\[A-Za-z]+\*?|\}\s*\{|\.\.\.|[=+\-*/<>|&~]")

_ARGUMENTS = re.compile(
    rf"\\begin\s*\{{(?:array|longtable|tabular)\}}{_OPTION}{_ARGUMENT}"
    rf"|\\begin\s*\{{(?:tabular\*|tabularx|tabulary)\}}{_ARGUMENT}{_OPTION}{_ARGUMENT}"
    rf"|\\(?:begin|end)\s*\{{[^{{}}]*\}}{_OPTION}"
    rf"|\\multicolumn{_ARGUMENT}{_ARGUMENT}|\\multirow{_OPTION}{_ARGUMENT}{_OPTION}{_ARGUMENT}{_OPTION}"
    r"|\\(?:cline|cmidrule(?:\([a-z]*\))?|[hv]space\*?|label|ref|cite[a-z]*|includegraphics|color|textcolor|href"
    rf"|rowcolor|cellcolor){_OPTION}{_ARGUMENT}"
)
_RULING = r"(?::-+:?|-+:|-{2,})"  # of a table; a lone hyphen is an empty cell
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    # html: tags inside a word leave nothing, the others part words
    (re.compile(r"<!--.{0,4000}?-->", re.DOTALL), " "),
    (re.compile(r"</?(?:a|b|i|u|s|em|strong|sub|sup|span|font|code|mark|small)(?:\s[^<>]*)?>", re.IGNORECASE), ""),
    (
        re.compile(
            r"</?(?:table|caption|thead|tbody|tfoot|tr|td|th|colgroup|col|chart|figure|figcaption|img|br|hr|p|div|center"
            r"|pre|blockquote|ul|ol|li|h[1-6]|html|head|body|details|summary)(?:\s[^<>]*)?/?>",
            re.IGNORECASE,
        ),
        " ",
    ),
    # markdown: fences, rules of tables and pages, marks at the head of a line, images, links, emphasis, cells
    (re.compile(r"^[ \t]*(?:```|~~~).*$", re.MULTILINE), " "),
    (re.compile(rf"^[ \t]*\|?(?:[ \t]*{_RULING}[ \t]*\|)+(?:[ \t]*{_RULING})?[ \t]*$", re.MULTILINE), " "),
    (re.compile(r"^[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$", re.MULTILINE), " "),
    (re.compile(r"^[ \t]*(?:>[ \t]?)*(?:#{1,6}|[-*+]|>)[ \t]+", re.MULTILINE), ""),
    (re.compile(r"!\[([^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)"), r"\1"),
    (re.compile(r"\[([^\[\]]+)\]\([^()\s]+(?:\s[^()]*)?\)"), r"\1"),
    (re.compile(r"(\*(?<!\\\*)\*{0,2})(?=\S)([^*]{1,400}?)(?<=[^\s\\])\1"), r"\2"),
    (re.compile(r"(_(?<![\w\\]_)_{0,2})(?=\S)([^_]{1,400}?)(?<=[^\s\\])\1(?!\w)"), r"\2"),
    (re.compile(r"`(?<!\\`)`*"), ""),
    (re.compile(r"\|(?<!\\\|)"), " "),
    # latex: arguments that are layout, line ends, commands, cell marks, escapes, groups
    (_ARGUMENTS, " "),
    (re.compile(rf"\\\\{_OPTION}"), " "),
    (re.compile(rf"\\[A-Za-z]+\*?{_OPTION}(?=\{{)"), ""),
    (re.compile(r"\\[A-Za-z]+\*?"), " "),
    (re.compile(r"&(?<!\\&)(?!#?\w+;)(?!(?<=[A-Z]&)[A-Z])"), " "),
    (re.compile(r"\}\s*\{"), " "),
    (re.compile(r"[{}](?<!\\[{}])"), ""),
    (re.compile(r"\\([^A-Za-z0-9\s]|(?=\s))"), r"\1"),
)


@lru_cache(maxsize=512)
def strip_markup(text: str) -> str:
    r"""Give a page's content: its text without LaTeX, Markdown and HTML notation.

    Commands, environments, delimiters, marks, tags, cell separators and rulings go; the contents of cells, formulas,
    headings and links stay; white space is collapsed. Formulas are brought to one form, in which notations of the
    same formula agree: `$x ^ { 2 } \quad + \beta$` and `$x^2 + β$` both give `x2 β`.

    Edge cases: an unpaired delimiter stays; money (`$5 and $10`) is not a formula; a tag that is not HTML
    (`<username>`) is text. The result of stripping twice may differ from once where the content itself looks like
    markup, such as an escaped `\*`.
    """
    text = _MATHS.sub(_formula, text)
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return " ".join(html.unescape(text).split())


def _formula(match: re.Match[str]) -> str:
    body = match[match.lastindex or 0]
    if "\\" not in body and (_PROSE.search(body) or (" " in body and not _NOTATION.search(body))):
        return match[0]  # two dollars that happen to stand around words
    body = _ARGUMENTS.sub(_SPACE, re.sub(rf"\\\\{_OPTION}", _SPACE, body))
    body = _FUNCTION.sub(rf"{_SPACE}\1{_SPACE}", body)
    body = _TEXT_IN_MATHS.sub(_spaced, _GREEK_COMMAND.sub(_greek, body))
    body = _PARTS.sub(_SPACE, _WITHOUT_TRACE.sub("", body))
    # escapes and notation go; white space means nothing in a formula
    body = unicodedata.normalize("NFKC", re.sub(r"\\(?=.)|[\^_{}'\s]", "", body.replace(_SPACE, "\0")))
    return "".join(" " if unicodedata.category(sign) in ("Sm", "So", "Pd", "Cc") else sign for sign in body)


def _greek(match: re.Match[str]) -> str:
    letter = _GREEK[match[1].lower()]
    return letter.upper() if match[1][0].isupper() else letter


def _spaced(match: re.Match[str]) -> str:
    return _SPACE + _SPACE.join(match[1].split()) + _SPACE
