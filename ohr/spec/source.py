"""YAML files as plain data that remembers where each key stands."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from ohr.errors import SpecError

Where = tuple[str | int, ...]
"""A key's path: `("retrievers", 0, "top_k")`."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing that is wrong, and where."""

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


@dataclass
class Source:
    """The data of a spec with its parents merged in, and the place of every key."""

    data: dict[str, Any]
    file: str
    places: dict[Where, tuple[str, int]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    def home(self, where: Where) -> Path:
        """Give the folder of the file in which a key stands: relative paths start there."""
        file = self.fault(where, "").file
        return Path(self.file if file.startswith("--set ") else file).parent

    def fault(self, where: Where, message: str) -> Fault:
        """Make a fault at a key, or at the nearest key above it that is written down."""
        for length in range(len(where), -1, -1):
            if where[:length] in self.places:
                file, line = self.places[where[:length]]
                return Fault(file, line, ".".join(map(str, where)), message)
        return Fault(self.file, 1, ".".join(map(str, where)), message)


def read_source(path: Path, overrides: Sequence[str] = ()) -> Source:
    """Read a YAML file, merge the files it `extends`, and apply `K=V` overrides.

    Raises:
        SpecError: the file is missing, is no YAML mapping, or extends itself.
    """
    try:
        source = _read(path, ())
    except RecursionError:
        raise SpecError(f"{path}: nested too deep, or an anchor holds itself") from None
    for override in overrides:
        _apply(source, override)
    return source


def _read(path: Path, children: tuple[Path, ...]) -> Source:
    if path.resolve() in children:
        raise SpecError(f"{path}:1: extends: a spec cannot extend itself")
    source = _read_one(path)
    parent = source.data.pop("extends", None)
    if parent is None:
        return source
    if not isinstance(parent, str):
        raise SpecError(str(source.fault(("extends",), f"name one file (got {parent!r})")))
    base = path.parent / parent
    if not base.is_file():
        raise SpecError(str(source.fault(("extends",), f"no such file: {base}")))
    merged = _read(base, (*children, path.resolve()))
    _merge(merged.data, source.data, merged.places, ())
    return Source(merged.data, source.file, merged.places | source.places, merged.faults + source.faults)


def _read_one(path: Path) -> Source:
    source = parse(read_text(path), str(path))
    if not isinstance(source.data, dict):
        raise SpecError(f"{path}:1: a spec is a mapping of keys to values (got {type(source.data).__name__})")
    return source


def read_text(path: Path) -> str:
    """Read a file; one that cannot be read is a SpecError."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"{path}: no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(f"{path}: cannot be read: {error}") from None


def parse(text: str, file: str) -> Source:
    """Read YAML, which `file` names in messages; text that is no YAML is a SpecError."""
    yaml = YAML(typ="safe", pure=True)
    yaml.allow_duplicate_keys = True
    try:
        data = yaml.load(text)
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else 1
        raise SpecError(f"{file}:{line}: not valid YAML: {error.problem or error.context}") from None
    except (YAMLError, ValueError) as error:  # a forbidden character; a date that does not exist
        raise SpecError(f"{file}: not valid YAML: {str(error).splitlines()[0]}") from None
    source = Source(data, file)
    for where, line, repeated in _keys(root, ()):
        if repeated:
            first = source.places[where][1]
            key = ".".join(map(str, where))
            source.faults.append(Fault(file, line, key, f"this key stands twice; the first is on line {first}"))
        else:
            source.places[where] = (file, line)
    return source


def _keys(node: Node | None, where: Where) -> Iterator[tuple[Where, int, bool]]:
    if isinstance(node, MappingNode):
        seen = set()
        for key, value in node.value:
            if not isinstance(key.value, str):
                continue  # a list or mapping as a key: no key of ours, and told as an unknown one
            here = (*where, key.value)
            yield here, key.start_mark.line + 1, key.value in seen
            if key.value not in seen:
                yield from _keys(value, here)
            seen.add(key.value)
    elif isinstance(node, SequenceNode):
        for place, item in enumerate(node.value):
            yield (*where, place), item.start_mark.line + 1, False
            yield from _keys(item, (*where, place))


def _merge(base: dict[str, Any], child: Mapping[str, Any], places: dict[Where, Any], where: Where) -> None:
    """Lay `child` over `base`: mappings of the same plugin merge, everything else is replaced."""
    for key, value in child.items():
        old = base.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and old.get("kind") == value.get("kind", old.get("kind")):
            _merge(old, value, places, (*where, key))
            continue
        _forget(places, (*where, key))
        base[key] = value


def _forget(places: dict[Where, Any], where: Where) -> None:
    for known in [place for place in places if place[: len(where)] == where]:
        del places[known]


def _apply(source: Source, override: str) -> None:
    """Set one value: `retrievers.0.top_k=5`; the value is read as YAML."""
    key, sign, value = override.partition("=")
    if not sign or not re.fullmatch(r"[\w-]+(\.[\w-]+)*", key):
        raise SpecError(f"--set {override}: write it as key.path=value")
    if key == "extends":
        raise SpecError(f"--set {override}: a parent is named in the file, not on the command line")
    where: Where = tuple(int(part) if part.isdecimal() and part.isascii() else part for part in key.split("."))
    target: Any = source.data
    for depth, part in enumerate(where[:-1]):
        if isinstance(target, dict) and isinstance(part, str):
            target = target.setdefault(part, {})
        elif isinstance(target, list) and isinstance(part, int) and part < len(target):
            target = target[part]
        else:
            raise SpecError(f"--set {override}: there is no {'.'.join(map(str, where[: depth + 1]))}")
    last: Any = where[-1]
    if isinstance(target, list) and not (isinstance(last, int) and last < len(target)):
        raise SpecError(f"--set {override}: there is no {key}")
    if not isinstance(target, list | dict):
        raise SpecError(f"--set {override}: {'.'.join(map(str, where[:-1]))} is not a mapping")
    try:
        target[last] = YAML(typ="safe", pure=True).load(value) if value else None
    except (YAMLError, ValueError):
        raise SpecError(f"--set {override}: the value is not valid YAML") from None
    _forget(source.places, where)
    source.places[where] = (f"--set {override}", 0)
