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

from .source import ROOT

CLEAN = (
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "pyproject.toml",
    "agents",
    "benchmarks",
    "checks",
    "generators",
    "noise/__init__.py",
    "noise/formatting",
    "noise/image",
    "noise/table_format.py",
    "ohr",
    "retrievers",
    "samples",
    "docs/**/*.md",
    "speed/calibration.py",
    "speed/demo.py",
    "speed/formatting_dose.py",
    "speed/image_noise.py",
    "speed/items.py",
    "speed/kills.py",
    "speed/latex_parses.py",
    "speed/memory.py",
    "speed/ohrbench_retrieval.py",
    "speed/photographs.py",
    "speed/programs.py",
    "speed/made_up_run.py",
    "speed/ray_nodes.py",
    "speed/repeated.py",
    "speed/report.py",
    "speed/start_up.py",
    "speed/text_noise.py",
    "speed/README.md",
    "tests/benchmarks",
    "tests/calibration",
    "tests/checks/test_layers.py",
    "tests/checks/test_sizes.py",
    "tests/chunkers",
    "tests/cli",
    "tests/conftest.py",
    "tests/engine",
    "tests/files",
    "tests/generators",
    "tests/markup",
    "tests/messages",
    "tests/metrics",
    "tests/models",
    "tests/noise/formatting",
    "tests/noise/image",
    "tests/noise/test_bad_text.py",
    "tests/noise/test_table_format.py",
    "tests/noise/test_text_noises.py",
    "tests/noise/texts.py",
    "tests/ocr",
    "tests/plugin_package",
    "tests/plugins.py",
    "tests/report",
    "tests/results",
    "tests/retrievers",
    "tests/sandbox",
    "tests/spec",
    "tests/store",
    "tests/test_conformance.py",
    "tests/sandbox",
    "tests/test_docs.py",
    "tests/test_keys.py",
    "tests/test_plugin_package.py",
    "tests/test_registry.py",
    "tests/test_seeds.py",
    "tests/test_testing.py",
    "tests/text",
    "tests/tiny_models.py",
)
"""Folders and files that keep the list, all but those of channel noise. `python -m checks FOLDER` lists the faults of
another one."""

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


def faults(root: Path = ROOT, clean: Sequence[str] = CLEAN) -> list[str]:
    """Return one line for each word to avoid in the files of `clean`: file, line, the word, and what to write."""
    wrong = [f"checks/prose.py: CLEAN: {name} does not exist" for name in clean if not any(root.glob(name))]
    for file in _files(root, clean):
        text = file.read_text(encoding="utf-8")
        exempt = {number for number, line in enumerate(text.splitlines(), 1) if "prose: ok" in line}
        for number, end, line in _of_python(text) if file.suffix == ".py" else _of_markdown(text):
            for words, instead in _avoided(line) if exempt.isdisjoint((number, end)) else ():
                wrong.append(f"{file.relative_to(root)}:{number}: `{words}`: {instead}")
    return wrong


def _files(root: Path, clean: Sequence[str]) -> Iterator[Path]:
    for place in (place for name in clean for place in sorted(root.glob(name))):
        files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
        yield from (file for file in files if file != Path(__file__))  # which has to name the words


def _avoided(line: str) -> Iterator[tuple[str, str]]:
    for pattern, instead in AVOID:
        for found in pattern.finditer(line):
            yield found[0], instead


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
