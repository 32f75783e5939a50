"""An analysis of a run, the questions that changed most, or one question: what `ohr show` prints on request."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from typing import Any

from ohr.cli.display.console import say, say_json, say_table
from ohr.errors import DataError
from ohr.messages.wording import counted
from ohr.registry import choices
from ohr.results.run import Run

EVERY = "every"
AGREEMENT = "agreement"


def show_analysis(run: "Run", analysis: str, as_json: bool, people: Path | None = None) -> None:
    """Print one analysis, or every one.

    Args:
        people: a file of people's labels, for `agreement`.

    Raises:
        SpecError: there is no analysis of that name.
    """
    from ohr.errors import SpecError
    from ohr.registry import choices
    from ohr.report.analyses import ANALYSES, report_data
    from ohr.report.views.view import with_intervals
    from ohr.results.derived.rater_agreement import agreement

    if analysis not in (*ANALYSES, EVERY):
        raise SpecError(f"no analysis {analysis!r}. {choices(analysis, (*ANALYSES, EVERY))}")
    if people is not None and analysis != AGREEMENT:
        raise SpecError(f"--people is for --analysis {AGREEMENT} (got {analysis!r})")
    if people is not None:
        rows_by_analysis = {analysis: agreement(run, people)}
    else:
        rows_by_analysis = report_data(run) if analysis == EVERY else {analysis: ANALYSES[analysis](run)}
    if as_json:
        say_json(rows_by_analysis)
        return
    for name, listed in rows_by_analysis.items():
        rows = [with_intervals(row) for row in listed]
        say(f"{name}:" if rows else f"{name}: nothing in this run to show")
        if rows:
            say_table(list(rows[0]), [[_cell(value) for value in row.values()] for row in rows])


def _cell(value: Any) -> str:
    from ohr.report.views.view import long

    return " ".join(map(_cell, value)) if isinstance(value, list | tuple) else long(value)


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
    from ohr.report.html.question_list import NOTHING, Choice, QuestionList

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
    details = Details(listed, only=[place for _, places in ends for place in places])
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
        _print_changed(row)


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
    from ohr.report.html.details import changes_of

    start, end = span
    parts, place = [], start
    for a, b, c, d, same in changes_of(read["changes"]):
        if b <= start or a >= end or same:
            continue
        first, last = max(a, start), min(b, end)
        parts += [truth[place:first], f"[{truth[first:last]} -> {read['read'][c:d] or 'nothing'}]"]
        place = last
    return " ".join("".join((*parts, truth[place:end])).split())


def _print_changed(row: dict[str, Any]) -> None:
    clean = "" if row["clean"] is None or isnan(row["clean"]) else f"{row['clean']:.2f} -> "
    score = "failed" if row["failed"] else f"{row['score']:.2f}"
    say()
    say(f"{clean}{score}  {row['id']}  {row['document']}  {row['source']}")
    say(f"  {row['text']}")
    if row["answers"]:
        say(f"  answer: {' | '.join(row['answers'])[:200]}")
    for passage in row["evidence"]:
        say(f"  evidence: {passage[:600]}")


_PARTS = ("stage", "kb", "chunker", "retriever", "generator")
_PASSAGE = 160  # characters of a passage that was found
_LONGEST = 600  # characters of a prompt or reply: `--json` prints them whole


def show_question(run: Run, question: str, condition: str | None, as_json: bool) -> None:
    """Print the answers to a question with their headline score, and the steps behind those of agents.

    Where a run has no answers, print what its retrievers found.

    Raises:
        DataError: the run has no such question or condition.
    """

    asked = {row["question_id"]: row for row in run.rows("questions")}
    if question not in asked:
        raise DataError(f"{run.folder}: no question {question!r}. {choices(question, tuple(asked))}")
    answers, contexts = run.rows("answers", question_id=question), run.rows_if_any("hits", question_id=question)
    known = tuple(dict.fromkeys(row["condition"] for row in answers or contexts))
    if condition is not None and condition not in known:
        raise DataError(f"{run.folder}: nothing under the condition {condition!r}. {choices(condition, known)}")
    steps = run.rows_if_any("steps", question_id=question)
    metric = run.headlines.get("overall", "")
    scores = {_place(row): row for row in run.rows("scores", question_id=question, metric=metric)}
    answers_shown = [
        {
            **row,
            "error": run.reason(row),
            "metric": metric,
            "score": scores.get(_place(row), {}).get("value"),
            "steps": _steps_of(row, steps),
            "contexts": _contexts_of(row, contexts),
        }
        for row in answers
        if condition in (None, row["condition"])
    ]
    rankings = (
        [] if answers else _rankings(run, question, [hit for hit in contexts if condition in (None, hit["condition"])])
    )
    if as_json:
        say_json({"question": asked[question], "answers": answers_shown, "rankings": rankings})
        return
    about = asked[question]
    say(f"{question}  {about['document']}  {about['evidence_source']}")
    say(f"  {about['text']}")
    say(f"  accepted: {' | '.join(about['answers'])[:_LONGEST] or 'nothing'}")
    for row in answers_shown:
        _print_answer(row)
    for ranking in rankings:
        _print_ranking(ranking, about)


def _rankings(run: Run, question: str, hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    parts = ("kb", "chunker", "retriever")
    metric = run.headlines.get("retrieval", "")
    rows = run.rows("scores", question_id=question, stage="retrieval", metric=metric)
    scores = {tuple(row[name] for name in parts): row["value"] for row in rows}
    places: dict[tuple[Any, ...], list[dict[str, Any]]] = {place: [] for place in scores}
    for hit in sorted(hits, key=lambda hit: int(hit["rank"])):
        places.setdefault(tuple(hit[name] for name in parts), []).append(hit)
    return [
        {**dict(zip(parts, place, strict=True)), "metric": metric, "score": scores.get(place), "hits": ranked}
        for place, ranked in places.items()
        if ranked
    ]


def _print_ranking(ranking: Mapping[str, Any], question: Mapping[str, Any]) -> None:
    """Print a ranking; a page of the evidence has its grade, or is named as such."""
    judged = {(page["document"], page["page"]): f", grade {page['grade']:g}" for page in question["relevant"]}
    judged = judged or {(question["document"], page): ", evidence" for page in question["pages"]}
    score = "" if ranking["score"] is None else f"; {ranking['metric']} {ranking['score']:.2f}"
    say()
    say(f"retrieval on {ranking['kb']}, {'/'.join(filter(None, (ranking['chunker'], ranking['retriever'])))}{score}")
    for hit in ranking["hits"]:
        pages = ", ".join(str(page + 1) for page in hit["pages"])
        marks = "".join(dict.fromkeys(judged.get((hit["document"], page), "") for page in hit["pages"]))
        say(f"  {hit['rank']}. {hit['document']} page {pages}{marks}: {_short(hit['text'])[:_PASSAGE]}")


def _place(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in _PARTS)


def _steps_of(answer: Mapping[str, Any], steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    place = (answer["kb"], answer["chunker"], answer["generator"])
    own = [step for step in steps if (step["kb"], step["chunker"], step["agent"]) == place]
    return sorted(own, key=lambda step: step["number"])


def _contexts_of(answer: Mapping[str, Any], hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what a system has read for an answer, best first; single searches have their hits under another name."""
    place = (answer["kb"], answer["generator"])
    return [hit for hit in hits if (hit["kb"], hit["retriever"]) == place and not answer["retriever"]]


