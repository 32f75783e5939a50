"""Tables of what a run says of itself: failures, warnings, versions and hashes."""

from collections.abc import Mapping
from typing import Any

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
    machine = manifest.get("machine") or {}
    rows: list[tuple[str, str]] = [
        ("run", str(manifest.get("name", ""))),
        ("key", str(manifest.get("key", ""))[:12]),
        ("ohr", str(manifest.get("ohr", ""))),
        ("started", str(manifest.get("started", ""))),
        ("written", str(manifest.get("written", ""))),
        ("system", ", ".join(f"{name} {value}" for name, value in machine.items())),
        ("seconds by phase", _listed(manifest.get("seconds"))),
        ("calls", _listed(manifest.get("calls"))),
        ("tokens", _listed(manifest.get("tokens"))),
        ("packages", _listed(manifest.get("packages"))),
        ("prompts (SHA-256)", _listed(manifest.get("prompt_sha256"))),
        ("plugin files (SHA-256)", _listed(manifest.get("plugins"))),
    ]
    how = "Enough to check the run or to do it again; the whole manifest follows."
    return [View("Origin of these numbers", how, ("what", "value"), tuple(row for row in rows if row[1]))]


def _listed(values: Any) -> str:
    return (
        ", ".join(f"{name} {value}" for name, value in values.items() if value) if isinstance(values, Mapping) else ""
    )
