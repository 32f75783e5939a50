"""Annotators' spans in an export of Label Studio, and how well the annotators agree.

Source of the `reference` mode: https://github.com/The-FinAI/FinCriticalED, `calculate_agreement.py`. It names a span by
the XPaths where it starts and ends, which have no offsets: of two spans in one text, the last one wins. It reads the
first 20 tasks, and of these the ones that have exactly as many annotators as are asked for.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from ohr.errors import DataError
from ohr.files.json_input import parse_json
from ohr.messages.wording import quoted
from ohr.statistics.agreement import cohen_kappa, fleiss_kappa, label_counts

Mode = Literal["reference", "clean"]
SpanKey = tuple[str, ...]

OUTSIDE = "O"
"""Label of a span for an annotator who has not marked it."""
FLEISS, COHEN = ".8837", ".82 to .93"
"""Agreement of four annotators over 20 tasks (published)."""
REFERENCE_TASKS = 20
"""Tasks that the published code reads."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A span that an annotator marked.

    Args:
        ends: XPaths of the texts where it starts and where it ends.
        offsets: of its ends in these texts, in characters; None where the export has none.
        label: the first of its labels.
    """

    ends: tuple[str, str]
    offsets: tuple[int | None, int | None]
    label: str

    def key(self, mode: Mode) -> SpanKey:
        """Return what the span is named by: its XPaths, in `clean` mode with the offsets in them."""
        if mode == "reference":
            return self.ends
        return self.ends[0], str(self.offsets[0]), self.ends[1], str(self.offsets[1])


Task = Mapping[int, tuple[Marked, ...]]
"""The spans of a page by annotator, ascending; of one who annotated it twice, those of the last time."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of the annotators of some tasks.

    Args:
        fleiss: kappa of all annotators over the tasks that each of so many annotated.
        cohen: kappa of each pair of annotators.
        items: spans that any of them marked, the items of `fleiss`.
        tasks: that these are in.
    """

    fleiss: float
    cohen: Mapping[tuple[int, int], float]
    items: int
    tasks: int


def read_export(path: Path) -> list[Task]:
    """Read the tasks of an export.

    Raises:
        DataError: the file is absent, or is no list of Label Studio's tasks; the message names the task.
    """
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise DataError(f"{path}: cannot be read: is no file")
    try:
        tasks = parse_json(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise DataError(f"{path}: no JSON: {error}") from None
    if not isinstance(tasks, list):
        raise DataError(f"{path}: must be a list of tasks (got {quoted(tasks)})")
    return [_task(task, f"{path}: task {number}") for number, task in enumerate(tasks, start=1)]


def agreement(tasks: Sequence[Task], annotators: int, mode: Mode = "clean") -> Agreement:
    """Compare the annotators of the tasks that have exactly `annotators` of them.

    Args:
        tasks: of an export.
        annotators: how many, at least 2.
        mode: `reference` names spans without their offsets and uses the first 20 tasks, as published. `clean` names
            them with offsets and uses all tasks; a pair is compared in all tasks that both annotated.

    Edge cases: nan where there is no such task, or nobody marked anything.
    """
    known = tasks[:REFERENCE_TASKS] if mode == "reference" else tasks
    used = [task for task in known if len(task) == annotators]
    ratings = [row for task in used for row in _items(task, mode)]
    table = list(zip(*ratings, strict=True))
    labels = sorted({label for row in ratings for label in row} | {OUTSIDE})
    return Agreement(
        fleiss=fleiss_kappa(label_counts(table, labels)),
        cohen=dict(_pairs(used if mode == "reference" else known, mode)),
        items=len(ratings),
        tasks=len(used),
    )


def exports(root: Path) -> list[Path]:
    """List the exports of a data set: files `annotation....json` in its folder or in `data`."""
    return [path for folder in (root, root / "data") for path in sorted(folder.glob("[Aa]nnotation*.json"))]


def agreement_note(path: Path) -> Iterator[str]:
    """Yield a line about the agreement of an export's annotators beside the published one; name a damaged export."""
    try:
        tasks = read_export(path)
    except DataError as error:
        yield f"{error}; so the annotators are not compared"
        return
    annotators = Counter(len(task) for task in tasks).most_common(1)
    if not annotators or annotators[0][0] < 2:
        yield f"{path.name}: no two annotators of one page, so they are not compared"
        return
    count = annotators[0][0]
    as_published, clean = (agreement(tasks, count, mode) for mode in ("reference", "clean"))
    yield (
        f"{path.name}: Fleiss' kappa of {count} annotators is {as_published.fleiss:.4f} by the published keys of spans "
        f"(published: {FLEISS} of 4) and {clean.fleiss:.4f} by their places; Cohen's of two "
        f"{' to '.join(f'{end(as_published.cohen.values()):.2f}' for end in (min, max))} (published: {COHEN})"
    )


def _items(task: Task, mode: Mode) -> list[tuple[str, ...]]:
    """Return each span that an annotator marked as a row of all their labels; of two of one name the last one's."""
    labels = [{span.key(mode): span.label for span in spans} for spans in task.values()]
    return [
        tuple(known.get(key, OUTSIDE) for known in labels) for key in sorted({key for known in labels for key in known})
    ]


def _pairs(tasks: Sequence[Task], mode: Mode) -> Iterator[tuple[tuple[int, int], float]]:
    """Yield the kappa of each pair of annotators, over the spans that anybody marked in the tasks of both."""
    rows: dict[tuple[int, int], list[tuple[str, str]]] = defaultdict(list)
    for task in tasks:
        for row in _items(task, mode):
            for (first, a), (second, b) in combinations(zip(task, row, strict=True), 2):
                rows[first, second].append((a, b))
    for pair, found in sorted(rows.items()):
        yield pair, cohen_kappa(*zip(*found, strict=True))


def _task(task: object, where: str) -> Task:
    if not isinstance(task, dict) or not isinstance(task.get("annotations"), list):
        raise DataError(f"{where}: must be an object with `annotations` (got {quoted(task)})")
    spans: dict[int, tuple[Marked, ...]] = {}
    for annotation in task["annotations"]:
        who = annotation.get("completed_by") if isinstance(annotation, dict) else None
        who = who.get("id") if isinstance(who, dict) else who  # exports of some versions have the whole person
        if not isinstance(who, int):
            raise DataError(f"{where}: `completed_by` must be an annotator's number (got {quoted(who)})")
        spans[who] = tuple(_marked(annotation.get("result"), where))
    return dict(sorted(spans.items()))


def _marked(results: object, where: str) -> Iterator[Marked]:
    """Yield the labeled spans; other results, and those without a place or a label, are skipped (published)."""
    if not isinstance(results, list):
        raise DataError(f"{where}: `result` must be a list (got {quoted(results)})")
    for result in results:
        value: Any = result.get("value") if isinstance(result, dict) and result.get("type") == "labels" else None
        if not isinstance(value, dict) or value.get("start") is None or not value.get("labels"):
            continue
        ends = str(value["start"]), str(value.get("end"))
        yield Marked(ends, (value.get("startOffset"), value.get("endOffset")), str(value["labels"][0]))
