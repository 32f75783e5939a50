"""Markdown and plain text: pages apart by Marker's marks, page-break comments or form feeds, else one page."""

import re

from ohr.contracts import Block

from . import azure, marker
from .values import Pages

_BREAK = re.compile(r"<!--\s*(?:PageBreak|page[ _-]?break)\s*-->|\f", re.IGNORECASE)


def pages(content: str) -> Pages:
    """Read a file of Markdown, MMD or plain text."""
    marked = marker.pages_of_text(content)
    if marked is not None:
        return marked
    parts = _BREAK.split(content)
    if len(parts) > 1 and not parts[-1].strip():  # pdftotext ends each page with a form feed
        parts.pop()
    return {place: tuple(azure.blocks(part)) or (Block("text", ""),) for place, part in enumerate(parts)}
