"""Check the English of docstrings, comments, messages, names and Markdown pages against a list of words to avoid.

A line that uses such a word properly ends with `# prose: ok`, in Markdown with `<!-- prose: ok -->`. A string
of several lines is exempt when the comment follows its end. Fenced code in Markdown is checked; code spans are not.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from .source import FOLDERS, ROOT

PLACES = (
    *FOLDERS,
    "docs",
    "docs/**/*.md",
    "samples/*.md",
    "speed/*.md",
    "pipelines/*.yaml",
    "*.md",
    "Makefile",
    "mkdocs.yml",
    "pyproject.toml",
)
"""Files, and folders with Python files, that keep the list: all that is written for a reader."""

NAMES_THE_WORDS = ("checks/prose.py", "tests/checks/test_prose.py")

AVOID = tuple(
    (re.compile(words, re.IGNORECASE), instead)
    for words, instead in (
        (r'^[rf]*"""(Give|Gives|Tell|Tells|Say|What) ', "begin with a noun, or with Return, Report whether, List"),
        (r"\b(told|tells?|telling)\b(?!.* apart)", "reports, prints, says, lists, names"),
        (r"\b(stands?|stood|standing)\b(?! for\b|-)", "is, is listed, is written, appears"),
        (r"\b(lies|lied|laid|lying|lain)\b", "is, is stored, is outside"),
        (r"\bwhat (is|are|was|were)\b.*\b(of|from|by|in|to|for) what\b", "name the two things"),
        (r"\b(as|than|for|of|in) (as which|as what|which those|what those)\b", "name the thing; split the sentence"),
        (r"\b(as|too|so) much of what\b", "name the thing"),
        (r"\bbe (it|they) (by|in|of|from|a|an|the)\b", "whether ... or"),
        (r"\b(be|do|does|is) so\b(?! that)", "repeat the verb"),
        (r"\b(giv(e|es|en|ing)|gave) back\b", "return"),
        (r"\b(go|goes|going|went) on\b", "continue"),
        (r"\b(rests?|resting) on\b", "depends on, needs"),
        (r"\b(anew|alike|whereof|thereof|therein|hereby|wherein)\b", "again, equal, the same way"),
        (r"\b(and|or) (its|the|their) likes?\b", "and similar"),
        (r"\b(broken?|breaks?) off\b|\bbroke off\b", "interrupted, stopped"),
        (r"\b(deaf|mouth|loudly)\b", "name the thing"),
        (r"\bworth (telling|saying|a word)\b", "warning"),
        (r"\bleft (whole|as it is|as they are)\b", "unchanged"),
        (r"\bhow far (it|they) (is|are)\b", "progress"),
        (r"\bof (one's|ones) own\b", "your own, custom"),
    )
)
"""Words, and what to write instead."""

Line = tuple[int, int, str]
"""The number of a line, that of the line where its string ends, and its prose."""

_PROSE = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)}  # the last since Python 3.12


def faults(root: Path = ROOT, places: Sequence[str] = PLACES) -> list[str]:
    """Return one line for each word to avoid in the files of `places`: file, line, the word, and what to write."""
    wrong = [f"checks/prose.py: PLACES: {name} does not exist" for name in places if not any(root.glob(name))]
    for file in _files(root, places):
        text = file.read_text(encoding="utf-8")
        exempt = {number for number, line in enumerate(text.splitlines(), 1) if "prose: ok" in line}
        for number, end, line in _of_python(text) if file.suffix == ".py" else _of_markdown(text):
            for words, instead in _avoided(line) if exempt.isdisjoint((number, end)) else ():
                wrong.append(f"{file.relative_to(root)}:{number}: `{words}`: {instead}")
    return wrong


def _files(root: Path, places: Sequence[str]) -> Iterator[Path]:
    for place in (place for name in places for place in sorted(root.glob(name))):
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        yield from (file for file in files if str(file.relative_to(root)) not in NAMES_THE_WORDS)


def _avoided(line: str) -> Iterator[tuple[str, str]]:
    for pattern, instead in AVOID:
        for match in pattern.finditer(line):
            yield match[0], instead


def _of_markdown(text: str) -> Iterator[Line]:
    """Yield the lines of a page without code spans and the targets of links."""
    for number, line in enumerate(text.splitlines(), 1):
        yield number, number, re.sub(r"`[^`]*`|\]\([^)]*\)", " ", line)


def _of_python(text: str) -> Iterator[Line]:
    """Yield the lines of comments and strings, and the names that the file defines, as words."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _PROSE:
            for number, line in enumerate(token.string.splitlines(), token.start[0]):
                yield number, token.end[0], line
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield node.lineno, node.lineno, name.replace("_", " ")
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield node.lineno, node.lineno, name.replace("_", " ")
