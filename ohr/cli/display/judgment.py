"""Comparisons on the screen and as files: what `ohr compare` and `ohr score hits` share."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ohr.cli.display.console import say, say_first, say_table
from ohr.messages.wording import counted, named

if TYPE_CHECKING:
    from ohr.results.derived.comparison import Compared
    from ohr.results.derived.comparison_rules import Outcome, Rule

PRINTED = Path("-")
"""Means the screen, in place of a file."""


@dataclass(frozen=True)
class Judgment:
    """A comparison and what became of its rules.

    Args:
        failed: how many comparisons cannot be judged, and why; empty where all can.
        outcomes: of each rule about each comparison.
        within: verdicts that the run of both sides has on the same comparisons.
    """

    compared: "Compared"
    failed: Sequence[str]
    outcomes: "Sequence[Outcome]"
    within: Sequence[str] = ()

    @classmethod
    def of(
        cls, compared: "Compared", rules: "Sequence[Rule]", reasons: Sequence[str], within: Sequence[str] = ()
    ) -> Self:
        """Judge a comparison; `reasons` say what failed on its sides."""
        from ohr.report.comparison_report import failures
        from ohr.results.derived.comparison_rules import outcomes

        return cls(compared, failures(compared, reasons), outcomes(compared, rules), within)

    @property
    def met(self) -> list[str]:
        """The rules that are met, each with its comparison."""
        return [f"{outcome.rule.text}: {outcome.pair.label}" for outcome in self.outcomes if outcome.met]

    @property
    def unknown(self) -> list[str]:
        """The rules that cannot be judged, each with its comparison."""
        return [f"{outcome.rule.text}: {outcome.pair.label}" for outcome in self.outcomes if outcome.met is None]

    def plain(self) -> dict[str, Any]:
        """Return every number, for JSON."""
        from ohr.report.comparison_report import plain

        about = {"failed": self.failed, "met": self.met, "not_judged": self.unknown, "within_run": self.within}
        return {**plain(self.compared), **about}


def say_judgment(judgment: Judgment, first: str, second: str) -> None:
    """Print a comparison as a table and in sentences, and its rules."""
    compared = judgment.compared
    for line in judgment.failed:
        say(line)
    say(f"A: {first}")
    say(f"B: {second}")
    say(f"{grouping(compared.questions, compared.documents, compared.cluster)}; margin {compared.margin:g}")
    say_first("notes:", list(compared.notes))
    say_pairs(compared)
    for line in judgment.within:
        say(line)
    say_first("rules that are met:", judgment.met)
    say_first("rules that cannot be judged, with so few documents or so many failures:", judgment.unknown)


def say_pairs(compared: "Compared") -> None:
    """Print the table of a comparison, and its findings."""
    from ohr.report.comparison_report import LEGEND, few, sentences, table

    say_table(*table(compared))
    say(LEGEND)
    if remark := few(compared):
        say(remark)
    for line in _on_fewer(compared):
        say(line)
    for line in sentences(compared):
        say(line)


def _on_fewer(compared: "Compared") -> list[str]:
    """Return the rows that are about fewer questions than the comparison has, with how many these are."""
    rows: dict[str, list[str]] = {}
    for pair in compared.pairs:
        number, documents = pair.found.difference.n, pair.found.difference.documents
        if number < compared.questions:
            rows.setdefault(grouping(number, documents, compared.cluster), []).append(pair.label)
    return [f"on {size} only, the others have no such score: {named(labels)}" for size, labels in rows.items()]


def grouping(questions: int, documents: int, cluster: str) -> str:
    """Return how many questions there are, and what they are grouped by."""
    if cluster == "topic":
        return f"{counted(questions, 'topic')}, each by itself"
    return f"{counted(questions, 'question')} in {counted(documents, 'document')}"


def put_junit(judgment: Judgment, path: Path, sides: tuple[str, str], seconds: float, *, force: bool) -> None:
    """Write or print a comparison as JUnit XML."""
    from ohr.report.comparison_report import junit
    from ohr.results.folder.replace import written

    content = junit(judgment.compared, judgment.outcomes, sides, judgment.failed, seconds)
    if path == PRINTED:
        say(content.decode().rstrip())
        return
    with written(path, "--junit", force=force) as new:
        new.write_bytes(content)
