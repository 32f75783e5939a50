"""The questions of a run that lost or gained most, as `ohr show RUN --questions` prints them."""

from dataclasses import dataclass
from typing import Any

from ohr.cli.display.console import say, say_json
from ohr.errors import DataError
from ohr.registry import choices
from ohr.results.run import Run


@dataclass(frozen=True, slots=True)
class Wanted:
    """The questions to print.

    Args:
        condition: whose losses count; by default the one with the largest.
        worst: how many of those that lost most; `best`: of those that gained most.
        words: text that the question, its id or its document contains.
    """

    condition: str | None
    worst: int
    best: int
    words: str


def show_questions(run: Run, wanted: Wanted, as_json: bool) -> None:
    """Print questions with their scores, and the words of their evidence that the condition lost.

    Raises:
        DataError: the run has no such condition, or no score to sort by.
    """
    from ohr.report.html.details import Details
    from ohr.report.html.questions import NOTHING, Choice, QuestionList

    listed = QuestionList(run)
    if not listed.pipelines:
        raise DataError(f"{run.folder}: has no scores of questions")
    pipeline, condition = listed.start
    if wanted.condition is not None:
        if wanted.condition not in listed.conditions:
            raise DataError(
                f"{run.folder}: no condition {wanted.condition!r}. {choices(wanted.condition, listed.conditions)}"
            )
        condition = listed.conditions.index(wanted.condition)
    order = listed.select(Choice(pipeline, condition, search=wanted.words)).tolist()
    lost = listed.lost(pipeline, condition)
    ends = [
        ("lost most", [place for place in order if lost[place] > NOTHING][: wanted.worst]),
        ("gained most", [place for place in order[::-1] if lost[place] < -NOTHING][: wanted.best]),
    ]
    details = Details(listed)
    found = [
        {**row, "list": title, "pipeline": listed.pipelines[pipeline].label, "condition": listed.conditions[condition]}
        | _evidence(details.read([row["place"]]), listed.conditions[condition])
        for title, places in ends
        for row in listed.rows(Choice(pipeline, condition), places)
    ]
    if as_json:
        say_json(found)
        return
    say(f"{listed.pipelines[pipeline].label}, {listed.conditions[condition]} against clean text")
    if not found:
        say("no question lost or gained" if not wanted.words else f"no question with {wanted.words!r} lost or gained")
    for row in found:
        _print(row)


def _undefined(value: float) -> bool:
    return value != value


def _evidence(part: dict[str, Any], condition: str) -> dict[str, Any]:
    """Return a question's answers, and its evidence with the words that were lost in brackets."""
    (question,) = part["questions"].values()
    marked = []
    for shown in question["pages"]:
        page = part["pages"][shown["key"]]
        read = page["reads"].get(condition)
        marked += [_marked(page["truth"], read, span) for span in shown["evidence"]] if read else []
    return {"answers": question["answers"], "evidence": marked or question["evidence"]}


def _marked(truth: str, read: dict[str, Any], span: tuple[int, int]) -> str:
    """Put what was lost of a passage in brackets, and what was read instead after an arrow."""
    from ohr.report.html.diff import changes_of

    start, end = span
    parts, place = [], start
    for a, b, c, d, same in changes_of(read["changes"]):
        if b <= start or a >= end or same:
            continue
        first, last = max(a, start), min(b, end)
        parts += [truth[place:first], f"[{truth[first:last]} -> {read['read'][c:d] or 'nothing'}]"]
        place = last
    return " ".join("".join((*parts, truth[place:end])).split())


def _print(row: dict[str, Any]) -> None:
    clean = "" if row["clean"] is None or _undefined(row["clean"]) else f"{row['clean']:.2f} -> "
    score = "failed" if row["failed"] else f"{row['score']:.2f}"
    say()
    say(f"{clean}{score}  {row['id']}  {row['document']}  {row['source']}")
    say(f"  {row['text']}")
    if row["answers"]:
        say(f"  answer: {' | '.join(row['answers'])[:200]}")
    for passage in row["evidence"]:
        say(f"  evidence: {passage[:600]}")
