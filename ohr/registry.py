"""Plugins by family and kind; ohr finds its own plugins here too.

Plugins come from entry points (groups in `ohr.contracts.FAMILIES`), or from a file that a spec names and the user
trusts. Listing names imports nothing.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.metadata import EntryPoint, entry_points
from importlib.util import module_from_spec, spec_from_file_location
from inspect import isabstract, signature
from pathlib import Path
from typing import Any

from pydantic import ValidationError, ValidationInfo

from ohr import moved
from ohr.contracts import (
    FAMILIES,
    Benchmark,
    Medium,
    OcrBackend,
    PublishedBenchmark,
    QueryRetriever,
    RecordedOcr,
    Stage,
    Treatment,
)
from ohr.errors import PluginError
from ohr.messages.wording import choices as choices  # for all who look for a name in a list

moved.install()  # before any plugin is imported

_MOVED: Sequence[tuple[Sequence[str], type[Stage], type[Stage]]] = (
    (("fetch", "verify", "published", "results"), Benchmark, PublishedBenchmark),
    (("recorded",), OcrBackend, RecordedOcr),
)
"""Methods that were of a contract in an earlier version, and the contract that has them now."""


@dataclass(frozen=True, slots=True)
class Registry:
    """All plugins that can be named: installed ones, and the classes of trusted files.

    Args:
        trusted: the user allows a spec to run code that is not installed: its files, or what comes with a model.
    """

    files: tuple[Path, ...] = ()
    trusted: bool = False

    def names(self, family: str) -> tuple[str, ...]:
        """List the kinds of a family, sorted; imports only trusted files."""
        own = {plugin.model_fields["kind"].default for plugin in self._from_files(family)}
        return tuple(sorted(_entries(family).keys() | own))

    def is_own(self, family: str, kind: str) -> bool:
        """Report whether a plugin comes with ohr, without importing it; one that a trusted file claims does not."""
        entry = _entries(family).get(kind)
        claimed = any(plugin.model_fields["kind"].default == kind for plugin in self._from_files(family))
        return entry is not None and entry.value.startswith("ohr.") and not claimed

    def treatments(self) -> dict[str, tuple[str, ...]]:
        """Return the families of each kind of treatment: one, unless plugins of two families share a name."""
        families = [family for family, (contract, _) in FAMILIES.items() if issubclass(contract, Treatment)]
        kinds = sorted({kind for family in families for kind in self.names(family)})
        return {kind: tuple(family for family in families if kind in self.names(family)) for kind in kinds}

    @staticmethod
    def noise_family(medium: Medium) -> str:
        """Return the family of the noise of images or of texts."""
        return next(
            family
            for family, (contract, _) in FAMILIES.items()
            if issubclass(contract, Treatment) and (contract.purpose, contract.takes) == ("noise", medium)
        )

    def load(self, family: str, kind: str) -> type[Stage]:
        """Import a plugin.

        Raises:
            PluginError: there is no such plugin, it does not import, or it breaks its contract.
        """
        own = [p for p in self._from_files(family) if p.model_fields["kind"].default == kind]
        entry = _entries(family).get(kind)
        claims = [f"{plugin.__name__} in {_file(plugin)}" for plugin in own] + ([entry.value] if entry else [])
        if own and len(claims) > 1:
            raise PluginError(f"{family} {kind!r} is claimed twice: {' and '.join(claims)}")
        if own:
            return own[0]
        if entry is None:
            raise PluginError(f"no {family} {kind!r}. {choices(kind, self.names(family))}")
        return _load(entry, family)

    def digests(self) -> dict[str, str]:
        """Hash each trusted file, so that a changed plugin changes the keys."""
        found: dict[str, str] = {}
        for path in self.files:
            same = sum(name.split(" ")[0] == path.name for name in found)  # equal names in different folders
            found[f"{path.name} ({same + 1})" if same else path.name] = sha256(path.read_bytes()).hexdigest()
        return found

    def _from_files(self, family: str) -> list[type[Stage]]:
        return [plugin for path in self.files for plugin in load_file(path) if getattr(plugin, "family", "") == family]


@dataclass(frozen=True, slots=True)
class Nested:
    """Validates a field that holds a plugin of a family, by its mapping in YAML."""

    family: str

    def __call__(self, value: Any, info: ValidationInfo) -> Any:
        """Make the plugin of its mapping; the spec's own plugin files are known from the context."""
        if not isinstance(value, Mapping):
            return value
        registry = (info.context or {}).get("registry") or Registry()
        try:
            plugin = registry.load(self.family, str(value.get("kind")))
            return plugin.model_validate(dict(value), context=info.context)
        except PluginError as error:
            raise ValueError(str(error)) from None
        except ValidationError as error:
            faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)]
            raise ValueError(f"{value.get('kind')}: {'; '.join(faults)}") from None


