"""The commit that code comes from: git knows it for a checkout, and a file of the build for an installed ohr."""

import subprocess
from pathlib import Path

RECORD = "commit.txt"
"""File beside this one that setup.py writes into a wheel and an sdist; a checkout has none."""

_SECONDS = 10.0
_DIGITS = 12  # of the 40 of a commit, for people


def own_commit() -> str | None:
    """Return the commit of this ohr, with `-dirty` where files were changed since; None where nothing knows it."""
    here = Path(__file__)
    try:
        return here.with_name(RECORD).read_text(encoding="ascii").strip() or None
    except (OSError, UnicodeDecodeError):
        return commit_of(here)


def commit_of(file: Path) -> str | None:
    """Return the commit of the checkout that a file is a part of; None for others, such as installed ones."""
    asked = (["ls-files", "--error-unmatch", "--"], ["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"])
    try:
        for words in asked:
            command = ["git", *words, *([file.name] if words[0] == "ls-files" else [])]
            run = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):  # no git, no checkout, or not a part of it
        return None
    return run.stdout.strip() or None


def with_commit(version: str, commit: str | None) -> str:
    """Name a version with its commit: `0.1.0 (commit 0123456789ab, changed since)`."""
    if not commit:
        return version
    digits, _, dirty = commit.partition("-")
    return f"{version} (commit {digits[:_DIGITS]}{', changed since' if dirty else ''})"
