"""The table `hygiene`: artifacts in the texts of a run's pages, such as loops and refusals, and how many there are."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from ohr.errors import DataError
from ohr.markup.artifacts import KINDS, artifacts, covered
from ohr.results.derived.pairs import ScoredRun
from ohr.results.run import Run
from ohr.results.tables.read_table import reading
from ohr.treatments import recorded_treatments

_EXCERPT = 80  # characters
_PAGES = 100  # that are read at once


def hygiene_rows(run: ScoredRun) -> Iterator[dict[str, Any]]:
    """Yield a row for each page and kind of artifact, in the order of the texts; nothing for pages without any.

    A text that several pages or conditions have is looked at once; the ground truth, which no program wrote, is not.
    """
    from pyarrow import parquet

    path, known = run.run.path("texts"), dict[bytes, list[dict[str, Any]]]()
    if not run.run.has("texts"):
        return
    truth = _as_they_are(run.run)
    rows: list[dict[str, Any]] = []
    pages, characters = defaultdict[str, int](int), defaultdict[str, int](int)
    columns = ["kb", "condition", "replicate", "document", "page", "text"]
    with reading(path):
        for batch in parquet.ParquetFile(path).iter_batches(_PAGES, columns=columns):
            for row in batch.to_pylist():
                if row["condition"] in truth:
                    continue
                text = row.pop("text") or ""
                pages[row["kb"]] += 1
                characters[row["kb"]] += len(text)
                digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
                if digest not in known:
                    known[digest] = _look(text)
                share = 1 / max(len(text), 1)
                rows += [{**row, **part, "share": part["characters"] * share} for part in known[digest]]
    for row in rows:
        yield {**row, "kb_pages": pages[row["kb"]], "kb_characters": characters[row["kb"]]}


def _as_they_are(run: Run) -> set[str]:
    """Return the conditions that are the ground truth without any treatment; none where nothing says what they are."""
    try:
        bases = run.manifest["spec"].get("knowledge_bases", ())
    except DataError:
        return set()
    own = {base["condition"] for base in bases if all(each.family == "ocr" for each in recorded_treatments(base))}
    return {condition for condition, engine in run.engines.items() if engine == "ground_truth" and condition in own}


def _look(text: str) -> list[dict[str, Any]]:
    """Return the part of a row that follows from a text, for each kind of artifact that it has."""
    by_kind = defaultdict(list)
    for artifact in artifacts(text):
        by_kind[artifact.kind].append(artifact)
    parts = []
    for kind in filter(by_kind.__contains__, KINDS):
        mine = by_kind[kind]
        size = sum(end - start for start, end in covered(mine))
        start, end = mine[0].spans[0]
        excerpt = " ".join(text[start : min(end, start + 4 * _EXCERPT)].split())[:_EXCERPT]
        parts.append({"kind": kind, "count": len(mine), "characters": size, "excerpt": excerpt})
    return parts


@dataclass(frozen=True, slots=True)
class Hygiene:
    """The artifacts of a condition, over its draws.

    Args:
        pages: that have any.
        of_pages: all of its pages.
        characters: that artifacts cover, of each kind counted.
        of_characters: all of its characters.
        kinds: pages by kind, the most first.
        rows: of the table.
    """

    condition: str
    pages: int
    of_pages: int
    characters: int
    of_characters: int
    kinds: dict[str, int]
    rows: Sequence[dict[str, Any]]


def read_hygiene(run: Run) -> list[Hygiene]:
    """Return the artifacts of each condition that has some.

    Raises:
        DataError: the table is damaged.
    """
    by_condition = defaultdict(list)
    for row in run.rows_if_any("hygiene"):
        by_condition[row["condition"]].append(row)
    return [_of(condition, rows) for condition, rows in by_condition.items()]


def _of(condition: str, rows: Sequence[dict[str, Any]]) -> Hygiene:
    bases = {row["kb"]: row for row in rows}
    kinds = {kind: sum(row["kind"] == kind for row in rows) for kind in {row["kind"] for row in rows}}
    return Hygiene(
        condition,
        len({(row["kb"], row["document"], row["page"]) for row in rows}),
        sum(base["kb_pages"] for base in bases.values()),
        sum(row["characters"] for row in rows),
        sum(base["kb_characters"] for base in bases.values()),
        dict(sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0]))),
        rows,
    )


def hygiene_by_kind(run: Run) -> list[dict[str, Any]]:
    """Return a row for each condition and kind of artifact, those first that most pages have."""
    return [_row(mine, kind, pages) for mine in read_hygiene(run) for kind, pages in mine.kinds.items()]


def _row(found: Hygiene, kind: str, pages: int) -> dict[str, Any]:
    mine = [row for row in found.rows if row["kind"] == kind]
    worst = max(mine, key=lambda row: row["characters"])
    return {
        "condition": found.condition,
        "kind": kind,
        "pages": pages,
        "of_pages": found.of_pages,
        "count": sum(row["count"] for row in mine),
        "share_of_characters": sum(row["characters"] for row in mine) / max(found.of_characters, 1),
        "example": f"{worst['document']} page {worst['page'] + 1}: {worst['excerpt']}",
    }
