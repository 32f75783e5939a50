"""The kinds of olmOCR-bench's tests: what a record holds, and when a page passes."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from rapidfuzz import fuzz

from .baseline import Repetition, disallowed_characters, letters
from .formulas import formulas_in, holds_formula
from .grids import Grid, html_grids, markdown_grids
from .near_matches import comes_before
from .normal_text import normal_text

Scorer = Literal["olmocr", "math: normalized"]


class Outcome(NamedTuple):
    """Whether a page passes a test, why not, and whose definition says so: the published one or, for formulas, ours."""

    passed: bool
    explanation: str = ""
    scorer: Scorer = "olmocr"


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


Normal = Annotated[str, AfterValidator(normal_text)]
Filled = Annotated[str, AfterValidator(_filled)]
FilledNormal = Annotated[str, AfterValidator(normal_text), AfterValidator(_filled)]


class PageTest(BaseModel, ABC):
    """A test of one page; texts are kept in normal form. Differences are edits of characters."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    pdf: Annotated[str, Field(min_length=1)]
    page: Annotated[int, Field(ge=1)]
    id: Annotated[str, Field(min_length=1)]
    max_diffs: Annotated[int, Field(ge=0)] = 0
    checked: Literal["verified", "rejected"] | None = None
    url: str | None = None

    @abstractmethod
    def outcome(self, page: str) -> Outcome:
        """Return whether the page passes."""

    def least_similarity(self, text: str) -> float:
        """Return the similarity from 0 to 1 that the allowed differences leave to a text."""
        return 1.0 - self.max_diffs / max(1, len(text))


class PresenceTest(PageTest):
    """Text that is on the page, or within its first or last characters, or is not; marginal lines are tested so."""

    type: Literal["present", "absent"]
    text: FilledNormal
    case_sensitive: bool = True
    first_n: Annotated[int | None, Field(ge=0)] = None
    last_n: Annotated[int | None, Field(ge=0)] = None

    def outcome(self, page: str) -> Outcome:  # noqa: D102
        text, content = self.text, normal_text(page)
        if not self.case_sensitive:
            text, content = text.lower(), content.lower()
        parts = [content[: self.first_n]] if self.first_n else []
        parts += [content[-self.last_n :]] if self.last_n else []
        similarity = fuzz.partial_ratio(text, "".join(parts) if parts else content) / 100.0
        least = self.least_similarity(text)
        if (similarity >= least) == (self.type == "present"):
            return Outcome(True)
        rule = "at least" if self.type == "present" else "less than"
        return Outcome(False, f"{text[:40]!r} has similarity {similarity:.3f} to the page; {rule} {least:.3f} passes")


class OrderTest(PageTest):
    """Text that begins before another one, at any of the places where they are."""

    type: Literal["order"]
    before: FilledNormal
    after: FilledNormal

    @model_validator(mode="after")
    def _few_differences(self) -> "OrderTest":
        if self.max_diffs > min(len(self.before), len(self.after)) // 2:
            raise ValueError(f"max_diffs: {self.max_diffs} is more than half of a text")
        return self

    def outcome(self, page: str) -> Outcome:  # noqa: D102
        return Outcome(*comes_before(self.before, self.after, normal_text(page), self.max_diffs))


class FormatTest(PageTest):
    """Text that is within a heading, bold or italic text."""

    type: Literal["format"]
    text: FilledNormal
    format: Literal["heading", "bold", "italic"]
    case_sensitive: bool = True

    def outcome(self, page: str) -> Outcome:  # noqa: D102
        text = self.text if self.case_sensitive else self.text.lower()
        for marked in _marked(page, self.format):
            content = normal_text(marked) if self.case_sensitive else normal_text(marked).lower()
            if fuzz.partial_ratio(text, content) / 100.0 >= self.least_similarity(text):
                return Outcome(True)
        return Outcome(False, f"{self.text[:40]!r} is in no text of format {self.format}")


class TableTest(PageTest):
    """A cell of any table that has the cells named here beside it, or as its headings."""

    type: Literal["table"]
    cell: Normal
    up: Normal | None = ""
    down: Normal | None = ""
    left: Normal | None = ""
    right: Normal | None = ""
    top_heading: Normal | None = ""
    left_heading: Normal | None = ""
    ignore_markdown_tables: bool = False

    def outcome(self, page: str) -> Outcome:  # noqa: D102
        try:
            grids = [*(() if self.ignore_markdown_tables else markdown_grids(page)), *html_grids(page)]
        except ValueError as error:
            return Outcome(False, str(error))
        if not grids:
            return Outcome(False, "the page has no table")
        reasons = []
        for grid in grids:
            for number, cell in enumerate(grid.cells):
                if self._similar(self.cell, cell.text):
                    missing = list(self._missing(grid, number))
                    if not missing:
                        return Outcome(True)
                    reasons += missing
        return Outcome(False, "; ".join(dict.fromkeys(reasons)) or f"no cell is {self.cell!r}")

    def _similar(self, expected: str, text: str) -> bool:
        return fuzz.ratio(expected, text) / 100.0 >= max(0.5, self.least_similarity(expected))

    def _missing(self, grid: Grid, number: int) -> Iterable[str]:
        """Name the neighbors and headings that a cell should have and has not."""
        related: list[tuple[str, str | None, Callable[[], set[int]]]] = [
            ("up", self.up, partial(grid.neighbors, number, "up")),
            ("down", self.down, partial(grid.neighbors, number, "down")),
            ("left", self.left, partial(grid.neighbors, number, "left")),
            ("right", self.right, partial(grid.neighbors, number, "right")),
            ("left heading", self.left_heading, partial(grid.headings, number, "left")),
            ("top heading", self.top_heading, partial(grid.headings, number, "up")),
        ]
        for name, expected, cells in related:
            if expected and not any(self._similar(expected, grid.cells[cell].text) for cell in cells()):
                yield f"{name} of {self.cell!r} is not {expected!r}"


