"""The numbers that were published for OHRBench (arXiv:2412.02592): its tables, and counts of Tables 1 and S1."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from ohr.contracts import Published, Question, Tally

from ..published import published_numbers

METRICS = {"retrieval": "lcs", "generation": "f1", "overall": "f1"}
"""The metric of a column of scores, by stage."""
_AS_PRINTED = ("edit_distance", "redundant_commands")
"""Columns that are not in percent."""


def published() -> tuple[Published, ...]:
    """Return the numbers of all tables; shares are in [0, 1]."""
    return published_numbers(__package__, _about)


def _about(table: Mapping[str, Any], row: Mapping[str, str], column: str) -> Mapping[str, Any]:
    stage, as_printed = row["stage"], column in _AS_PRINTED
    by_group = not as_printed and stage != "page"
    return {
        # the distance of the text is repeated in the line of each stage, but is the score of none
        "stage": "page" if column == "edit_distance" else stage,
        "metric": METRICS[stage] if by_group else column,
        "group": column if by_group else "all",
        "setting": table["setting"][stage].format(**row),
        **({"value": float(row[column])} if as_printed else {}),
    }


S1 = {
    "law": (95, 1187, 1143),
    "finance": (65, 2133, 1359),
    "textbook": (504, 678, 1126),
    "manual": (87, 1724, 1155),
    "newspaper": (279, 487, 1202),
    "academic": (85, 1011, 1181),
    "administration": (146, 1341, 1332),
}
"""Table S1: documents, pages and questions of each domain."""
TASKS = {"understanding": 6114, "reasoning": 2384}
PAGES = {"single-page": 7656, "multi-page": 842}
"""Table 1. Its counts of evidence sources and answer formats do not sum to 8,498: no copy can."""
_NAMES = {"news": "newspaper", "paper": "academic"}
"""Domains of the first version under their present names."""


def tallies(truth: Mapping[str, int], questions: Sequence[Question]) -> Iterator[Tally]:
    """Count by domain and, where no domain is missing, in all and by kind of question.

    Args:
        truth: pages of the ground truth, by document.
        questions: of the domains that are there.
    """
    folders = {name.split("/")[0] for name in truth}
    domains = {name: _domain(name.split("/")[0], folders) for name in truth}
    documents = Counter(domains.values())
    pages: Counter[str] = Counter()
    for name, count in truth.items():
        pages[domains[name]] += count
    asked = Counter(_domain(question.domain, folders) for question in questions)
    counted = {"documents": documents, "pages": pages, "questions": asked}
    for domain, published in S1.items():
        for (what, counts), count in zip(counted.items(), published, strict=True):
            yield Tally(f"{domain}: {what}", counts[domain] if documents[domain] else None, count)
    yield Tally("other domains", len(documents.keys() - S1.keys()), 0)
    if documents.keys() >= S1.keys():
        yield from _whole(truth, questions)


def _whole(truth: Mapping[str, int], questions: Sequence[Question]) -> Iterator[Tally]:
    published = [sum(counts) for counts in zip(*S1.values(), strict=True)]
    found = (len(truth), sum(truth.values()), len(questions))
    for what, count, known in zip(("documents", "pages", "questions"), found, published, strict=True):
        yield Tally(f"all: {what}", count, known)
    for table, kinds in (
        (TASKS, Counter(question.task_type.lower() for question in questions)),
        (PAGES, Counter("multi-page" if len(question.pages) > 1 else "single-page" for question in questions)),
    ):
        for name, known in table.items():
            yield Tally(f"questions: {name}", kinds[name], known)


def _domain(name: str, folders: Collection[str]) -> str:
    """Return a domain's present name, unless there is a folder of that name, too."""
    present = _NAMES.get(name, name)
    return name if present in folders else present
