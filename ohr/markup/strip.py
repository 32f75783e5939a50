"""Content of a page without its markup."""

import html
import re
import unicodedata

from ohr.text.recent import recent

from .regions import FORMULAS, NOTATION, PROSE, TABULARS, WIDTH_FIRST

_ARGUMENT = r"\s*\{(?:[^{}]|\{[^{}]*\})*\}"
_OPTION = r"(?:\s*\[[^\[\]]*\])?"
_SPACE = "\x1f"  # a space in a formula that remains when the meaningless ones are removed

_EQUATION = rf"(?:{'|'.join(map(re.escape, sorted(FORMULAS)))})"
# In all expressions below, what must not precede a sign is checked behind the sign, and no alternative begins with a
# group: an expression whose alternatives all begin with a literal is searched for many times as fast.
_OPENING = re.compile(rf"\$(?<!\\\$)\$|\\(?<!\\\\)[\[(]|\\begin\{{{_EQUATION}\}}|\$(?<![\\$]\$)")
_CLOSING = {
    "$$": re.compile(r"\$(?<!\\\$)\$"),
    "\\[": re.compile(r"\\\]"),
    "\\(": re.compile(r"\\\)"),
    "\\begin": re.compile(rf"\\end\{{{_EQUATION}\}}"),
}
_INLINE = re.compile(
    # as in pandoc: no space inside the dollars and no digit after them, so `$5 and $10` is money
    r"\$(?=\S)((?:[^$\\\n]++|\n(?!\s*\n)|\\.)++)(?<!\s)\$(?![\d$])"
    r"|\$(?=[ \t][^$\n]*[\\^_={])((?:[^$\\\n]++|\\.)++)(?<=[ \t])\$(?![\d$])",
    re.DOTALL,
)
_LONGEST = 4000  # characters of a formula, so that a stray delimiter does not join distant parts of a page
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
_LINE_END = re.compile(rf"\\\\{_OPTION}")
_MEANINGLESS = re.compile(r"\\(?=.)|[\^_{}'\s]")
_ARGUMENTS = re.compile(
    rf"\\begin\s*\{{(?:{'|'.join(sorted(TABULARS - WIDTH_FIRST))})\}}{_OPTION}{_ARGUMENT}"
    rf"|\\begin\s*\{{(?:{'|'.join(map(re.escape, sorted(WIDTH_FIRST)))})\}}{_ARGUMENT}{_OPTION}{_ARGUMENT}"
    rf"|\\(?:begin|end)\s*\{{[^{{}}]*\}}{_OPTION}"
    rf"|\\multicolumn{_ARGUMENT}{_ARGUMENT}|\\multirow{_OPTION}{_ARGUMENT}{_OPTION}{_ARGUMENT}{_OPTION}"
    r"|\\(?:cline|cmidrule(?:\([a-z]*\))?|[hv]space\*?|label|ref|cite[a-z]*|includegraphics|color|textcolor|href"
    rf"|rowcolor|cellcolor){_OPTION}{_ARGUMENT}"
)
_RULING = r"(?::-+:?|-+:|-{2,})"  # of a table; a single hyphen is an empty cell

_RULES: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    # html: tags inside a word leave nothing, the others part words
    # up to another comment, or many that are not closed would take long
    (("-->",), re.compile(r"<!--(?:[^<]|<(?!!--)){0,4000}?-->"), " "),
    (("<",), re.compile(r"</?(?:a|b|i|u|s|em|strong|sub|sup|span|font|code|mark|small)(?:\s[^<>]*)?>", re.I), ""),
    (
        ("<",),
        re.compile(
            r"</?(?:table|caption|thead|tbody|tfoot|tr|td|th|colgroup|col|chart|figure|figcaption|img|br|hr|p|div|center"
            r"|pre|blockquote|ul|ol|li|h[1-6]|html|head|body|details|summary)(?:\s[^<>]*)?/?>",
            re.I,
        ),
        " ",
    ),
    # markdown: fences, rules of tables and pages, marks at the beginning of a line, images, links, emphasis, cells
    (("```", "~~~"), re.compile(r"\n[ \t]*(?:```|~~~).*"), "\n "),
    (
        ("|",),  # possessive, or a line of spaces would take quadratic time
        re.compile(rf"\n[ \t]*+\|?+(?:[ \t]*+{_RULING}[ \t]*+\|)++(?:[ \t]*+{_RULING})?+[ \t]*+$", re.MULTILINE),
        "\n ",
    ),
    (("---", "***", "___", "==="), re.compile(r"\n[ \t]*(?:-{3,}|\*{3,}|_{3,}|={3,})[ \t]*$", re.MULTILINE), "\n "),
    (("#", "-", "*", "+", ">"), re.compile(r"\n[ \t]*(?:>[ \t]?)*(?:#{1,6}|[-*+]|>)[ \t]+"), "\n"),
    (("](",), re.compile(r"!\[([^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)"), r"\1"),
    (("](",), re.compile(r"\[([^\[\]]+)\]\([^()\s]+(?:\s[^()]*)?\)"), r"\1"),
    (("*",), re.compile(r"(\*(?<!\\\*)\*{0,2})(?=\S)([^*]{1,400}?)(?<=[^\s\\])\1"), r"\2"),
    (("_",), re.compile(r"(_(?<![\w\\]_)_{0,2})(?=\S)([^_]{1,400}?)(?<=[^\s\\])\1(?!\w)"), r"\2"),
    (("`",), re.compile(r"`(?<!\\`)`*"), ""),
    (("|",), re.compile(r"\|(?<!\\\|)"), " "),
    # latex: arguments that are layout, line ends, commands, cell marks, escapes, groups
    (("\\",), _ARGUMENTS, " "),
    (("\\\\",), _LINE_END, " "),
    (("\\",), re.compile(rf"\\[A-Za-z]+\*?{_OPTION}(?=\{{)"), ""),
    (("\\",), re.compile(r"\\[A-Za-z]+\*?"), " "),
    (("&",), re.compile(r"&(?<!\\&)(?!#?\w+;)(?!(?<=[A-Z]&)[A-Z])"), " "),
    (("}",), re.compile(r"\}\s*\{"), " "),
    (("{", "}"), re.compile(r"[{}](?<!\\[{}])"), ""),
    (("\\",), re.compile(r"\\([^A-Za-z0-9\s]|(?=\s))"), r"\1"),
    # html.unescape fails on a number that is too long for int(), which reads 4,300 digits
    (("&#",), re.compile(r"&#[0-9]{4000,};?"), "\ufffd"),
)
"""Signs of which at least one must be in the text, a pattern, and its replacement; applied in this order."""


