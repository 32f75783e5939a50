"""Prints how long 10,000 candidates take through all rules of `ohr.questions`, against the limit of 60 s.

The candidates are mini's questions on copies of its documents, of which each has words of its own: as in a real set,
almost all candidates reach the last rule, and no copy has the evidence of another.

    python speed/questions.py
"""

import os

os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}

import re
import sys
from dataclasses import replace
from time import perf_counter

from ohr.benchmarks.mini import Mini
from ohr.contracts import Page
from ohr.questions.imports import of_question
from ohr.questions.verification import verify

CANDIDATES, LIMIT = 10_000, 60.0
WORD = re.compile(r"(?<![\\{A-Za-z])[A-Za-z]{5,}(?![A-Za-z}])|[\u4e00-\u9fff]{2,}")
"""A word that a copy changes: no command of LaTeX."""


def copied(text: str, copy: int) -> str:
    """Return a text with an ending at its long words that only this copy has."""
    if not copy:
        return text
    ending = f"{chr(97 + copy // 26)}{chr(97 + copy % 26)}"
    return WORD.sub(lambda word: word[0] + (ending if word[0].isascii() else chr(0x4E00 + copy)), text)


def main() -> None:
    """Time the rules, print what each removed, and fail above the limit."""
    benchmark = Mini()
    documents, questions = benchmark.documents(), [of_question(question) for question in benchmark.questions()]
    copies = -(-CANDIDATES // len(questions))
    truth = {
        f"{document.name}-{copy}": [
            Page(f"{document.name}-{copy}", page.index, copied(page.text, copy)) for page in benchmark.pages(document)
        ]
        for document in documents
        for copy in range(copies)
    }
    candidates = [
        replace(
            each,
            id=f"{each.id}-{copy}",
            document=f"{each.document}-{copy}",
            question=copied(each.question, copy),
            answers=tuple(copied(answer, copy) for answer in each.answers),
            evidence=tuple(replace(passage, text=copied(passage.text, copy)) for passage in each.evidence),
        )
        for copy in range(copies)
        for each in questions
    ][:CANDIDATES]
    start = perf_counter()
    funnel = verify(candidates, truth)
    seconds = perf_counter() - start
    for row in funnel.rows:
        print(f"{row.rule:26} {row.entered:7,} in {row.removed:7,} removed {row.left:7,} left")
    pages = sum(map(len, truth.values()))
    print(f"{len(candidates):,} candidates, {len(truth):,} documents, {pages:,} pages: {seconds:.1f} s ({LIMIT:.0f} s)")
    if seconds > LIMIT:
        sys.exit("too slow")


if __name__ == "__main__":
    main()
