r"""Formatting commands of a page: what OHRBench's Tables S2 and S3 count.

The paper does not say which commands it counts; these are those that its rules of formatting noise (III.1) can add.
"""

import re
from collections import Counter

# what must not stand before a sign is looked at after it: an expression that begins with a sign is found far sooner
_COMMANDS: dict[str, re.Pattern[str]] = {
    "bold": re.compile(r"\\(?:textbf|bfseries)\b|\*(?<!\*\*)\*(?=\S)[^*\n]{1,400}?(?<=\S)\*\*(?!\*)"),
    "italic": re.compile(r"\\(?:textit|emph|itshape)\b|\*(?<![\w*\\]\*)(?=[^\s*])[^*\n]{1,400}?(?<=[^\s*])\*(?![\w*])"),
    "underline": re.compile(r"\\underline\b|_(?<![\w\\]_)(?=[^\s_])[^_\n$]{1,400}?(?<=[^\s_])_(?!\w)"),
    "title": re.compile(r"\\(?:sub){0,2}section\b|^[ \t]*#{1,6}[ \t]", re.MULTILINE),
    "line": re.compile(r"\\(?:hline|cline)\b"),
    "space": re.compile(r"\\(?:quad|qquad)\b|\\(?<!\\\\)[;: ]"),
    "symbol": re.compile(r"\\(?:mathbf|boldsymbol|mathbb|pmb|mathrsfs|mathscr|euscript|mathcal)\b"),
    "formula": re.compile(r"\$(?<!\\\$)\$[^$]{1,4000}\$\$|\\(?<!\\\\)[\[(]"),
}

KINDS = tuple(_COMMANDS)


def formatting_commands(text: str) -> Counter[str]:
    """Count a page's formatting commands by kind.

    Kinds: bold, italic, underline and title in LaTeX or Markdown; `line` (rules of tables), `space` and `symbol` (in
    formulas: spacing, alphabets), `formula` (openings of display formulas, and of inline ones in LaTeX's brackets).

    Edge cases: text without commands gives an empty counter.
    """
    found = Counter({kind: len(pattern.findall(text)) for kind, pattern in _COMMANDS.items()})
    return +found


def redundant_commands(found: Counter[str], truth: Counter[str]) -> int:
    """Count the commands that a page has beyond those of its ground truth, kind by kind."""
    return (found - truth).total()