@recent
def strip_markup(text: str) -> str:
    r"""Return the content of a page: its text without LaTeX, Markdown and HTML notation.

    Commands, environments, delimiters, marks, tags, cell separators and rulings are removed; the contents of cells,
    formulas, headings and links remain; white space is collapsed. Formulas are brought to one form in which notations
    of the same formula agree: `$x ^ { 2 } \quad + \beta$` and `$x^2 + β$` both become `x2 β`.

    Edge cases: an unpaired delimiter remains; money (`$5 and $10`) is not a formula; a tag that is not HTML
    (`<username>`) is text. Stripping twice may differ from stripping once where the content itself looks like markup,
    such as an escaped `\*`.
    """
    if "$" in text or "\\" in text:
        text = _strip_formulas(text)
    text = f"\n{text}"  # so that the marks of lines, the first one's too, follow a sign that can be searched for
    for signs, pattern, replacement in _RULES:
        for sign in signs:  # `any` would take longer than most of the substitutions
            if sign in text:
                text = pattern.sub(replacement, text)
                break
    return " ".join(html.unescape(text).split())


def _strip_formulas(text: str) -> str:
    """Strip each formula, in time linear in the length of the text even where openings have no closing."""
    parts, place = [], 0
    closings: dict[str, re.Match[str] | None] = {}  # the next of each kind
    opening = _OPENING.search(text)
    while opening:
        start, first, kind = opening.start(), opening.end(), opening[0].partition("{")[0]
        if kind == "$":
            closing = _INLINE.match(text, start)
            first, last = closing.span(closing.lastindex or 0) if closing else (first, first)
        else:
            if kind not in closings or ((known := closings[kind]) and known.start() <= first):
                closings[kind] = _CLOSING[kind].search(text, first + 1)
            closing = closings[kind]
            last = closing.start() if closing else first
        if closing and last - first <= _LONGEST:
            whole = text[start : closing.end()]
            parts += [text[place:start], _formula(whole, whole if kind == "\\begin" else text[first:last])]
            place = closing.end()
            opening = _OPENING.search(text, place)
        else:
            opening = _OPENING.search(text, start + 1)
    return "".join([*parts, text[place:]])


def _formula(whole: str, body: str) -> str:
    if "\\" not in body:
        if PROSE.search(body) or (" " in body and not NOTATION.search(body)):
            return whole  # two dollars that happen to surround words
    else:
        body = _ARGUMENTS.sub(_SPACE, _LINE_END.sub(_SPACE, body))
        body = _FUNCTION.sub(rf"{_SPACE}\1{_SPACE}", body)
        body = _TEXT_IN_MATHS.sub(_spaced, _GREEK_COMMAND.sub(_greek, body))
        body = _WITHOUT_TRACE.sub("", body)
    # escapes and notation are removed; white space means nothing in a formula
    body = _MEANINGLESS.sub("", _PARTS.sub(_SPACE, body).replace(_SPACE, "\0"))
    return unicodedata.normalize("NFKC", body).translate(_SIGNS)


class _Signs(dict[int, str]):
    """Maps a character of a formula to itself, or an operator, a symbol, a dash or a control character to a space."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        self[code] = " " if unicodedata.category(sign) in ("Sm", "So", "Pd", "Cc") else sign
        return self[code]


_SIGNS = _Signs()


def _greek(match: re.Match[str]) -> str:
    letter = _GREEK[match[1].lower()]
    return letter.upper() if match[1][0].isupper() else letter


def _spaced(match: re.Match[str]) -> str:
    return _SPACE + _SPACE.join(match[1].split()) + _SPACE
