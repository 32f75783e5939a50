"""Markup of page texts: LaTeX, Markdown and HTML."""

from typing import Literal

Notation = Literal["latex", "markdown", "html"]
"""Notation that tables and formulas are converted to."""
