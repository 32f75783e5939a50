"""Replies from a file, in the place of a large model: what they have read, they read as badly as it is written."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field, field_validator

from ohr.contracts import Completion, Generator, Prompt
from ohr.errors import DataError
from ohr.files.json_input import read_replies
from ohr.keys import file_digest
from ohr.registry import choices
from ohr.text.arithmetic import evaluate

_MARKED = re.compile(r"\{\{(.+?)\}\}", re.DOTALL)
_NUMBER = re.compile(r"\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+)(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)*")
"""A number with or without thousands separators, all of one kind; `57.9 63.4` in a row of a table are two."""
_FORMULA = re.compile(r"=(?P<terms>.+):(?P<form>[,+]?(?:\.\d)?[f%]?)\s*", re.DOTALL)
_TERM = re.compile(r"\[([^\[\]]+)\]")
_SEPARATOR = re.compile(r"(?<=\d)[, ](?=\d{3}(?!\d))")
_LEAST = 0.5
"""Least similarity (1 - edits / longer length) of a number to the one that is looked for: below it, half of the digits
are others, and a reader would not take one for the other."""
_FOUND = 60.0
"""Least similarity (0 to 100) at which words count as found."""


class Canned(Generator, kind="canned"):
    """Replies from a file: a stand-in for a large model where none can run, not a model.

    A value in double braces, as in `revenue = {{1204.5}}`, is read from the passages: where they hold it, with or
    without thousands separators, it stays; otherwise the most similar one that they hold takes its place, and
    `unreadable` where none is similar. So it knows how to answer every question, and errs where OCR has changed what
    it reads. `{{=([416.5] - [466.6]) / [466.6] * 100:.1f}}` computes with the values in brackets as they are read.
    """

    packages: ClassVar[tuple[str, ...]] = ("rapidfuzz",)
    replies: Annotated[
        Path | str,
        Field(description="JSON Lines with `id` of a question and `reply`; or a benchmark, for those of its sample."),
    ]
    unreadable: Annotated[str, Field(description="What takes the place of a value that the passages do not hold.")] = (
        "?"
    )

    @field_validator("replies")
    @classmethod
    def _file_or_name(cls, replies: Path | str) -> Path | str:
        """Take what has a suffix for a file; a benchmark's name has none."""
        return Path(replies) if Path(replies).suffix else replies

    def check(self) -> None:
        """Read the replies."""
        read_replies(self._file)

    @property
    def _file(self) -> Path:
        return self.replies if isinstance(self.replies, Path) else sample_file(self.replies)

    def identity(self) -> Mapping[str, object]:
        """Identify the replies by their content."""
        return {**super().identity(), "replies": file_digest(self._file)}

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Reply to each prompt; a question that the file does not have is a failed item."""
        known, name = read_replies(self._file), self._file.name
        for prompt in prompts:
            if prompt.id not in known:
                yield Completion("", finish="error", error=f"{name} has no reply to question {prompt.id!r}")
                continue
            reads = partial(_read_mark, text="\n".join(prompt.passages), unreadable=self.unreadable)
            yield Completion(_MARKED.sub(reads, known[prompt.id]))


def _read_mark(mark: re.Match[str], text: str, unreadable: str) -> str:
    return read_value(mark[1], text, unreadable)


def read_value(value: str, text: str, unreadable: str) -> str:
    """Return a value as a text has it: itself, the most similar one, or `unreadable`; that of a formula is computed."""
    if formula := _FORMULA.fullmatch(value):
        terms = _TERM.sub(lambda term: read_value(term[1], text, "?").replace(",", ""), formula["terms"])
        try:
            computed = evaluate(terms.strip())
            return format(float(computed), formula["form"].strip()) if isinstance(computed, int | float) else unreadable
        except (ValueError, ArithmeticError):  # a term was not read, or is 0
            return unreadable
    plain = _SEPARATOR.sub("", value)
    if _NUMBER.fullmatch(plain.lstrip("-")):
        return _number(plain, text, unreadable)
    return _words(value, text, unreadable)


def _number(value: str, text: str, unreadable: str) -> str:
    from rapidfuzz.distance import Levenshtein

    sign, digits = ("-", value[1:]) if value.startswith("-") else ("", value)
    held = {_SEPARATOR.sub("", found).strip(" ,.") for found in _NUMBER.findall(text)}
    if digits in held:
        return value
    likeness = {number: Levenshtein.normalized_similarity(number, digits) for number in sorted(held)}
    best = max(likeness, key=lambda number: likeness[number], default="")
    if not best or likeness[best] < _LEAST:
        return unreadable
    return sign + best.replace(",", "").replace(" ", "")


def _words(value: str, text: str, unreadable: str) -> str:
    from rapidfuzz.fuzz import partial_ratio_alignment

    if value in text:
        return value
    found = partial_ratio_alignment(value, text, score_cutoff=_FOUND) if text else None
    read = text[found.dest_start : found.dest_end].strip() if found else ""
    # a quotation mark or a line's end would break the JSON around the value
    return re.sub(r'[\s"\\]+', " ", read) or unreadable


def sample_file(benchmark: str) -> Path:
    """Return the replies that come with a benchmark's sample.

    Raises:
        DataError: there are none.
    """
    folder = Path(str(files("ohr.benchmarks")))
    known = sorted(path.parts[-3] for path in folder.glob("*/sample/canned.jsonl"))
    if benchmark not in known:
        raise DataError(
            f"replies: {choices(benchmark, known)} Or name a file, as in ./replies.jsonl (got {benchmark!r})"
        )
    return folder / benchmark / "sample" / "canned.jsonl"
