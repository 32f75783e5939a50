"""A comparison as JUnit XML, which CI servers show: a test case for each pair."""

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from ohr.report.comparison import sentences, table
from ohr.results.derived.comparison import Compared, Pair
from ohr.results.derived.comparison_rules import Outcome, figures
from ohr.results.derived.pairs import FAILED

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
        compared: the comparison.
        outcomes: of its rules.
        sides: names of both sides.
        reasons: why pairs failed.
        seconds: the time that it took.
    """
    name = _text(f"{sides[0]} against {sides[1]}")
    root = ElementTree.Element("testsuites", name="ohr compare")
    suite = ElementTree.SubElement(root, "testsuite", name=name)
    about = {"A": sides[0], "B": sides[1], "questions": compared.questions, "margin": compared.margin}
    properties = ElementTree.SubElement(suite, "properties")
    for key, value in about.items():
        ElementTree.SubElement(properties, "property", name=key, value=_text(str(value)))
    headers, rows = table(compared)
    for pair, row in zip(compared.pairs, rows, strict=True):
        case = {"classname": name, "name": _text(pair.label), "time": f"{seconds / len(rows):.3f}"}
        element = ElementTree.SubElement(suite, "testcase", case)
        kind, message = _result(pair, [outcome for outcome in outcomes if outcome.pair is pair], reasons)
        if kind:
            ElementTree.SubElement(element, kind, type=kind, message=message.partition("\n")[0]).text = message
        cells = "\n".join(f"{header}: {cell}" for header, cell in zip(headers, row, strict=True))
        ElementTree.SubElement(element, "system-out").text = _text(cells)
    ElementTree.SubElement(suite, "system-out").text = _text("\n".join([*sentences(compared), *compared.notes]))
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
        return "error", _text("\n".join([short, *reasons]))
    met = [outcome.rule for outcome in outcomes if outcome.met]
    unknown = [outcome.rule.text for outcome in outcomes if outcome.met is None]
    skipped = f"cannot be judged, with so few documents or changes: {', '.join(unknown)}"
    if met:
        values = ", ".join(f"{name} = {figures(pair)[name]:.4g}" for name in dict.fromkeys(rule.name for rule in met))
        short = f"{', '.join(rule.text for rule in met)} is met: {values}"
        return "failure", _text("\n".join([short, *([skipped] if unknown else [])]))
    return ("skipped", _text(skipped)) if unknown else ("", "")


def _text(text: str) -> str:
    return _NOT_XML.sub("?", text)
