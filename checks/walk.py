"""Count the calls between files on one walk from a spec to its report: `python -m checks.walk [SPEC]`.

The walk is one `ohr run` in one process, by default of the quickstart on two documents with a plain generator.
It is measured by one fixed rule, so that two versions of ohr can be compared:

- A step is a call, in the main thread, of a function of ohr by the nearest function of ohr below it on the stack.
  Each pair of functions counts once, at its first call: a loop is no walk.
- Files that serve everybody are left out: the families, the packages that they may import (`SHARED` and `INNER` of
  `checks.layers`), and all `__init__` files.
- The main line is made of the steps into another file whose function leads to at least five files besides its own,
  directly or through what it calls: what leads to fewer is a helper. Five gives as many files as a reader of the code
  listed by hand.
- A stay is a file that the main line enters, or comes back to for the next step. A return is a stay in a file that
  the line has left before. Stays less returns is the number of files.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any

from .layers import INNER, SHARED

REACH = 5
"""Files besides its own that a function of the main line leads to."""

MOST_ENTERED = 10

WITH_ANSWERS = ("generators=[{kind: extractive}]", "evaluate=[retrieval, generation, overall]", "decompose=false")
"""Values of the quickstart that take the walk through all stages, with a baseline that needs no language model."""


Step = tuple[tuple[str, str], tuple[str, str]]
"""A function that calls and the function that is called, each as its file and its name."""


class Walk:
    """The calls among the functions of ohr in one thread, each pair of functions once, in the order of first calls."""

    def __init__(self, home: Path) -> None:
        self.steps: list[Step] = []
        self._home = f"{home}/"
        self._files: dict[CodeType, str] = {}
        self._seen: set[tuple[CodeType, CodeType]] = set()

    def notice(self, frame: FrameType, event: str, _: Any) -> None:
        """Note a call; a hook for `sys.setprofile`."""
        if event != "call" or not self._file(frame.f_code):
            return
        caller = frame.f_back
        while caller and not self._file(caller.f_code):
            caller = caller.f_back
        if caller and (pair := (caller.f_code, frame.f_code)) not in self._seen:
            self._seen.add(pair)
            names = [(self._file(code), f"{code.co_qualname}:{code.co_firstlineno}") for code in pair]
            self.steps.append((names[0], names[1]))

    def _file(self, code: CodeType) -> str:
        """Return the file of a function below the home of ohr, or nothing for one that is left out."""
        if code not in self._files:
            path = code.co_filename
            name = path.removeprefix(self._home) if path.startswith(self._home) else ""
            package = name.split("/")[0].removesuffix(".py")
            left_out = package in (*SHARED, *INNER) or name.endswith("__init__.py") or code.co_name == "<module>"
            self._files[code] = "" if left_out else name
        return self._files[code]


def walk(arguments: Sequence[str]) -> list[Step]:
    """Return the calls that a command of ohr makes, each pair of functions once; the command runs in this process."""
    import ohr
    from ohr.cli.app import app

    path = Walk(Path(ohr.__file__).parent)
    sys.setprofile(path.notice)
    try:
        app(list(arguments), standalone_mode=False)
    finally:
        sys.setprofile(None)
    return path.steps


def stays(steps: Sequence[Step], reach: int = REACH) -> list[str]:
    """Return the files that the main line of a walk enters, in order."""
    called: defaultdict[tuple[str, str], set[tuple[str, str]]] = defaultdict(set)
    for caller, callee in steps:
        called[caller].add(callee)
    line: list[str] = []
    for caller, callee in steps:
        if caller[0] != callee[0] and len(_files_below(callee, called)) >= reach:
            line.extend(file for file, _ in (caller, callee) if line[-1:] != [file])
    return line


def _files_below(function: tuple[str, str], called: Mapping[tuple[str, str], set[tuple[str, str]]]) -> set[str]:
    """Return the other files that a function leads to."""
    reached, waiting = {function}, [function]
    while waiting:
        new = called.get(waiting.pop(), set()) - reached
        reached |= new
        waiting.extend(new)
    return {file for file, _ in reached} - {function[0]}


def counts(line: Sequence[str]) -> Iterator[str]:
    """Yield the lines of the count: stays, returns, files, and the files entered most often."""
    entered = Counter(line)
    yield f"{len(line)} stays, {len(line) - len(entered)} returns, {len(entered)} files"
    yield from (f"{times:5}  {file}" for file, times in entered.most_common(MOST_ENTERED))


def main(arguments: Sequence[str]) -> None:
    """Run a spec and print the count of its walk."""
    quickstart = str(files("ohr.pipelines") / "quickstart.yaml")
    values = [word for value in WITH_ANSWERS for word in ("--set", value)]
    spec = arguments or [quickstart, "--limit", "2", *values]
    with TemporaryDirectory() as folder:
        steps = walk(["run", *spec, "--executor", "inline", "--store", f"{folder}/store", "--runs", f"{folder}/runs"])
    print("\n".join(counts(stays(steps))))  # noqa: T201 a script that reports to the person who runs it


if __name__ == "__main__":
    main(sys.argv[1:])