def _print_answer(row: Mapping[str, Any]) -> None:
    names = "/".join(filter(None, (row["chunker"], row["retriever"], row["generator"])))
    score = "" if row["score"] is None else f"; {row['metric']} {row['score']:.2f}"
    say()
    say(f"{row['stage']} on {row['kb']}, {names}{score}")
    if row["error"]:
        say(f"  {row['error']}")
        return
    if row["end"] is not None:
        parts = (
            counted(row["calls"], "call"),
            counted(row["searches"], "search", "searches"),
            counted(row["images"], "picture"),
            *(
                [f"{row['tokens_in']:,} + {row['tokens_out']:,} tokens"]
                if row["tokens_in"] or row["tokens_out"]
                else []
            ),
            f"{row['seconds']:.1f} s",
        )
        say(f"  {row['end']} after {', '.join(parts)}")
    say(f"  answer: {_short(row['answer']) or '(empty)'}")
    for step in row["steps"]:
        _print_step(step)
    for context in row["contexts"]:
        pages = ", ".join(str(page + 1) for page in context["pages"])
        where = f"{context['document']} page {pages}" if context["document"] else "on no page"
        say(f"  context {context['rank']} ({where}): {_short(context['text'])}")


def _print_step(step: Mapping[str, Any]) -> None:
    pages = ", ".join(step["pages"])
    if step["kind"] == "search":
        say(f"  {step['number']}. {step['role']} searches {_short(step['query'])!r}: {pages or 'nothing'}")
        return
    notes = [
        *(["for all questions"] if step["shared"] else []),
        *(["asked before"] if step["cached"] else []),
        *([f"try {step['attempt'] + 1}"] if step["attempt"] else []),
        *(["cut"] if step["finish"] == "length" else []),
        *([counted(step["images"], "picture")] if step["images"] else []),
        *([f"pages {pages}"] if pages else []),
    ]
    about = f" ({'; '.join(notes)})" if notes else ""
    say(f"  {step['number']}. {step['role']} is asked{about}:")
    say(f"     > {_short(step['query'])}")
    say(f"     < {_short(step['reply']) or '(empty)'}")


def _short(text: str) -> str:
    """Write a text on one line; a long one without its middle, since the question may be at either end."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST // 2]} ... {line[-_LONGEST // 2 :]}"
