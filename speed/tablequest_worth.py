"""Measures what each repair of the two TableQuests is worth on their samples: tables of docs/benchmarks.

Nine questions each: they show the direction, not the size.

    python speed/tablequest_worth.py
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from ohr.benchmarks.finqa_tablequest import loading as finqa
from ohr.benchmarks.finqa_tablequest.judging import parse_binary_judge
from ohr.benchmarks.finqa_tablequest.retrieval import measures, misplaced, queries
from ohr.benchmarks.tablequest import loading as tablequest
from ohr.benchmarks.tablequest.answer_match import deterministic_accuracy, parse_answer
from ohr.benchmarks.tablequest.contexts import as_page
from ohr.benchmarks.tablequest.pairwise import Settled, forfeit, one_order, parse_pairwise, settle
from ohr.benchmarks.tablequest.recall import token_recall
from ohr.benchmarks.tablequest.totals import rating
from ohr.metrics.lcs import lcs

MODELS = ("north", "delta", "plain")
Parser = Callable[[str], str]


def replies(path: Path) -> dict[str, str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return {record["id"]: record["reply"] for record in map(json.loads, lines)}


MINE = {model: replies(tablequest.SAMPLE / "replies" / f"{model}.jsonl") for model in ("baseline", *MODELS)}
VERDICTS = {model: replies(tablequest.SAMPLE / "verdicts" / f"{model}.jsonl") for model in MODELS}
QUESTIONS = {one.id: one for one in tablequest.load("sample").read}


def strictly(reply: str, key: str = "answer") -> str:
    """The value of a reply that is one JSON object with the key, and nothing else."""
    try:
        found = json.loads(reply)
    except ValueError:
        return ""
    return str(found.get(key) or "") if isinstance(found, dict) else ""


def settled(model: str, choose: Callable[[str, str, str], Settled]) -> Iterator[Settled]:
    """Settle the questions of a model; `choose` gets the replies of both orders."""
    for name in QUESTIONS:
        mine, theirs = (parse_answer(MINE[who][name]) for who in (model, "baseline"))
        first, second = (VERDICTS[model].get(f"{name}/{order}", "") for order in ("first", "second"))
        yield forfeit(mine, theirs) or choose(name, first, second)


def games(made: Iterable[Settled]) -> list[int]:
    """Count the games that were won, tied and lost."""
    outcomes = [one.outcome for one in made]
    return [outcomes.count(result) for result in ("win", "tie", "loss")]


def rated(made: Iterable[Settled]) -> str:
    win, tie, loss = games(made)
    asked = win + tie + loss
    return f"{float(rating([(win + tie / 2) / asked], [asked])):.1f}"


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(f"\n{title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |")


def right(model: str, parse: Parser, *, by_rule: bool) -> str:
    """Count the correct answers to easy and medium questions."""
    asked = [one for one in QUESTIONS.values() if one.difficulty != "hard"]
    said = [(parse(MINE[model][one.id]), one.answer) for one in asked]
    if not by_rule:
        return f"{sum(answer == gold for answer, gold in said)} of {len(said)}"
    outcomes = [deterministic_accuracy(answer, gold).outcome for answer, gold in said]
    undecided = outcomes.count("undecided")
    return f"{outcomes.count('correct')} of {len(said)}" + (f", {undecided} open" if undecided else "")


def answers() -> None:
    table(
        "Correct answers to easy and medium questions",
        ("model", "clean", "JSON alone is read", "equal texts alone are correct"),
        (
            (
                model,
                right(model, parse_answer, by_rule=True),
                right(model, strictly, by_rule=True),
                right(model, parse_answer, by_rule=False),
            )
            for model in MINE
        ),
    )


def ratings() -> None:
    both = {model: list(settled(model, lambda _, *given: settle(*map(parse_pairwise, given)))) for model in MODELS}
    strict = {
        model: list(settled(model, lambda _, *given: settle(*(parse_strictly(reply) for reply in given))))
        for model in MODELS
    }
    rows = []
    for model in MODELS:
        orders = [
            rated(
                settled(
                    model, lambda _, *given, place=place: one_order(parse_pairwise(given[place]), as_first=not place)
                )
            )
            for place in (0, 1)
        ]
        counts = " / ".join(map(str, games(both[model])))
        doubts = sum(one.disagree for one in both[model]), sum(one.unparsed for one in both[model])
        rows.append((model, counts, *doubts, rated(both[model]), *orders, rated(strict[model])))
    header = ("model", "won / tied / lost", "orders disagree", "no verdict", "clean", "first order", "second order")
    table("Ratings against the opponent, 1000", (*header, "JSON alone is read"), rows)
    lost = [model for model in MODELS for level in ("easy", "medium", "hard") if is_undefined(both[model], level)]
    print(f"\nratings of a level that are infinite without the clip at half a game: {len(lost)} of {3 * len(MODELS)}")


def parse_strictly(reply: str) -> str | None:
    found = strictly(reply, "better_model")
    return found if found in ("model_1", "model_2", "tie") else None


def is_undefined(made: Sequence[Settled], level: str) -> bool:
    outcomes = {one.outcome for one, asked in zip(made, QUESTIONS.values(), strict=True) if asked.difficulty == level}
    return outcomes in ({"win"}, {"loss"})


def tags() -> None:
    kept = [
        [lcs(change(one.context), made.evidence[0]) for change in (as_page, str)]
        for one, made in zip(QUESTIONS.values(), tablequest.load("sample").questions, strict=True)
    ]
    apart, glued = (sum(values) / len(values) for values in zip(*kept, strict=True))
    print(
        f"\nshare of the evidence's words on its own clean page: {apart:.3f} clean, {glued:.3f} with tags as they are"
    )


def recalls() -> None:
    pairs = json.loads((tablequest.SAMPLE / "recall.json").read_text(encoding="utf-8"))
    found = [token_recall(**pair) for pair in pairs]
    rows = ((len(one["answer_tokens"]), f"{one['multiset']:.3f}", f"{one['membership']:.3f}") for one in found)
    table("Recall of an answer's tokens in its evidence", ("tokens", "multiset (clean)", "membership"), rows)


def judged() -> None:
    given = replies(finqa.SAMPLE / "judgements.jsonl")
    rows = []
    for protocol in ("reference", "clean"):
        verdicts = [
            parse_binary_judge(given[one.id], protocol).judgment if one.id in given else "ERROR"
            for one in finqa.load("sample").read
        ]
        counts = [verdicts.count(verdict) for verdict in ("CORRECT", "INCORRECT", "ERROR")]
        rows.append((protocol, *counts, f"{counts[0] / len(verdicts):.3f}", f"{1 - counts[2] / len(verdicts):.3f}"))
    table("The judge of finqa_tablequest", ("protocol", "correct", "incorrect", "error", "accuracy", "judged"), rows)


def ranked(chunks: Iterable[tuple[str, float]]) -> list[str]:
    """Return the pages of some chunks by their best one; of equal scores the last name comes first, as in trec_eval."""
    return list(dict.fromkeys(page for _, page in sorted(((score, page) for page, score in chunks), reverse=True)))


def retrieved() -> None:
    questions = finqa.load("sample").read
    chunks = json.loads((finqa.SAMPLE / "chunk_scores.json").read_text(encoding="utf-8"))
    names, rows = ("nDCG@1", "P@1", "R@1", "nDCG@3", "P@3", "R@3", "RR", "Rprec"), []
    for protocol in ("reference", "clean"):
        asked = queries(questions, protocol)
        found = [measures(ranked(chunks[query.questions[0]]), query.pages) for query in asked]
        own = len(questions) - (len(misplaced(questions)) if protocol == "reference" else 0)
        rows.append(
            (
                protocol,
                len(asked),
                *(f"{sum(one[name] for one in found) / len(asked):.3f}" for name in names),
                f"{own} of {len(questions)}",
            )
        )
    table("Retrieval of finqa_tablequest", ("protocol", "queries", *names, "reads its own pages"), rows)


if __name__ == "__main__":
    for measure in (answers, ratings, tags, recalls, judged, retrieved):
        measure()
