"""Texts and formulas as OmniDocBench compares them."""

import logging
import re
from functools import cache, lru_cache
from typing import Any

from ..versions import Version
from .delimiters import formulas, replaced, without

_ESCAPED = re.compile(r"\\([\\_&%^])")
_INLINE = (("$", "$"), ("\\(", "\\)"))
_NO_LETTER = re.compile(r"[^\w\u4e00-\u9fff]")
_LINE_MARKS = ("\\t", "\\n", "\t", "\n", "/t", "/n")
"""Removed one after the other before all that is no letter: `\\nabla` becomes `abla`, and `/next` becomes `ext`."""

_STYLES = (
    *("\\mathbf", "\\mathrm", "\\mathnormal", "\\mathit", "\\mathbb", "\\mathcal", "\\mathscr", "\\mathfrak"),
    *("\\mathsf", "\\mathtt", "\\textbf", "\\text", "\\boldmath", "\\boldsymbol", "\\operatorname", "\\bm"),
    *("\\symbfit", "\\mathbfcal", "\\symbf", "\\scriptscriptstyle", "\\notag", "\\setlength", "\\coloneqq"),
    *("\\space", "\\thickspace", "\\thinspace", "\\medspace", "\\nobreakspace", "\\negmedspace"),
    *("\\quad", "\\qquad", "\\enspace", "\\substackw", " "),
)
"""Commands that do not count: removed in this order, since one removal may join what the next removes."""

_STYLES_SINCE_15 = ("$$", "\\left", "\\right", "\\displaystyle", "\\text")
_ARGUMENTS = ("\\tag{", "\\hspace{", "\\begin{", "\\end{", "\\arraycolsep")
"""Commands that are removed with what follows, up to the first `}` in the line."""

_DISPLAY_END = re.compile(r"(?<!\\)\\\]")


def normalized_text(text: str) -> str:
    """Return the letters, digits and underscores of a text, its inline formulas as Unicode characters."""
    if "$" in text or "\\(" in text:
        text = "\n".join(map(_with_unicode, text.split("\n")))  # an inline formula ends in its line
    return letters(text)


def letters(text: str) -> str:
    """Return the letters, digits and underscores of a text."""
    for mark in _LINE_MARKS:
        text = text.replace(mark, "")
    return _NO_LETTER.sub("", text)


def normalized_formula(latex: str, version: Version) -> str:
    r"""Return a formula without delimiters, spaces, styles, numbers and environments, in lower case.

    Of a text with `\[...\]` in one line only the first of these is compared.
    """
    if version == "1.5":
        latex = latex.strip().strip("$").strip("\n")
    latex = _first_display(latex)
    for command in _ARGUMENTS:
        latex = without(latex, command, "}", in_line=True)
    latex = latex.strip(".")
    for style in (*_STYLES, *(_STYLES_SINCE_15 if version == "1.5" else ())):
        latex = latex.replace(style, "")
    return latex.lower()


@lru_cache(maxsize=4096)
def latex_to_text(latex: str) -> str | None:
    """Return LaTeX as Unicode characters, or nothing if pylatexenc cannot read it."""
    from pylatexenc.latex2text import LatexNodes2Text

    text_context, walker_context = _contexts()
    try:  # a converter for each text, since it remembers the title that it read
        return str(LatexNodes2Text(latex_context=text_context).latex_to_text(latex, latex_context=walker_context))
    except Exception:  # of deep nesting, or of a macro whose arguments are missing
        return None


@cache
def _contexts() -> tuple[Any, Any]:
    """Return what pylatexenc knows of macros, which takes longer to make than most formulas to convert."""
    from pylatexenc import latex2text, latexwalker

    logging.getLogger("pylatexenc").setLevel(logging.ERROR)  # it warns of each macro without its arguments
    return latex2text.get_default_latex_context_db(), latexwalker.get_default_latex_context_db()


def _with_unicode(line: str) -> str:
    conversions = []
    for start, end, _, body in formulas(line, _INLINE):
        latex = _ESCAPED.sub("", body)
        if re.search(r"[\\^_]", latex):
            converted = latex_to_text(latex + " " * latex.endswith("\\"))
            if converted is not None:
                conversions.append((start, end, converted.strip()))
    return replaced(line, conversions)


def _first_display(latex: str) -> str:
    for line in latex.split("\n"):
        start = line.find("\\[")
        if start >= 0 and (end := _DISPLAY_END.search(line, start + 3)):
            return line[start + 2 : end.start()].strip()
    return latex
