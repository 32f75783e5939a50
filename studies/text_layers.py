"""Text layers against a second reader: which pages of a folder of PDFs have other words in pdfplumber, and why.

    python -m studies.text_layers FOLDER --pages 5

Words that one of the two glues or parts are the same letters; a page whose letters differ lacks text in one of them.
"""

import argparse
import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ohr.errors import DataError
from ohr.files.pdf_text import Layer, text_layer
from ohr.text.layer import clean_layer

_NAMED = 6


def main() -> None:
    """Print a line for each page that differs, and how many pages differ in which way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=5, help="pages of each PDF, from the first")
    given = parser.parse_args()
    logging.getLogger("pdfminer").setLevel(logging.CRITICAL)
    ways: Counter[str] = Counter()
    for path in sorted(given.folder.rglob("*.pdf")):
        for number, (way, said) in enumerate(_compared(path, given.pages), 1):
            ways[way] += 1
            if said:
                print(f"{path.relative_to(given.folder)} page {number}: {way}: {said}", flush=True)
    print(", ".join(f"{way} {count:,}" for way, count in ways.most_common()))


def _compared(path: Path, pages: int) -> Iterator[tuple[str, str]]:
    import pdfplumber

    try:
        layers = [layer for layer, _ in zip(text_layer(path), range(pages), strict=False)]
        with pdfplumber.open(path) as document:
            others = [page.extract_text() for page in document.pages[:pages]]
    except DataError as error:
        yield "refused", str(error)
    except Exception as error:  # pdfminer raises many kinds on damaged files
        yield "not read by pdfplumber", type(error).__name__
    else:
        first, second = clean_layer([layer.text for layer in layers]), clean_layer(others)
        for layer, one, other in zip(layers, first, second, strict=False):
            yield _way(layer, one.split(), other.split())


def _way(layer: Layer, first: list[str], second: list[str]) -> tuple[str, str]:
    """Return how the words of a page differ, with examples: what only ohr has, and what only the other has."""
    own, others = Counter(first) - Counter(second), Counter(second) - Counter(first)
    if not own and not others:
        return "same words", ""
    examples = f"{' '.join(list(own)[:_NAMED])!r}, there {' '.join(list(others)[:_NAMED])!r}"
    if layer.left_out:
        return "lines from top to bottom are missing", examples
    if layer.unknown:
        return "glyphs without Unicode", examples
    if sorted("".join(own.elements())) == sorted("".join(others.elements())):
        return ("parted here only" if own.total() > others.total() else "parted there only"), examples
    lacking, more = (sum(len(word) * n for word, n in words.items()) for words in (own, others))
    return ("more letters here" if lacking > more else "more letters there"), examples


if __name__ == "__main__":
    main()
