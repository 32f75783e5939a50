"""`ohr plugins`: list the plugins that a spec may name."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from ohr.cli.display.console import say, say_json, say_table
from ohr.cli.display.plugin_fields import Parameter, parameters
from ohr.cli.options import AsJson, PluginFiles
from ohr.errors import PluginError

if TYPE_CHECKING:
    from ohr.registry import Registry


class _Shortcut(TyperGroup):
    """Takes `ohr plugins retrievers` as `ohr plugins list retrievers`."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        return super().resolve_command(ctx, args if args[0] in self.commands else ["list", *args])


app = typer.Typer(cls=_Shortcut, rich_markup_mode=None)


@dataclass(frozen=True, slots=True)
class About:
    """A plugin in one line.

    Args:
        extra: the extra of ohr that it needs, if any.
        missing: packages of that extra that are not installed.
    """

    family: str
    kind: str
    description: str
    extra: str | None
    missing: tuple[str, ...]


@app.callback(invoke_without_command=True)
def plugins(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List plugins, or show the parameters of one.

    `ohr plugins` lists all, `ohr plugins retrievers` those of a family, `ohr plugins show retriever bm25` one.
    """
    if ctx.invoked_subcommand is None:
        list_plugins(as_json=as_json)


@app.command("list")
def list_plugins(
    family: Annotated[str | None, typer.Argument(help="Such as retrievers; all.", show_default=False)] = None,
    plugin: PluginFiles = None,
    as_json: AsJson = False,
) -> None:
    """List the plugins of one family, or all."""
    requirements = _requirements()
    found = list(_listed(family, plugin or (), requirements))
    if as_json:
        say_json(found)
        return
    say_table(
        ("family", "kind", "what it does", "extra"),
        [(about.family, about.kind, about.description, _extra(about, requirements)) for about in found],
    )


@app.command("show")
def show_plugin(
    family: Annotated[str, typer.Argument(help="Such as retriever.", show_default=False)],
    kind: Annotated[str, typer.Argument(help="Such as bm25.", show_default=False)],
    plugin: PluginFiles = None,
    as_json: AsJson = False,
) -> None:
    """Show a plugin's parameters: types, defaults, ranges."""
    name, registry, requirements = family_of(family), _registry(plugin or ()), _requirements()
    shown = registry.load(name, kind)
    about, fields = _about(registry, name, kind, requirements), parameters(shown)
    if as_json:
        say_json({"plugin": about, "version": shown.version, "parameters": fields})
        return
    say(f"{name} {kind} (version {shown.version})")
    say(cleandoc(shown.__doc__ or ""))
    if about.extra:
        say(f"needs the extra {_extra(about, requirements)}")
    if fields:
        say()
        say_table(("parameter", "type", "default", "range", "what it does"), [_row(parameter) for parameter in fields])


def _registry(files: Sequence[Path]) -> "Registry":
    from ohr.registry import Registry

    return Registry(tuple(path.resolve() for path in files))


def _listed(family: str | None, files: Sequence[Path], requirements: tuple[str, ...]) -> Iterator[About]:
    from ohr.contracts import FAMILIES

    registry = _registry(files)
    for name in (family_of(family),) if family else FAMILIES:
        for kind in registry.names(name):
            yield _about(registry, name, kind, requirements)


def family_of(given: str) -> str:
    """Name a family by its singular, its plural, or its entry-point group."""
    from ohr.contracts import FAMILIES
    from ohr.registry import choices

    wanted = given.replace("-", "_")
    for name, (_, group) in FAMILIES.items():
        if wanted in (name, f"{name}s", group, group.removeprefix("ohr.")):
            return name
    raise PluginError(f"no family {given!r}. {choices(wanted, tuple(FAMILIES))}")


def _about(registry: "Registry", family: str, kind: str, requirements: tuple[str, ...]) -> About:
    from ohr.spec.own_plugins import known

    if own := known(registry, family, kind):
        first, extra = own["schema"]["description"], own["extra"]
    else:
        try:
            plugin = registry.load(family, kind)
        except PluginError as error:
            return About(family, kind, f"cannot be used: {error}", None, ())
        first, extra = (plugin.__doc__ or "").strip().split("\n")[0], plugin.extra
    return About(family, kind, first, extra, _missing(extra, requirements) if extra else ())


def _extra(about: About, requirements: tuple[str, ...]) -> str:
    if about.extra is None:
        return ""
    if not about.missing:
        return f"{about.extra} (installed)"
    packages = _packages(about.extra, requirements)
    if other := [f"{name} needs {packages[name]}" for name in about.missing if packages[name]]:
        return f"{about.extra} (not for this Python: {', '.join(other)})"
    return f"{about.extra} (not installed: pip install 'ohr[{about.extra}]')"


def _requirements() -> tuple[str, ...]:
    """Read what ohr and its extras require, as its metadata has it."""
    from importlib.metadata import requires

    return tuple(requires("ohr") or ())


def _missing(extra: str, requirements: tuple[str, ...]) -> tuple[str, ...]:
    """Name the packages of an extra of ohr that are not installed."""
    from ohr.keys import installed_version

    return tuple(name for name in _packages(extra, requirements) if installed_version(name) is None)


@cache
def _packages(extra: str, requirements: tuple[str, ...]) -> dict[str, str]:
    """Return the packages of an extra of ohr and of those that it takes in, each with the Python that it needs."""
    packages = dict[str, str]()
    of_extra = re.compile(rf"extra == ['\"]{re.sub('[-_.]+', '[-_.]', extra)}['\"]")
    for requirement, _, marker in (line.partition(";") for line in requirements):
        if not of_extra.search(marker):
            continue
        name, _, others = re.split(r"[^\w.\[,-]", requirement)[0].partition("[")
        if name == "ohr":
            for other in others.split(","):
                packages |= _packages(other, requirements)
        else:
            python = re.search(r"python_version [<>=!]+ \S+", marker)
            packages[name] = python[0] if python else ""
    return packages


def _row(parameter: Parameter) -> tuple[str, str, str, str, str]:
    description = parameter.description + ("" if parameter.changes_results else " (Does not change results.)")
    return parameter.name, parameter.type, parameter.default, parameter.range, description.strip()
