"""Properties that the benchmark wants of every page: letters, no repetition at the end, no foreign scripts."""

import re
from typing import NamedTuple

_LONGEST_NGRAM = 5
_DISALLOWED = re.compile(
    "[\u4e00-\u9fff\u3040-\u309f\u30a0-\u30ff"  # Chinese characters, hiragana, katakana
    "\U0001f600-\U0001f64f\U0001f300-\U0001f5ff\U0001f680-\U0001f6ff\U0001f1e0-\U0001f1ff]"  # emoji and flags
)


def letters(page: str) -> int:
    """Return how many letters and digits a page has."""
    return sum(map(str.isalnum, page))


def disallowed_characters(page: str) -> str:
    """Return the characters that no page of the benchmark has: Chinese, Japanese, emoji."""
    return "".join(_DISALLOWED.findall(page))


class Repetition(NamedTuple):
    """The characters at the end of a page, `size` of them, and how many times they follow each other."""

    size: int
    times: int

    @classmethod
    def of_end(cls, page: str, most: int) -> "Repetition | None":
        """Return the shortest repetition of up to five characters that there is more often than `most`."""
        text = re.sub(r"\s+", " ", page)
        for size in range(1, min(_LONGEST_NGRAM, len(text)) + 1):
            start = len(text) - size
            while start >= size and text.startswith(text[-size:], start - size):
                start -= size
            times = (len(text) - start) // size
            if times > most:
                return cls(size, times)
        return None
