"""The program in a reply: which part of the text is executed."""

import re
from textwrap import dedent, indent

from .records import Protocol

_FENCE = "```"
_HEAD = "def solution():"
_DEFINES = re.compile(r"^[ \t]*def[ \t]+solution[ \t]*\(", re.MULTILINE)
_RETURNS = re.compile(r"^[ \t]*return\b", re.MULTILINE)
_LANGUAGE = re.compile(r"[ \t]*(?:(py|python)[\d.]*|[\w.+-]*)[ \t]*\n")
"""The first line of a block, which may name its language; the group is there where that is Python."""


def extract_program(reply: str, protocol: Protocol = "reference") -> str:
    """Return the program of a reply; empty where there is none.

    The published rules: the first block that is marked as Python; else the first block of any kind; else all of the
    text, made the body of `def solution():` unless it has that line. A reply that contains the word argparse has no
    program. Of a text with a single fence and without that line, the part before the fence counts.

    The clean rules repair faults of these: the first block is taken though another one defines the function; a last
    block whose fence is missing is no block; a function with an annotation or other spaces is not recognized; a body
    in a block is no function, and one without a block is indented in its first line only.
    """
    if not reply:
        return ""
    return _published(reply) if protocol == "reference" else _repaired(reply)


def _published(reply: str) -> str:
    if "argparse" in reply:
        return ""
    for opening in (f"{_FENCE}python", _FENCE):
        _, found, rest = reply.partition(opening)
        block, closed, _ = rest.partition(_FENCE)
        if found and closed:
            return block.strip("\n").strip("`").strip()
    if _HEAD in reply:
        return reply.strip().strip("`").strip()
    body = reply.split(_FENCE)[0]  # of no fence, all of it
    start = "" if reply.startswith("    ") else "    "
    return f"{_HEAD}\n{start}{body}".strip("`").strip()


def _repaired(reply: str) -> str:
    parts = [_part(place, text) for place, text in enumerate(reply.split(_FENCE))]
    code = max(parts, key=lambda part: part[0])[1]  # of equals, the first
    if not code.strip():
        return ""
    return dedent(code).strip() if _DEFINES.search(code) else f"{_HEAD}\n{_body(code)}"


def _part(place: int, text: str) -> tuple[tuple[bool, ...], str]:
    """Return signs that a part of a reply is the program, the strongest first, and its code.

    Parts inside fences have odd places, unless a fence is missing or closes a block that the prompt has opened.
    """
    language = _LANGUAGE.match(text) if place else None
    code = text[language.end() :] if language else text
    is_python = bool(language and language[1])
    return (bool(_DEFINES.search(code)), is_python, bool(_RETURNS.search(code)), place % 2 == 1), code


def _body(code: str) -> str:
    """Indent statements as the body of a function; a continuation may begin within its first line's indentation."""
    first, *rest = code.strip("\n").rstrip().split("\n")
    others = [line for line in rest if line.strip()]
    if others and not first.startswith(" ") and all(line.startswith("    ") for line in others):
        return "\n".join([f"    {first}", *rest])
    return indent(dedent("\n".join([first, *rest])), "    ")
