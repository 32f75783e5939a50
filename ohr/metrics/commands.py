r"""Formatting commands of a page: what OHRBench's Tables S2 and S3 count.

The paper does not say which commands it counts; these are those that its rules of formatting noise (III.1) can add.
"""

import re
from collections import Counter

# What must not precede a sign is checked behind the sign, and each expression begins with literals: it is searched for
# far faster. The bounds keep the time linear where an opening is repeated for pages.
_COMMANDS: dict[str, tuple[tuple[str, ...], re.Pattern[str]]] = {
    "bold": (
        ("\\textbf", "\\bfseries", "**"),
        re.compile(r"\\(?:textbf|bfseries)\b|\*(?<!\*\*)\*(?=\S)[^*\n]{1,400}?(?<=\S)\*\*(?!\*)"),
    ),
    "italic": (
        ("\\textit", "\\emph", "\\itshape", "*"),
        re.compile(r"\\(?:textit|emph|itshape)\b|\*(?<![\w*\\]\*)(?=[^\s*])[^*\n]{1,400}?(?<=[^\s*])\*(?![\w*])"),
    ),
    "underline": (
        ("\\underline", "_"),
        re.compile(r"\\underline\b|_(?<![\w\\]_)(?=[^\s_])[^_\n$]{1,400}?(?<=[^\s_])_(?!\w)"),
    ),
    "title": (("section", "#"), re.compile(r"\\(?:sub){0,2}section\b|\n[ \t]*#{1,6}[ \t]")),
    "line": (("\\hline", "\\cline"), re.compile(r"\\(?:hline|cline)\b")),
    "space": (("\\",), re.compile(r"\\(?:quad|qquad)\b|\\(?<!\\\\)[;: ]")),
    "symbol": (("\\",), re.compile(r"\\(?:mathbf|boldsymbol|mathbb|pmb|mathrsfs|mathscr|euscript|mathcal)\b")),
    "formula": (("$$", "\\[", "\\("), re.compile(r"\$(?<!\\\$)\$[^$]{1,4000}\$\$|\\(?<!\\\\)[\[(]")),
}
"""By kind: signs of which at least one must be in the text, and the expression of a command."""

KINDS = tuple(_COMMANDS)


def formatting_commands(text: str) -> Counter[str]:
    """Count a page's formatting commands by kind.

    Kinds: bold, italic, underline and title in LaTeX or Markdown; `line` (rules of tables), `space` and `symbol` (in
    formulas: spacing, alphabets), `formula` (openings of display formulas, and of inline ones in LaTeX's brackets).

    Edge cases: text without commands gives an empty counter.
    """
    text = f"\n{text}"  # a title follows a line break
    found: Counter[str] = Counter()
    for kind, (signs, pattern) in _COMMANDS.items():
        for sign in signs:
            if sign in text:
                found[kind] = len(pattern.findall(text))
                break
    return +found


def redundant_commands(found: Counter[str], truth: Counter[str]) -> int:
    """Count the commands that a page has beyond those of its ground truth, kind by kind."""
    return (found - truth).total()
