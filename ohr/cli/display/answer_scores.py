"""How scores of results from elsewhere are printed."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING

from ohr.cli.display.console import say, say_first, say_table, say_view
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.report.leaderboard.answers import AnswerScore, ContextScore
    from ohr.report.leaderboard.standings import Leaderboard
    from ohr.results.derived.means import Breakdown
    from ohr.statistics.estimate import Estimate


def print_answers(found: "AnswerScore") -> None:
    """Print the scores of a file of answers."""
    from ohr.report.leaderboard.answers import FILE
    from ohr.results.tables.groups import TRAITS

    total = found.given + len(found.missing) + len(found.errors)
    say(f"{found.name}: {found.given:,} of {counted(total, 'question')} answered, protocol {found.protocol}")
    if found.layout:
        say(f"file of {found.layout}")
    is_own = found.benchmark == FILE
    say("benchmark: the file itself" if is_own else f"benchmark {found.benchmark}")
    sources = () if is_own else ("evidence_source",)
    own = [trait for trait in next(iter(found.scores.values())) if trait not in TRAITS]
    print_means(found.scores, found.macro, "{}, x 100", (*sources, "domain", *own), "missing")
    if found.aggregates:
        lines = [
            (name, with_interval(value, is_share=unit == "share"), str(value.n))
            for name, (unit, value) in found.aggregates.items()
        ]
        say_table(("number of the protocol", "value", "n"), lines)
    if found.retrieval:
        _print_contexts(found.retrieval)
    print_leaderboards(found.leaderboards)
    say_first("warnings about the file and the benchmark:", found.warnings)
    if found.blank:
        say(f"{counted(found.blank, 'blank answer')}, scored 0; the reference code leaves them out of its mean")
    say_first(f"answers that failed, scored 0: {len(found.errors):,}", found.errors)
    say_first(f"scores that failed, counted as 0: {len(found.failures):,}", found.failures)
    left_out = set(found.left_out)
    scored = [name for name in found.missing if name not in left_out]
    say_first(f"questions without an answer, scored 0: {len(scored):,}", scored)
    say_first(f"questions without an answer, which this protocol leaves out: {len(found.left_out):,}", found.left_out)
    said = (
        f"answered questions without a score: {len(found.undefined):,} (no accepted answer, or one of articles alone)"
    )
    say_first(said, found.undefined)
    say_first(f"answers to no question, left out: {len(found.unknown):,}", found.unknown)


def _print_contexts(found: "ContextScore") -> None:
    trait = "evidence_source" if found.located else "domain"
    print_means(found.scores, {}, "retrieval, {}, x 100", (trait,), "missing")
    if found.located:
        placed = found.contexts - found.nowhere
        say(f"{placed:,} of {counted(found.contexts, 'context')} located on the benchmark's pages by their words")
    else:
        say(f"{counted(found.contexts, 'context')}, compared with the reference contexts word by word")
    if found.nothing:
        say(f"{counted(found.nothing, 'question')} for which nothing was retrieved, scored 0")


def print_means(
    found: "Mapping[str, Breakdown]", macro: Mapping[str, float], head: str, traits: Sequence[str], failed: str
) -> None:
    """Print the means of each trait's groups, a column for each name, and the mean over domains."""
    first = next(iter(found.values()))
    for by in traits:
        rows = [
            [group, *(with_interval(means[by][group]) for means in found.values()), str(whole.n), str(whole.failed)]
            for group, whole in first[by].items()
        ]
        named = by.replace("_", " ") if len(rows) > 1 else "mean"
        say_table((head.format(named), *found, "n", failed), rows)
    if not all(isnan(mean) for mean in macro.values()):
        say(f"mean over domains: {', '.join(f'{name} {100 * macro[name]:.2f}' for name in found)}")


def with_interval(estimate: "Estimate", *, is_share: bool = True) -> str:
    """Return a mean with its interval."""
    from ohr.report.views.view import Interval

    return Interval(estimate.mean, estimate.low, estimate.high, is_share).short()


def print_leaderboards(boards: "Sequence[Leaderboard]") -> None:
    """Print tables of published scores with own rows."""
    from ohr.report.leaderboard.standings import leaderboard

    for view in leaderboard(boards):
        say()
        say(view.heading)
        say_view(view)
