"""The tables of a run by section: those that its report has, and that any surface may ask for by name."""

from collections.abc import Callable, Mapping

from ohr.errors import DataError
from ohr.registry import choices
from ohr.report.views import agents, losses, money, origin, page_repairs, protocol, scores
from ohr.report.views.view import View
from ohr.results.run import Run

SECTIONS: Mapping[str, Callable[[Run], list[View]]] = {
    "hypotheses": losses.hypotheses,
    "cost": losses.against_clean_text,
    "repairs": page_repairs.page_repairs,
    "curves": scores.means,
    "protocol": protocol.views,
    "effort": lambda run: [*agents.effort(run), *agents.repair(run)],
    "money": money.views,
    "robustness": scores.robustness,
    "decomposition": losses.by_stage,
    "groups": lambda run: [view for trait in ("evidence_source", "domain") for view in scores.by_group(run, trait)],
    "attribution": losses.attribution,
    "doses": scores.doses,
    "failures": origin.failures,
    "provenance": origin.provenance,
}
"""By the name of the section."""


def section(run: Run, name: str) -> list[View]:
    """Return the tables of a section.

    Raises:
        DataError: there is no such section, or the run has nothing in it.
    """
    if name not in SECTIONS:
        raise DataError(f"--table: {choices(name, tuple(SECTIONS))} (got {name!r})")
    if not (views := SECTIONS[name](run)):
        raise DataError(f"{run.folder}: has no table {name!r}")
    return views


def for_screen(run: Run) -> list[View]:
    """Return what a screen shows after the scores: costs of parts, the loss by stage, repairs by agents, and money."""
    across = ["measure", "pipeline"]
    costs = [view.across(["condition", "method", "part"], across, "cost") for view in losses.attribution(run)]
    return [*costs, *losses.by_stage(run)[:1], *page_repairs.page_repairs(run), *agents.repair(run), *money.views(run)]
