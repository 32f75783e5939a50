"""Verdicts on the text layers of a folder of PDFs: which pages are not whole, and why.

    python -m studies.text_layers FOLDER --ocr 1

A second reader looks at every page, and Tesseract at as many pages of each PDF as are named.
"""

import argparse
from collections import Counter
from pathlib import Path

from ohr.errors import DataError
from ohr.text_layers.looks import looks


def main() -> None:
    """Print a line for each page that is not whole, and how many pages have which verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ocr", type=int, help="pages of each PDF that Tesseract reads; by default two doubtful ones")
    given = parser.parse_args()
    verdicts: Counter[str] = Counter()
    for path in sorted(given.folder.rglob("*.pdf")):
        try:
            pages = looks(path, given.ocr)
        except DataError as error:
            verdicts["refused"] += 1
            print(error, flush=True)
            continue
        verdicts["one reader"] += sum(not page.second and bool(page.text) for page in pages)
        for number, page in enumerate(pages, 1):
            verdicts[page.verdict or "damaged"] += 1
            if page.reason:
                print(f"{path.relative_to(given.folder)} page {number}: {page.verdict}: {page.reason}", flush=True)
    print(", ".join(f"{verdict} {count:,}" for verdict, count in verdicts.most_common()))


if __name__ == "__main__":
    main()
