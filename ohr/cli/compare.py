"""`ohr compare`: two runs, or two conditions, compared on the questions that they share."""

import re
from collections.abc import Sequence
from dataclasses import asdict
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import say, say_first, say_json, say_table
from ohr.cli.options import RUNS, AsJson, RunsFolder
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.results.derived.comparison import Compared, Pair, Side

_FIGURES = ("lost", "low", "high", "p", "p_holm", "questions_lost", "questions_gained")
_NAMES = ", ".join(_FIGURES)
_RULE = re.compile(rf"\s*({'|'.join(_FIGURES)})\s*(>=|<=|>|<)\s*(-?\d*\.?\d+)\s*")
_SIDE = "A run's folder or name, or RUN:CONDITION."


def compare(
    first: Annotated[str, typer.Argument(metavar="A", help=_SIDE, show_default=False)],
    second: Annotated[str, typer.Argument(metavar="B", help=_SIDE, show_default=False)],
    metric: Annotated[
        str | None, typer.Option(help="Any metric of the runs; by default each stage's headline and the spec's own.")
    ] = None,
    group: Annotated[str, typer.Option(metavar="SOURCE", help="Evidence source: text, table, ...; all.")] = "all",
    margin: Annotated[
        float | None, typer.Option(min=0, max=1, help="Difference that matters; by default the first run's own.")
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RULE",
            help=f"End with status 1 where a comparison meets the rule, or failed; as in 'low > 0.02'; of {_NAMES}.",
        ),
    ] = None,
    runs: RunsFolder = RUNS,
    as_json: AsJson = False,
) -> None:
    """Compare two runs, or two conditions of one, by question.

    `lost` is A's score less B's. The sentences below the table judge all rows together, by Holm's method; each row by
    itself. `worse` and `better`: B's difference is shown; `same`: it is shown to be within the margin; `small`: both;
    `open`: neither; `identical`: no score differs; `failed`: more than one in ten of the questions failed on a side.
    """
    from ohr.results.derived.comparison import compare_sides
    from ohr.results.tables.groups import GROUPS

    rules = [_rule(text) for text in fail_if or ()]
    if group not in GROUPS:
        raise typer.BadParameter(f"choose one of {', '.join(GROUPS)} (got {group!r})", param_hint="'--group'")
    sides = _side(first, runs), _side(second, runs)
    found = compare_sides(*sides, metric, group, margin)
    met, unknown = _judged(found, rules)
    failed = _failed(found, sides)
    if as_json:
        say_json({**_plain(found), "failed": failed, "met": met, "not_judged": unknown})
    else:
        _print(found, first, second, failed)
        say_first("rules that are met:", met)
        say_first("rules that cannot be judged, with so few documents or so many failures:", unknown)
    if met or (rules and failed):
        raise typer.Exit(1)


def _side(text: str, runs: Path) -> "Side":
    from ohr.cli.runs import open_run
    from ohr.errors import DataError
    from ohr.results.derived.comparison import Side

    try:
        return Side(open_run(Path(text), runs))
    except DataError:
        run, sign, condition = text.rpartition(":")
        if not sign or not run:
            raise
        return Side(open_run(Path(run), runs), condition)


def _rule(text: str) -> tuple[str, str, str, float]:
    match = _RULE.fullmatch(text)
    if match is None:
        message = f"write it as NAME > NUMBER, with one of {', '.join(_FIGURES)} (got {text!r})"
        raise typer.BadParameter(message, param_hint="'--fail-if'")
    name, sign, number = match.groups()
    return text.strip(), name, sign, float(number)


def _failed(found: "Compared", sides: "Sequence[Side]") -> list[str]:
    """Return which comparisons cannot be judged, and why; nothing where all can."""
    from ohr.report.headlines import failed_items, not_judged

    unjudged = sum(pair.verdict == "failed" for pair in found.pairs)
    reasons = [failed_items(side.run.manifest) for side in sides]
    return [f"{not_judged(unjudged, len(found.pairs))}.", *dict.fromkeys(filter(None, reasons))] if unjudged else []


def _judged(found: "Compared", rules: "Sequence[tuple[str, str, str, float]]") -> list[list[str]]:
    """Return the rules that are met, and those that cannot be judged, each with its comparison."""
    judged = [(r[0], pair, _meets(pair, *r[1:])) for r in rules for pair in found.pairs]
    return [[f"{rule}: {_label(pair)}" for rule, pair, is_met in judged if is_met is wanted] for wanted in (True, None)]


def _meets(pair: "Pair", name: str, sign: str, number: float) -> bool | None:
    """Report whether a comparison meets a rule; None where it failed, or lacks the number that the rule is about."""
    value = _figures(pair)[name]
    if isnan(value) or pair.verdict == "failed":
        return None
    return {">": value > number, "<": value < number, ">=": value >= number, "<=": value <= number}[sign]


def _figures(pair: "Pair") -> dict[str, float]:
    found = pair.found
    one = found.difference
    counts = {"questions_lost": found.lost, "questions_gained": found.gained}
    return {"lost": one.mean, "low": one.low, "high": one.high, "p": found.p, "p_holm": pair.p_holm, **counts}


