"""YAML files as plain data that remembers where each key is written."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.constructor import ConstructorError, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode

from ohr.errors import SpecError
from ohr.messages.wording import counted, quoted, shortened

Where = tuple[str | int, ...]
"""A key's path: `("retrievers", 0, "top_k")`."""
Note = tuple[Where, str]
"""Where something is wrong, and what."""

_MOST_CHARACTERS = 500_000
"""Of one file; those that are shipped have 1,200 at most, and reading YAML takes up to 15 microseconds a character."""

_MOST_PLACES = 100_000
"""Keys and list items of one file, aliases expanded; the largest spec that is shipped has some hundreds."""

_MOST_FAULTS = 20
"""Faults that are printed; whoever mends these sees the next ones."""

LARGEST = 2**63 - 1
"""Whole numbers in tables and in JSON of other programs have 64 bits."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """One thing that is wrong, and where."""

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return printable(": ".join(filter(None, (shortened(place, 300), shortened(self.key, 100), self.message))))


def refuse(faults: Iterable[Fault]) -> None:
    """Raise a SpecError that lists faults in the order of the file, the first 20 of them; nothing without faults."""
    found = sorted(set(faults))
    lines = [str(fault) for fault in found[:_MOST_FAULTS]]
    if len(found) > _MOST_FAULTS:
        lines.append(f"and {counted(len(found) - _MOST_FAULTS, 'more fault')}")
    if lines:
        raise SpecError("\n".join(lines))


def printable(text: str) -> str:
    """Escape characters that cannot be printed, so that a message cannot control a terminal."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


@dataclass
class Source:
    """The data of a spec with its parents merged in, the place of every key, and those that are listed twice."""

    data: Any
    file: str
    places: dict[Where, tuple[str, int]] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)

    @cached_property
    def keys(self) -> frozenset[str | int]:
        """Every key that is written somewhere in the spec."""
        return frozenset(part for where in self.places for part in where)

    def home(self, where: Where) -> Path:
        """Return the folder of the file in which a key is written: relative paths start there."""
        file = self.fault(where, "").file
        return Path(self.file if file.startswith("--set ") else file).parent

    def fault(self, where: Where, message: str) -> Fault:
        """Make a fault at a key, or at the nearest key above it that is written down."""
        known = next((where[:n] for n in range(len(where), -1, -1) if where[:n] in self.places), None)
        file, line = self.places[known] if known is not None else (self.file, 1)
        return Fault(file, line, ".".join(map(str, where)), message)


def read_source(path: Path, overrides: Sequence[str] = ()) -> Source:
    """Read a YAML file, merge the files it `extends`, and apply `K=V` overrides.

    Raises:
        SpecError: the file is missing, is no YAML mapping, or extends itself.
    """
    source = _read(path, ())
    for override in overrides:
        _apply(source, override)
    return source


def _read(path: Path, children: tuple[Path, ...]) -> Source:
    source = parse(read_text(path), str(path))
    if not isinstance(source.data, dict):
        found = "an empty file" if source.data is None else quoted(source.data)
        raise SpecError(f"{path}:1: a spec is a mapping of keys to values (got {found})")
    parent = source.data.pop("extends", None)
    if parent is None:
        return source
    if not isinstance(parent, str):
        refuse([source.fault(("extends",), f"name one file (got {quoted(parent)})")])
    base = path.parent / str(parent)
    if not base.is_file():
        refuse([source.fault(("extends",), f"no such file: {base}{_nearest(base)}")])
    if base.resolve() in (*children, path.resolve()):
        raise SpecError(f"{base}:1: extends: a spec cannot extend itself")
    merged = _read(base, (*children, path.resolve()))
    replaced = set(_merge(merged.data, source.data, ()))
    return Source(
        merged.data,
        source.file,
        _without(merged.places, replaced) | source.places,
        merged.faults + source.faults,
    )


def read_text(path: Path) -> str:
    """Read a file; one that cannot be read is a SpecError."""
    try:
        with path.open(encoding="utf-8") as opened:
            return opened.read(_MOST_CHARACTERS + 1)
    except FileNotFoundError:
        raise SpecError(f"{path}: no such file{_nearest(path)}") from None
    except (OSError, ValueError) as error:  # no UTF-8, or a name with a NUL
        reason = "is a folder, not a file" if path.is_dir() else f"cannot be read: {error}"
        raise SpecError(printable(f"{path}: {reason}")) from None


def _nearest(path: Path) -> str:
    """Name the YAML file of the same folder that was probably meant, if there is one."""
    try:
        names = {file.stem: file.name for file in path.parent.iterdir() if file.suffix in (".yaml", ".yml")}
    except (OSError, ValueError):  # no such folder, or a name with a NUL
        return ""
    nearest = get_close_matches(path.stem, names, n=1)
    return f". Did you mean {path.with_name(names[nearest[0]])}?" if nearest else ""


