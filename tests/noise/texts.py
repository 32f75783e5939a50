"""Texts that the noises are tried on: pieces of ground truth put together, and real pages where they are at hand."""

import json
import os
import warnings
from pathlib import Path

from hypothesis import strategies as st

PIECES = (
    "The lease began in 1964. ",
    "See below. ",
    "It ends. ",
    "Rent is due each May of the year ",
    "word ",
    "\n",
    "\n\n",
    "$a_1 + b$ ",
    "\\(x^2\\) ",
    "\n$$\\frac{a}{b} \\leq \\sigma \\quad \\text{ if } \\mathbf{A} \\neq \\mathbb{R}$$\n",
    "${ }^{*}$ ",
    "$\\sum\\limits_{i=1}^{n} \\left(α_i x\\right)$ ",
    "\\[ \\begin{array}{ll} a & b \\\\ c & d \\end{array} \\]\n",
    "# Heading one\n",
    "## Second heading\n",
    "- item one\n",
    "1. item two three\n",
    "> quoted words here\n",
    "> - (a) item four\n",
    "| one row | only |\n",
    "| a | b |\n|---|---|\n| $x + y$ | two words |\n",
    "\\begin{tabular}{|l|r|} a b c & $d \\leq e$ \\\\ \\hline "
    "\\multicolumn{2}{c}{\\multirow{2}{*}{x \\& y}} \\\\ \\end{tabular}\n",
    "<chart>\n| x | y z w |\n</chart>\n",
    "<table><tr><td>one two</td><td>$x$</td></tr></table>\n",
    "\\textbf{so} ",
    "今年的租金。",
    "好。",
    "租金是三百元。",
    "$5 ",
    "costs \\$5 and \\$6 or 50\\% ",
    "_x_ ",
    "**b** ",
    "open { brace ",
    "\\begin{tabular}{l} never closed & ",
    "closing } ",
    "$ ",
    "مرحبا بالعالم ",
)
pieces = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
anything = st.text(st.characters(), max_size=200)
"""Any Unicode at all, lone surrogates and NUL among it."""

TREES = (
    "\\begin{tabular}{ll} a & b \\\\ c & d \\\\ \\end{tabular} ",
    "$\\frac{a+b}{c} x \\leq 4$ ",
    "$$\\sqrt[3]{x y} \\begin{array}{ll} a & b \\\\ c & d\\end{array}$$ ",
    "\\(\\left\\langle \\alpha x\\right\\rangle \\mathbb{R}\\) ",
    "$x^{\\prime} \\frac\\pi2 \\hat\\alpha y \\operatorname{sgn}(σx)$ ",
    "$\\text{ a σ } \\mathbf { A } B \\underline{\\quad} \\stackrel{a}{=} c$ ",
    "\\textbf{bold words here} and \\section{A title} ",
    "The lease began in 1964. It ends. ",
    "word ",
    "\n\n",
    "costs \\$5 \\& more ",
    "rose by 5% last year } or so { it ends. It ended. The rest of the line\n",  # to LaTeX, % begins a comment
    "\\begin{tabular}{ll} one two% three four\n five six & b \\\\ c & d \\\\ \\end{tabular}\n",
    "$$\n a + b % sum\n$$\n",
)
parsable = st.lists(st.sampled_from(TREES), max_size=15).map("".join)
"""Texts that LaTeX's grammar takes."""


def real_pages(root: Path | None = None) -> list[str]:
    """Read the ground truth of the real benchmark; nothing where it is not at hand."""
    root = root or Path(os.environ.get("OHRBENCH_DATA", "/nowhere"))
    files = sorted((root / "retrieval_base" / "gt").glob("*/*.json"))
    return [page["text"] for file in files for page in json.loads(file.read_text(encoding="utf-8"))]


def parses(text: str) -> bool:
    """Report whether pylatexenc reads the LaTeX of a text without tolerance."""
    from pylatexenc.latexwalker import LatexWalker, LatexWalkerParseError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            LatexWalker(text, tolerant_parsing=False).get_latex_nodes()
        except LatexWalkerParseError:
            return False
    return True
