"""How parsed pages are scored by OmniDocBench's definitions: metrics with their versions, and the published means."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from ohr.contracts import Aggregate, Mean, ScoringProtocol
from ohr.parse_scores.omnidocbench import Version

Truth = Literal["layout", "markdown"]
Conversion = Literal["raw", "html"]
"""Other ways to compare tables: without the published normalization; without making HTML of tables in Markdown."""

PARTS = ("text", "formula", "table", "order")
_CONVERSIONS: Mapping[str, Mapping[str, str]] = {"raw": {"measure": "teds_raw"}, "html": {"notation": "html"}}


def scoring(versions: Sequence[Version], conversions: Sequence[Conversion], truth: Truth, name: str) -> ScoringProtocol:
    """Return the rules: pages by the versions that are asked for, and retrieval of words whatever their markup.

    Retrieval is ohr's addition.
    """
    fields: dict[str, Mapping[str, object]] = {}
    for version in versions:
        shared = {"scorer": version, "truth": truth}
        fields |= {f"{part}@{version}": {"kind": "omnidocbench_page", "part": part, **shared} for part in PARTS}
        for label, more in _tables(version, conversions).items():
            table = {"kind": "omnidocbench_table", **more, **shared}
            measure, _, by = label.partition("@")
            fields |= {label: table, f"{measure}_below_0@{by}": {**table, "sign": "negative"}}
    return ScoringProtocol(
        name=name, retrieval="lcs_content", page=tuple(fields), index_scope="corpus", metric_fields=fields
    )


def aggregates(versions: Sequence[Version], conversions: Sequence[Conversion]) -> Iterator[Aggregate]:
    """Yield the published means of each version, and that of text and tables: formulas have no CDM here."""
    for version in versions:
        for part in PARTS:
            mean = (Mean(f"{part}@{version}"),)
            yield Aggregate(f"{part}_edit@{version}", mean, _distance, source="mean over pages, smaller is better")
        for label in _tables(version, conversions):
            yield Aggregate(label, _both_signs(label), _signed, source="mean over the truth's tables")
        about = "mean of 1 - text_edit and teds; the published overall has the CDM of formulas, too"
        parts = (Mean(f"text@{version}"), *_both_signs(f"teds@{version}"))
        yield Aggregate(f"overall_without_cdm@{version}", parts, _overall, source=about)


def _tables(version: Version, conversions: Sequence[Conversion]) -> dict[str, Mapping[str, str]]:
    """Return the fields of each metric of tables: as published, structure alone, and TEDS by other conversions."""
    others = {f"teds@{version}-{by}": _CONVERSIONS[by] for by in conversions}
    return {f"teds@{version}": {}, f"teds_s@{version}": {"measure": "teds_s"}, **others}


def _both_signs(label: str) -> tuple[Mean, Mean]:
    measure, _, by = label.partition("@")
    return Mean(label), Mean(f"{measure}_below_0@{by}")


def _distance(parts: Any, counts: Any) -> Any:  # noqa: ARG001 # an aggregate's signature, as below
    return 1 - parts[0]


def _signed(parts: Any, counts: Any) -> Any:  # noqa: ARG001
    return parts[0] - parts[1]


def _overall(parts: Any, counts: Any) -> Any:  # noqa: ARG001
    return (parts[0] + parts[1] - parts[2]) / 2