def _label(pair: "Pair") -> str:
    """Name the cells that are compared; their conditions where these are the same."""
    parts = (pair.first.chunker, pair.first.retriever, pair.first.generator)
    condition = f", {pair.first.condition}" if pair.first.condition == pair.second.condition else ""
    return " ".join(filter(None, (pair.first.stage, pair.metric, "/".join(filter(None, parts))))) + condition


def _print(found: "Compared", first: str, second: str, failed: Sequence[str]) -> None:
    from ohr.report.views.view import Interval

    for line in failed:
        say(line)
    say(f"A: {first}")
    say(f"B: {second}")
    say(f"{found.questions:,} questions in {found.documents:,} documents; margin {found.margin:g}")
    say_first("notes:", list(found.notes))
    rows = [
        [
            _label(pair),
            f"{pair.first_mean:.4f}",
            f"{pair.second_mean:.4f}",
            Interval.of(asdict(pair.found.difference), is_difference=True, digits=4).short(),
            f"-{pair.found.lost} +{pair.found.gained}",
            _p(pair.found.p),
            *([_p(pair.p_holm)] if len(found.pairs) > 1 else []),
            f"failed ({pair.failed} of {pair.found.difference.n})"
            if pair.verdict == "failed"
            else pair.verdict or "no interval",
        ]
        for pair in found.pairs
    ]
    holm = ["p (Holm)"] if len(found.pairs) > 1 else []
    say_table(["comparison", "A", "B", "lost (95% interval)", "questions", "p", *holm, "B is"], rows)
    for line in verdict(found):
        say(line)


def verdict(found: "Compared") -> list[str]:
    """Return the finding of a comparison in sentences: what is shown, with all comparisons taken together."""
    shown = [pair for pair in found.pairs if pair.shown]
    same = [pair for pair in found.pairs if pair.verdict in ("same", "small")]
    if not (count := sum(pair.verdict != "failed" for pair in found.pairs)):
        return ["Nothing can be said: too much failed in every comparison."]
    family = f" of {count} comparisons (corrected for all of them by Holm's method)" if count > 1 else ""
    lines = []
    for word, sign in (("less", 1), ("more", -1)):
        pairs = [pair for pair in shown if sign * pair.found.difference.mean > 0]
        if pairs:
            most = max(pairs, key=lambda pair: abs(pair.found.difference.mean))
            where = f"in {len(pairs)}{family}; the largest: {_label(most)}, " if count > 1 else "by "
            lines.append(f"B scores {word} {where}{_words(most, count)}.")
    if same:
        lines.append(f"Shown to be within {found.margin:g} of each other: {len(same)} of {count}.")
    if all(pair.verdict == "identical" for pair in found.pairs):
        lines.append("Every score is the same on both sides.")
    elif not shown:
        alone = sum(pair.verdict in ("worse", "better", "small") for pair in found.pairs)
        by_itself = f"; {alone} {'is' if alone == 1 else 'are'} by {'itself' if alone == 1 else 'themselves'}"
        lines.append(f"No difference is shown{f' in any{family}' if family else ''}{by_itself if alone else ''}.")
        if all(isnan(pair.found.difference.low) for pair in found.pairs):
            lines.append(f'That is not "no effect": {counted(found.documents, "document")} give no interval.')
        elif not same:
            finds = [pair.found.detectable for pair in found.pairs if not isnan(pair.found.detectable)]
            least = f" four of five such studies would show a difference of {min(finds):.3f}," if finds else ""
            lines.append(f'That is not "no effect":{least} and none is shown to be within {found.margin:g}.')
    return lines


def _words(pair: "Pair", count: int) -> str:
    one, wide = pair.found.difference, (pair.found.wide_low, pair.found.wide_high)
    low, high = wide if count > 1 else (one.low, one.high)
    among = f", wide enough for all {count} comparisons" if count > 1 else ""
    p = f", p = {pair.p_holm:.2g}" if not isnan(pair.p_holm) else ""
    return f"{abs(one.mean):.3f} (95% interval of the loss {low:.3f} to {high:.3f}{among}{p})"


def _p(value: float) -> str:
    return "" if isnan(value) else f"{value:.2g}"


def _plain(found: "Compared") -> dict[str, Any]:
    pairs = [
        {
            **{name: getattr(pair.first, name) for name in ("stage", "chunker", "retriever", "generator")},
            "metric": pair.metric,
            "first": {"condition": pair.first.condition, "mean": pair.first_mean},
            "second": {"condition": pair.second.condition, "mean": pair.second_mean},
            **_figures(pair),
            **{
                name: value
                for name, value in asdict(pair.found).items()
                if name not in ("difference", "lost", "gained", "verdict")
            },
            **{
                name: getattr(pair.found.difference, name)
                for name in ("se", "df", "n", "documents", "interval", "note")
            },
            "shown": pair.shown,
            "verdict": pair.verdict,
            "pairs_failed": pair.failed,
        }
        for pair in found.pairs
    ]
    about = {"questions": found.questions, "documents": found.documents, "margin": found.margin, "notes": found.notes}
    return {**about, "pairs": pairs, "verdict": verdict(found)}