class _Constructor(SafeConstructor):
    """Makes values as YAML 1.2 does; one that cannot be made is an error with its line."""

    def construct_object(self, node: Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep=deep)
        except (ValueError, KeyError) as error:  # a date that does not exist; a word that is no switch
            reason = f" ({shortened(str(error))})" if isinstance(error, ValueError) else ""
            problem = f"{quoted(node.value)} is not a valid {str(node.tag).rpartition(':')[2]}{reason}"
            raise ConstructorError(problem=problem, problem_mark=node.start_mark) from None
        if isinstance(value, int) and abs(value) > LARGEST:
            problem = f"{quoted(node.value)} is a whole number beyond {LARGEST}"
            raise ConstructorError(problem=problem, problem_mark=node.start_mark)
        return value


def parse(text: str, file: str) -> Source:
    """Read YAML, which `file` names in messages; text that is no YAML is a SpecError."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Constructor = _Constructor
    yaml.allow_duplicate_keys = True
    source = Source(None, file)
    if len(text) > _MOST_CHARACTERS:
        raise SpecError(f"{file}: longer than {_MOST_CHARACTERS:,} characters")
    try:
        root = yaml.compose(text)
        if root is not None:
            _note_keys(source, root)  # first: making the values writes merged keys into the nodes
            source.data = yaml.constructor.construct_document(root)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f"{file}:{mark.line + 1 if mark else 1}"
        raise SpecError(printable(f"{line}: not valid YAML: {error.problem or error.context}")) from None
    except (YAMLError, ValueError) as error:  # a forbidden character
        raise SpecError(f"{file}: not valid YAML: {str(error).splitlines()[0].rstrip()}") from None
    except RecursionError:
        raise SpecError(f"{file}: nested too deep, or an anchor holds itself") from None
    return source


def _note_keys(source: Source, root: Node) -> None:
    for number, (where, line, repeated) in enumerate(_keys(root, ())):
        if number == _MOST_PLACES:  # before any value is made: a bomb of aliases has billions
            raise SpecError(f"{source.file}: more than {_MOST_PLACES:,} keys and list items, aliases expanded")
        if repeated:
            message = f"this key is listed twice; the first is on line {source.places[where][1]}"
            source.faults.append(Fault(source.file, line, ".".join(map(str, where)), message))
        else:
            source.places[where] = (source.file, line)


def _keys(node: Node, where: Where) -> Iterator[tuple[Where, int, bool]]:
    if isinstance(node, MappingNode):
        seen = set()
        for key, value in node.value:
            if not isinstance(key.value, str):
                continue  # a list or mapping as a key: no key of a spec, and reported as an unknown one
            here = (*where, key.value)
            yield here, key.start_mark.line + 1, key.value in seen
            if key.value not in seen:
                yield from _keys(value, here)
            seen.add(key.value)
    elif isinstance(node, SequenceNode):
        for place, item in enumerate(node.value):
            yield (*where, place), item.start_mark.line + 1, False
            yield from _keys(item, (*where, place))


def _merge(base: dict[str, Any], child: Mapping[str, Any], where: Where) -> Iterator[Where]:
    """Put `child` over `base`: mappings of the same plugin merge, everything else is replaced; yields what was."""
    for key, value in child.items():
        old = base.get(key)
        if isinstance(old, dict) and isinstance(value, dict) and old.get("kind") == value.get("kind", old.get("kind")):
            yield from _merge(old, value, (*where, key))
        else:
            base[key] = value
            yield (*where, key)


def _without(places: dict[Where, tuple[str, int]], gone: set[Where]) -> dict[Where, tuple[str, int]]:
    return {at: place for at, place in places.items() if not any(at[:n] in gone for n in range(len(at) + 1))}


def _apply(source: Source, override: str) -> None:
    """Set one value: `retrievers.0.top_k=5`; the value is read as YAML."""
    label = f"--set {shortened(override, 200)}"
    key, sign, value = override.partition("=")
    if not sign or not re.fullmatch(r"[\w-]+(\.[\w-]+)*", key):
        raise SpecError(f"{label}: write it as key.path=value")
    if key == "extends":
        raise SpecError(f"{label}: a parent is named in the file, not on the command line")
    where: Where = tuple(int(part) if part.isdecimal() and part.isascii() else part for part in key.split("."))
    target: Any = source.data
    for depth, part in enumerate(where[:-1]):
        if isinstance(target, dict) and isinstance(part, str):
            target = target.setdefault(part, {})
        elif isinstance(target, list) and isinstance(part, int) and part < len(target):
            target = target[part]
        else:
            raise SpecError(f"{label}: there is no {'.'.join(map(str, where[: depth + 1]))}")
    last: Any = where[-1]
    if isinstance(target, list) and not (isinstance(last, int) and last < len(target)):
        raise SpecError(f"{label}: there is no {key}")
    if not isinstance(target, list | dict):
        raise SpecError(f"{label}: {'.'.join(map(str, where[:-1]))} is not a mapping")
    try:
        given = parse(value, label)
    except SpecError:
        raise SpecError(f"{label}: the value is not valid YAML") from None
    target[last] = given.data
    below = {(*where, *at): (label, 0) for at in given.places}
    source.places = _without(source.places, {where}) | {where: (label, 0)} | below