class BaselineTest(PageTest):
    """A page with letters, without repetition at its end, Chinese, Japanese and emoji; or a blank page."""

    type: Literal["baseline"]
    max_length: Annotated[int | None, Field(ge=0)] = None
    max_length_skips_image_alt_tags: bool = False
    max_repeats: Annotated[int, Field(ge=1)] = 30
    check_disallowed_characters: bool = True

    def outcome(self, page: str) -> Outcome:  # noqa: D102
        if self.max_length is not None:
            count = letters(re.sub(r"!\[.*?\]\(.*?\)", "", page) if self.max_length_skips_image_alt_tags else page)
            blank = count <= self.max_length
            return Outcome(blank, "" if blank else f"the page should be blank and has {count} letters and digits")
        if not letters(page):
            return Outcome(False, "the page has no letter or digit")
        if repetition := Repetition.of_end(page, self.max_repeats):
            return Outcome(False, f"the page ends in {repetition.times} times the same {repetition.size} characters")
        if self.check_disallowed_characters and (characters := disallowed_characters(page)):
            return Outcome(False, f"the page has disallowed characters: {characters[:20]}")
        return Outcome(True)


class MathTest(PageTest):
    """A formula that is on the page, as `formulas.py` compares them: not the published comparison of renderings."""

    type: Literal["math"]
    math: Filled
    ignore_dollar_delimited: bool = False

    def outcome(self, page: str) -> Outcome:  # noqa: D102
        formulas = formulas_in(page, dollars=not self.ignore_dollar_delimited)
        if any(holds_formula(formula, self.math) for formula in formulas):
            return Outcome(True, scorer="math: normalized")
        reason = f"none of the {len(formulas)} formulas of the page has {self.math!r} in it"
        return Outcome(False, reason, "math: normalized")


class FootnoteTest(PageTest):
    """A footnote's mark, set high, with texts before and after it."""

    type: Literal["footnote"]
    marker: Annotated[str, Field(min_length=1, pattern="^[^ ]*$")]
    appears_before_marker: FilledNormal | Literal[""] | None = None
    appears_after_marker: FilledNormal | Literal[""] | None = None

    def outcome(self, page: str) -> Outcome:  # noqa: D102
        marks = list(_marks(page, self.marker))
        if not marks:
            return Outcome(False, f"the page has no footnote mark {self.marker!r}")
        # of 200 characters around a mark, twice as many as the text has are compared
        before = (_bare(page[max(0, start - 200) : start]) for start, _ in marks)
        after = (_bare(page[end : end + 200]) for _, end in marks)
        reasons = []
        if (text := self.appears_before_marker) and not any(self._near(text, part, -1) for part in before):
            reasons.append(f"{text[:40]!r} is not before footnote mark {self.marker!r}")
        if (text := self.appears_after_marker) and not any(self._near(text, part, 1) for part in after):
            reasons.append(f"{text[:40]!r} is not after footnote mark {self.marker!r}")
        return Outcome(not reasons, "; ".join(reasons))

    def _near(self, text: str, part: str, side: Literal[-1, 1]) -> bool:
        expected = _bare(text)
        length = min(len(part), 2 * len(expected)) or None  # a text without letters is looked for in all of it
        nearest = part if length is None else part[-length:] if side < 0 else part[:length]
        return bool(part) and fuzz.partial_ratio(expected, nearest) / 100.0 >= self.least_similarity(text)


_FORMATS = {
    "heading": [r"(?m)^#{1,6}\s+(.+?)$", r"(?is)<h[1-6][^>]*>(.*?)</h[1-6]>"],
    "bold": [r"(?s)\*\*(.*?)\*\*", r"(?s)__(.*?)__", r"(?is)<b[^>]*>(.*?)</b>", r"(?is)<strong[^>]*>(.*?)</strong>"],
    "italic": [
        r"(?s)(?<!\*)\*(?!\*)(.*?)(?<!\*)\*(?!\*)",
        r"(?s)(?<!_)_(?!_)(.*?)(?<!_)_(?!_)",
        r"(?is)<i[^>]*>(.*?)</i>",  # published so: <img> begins italic text too, and <br> bold text
        r"(?is)<em[^>]*>(.*?)</em>",
    ],
}
_HIGH_DIGITS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _marked(page: str, format: str) -> Iterable[str]:
    return (text for pattern in _FORMATS[format] for text in re.findall(pattern, page))


def _marks(page: str, marker: str) -> Iterable[tuple[int, int]]:
    """Yield where footnote marks begin and end: in Markdown unless the note itself, in HTML, of high digits."""
    plain = re.escape(marker)
    patterns = [rf"\[\^{plain}\](?!:)", rf"(?i)<sup[^>]*>{plain}</sup>"]
    if set(marker) <= set("0123456789"):
        patterns.append(marker.translate(_HIGH_DIGITS))
    return (match.span() for pattern in patterns for match in re.finditer(pattern, page))


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, normal_text(text))).lower()