@cache
def load_file(path: Path) -> tuple[type[Stage], ...]:
    """Run a plugin file and return the stages that it defines; worker processes do this before they unpickle any."""
    name = f"ohr_plugin_{path.stem}_{sha256(path.read_bytes()).hexdigest()[:8]}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"{path} is not a Python file")
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise PluginError(f"{path} does not import: {_reason(error)}") from error
    found = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, Stage)]
    own = [value for value in found if value.__module__ == name]
    for plugin in own:
        _refuse_outdated(plugin, f"{path}: {plugin.__name__}")
    plugins = [value for value in own if not isabstract(value)]
    if not plugins:
        lacking = "".join(f"; {_lacking(plugin, plugin.__name__)}" for plugin in own)
        raise PluginError(f"{path} defines no plugin: a class that inherits from a family of ohr.contracts{lacking}")
    nameless = [plugin.__name__ for plugin in plugins if not plugin.model_fields["kind"].default]
    if nameless:
        raise PluginError(f'{path}: {nameless[0]} has no kind: write `class {nameless[0]}(..., kind="name")`')
    return tuple(plugins)


def _refuse_outdated(plugin: type[Stage], name: str) -> None:
    """Refuse a plugin of an earlier version of ohr, which nothing would call as it expects."""
    for methods, old, new in _MOVED:
        has = [method for method in methods if hasattr(plugin, method)]
        if has and issubclass(plugin, old) and not issubclass(plugin, new):
            raise PluginError(f"{name} has `{has[0]}`: let it inherit from {new.__name__} in place of {old.__name__}")
    if not issubclass(plugin, QueryRetriever) or not hasattr(plugin, "load"):
        return
    if isabstract(plugin) or "k" not in signature(plugin.search).parameters:
        raise PluginError(
            f"{name} is a retriever for an earlier version of ohr: give it `search(index, queries, k)`, and let "
            "`index` return an Index of arrays and JSON values, in place of `load` and an index class "
            "(docs/plugins.md, A retriever)"
        )


def _lacking(plugin: type[Stage], name: str) -> str:
    methods = " and ".join(f"`{method}`" for method in sorted(plugin.__abstractmethods__))
    return f"{name} lacks {methods} of its contract (docs/plugins.md)"


def _file(plugin: type[Stage]) -> str:
    return str(sys.modules[plugin.__module__].__file__)


_installed = cache(entry_points)
"""Reads all entry points, once: to read those of one group takes as long."""


@cache
def _entries(family: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for entry in _installed().select(group=FAMILIES[family][1]):
        if found.setdefault(entry.name, entry).value != entry.value:
            raise PluginError(f"{family} {entry.name!r} is claimed twice: {found[entry.name].value} and {entry.value}")
    return found


def _reason(error: BaseException) -> str:
    """Return why a plugin does not import, with where the list of imports is if ohr lacks what it imports."""
    reason = f"{type(error).__name__}: {error}"
    if isinstance(error, ImportError) and (error.name or "").split(".")[0] == "ohr":
        return f"{reason}; what a plugin may import is listed under `Writing a plugin` in the documentation"
    return reason


def _load(entry: EntryPoint, family: str) -> type[Stage]:
    contract, _ = FAMILIES[family]
    try:
        plugin = entry.load()
    except PluginError:
        raise
    except (Exception, SystemExit) as error:  # somebody else's code may raise anything when it is imported
        raise PluginError(f"{entry.value} does not import: {_reason(error)}") from error
    if not (isinstance(plugin, type) and issubclass(plugin, contract)):
        raise PluginError(f"{entry.value} is not a {contract.__name__}")
    _refuse_outdated(plugin, entry.value)
    if isabstract(plugin):
        raise PluginError(_lacking(plugin, entry.value))
    if plugin.model_fields["kind"].default != entry.name:
        own = plugin.model_fields["kind"].default
        raise PluginError(f"{entry.value} has the kind {own!r}, but its entry point is called {entry.name!r}")
    return plugin
