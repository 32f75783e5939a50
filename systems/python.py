"""A system as a Python class of the user's: two methods, and nothing of ohr in it."""

import ast
import asyncio
import importlib
import sys
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from inspect import getattr_static, isawaitable, isfunction, signature
from pathlib import Path
from threading import Lock, Thread
from typing import Annotated, Any, ClassVar
from weakref import finalize

from pydantic import Field, ValidationInfo, field_validator, model_validator

from ohr.contracts import SystemReply
from ohr.contracts.system import GivenContexts
from ohr.errors import DataError, PluginError

from .replies import as_reply
from .templates import refuse_secrets

_LOOK = 0.5
"""Seconds between two looks whether the loop still runs."""


class EventLoop:
    """One loop in a thread of its own: what one coroutine opens, such as a client's session, the others can use.

    It starts with the first coroutine, and ends when nothing refers to the object.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None

    def result(self, given: Any) -> Any:
        """Return what a method came to: a coroutine is awaited, and the pieces of a stream are joined.

        Raises:
            BaseException: what the coroutine raised.
            DataError: a piece of a stream is neither text nor a mapping.
        """
        if isawaitable(given) or isinstance(given, AsyncIterator):
            given, error = self._outcome(given)
            if error is not None:
                raise error
        return _joined(given) if isinstance(given, Iterator) else given

    def _outcome(self, given: Any) -> tuple[Any, BaseException | None]:
        """Wait for a coroutine; one that ends the loop, or all of its tasks, leaves the others without an end."""
        coroutine = _ended(given)
        try:
            future = asyncio.run_coroutine_threadsafe(coroutine, self._started())
        except RuntimeError:  # the loop is closed
            raise _gone(coroutine, given) from None
        while True:
            try:
                return future.result(_LOOK)
            except TimeoutError:
                if future.done() or not (self._thread and self._thread.is_alive()):
                    raise _gone(coroutine, given) from None
            except CancelledError:
                raise DataError("the coroutine was cancelled") from None

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                ready = Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]()
                self._thread = Thread(target=_run, args=(ready,), daemon=True)
                self._thread.start()
                self._loop, end = ready.result()
                finalize(self, _stop, self._loop, end).atexit = False
            return self._loop


def _run(ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    with suppress(BaseException):  # a coroutine may end the loop: the questions say so
        asyncio.run(_serve(ready))


def _stop(loop: asyncio.AbstractEventLoop, end: asyncio.Event) -> None:
    with suppress(RuntimeError):  # it is closed
        loop.call_soon_threadsafe(end.set)


def _gone(*coroutines: Any) -> DataError:
    """Return the fault of a loop that was ended, and close the coroutines that it did not run."""
    for each in coroutines:
        if isinstance(each, Coroutine):
            with suppress(RuntimeError, ValueError):  # it has begun
                each.close()
    return DataError("the event loop of the class was ended by a coroutine of its own")


async def _serve(ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]) -> None:
    end = asyncio.Event()
    ready.set_result((asyncio.get_running_loop(), end))
    await end.wait()


async def _ended(given: Any) -> tuple[Any, BaseException | None]:
    """Return a result or what was raised: SystemExit would end the loop, and all questions with it."""
    try:
        if isawaitable(given):
            given = await given
        if isinstance(given, AsyncIterator):
            given = iter([piece async for piece in given])
        return given, None
    except BaseException as error:
        return None, error


def _joined(pieces: Iterator[Any]) -> Any:
    """Join the texts of a stream to an answer; a mapping among them brings contexts and whatever else a reply has."""
    texts, rest = list[str](), dict[str, Any]()
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
        elif isinstance(piece, Mapping):
            rest |= piece
        else:
            raise DataError(f"a stream yielded {type(piece).__name__}: it must yield text, and perhaps a mapping")
    return {"answer": "".join(texts), **rest} if rest else "".join(texts)


_MANY = 99
"""Arguments of a method that takes any number."""


class PythonSystem(GivenContexts, kind="python"):
    """A class with `ingest(folder, name)` and `ask(question)`, in a file or an installed module.

    An instance is made for each condition. `ask` gets what `ingest` returned as a second argument, where it takes one.
    Methods may be coroutines, which share one event loop, and `ask` may yield its answer in pieces.
    """

    lasting: ClassVar[bool] = False
    file: Annotated[Path | None, Field(description="File of the class.")] = None
    module: Annotated[str | None, Field(description="Installed module of the class, in place of `file`.")] = None
    class_: Annotated[str, Field(alias="class", description="Name of the class.")]
    options: Annotated[
        dict[str, Any], Field(default_factory=dict, description="Arguments with which the class is made.")
    ]

    @field_validator("file")
    @classmethod
    def _allowed(cls, file: Path | None, info: ValidationInfo) -> Path | None:
        registry = (info.context or {}).get("registry")
        if file is not None and registry is not None and not registry.trusted:
            raise ValueError("is code of your own; allow it with --trust-plugins")
        return file

    @model_validator(mode="after")
    def _one_place(self) -> "PythonSystem":
        if (self.file is None) == (self.module is None):
            raise ValueError("needs `file` or `module`, and not both")
        refuse_secrets(self.options)
        return self

    def __hash__(self) -> int:
        """Hash what is hashable; options are compared as they are."""
        return hash((self.kind, self.file, self.module, self.class_))

    def check(self) -> None:
        """Load the class, and look at its methods."""
        made = self._load()
        for method, least, takes in (("ingest", 3, "(self, folder, name)"), ("ask", 2, "(self, question)")):
            if not callable(getattr(made, method, None)):
                raise PluginError(f"system python: class {self.class_} has no method `{method}`")
            if isfunction(own := getattr_static(made, method)) and _takes(own) < least:
                raise PluginError(f"system python: `{method}` of class {self.class_} must take {takes}")

    def identity(self) -> Mapping[str, object]:
        """Identify a file by its content, since its path may change, with the files beside it that it imports."""
        content: dict[str, object] = {"source": _digest(self.module)} if self.module else {}
        if self.file and self.file.is_file():
            content["file"] = sha256(self.file.read_bytes()).hexdigest()
            home = self.file.parent
            hashes = {
                str(path.relative_to(home)): sha256(path.read_bytes()).hexdigest() for path in _imported(self.file)
            }
            content |= {"beside": hashes} if hashes else {}
        return {**super().identity(), **content}

    def ingest(self, folder: Path, name: str) -> Any:
        """Make the system, and let it ingest."""
        try:
            made = self._load()(**self.options)
        except TypeError as error:
            raise PluginError(
                f"system python: class {self.class_} cannot be made from its `options`: {error}"
            ) from error
        loop = EventLoop()
        return made, loop, loop.result(made.ingest(folder, name))

    def ask(self, question: str, handle: Any) -> SystemReply:
        """Ask the system."""
        made, loop, ingested = handle
        reply: SystemReply = as_reply(loop.result(made.ask(question, *([ingested] if _takes(made.ask) > 1 else []))))
        return reply

    def answer(self, question: str, contexts: Sequence[str], handle: Any) -> SystemReply:
        """Let the system answer from given texts."""
        made, loop, ingested = handle
        further = [ingested] if _takes(made.answer) > 2 else []
        reply: SystemReply = as_reply(loop.result(made.answer(question, list(contexts), *further)))
        return reply

    @property
    def answers_from_given(self) -> bool:
        """Report whether the class has the third method, `answer(question, contexts)`."""
        return callable(getattr(self._load(), "answer", None))

    def _load(self) -> Any:
        module = _of_file(self.file.resolve(), _stamp(self.file)) if self.file else _of_name(str(self.module))
        made = getattr(module, self.class_, None)
        if made is None:
            raise PluginError(f"system python: {self.file or self.module} has no class {self.class_}")
        return made


def _takes(method: Any) -> int:
    """Return the number of arguments that a method takes by place."""
    kinds = [each.kind for each in signature(method).parameters.values()]
    by_place = sum(kind < kind.VAR_POSITIONAL for kind in kinds)
    return _MANY if any(kind == kind.VAR_POSITIONAL for kind in kinds) else by_place


def _stamp(path: Path) -> int:
    """Return when a file was last changed, 0 where there is none: a changed file is loaded again."""
    return path.stat().st_mtime_ns if path.is_file() else 0


@cache
def _digest(module: str) -> str:
    """Hash the source of an installed module, of all of a package; "" where it is not there."""
    found = find_spec(module.partition(".")[0])
    if found is None or not found.origin:
        return ""
    origin = Path(found.origin)
    files = sorted(origin.parent.rglob("*.py")) if found.submodule_search_locations else [origin]
    return sha256(b"".join(sha256(file.read_bytes()).digest() for file in files)).hexdigest()


def _imported(path: Path) -> list[Path]:
    """Return the Python files in the folder of a file that it imports, and those that these import."""
    known, waiting = dict[Path, None](), [path]
    while waiting:
        try:
            tree = ast.parse(waiting.pop().read_bytes())
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            modules += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
            for name in {module.partition(".")[0] for module in modules}:
                package = path.parent / name
                files = sorted(package.rglob("*.py")) if package.is_dir() else [path.parent / f"{name}.py"]
                fresh = [each for each in files if each.is_file() and each != path and each not in known]
                known |= dict.fromkeys(fresh)
                waiting += fresh
    return sorted(known)


@cache
def _of_file(path: Path, stamp: int) -> Any:  # noqa: ARG001 # part of the cache's key
    if not path.is_file():
        raise PluginError(f"system python: no such file: {path}")
    name = f"ohr_system_{sha256(str(path).encode()).hexdigest()[:16]}"
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # what it imports may lie beside it
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PluginError(f"system python: {path} does not import: {type(error).__name__}: {error}") from error
    return module


def _of_name(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PluginError(f"system python: {error}") from error
