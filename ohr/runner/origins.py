"""Where the code of a run comes from: distributions, versions, and the commit of a checkout."""

import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path
from re import match
from typing import Any

from ohr.commit import commit_of, own_commit
from ohr.contracts.stage import within
from ohr.keys import installed, installed_version
from ohr.spec.model import Spec


def origins(spec: Spec) -> dict[str, dict[str, Any]]:
    """Describe ohr and each distribution or file that a plugin of the spec comes from.

    Returns:
        by name: `plugins`, and where they are known `version`, `commit` (with `-dirty` where files were changed since),
        and `packages`, the versions of the distributions that it requires and of those that its plugins name.
    """
    found: dict[str, dict[str, Any]] = {"ohr": _described("ohr", "ohr")}
    for stage in dict.fromkeys(part for whole in spec.stages() for part in within(whole)):
        module = type(stage).__module__
        top = module.partition(".")[0]
        name = "ohr" if top == "ohr" else next(iter(_distributions().get(top, ())), module)
        if name not in found:
            found[name] = _described(name, module)
        found[name].setdefault("plugins", []).append(f"{type(stage).family} {stage.kind}")
        found[name]["packages"] |= installed(type(stage).packages)
    return {name: {key: value for key, value in about.items() if value} for name, about in found.items()}


def _described(distribution: str, module: str) -> dict[str, Any]:
    needs = [] if distribution == "ohr" else _requires(distribution)
    file = getattr(sys.modules.get(module), "__file__", None)
    commit = own_commit() if distribution == "ohr" else file and commit_of(Path(file))
    return {"version": installed_version(distribution), "commit": commit, "packages": installed(needs)}


def _requires(distribution: str) -> list[str]:
    try:
        names = [match(r"[\w.-]+", line) for line in requires(distribution) or ()]
    except PackageNotFoundError:
        return []
    return [name[0] for name in names if name]


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(packages_distributions())
