"""Files that are handed over to a system that answers offline."""

import re
from hashlib import sha256
from pathlib import Path

DIGEST = "documents.sha256"
"""File with the digest of the documents."""
QUESTIONS = "questions.jsonl"
"""File with the questions of a condition that is handed over."""
_OF_A_MOMENT = re.compile(rb"/CreationDate\([^)]*\)|/ID\s*\[[^\]]*\]")
"""Differences between two PDFs of the same pages."""


def plain(question: str) -> str:
    """Return a question whose spaces and ends of lines are those of any file."""
    return " ".join(question.split())


def digest(folder: Path) -> str:
    """Return a digest of the documents in a folder; that of a PDF is the same for the same pages."""
    whole = sha256()
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        whole.update(path.name.encode() + b"\0")
        whole.update(sha256(_OF_A_MOMENT.sub(b"", content) if path.suffix == ".pdf" else content).digest())
    return whole.hexdigest()
