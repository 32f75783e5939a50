"""The run of one program, within its walls.

Nothing here keeps a program in: it may change every object of this process. What it can gain is a false result for
itself, which returning a false value gives as well.
"""

import builtins
import gc
import json
import re
import sys
import warnings
from collections.abc import Callable, Collection
from types import ModuleType
from typing import Any

Reply = dict[str, Any]

_NAME = "program"
_RESERVE = 4 << 20
"""Bytes that are free for the reply after a program has used up its memory."""

_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
_MOST_OF_ERROR, _MOST_OF_KIND = 1000, 100
_NO_MESSAGE = "(its message cannot be read)"

_SUPPORT = ("_pylong", "_strptime", "time", "warnings")
"""Modules that C code of the allowed ones imports in the program's name."""


class NotAllowed(ImportError):
    """A program imports a module that is not on the list."""


def reply(text: str, function: str, modules: Collection[str], most: int) -> bytes:
    """Run a program and describe its result as JSON.

    Args:
        most: bytes of the value's text in UTF-8; a longer text is cut and ends with an ellipsis.
    """
    reserve = bytes(_RESERVE)  # takes address space, and no page of memory, as bytearray would
    try:
        value = call(text, function, modules)
        found = describe(value, most)
    except MemoryError as error:
        error.__traceback__ = None  # the frames hold the program's values
        del reserve
        gc.collect()
        found = _failure("memory", "MemoryError")
    except NotAllowed as error:
        found = _failure("refused", str(error))
    except BaseException as error:
        found = _failure("raised", f"{type(error).__name__}: {_safely(str, error, _NO_MESSAGE)}")
    return json.dumps(found, ensure_ascii=False).encode("utf-8", "replace")


def call(text: str, function: str, modules: Collection[str]) -> Any:
    """Execute a program in a fresh module and return what its function returns."""
    module = ModuleType(_NAME)
    sys.modules[_NAME] = module
    warnings.simplefilter("ignore")
    _seed()
    space = vars(module)
    space["__builtins__"] = {**vars(builtins), "print": _nothing, "__import__": _importing(modules)}
    gc.enable()
    exec(compile(text, "<program>", "exec", dont_inherit=True), space)
    if function not in space:
        raise NameError(f"the program defines no {function}()")
    return space[function]()


def describe(value: Any, most: int) -> Reply:
    """Describe a returned value: its text, its type, and the number that `float` makes of it."""
    numpy = sys.modules.get("numpy")
    kind = str(type(value).__name__)
    number, error = _safely(float, value, None), None
    if numpy and isinstance(value, numpy.generic | numpy.ndarray):
        value = value.tolist()
    try:
        text = repr(value)
        text = _cut(text if isinstance(value, str) else _ADDRESS.sub("at 0x...", text), most)
    except MemoryError:
        raise
    except BaseException as failed:
        reason = f"its repr raises {type(failed).__name__}: {_safely(str, failed, _NO_MESSAGE)}"
        text, error = None, reason[:_MOST_OF_ERROR]
    return {"how": "returned", "value": text, "number": number, "kind": kind[:_MOST_OF_KIND], "error": error}


def _cut(text: str, most: int) -> str:
    data = text[: most + 1].encode("utf-8", "replace")
    return text if len(data) <= most else data[:most].decode("utf-8", "ignore") + "…"


def _safely(convert: Callable[[Any], Any], value: Any, otherwise: Any) -> Any:
    """Convert an object of the program, whose own code this runs; return `otherwise` where it raises."""
    try:
        return convert(value)
    except MemoryError:
        raise
    except BaseException:
        return otherwise


def _failure(how: str, error: str) -> Reply:
    text = _ADDRESS.sub("at 0x...", error[:_MOST_OF_ERROR])
    return {"how": how, "value": None, "number": None, "kind": "", "error": text}


def _importing(modules: Collection[str]) -> Callable[..., Any]:
    """Return an import that knows only some modules, for clear messages; the kernel keeps the rest away."""
    real, known = __import__, {name.partition(".")[0] for name in modules}

    def importing(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level == 0 and name.partition(".")[0] not in known and name not in _SUPPORT:
            raise NotAllowed(f"the program imports {name}; allowed are {', '.join(sorted(known))}")
        return real(name, globals, locals, fromlist, level)

    return importing


def _nothing(*_: Any, **__: Any) -> None:
    """Take the place of print."""


def _seed() -> None:
    """Start the module-level random numbers of each program at the same place."""
    if random := sys.modules.get("random"):
        random.seed(0)
    if (numpy := sys.modules.get("numpy")) and hasattr(numpy, "random"):
        numpy.random.seed(0)
