"""The tables of a run by section: those that its report has, and that any surface may ask for by name."""

from collections.abc import Callable, Mapping
from typing import Any

from ohr.commit import with_commit
from ohr.errors import DataError
from ohr.registry import choices
from ohr.report.views import effort_and_money, hygiene, loss_tables, page_repairs, protocol, score_tables
from ohr.report.views.view import View
from ohr.results.run import Run


def failures(run: Run) -> list[View]:
    """Return failed items by reason, and the warnings."""
    rows = run.rows("failures")
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        reasons.setdefault((row["stage"], row["reason"]), []).append(row["item"])
    shown = tuple((stage, len(items), reason, items[0]) for (stage, reason), items in reasons.items())
    found = []
    if shown:
        how = "Questions that need a failed item score 0, and are counted."
        found.append(View("Failed items", how, ("stage", "items", "reason", "first"), shown))
    if warnings := run.manifest.get("warnings"):
        lines = tuple((str(warning),) for warning in warnings)
        found.append(View("Warnings", "What was left out, and what looks wrong.", ("warning",), lines))
    return found


def provenance(run: Run) -> list[View]:
    """Return the versions, hashes and times that are needed to check a run."""
    manifest = run.manifest
    machine, origins = manifest.get("machine") or {}, manifest.get("origins") or {}
    rows: list[tuple[str, str]] = [
        ("run", str(manifest.get("name", ""))),
        ("key", str(manifest.get("key", ""))[:12]),
        ("ohr", with_commit(str(manifest.get("ohr", "")), origins.get("ohr", {}).get("commit"))),
        ("plugins from elsewhere", _elsewhere(origins)),
        ("started", str(manifest.get("started", ""))),
        ("written", str(manifest.get("written", ""))),
        ("system", ", ".join(f"{name} {value}" for name, value in machine.items())),
        ("seconds by phase", _listed(manifest.get("seconds"))),
        ("calls", _listed(manifest.get("calls"))),
        ("tokens", _listed(manifest.get("tokens"))),
        ("packages", _listed(_packages(manifest.get("packages") or {}, origins))),
        ("prompts (SHA-256)", _listed(manifest.get("prompt_sha256"))),
        ("plugin files (SHA-256)", _listed(manifest.get("plugins"))),
    ]
    how = "Enough to check the run or to do it again; the whole manifest follows."
    return [View("Origin of these numbers", how, ("what", "value"), tuple(row for row in rows if row[1]))]


def _elsewhere(origins: Mapping[str, Any]) -> str:
    """Name the distributions and files of plugins that do not come with ohr."""
    foreign = {name: about for name, about in origins.items() if name != "ohr"}
    named = (
        with_commit(f"{name} {about.get('version', '')}".strip(), about.get("commit"))
        for name, about in foreign.items()
    )
    return ", ".join(named)


def _packages(common: Mapping[str, str], origins: Mapping[str, Any]) -> dict[str, str]:
    """Join the packages that every manifest lists with those that the plugins of the run name."""
    named = (about.get("packages", {}) for about in origins.values())
    return dict(sorted({**common, **{name: version for some in named for name, version in some.items()}}.items()))


def _listed(values: Any) -> str:
    return (
        ", ".join(f"{name} {value}" for name, value in values.items() if value) if isinstance(values, Mapping) else ""
    )


SECTIONS: Mapping[str, Callable[[Run], list[View]]] = {
    "hypotheses": loss_tables.hypotheses,
    "cost": lambda run: [*loss_tables.against_clean_text(run), *loss_tables.beside_first(run)],
    "repairs": page_repairs.page_repairs,
    "curves": score_tables.means,
    "protocol": protocol.views,
    "effort": lambda run: [*effort_and_money.effort(run), *effort_and_money.repair(run)],
    "money": effort_and_money.money,
    "robustness": score_tables.robustness,
    "decomposition": loss_tables.by_stage,
    "groups": lambda run: [
        view for trait in ("evidence_source", "domain") for view in score_tables.by_group(run, trait)
    ],
    "attribution": loss_tables.attribution,
    "doses": score_tables.doses,
    "hygiene": hygiene.views,
    "failures": failures,
    "provenance": provenance,
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
    """Return what a screen shows after the scores: costs of parts, the loss by stage, repairs, and money."""
    views = [*loss_tables.attribution(run, wide=True), *loss_tables.by_stage(run)[:1], *page_repairs.page_repairs(run)]
    views = [*loss_tables.beside_first(run), *views, *hygiene.views(run)]
    return [*views, *effort_and_money.repair(run), *effort_and_money.money(run)]
