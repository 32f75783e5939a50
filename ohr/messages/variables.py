"""Environment variables that a spec names: filled in where they are used, written `${NAME}` wherever people read.

Only names are remembered, never values, so that nothing that is stored or sent to a worker holds a secret.
"""

import logging
import os
import re
from pathlib import Path

from ohr.messages.secrets import without_passwords

VARIABLE = re.compile(r"\$\{(\w+)\}")

_SHORTEST = 8
"""Values with fewer characters are not hidden: keys are longer, and `data` is part of many messages by chance."""

_filled: set[str] = set()


class FilledPath(type(Path())):  # type: ignore[misc] # the class of paths on this system, which mypy cannot know
    """A path in which variables were filled in; `written` is the text in the spec, with `${NAME}`.

    A path that is made from it, such as a file in that folder, is an ordinary one: its `written` is empty.
    """

    written = ""

    def __repr__(self) -> str:
        return repr(self.written or str(self))


def fill(text: str) -> str:
    """Replace each `${NAME}` with the variable's value.

    Raises:
        KeyError: the name of a variable that is not set.
    """
    filled = VARIABLE.sub(lambda match: os.environ[match[1]], text)
    _filled.update(VARIABLE.findall(text))
    return filled


class Formatter(logging.Formatter):
    """Writes log records with their time, as messages are written: without secrets."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Write a record."""
        return hidden(super().format(record))


def hidden(text: str) -> str:
    """Write `${NAME}` in place of the value of each variable that this process filled in, longest value first.

    Keys and passwords in addresses become `***`.
    """
    values = {name: os.environ.get(name, "") for name in _filled}
    for name in sorted(values, key=lambda name: (-len(values[name]), name)):
        if len(values[name]) >= _SHORTEST:
            text = text.replace(values[name], f"${{{name}}}")
    return without_passwords(text)
