"""Markup of page texts: LaTeX, Markdown and HTML."""
