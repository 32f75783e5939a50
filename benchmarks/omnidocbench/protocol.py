"""How parsed pages are scored by OmniDocBench's definitions: metrics with their versions, and the published means."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ohr.contracts import Aggregate, Mean, ScoringProtocol
from ohr.messages.wording import quoted
from ohr.parse_scores.omnidocbench import Version

from ..copies import only_mean

Truth = Literal["layout", "markdown"]
Conversion = Literal["raw", "html"]
"""Other ways to compare tables: without the published normalization; without making HTML of tables in Markdown."""


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    if twice := [name for place, name in enumerate(names) if name in names[:place]]:
        raise ValueError(f"{quoted(twice[0])} is listed twice")
    return names


Versions = Annotated[
    tuple[Annotated[Version, BeforeValidator(str)], ...], Field(min_length=1), AfterValidator(_each_once)
]
Conversions = Annotated[
    tuple[Conversion, ...],
    Field(description="TEDS also `raw`, without normalization, and `html`, where Markdown is no table."),
    AfterValidator(_each_once),
]

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
            fields[label] = {"kind": "omnidocbench_table", **more, **shared}
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
            yield Aggregate(label, (Mean(label),), only_mean, source="mean over the truth's tables")
        about = "mean of 1 - text_edit and teds; the published overall has the CDM of formulas, too"
        parts = (Mean(f"text@{version}"), Mean(f"teds@{version}"))
        yield Aggregate(f"overall_without_cdm@{version}", parts, _overall, source=about)


def _tables(version: Version, conversions: Sequence[Conversion]) -> dict[str, Mapping[str, str]]:
    """Return the fields of each metric of tables: as published, structure alone, and TEDS by other conversions."""
    others = {f"teds@{version}-{by}": _CONVERSIONS[by] for by in conversions}
    return {f"teds@{version}": {}, f"teds_s@{version}": {"measure": "teds_s"}, **others}


def _distance(parts: Any, counts: Any) -> Any:  # noqa: ARG001 # an aggregate's signature, as below
    return 1 - parts[0]


def _overall(parts: Any, counts: Any) -> Any:  # noqa: ARG001
    return (parts[0] + parts[1]) / 2
