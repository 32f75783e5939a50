"""Where the code of a run comes from: distributions, versions, and the commit of a checkout."""

import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from re import match
from typing import Any

from ohr.contracts import Stage
from ohr.keys import installed, installed_version
from ohr.spec.model import Spec

_SECONDS = 10.0


def origins(spec: Spec) -> dict[str, dict[str, Any]]:
    """Describe ohr and each distribution or file that a plugin of the spec comes from.

    Returns:
        by name: `plugins`, and where they are known `version`, `commit` (with `-dirty` where files were changed since),
        and `packages`, the versions of the distributions that it requires and of those that its plugins name.
    """
    found: dict[str, dict[str, Any]] = {"ohr": _described("ohr", "ohr")}
    for stage in dict.fromkeys(_all(spec)):
        module = type(stage).__module__
        top = module.partition(".")[0]
        name = "ohr" if top == "ohr" else next(iter(_distributions().get(top, ())), module)
        if name not in found:
            found[name] = _described(name, module)
        found[name].setdefault("plugins", []).append(f"{type(stage).family} {stage.kind}")
        found[name]["packages"] |= installed(type(stage).packages)
    return {name: {key: value for key, value in about.items() if value} for name, about in found.items()}


def _all(spec: Spec) -> Iterator[Stage]:
    for stage in spec.stages():
        yield stage
        yield from (value for _, value in stage if isinstance(value, Stage))


def _described(distribution: str, module: str) -> dict[str, Any]:
    needs = [] if distribution == "ohr" else _requires(distribution)
    file = getattr(sys.modules.get(module), "__file__", None)
    packages = installed(needs)
    return {"version": installed_version(distribution), "commit": file and _commit(Path(file)), "packages": packages}


def _requires(distribution: str) -> list[str]:
    try:
        names = [match(r"[\w.-]+", line) for line in requires(distribution) or ()]
    except PackageNotFoundError:
        return []
    return [name[0] for name in names if name]


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())


def _commit(file: Path) -> str | None:
    """Return the commit of the checkout that a file is a part of; None for others, such as installed ones."""
    asked = (["ls-files", "--error-unmatch", "--"], ["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"])
    try:
        for words in asked:
            command = ["git", *words, *([file.name] if words[0] == "ls-files" else [])]
            run = subprocess.run(command, cwd=file.parent, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):  # no git, no checkout, or not a part of it
        return None
    return run.stdout.strip() or None
