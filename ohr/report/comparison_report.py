"""A comparison of two sides for readers: its table, its findings in sentences, its numbers, and JUnit XML."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isnan
from typing import Any
from xml.etree import ElementTree

from ohr.messages.wording import counted, named
from ohr.report.headlines import holds_for, kind, not_judged, too_few
from ohr.report.views.view import Interval, ends
from ohr.results.derived.comparison import Compared, Pair
from ohr.results.derived.comparison_rules import Outcome, figures
from ohr.results.derived.losses import read_losses
from ohr.results.derived.pairs import FAILED
from ohr.results.run import Run
from ohr.results.score_arrays import ScoreTable
from ohr.statistics.estimate import POINTS_ONLY
from ohr.statistics.signs import fewest


def table(compared: Compared) -> tuple[list[str], list[list[str]]]:
    """Return the headers and the rows of the table, a row for each pair, as text."""
    holm = ["p (Holm)"] if len(compared.pairs) > 1 else []
    lost = "lost (95% interval, alone)"
    headers = ["comparison", "A", "B", lost, "questions", "p", *holm, "detectable", "B alone is"]
    rows = [
        [
            pair.label,
            f"{pair.first_mean:.4f}",
            f"{pair.second_mean:.4f}",
            Interval.of(asdict(pair.found.difference), is_difference=True, digits=4).short(),
            f"-{pair.found.lost} +{pair.found.gained}",
            _short(pair.found.p),
            *([_short(pair.p_holm)] if holm else []),
            _short(pair.found.detectable),
            f"failed ({pair.failed} of {pair.found.difference.n})"
            if pair.verdict == FAILED
            else pair.verdict or "no interval",
        ]
        for pair in compared.pairs
    ]
    return headers, rows


LEGEND = (
    "questions: those on which B scores less, and more; detectable: the difference that four of five such studies show "
    "among as many rows"
)
"""Meaning of two columns of the table."""


def few(compared: Compared) -> str:
    """Return a remark where there are few documents, or few that changed, with the rows; else ""."""
    rows: dict[str, list[str]] = {}
    for pair in compared.pairs:
        rows.setdefault(pair.found.difference.note, []).append(pair.label)
    remarks = [
        f"{note.replace('document', compared.cluster)} ({named(labels)})"
        for note, labels in rows.items()
        if note not in ("", POINTS_ONLY)
    ]
    return f"{'; '.join(remarks)}: {_FEW}" if remarks else ""


_FEW = "read intervals with care; a blank `detectable` cannot be known"


def failures(compared: Compared, reasons: Sequence[str]) -> list[str]:
    """Return how many comparisons cannot be judged, and why; nothing where all can.

    Args:
        reasons: what failed on each side, "" for nothing.
    """
    unjudged = sum(pair.verdict == FAILED for pair in compared.pairs)
    return [f"{not_judged(unjudged, len(compared.pairs))}.", *dict.fromkeys(filter(None, reasons))] if unjudged else []


def sentences(compared: Compared) -> list[str]:
    """Return the finding of a comparison: what is shown, with all comparisons taken together."""
    shown = [pair for pair in compared.pairs if pair.shown]
    same = [pair for pair in compared.pairs if pair.verdict in ("same", "small")]
    count, unjudged = len(compared.pairs), sum(pair.verdict == FAILED for pair in compared.pairs)
    if unjudged == count:
        return ["Nothing can be said: too much failed in every comparison."]
    family = f" of {count} comparisons (corrected for all of them by Holm's method)" if count > 1 else ""
    lines = []
    for word, sign in (("less", 1), ("more", -1)):
        pairs = [pair for pair in shown if sign * pair.found.difference.mean > 0]
        if pairs:
            most = max(pairs, key=lambda pair: abs(pair.found.difference.mean))
            where = f"in {len(pairs)}{family}; the largest: {most.label}, " if count > 1 else "by "
            lines.append(f"B scores {word} {where}{_words(most, count)}.")
    if same:
        lines.append(f"Shown to be within {compared.margin:g} of each other: {len(same)} of {count}.")
    if unjudged:
        lines.append(f"Too much failed for a verdict: {unjudged} of {count}.")
    if all(pair.verdict == "identical" for pair in compared.pairs):
        lines.append("Every score is the same on both sides.")
    elif not shown:
        lines += _nothing_shown(compared, family, settled=bool(same))
    return lines


def _nothing_shown(compared: Compared, family: str, *, settled: bool) -> list[str]:
    alone = sum(pair.verdict in ("worse", "better", "small") for pair in compared.pairs)
    by_itself = f"; {alone} {'is' if alone == 1 else 'are'} by {'itself' if alone == 1 else 'themselves'}"
    lines = [f"No difference is shown{f' in any{family}' if family else ''}{by_itself if alone else ''}."]
    if all(isnan(pair.found.difference.low) for pair in compared.pairs):
        lines.append(f'That is not "no effect": {counted(compared.documents, compared.cluster)} give no interval.')
    elif all(pair.found.difference.changed < fewest(len(compared.pairs)) for pair in compared.pairs):
        lines.append(f'That is not "no effect": {too_few(len(compared.pairs))}.')
    elif not settled and any(pair.verdict != "identical" for pair in compared.pairs):
        finds = [pair.found.detectable for pair in compared.pairs if not isnan(pair.found.detectable)]
        none = "no other" if any(pair.verdict == "identical" for pair in compared.pairs) else "none"
        least = f"four of five such studies would show a difference of {min(finds):.3f}, and " if finds else ""
        lines.append(f'That is not "no effect": {least}{none} is shown to be within {compared.margin:g}.')
    return lines


def within_run(compared: Compared, run: Run) -> list[str]:
    """Return the verdicts that the run itself has on comparisons with what its conditions are compared with.

    There a comparison is one of all conditions of its pipeline, which are judged together.
    """
    names, table = ("stage", "condition", "chunker", "retriever", "generator"), ScoreTable.of(run)
    losses = {
        (*(getattr(loss, name) for name in names), loss.metric): loss for loss in read_losses(run, every_metric=True)
    }
    lines = []
    for pair in compared.pairs:
        loss = losses.get((*(getattr(pair.second, name) or "" for name in names), pair.metric))
        if loss is not None and loss.among > 1 and table.reference(pair.second) == pair.first:
            words = {"loss": "worse", "gain": "better", "floor": "near the floor", "": "no interval"}
            word = words.get(kind(loss), kind(loss))
            held = ends(loss.wide_low, loss.wide_high)
            held = f": {held}{holds_for(loss.among)}" if held else ""
            lines.append(f"{pair.label}: in the run, {word} among the {loss.among} conditions of its pipeline{held}")
    return lines


def plain(compared: Compared) -> dict[str, Any]:
    """Return every number of a comparison, for JSON."""
    about = {
        "questions": compared.questions,
        "documents": compared.documents,
        "margin": compared.margin,
        "notes": compared.notes,
    }
    return {**about, "pairs": [_plain(pair) for pair in compared.pairs], "verdict": sentences(compared)}


def _plain(pair: Pair) -> Mapping[str, Any]:
    left_out = ("difference", "lost", "gained", "verdict")
    return {
        **{name: getattr(pair.first, name) for name in ("stage", "chunker", "retriever", "generator")},
        "metric": pair.metric,
        "first": {"condition": pair.first.condition, "mean": pair.first_mean},
        "second": {"condition": pair.second.condition, "mean": pair.second_mean},
        **figures(pair),
        **{name: value for name, value in asdict(pair.found).items() if name not in left_out},
        **{name: getattr(pair.found.difference, name) for name in ("se", "df", "n", "documents", "interval", "note")},
        "shown": pair.shown,
        "verdict": pair.verdict,
        "pairs_failed": pair.failed,
    }


def _words(pair: Pair, count: int) -> str:
    difference, wide = pair.found.difference, (pair.found.wide_low, pair.found.wide_high)
    low, high = wide if count > 1 else (difference.low, difference.high)
    change = "loss"
    if difference.mean < 0:
        change, low, high = "gain", -high, -low
    among = holds_for(count)
    p = f", p = {pair.p_holm:.2g}" if not isnan(pair.p_holm) else ""
    return f"{abs(difference.mean):.3f} (95% interval of the {change} {low:.3f} to {high:.3f}{among}{p})"


def _short(value: float) -> str:
    return "" if isnan(value) else f"{value:.2g}"


_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KINDS = ("failure", "error", "skipped")


def junit(
    compared: Compared, outcomes: Sequence[Outcome], sides: tuple[str, str], reasons: Sequence[str], seconds: float
) -> bytes:
    """Write a comparison as JUnit XML.

    A rule that is met is a failure, a pair of which too much failed an error, and a rule that cannot be judged makes a
    pair skipped. The numbers are those of the table, and are in the case's output.
    Source: the schema of Jenkins's xUnit plugin (junit-10.xsd).

    Args:
        outcomes: of its rules.
        sides: names of both sides.
        reasons: why pairs failed.
        seconds: the time that it took.
    """
    name = _xml_text(f"{sides[0]} against {sides[1]}")
    root = ElementTree.Element("testsuites", name="ohr compare")
    suite = ElementTree.SubElement(root, "testsuite", name=name)
    about = {"A": sides[0], "B": sides[1], "questions": compared.questions, "margin": compared.margin}
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in about.items():
        ElementTree.SubElement(properties, "property", name=key, value=_xml_text(str(value)))
    headers, rows = table(compared)
    for pair, row in zip(compared.pairs, rows, strict=True):
        case = {"classname": name, "name": _xml_text(pair.label), "time": f"{seconds / len(rows):.3f}"}
        element = ElementTree.SubElement(suite, "testcase", case)
        kind, message = _result(pair, [outcome for outcome in outcomes if outcome.pair is pair], reasons)
        if kind:
            ElementTree.SubElement(element, kind, type=kind, message=message.partition("\n")[0]).text = message
        cells = "\n".join(f"{header}: {cell}" for header, cell in zip(headers, row, strict=True))
        ElementTree.SubElement(element, "system-out").text = _xml_text(cells)
    ElementTree.SubElement(suite, "system-out").text = _xml_text("\n".join([*sentences(compared), *compared.notes]))
    counts = {kind: str(len(suite.findall(f"testcase/{kind}"))) for kind in _KINDS}
    for element in (root, suite):
        element.attrib |= {"tests": str(len(rows)), "failures": counts["failure"], "errors": counts["error"]}
        element.set("time", f"{seconds:.3f}")
    suite.set("skipped", counts["skipped"])
    ElementTree.indent(root)
    return bytes(ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _result(pair: Pair, outcomes: Sequence[Outcome], reasons: Sequence[str]) -> tuple[str, str]:
    """Return what became of a pair, and why, the first line in short; two times "" where no rule is met."""
    if pair.verdict == FAILED:
        short = f"too much failed: {pair.failed} of {pair.found.difference.n} questions"
        return "error", _xml_text("\n".join([short, *reasons]))
    met = [outcome.rule for outcome in outcomes if outcome.met]
    unknown = [outcome.rule.text for outcome in outcomes if outcome.met is None]
    skipped = f"cannot be judged, with so few documents or changes: {', '.join(unknown)}"
    if met:
        values = ", ".join(f"{name} = {figures(pair)[name]:.4g}" for name in dict.fromkeys(rule.name for rule in met))
        short = f"{', '.join(rule.text for rule in met)} is met: {values}"
        return "failure", _xml_text("\n".join([short, *([skipped] if unknown else [])]))
    return ("skipped", _xml_text(skipped)) if unknown else ("", "")


def _xml_text(text: str) -> str:
    return _NOT_XML.sub("?", text)
