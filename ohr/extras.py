"""Optional libraries: imported where they are used, with an error that names the extra."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ohr.errors import MissingExtra, OhrError, PluginError


def load(module: str, extra: str) -> Any:
    """Import `module`, or raise a MissingExtra that says which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] == module.partition(".")[0]:
            raise missing(module, extra) from None
        raise MissingExtra(f"{module} is installed but does not import: {error}", name=module) from error


def require(module: str, extra: str) -> None:
    """Raise a MissingExtra unless `module` is installed; imports nothing of it."""
    if find_spec(module.partition(".")[0]) is None:
        raise missing(module, extra)


def missing(module: str, extra: str) -> MissingExtra:
    """Make the error for a library that is not installed."""
    name = module.partition(".")[0]
    return MissingExtra(f"{name} is not installed: pip install 'ohr[{extra}]'", name=name)


@contextmanager
def loading(user: str, model: str) -> Iterator[None]:
    """Turn a library's error while it loads a model into a PluginError of one line, which begins with `user`."""
    try:
        yield
    except OhrError:
        raise
    except Exception as error:  # no such model or revision, no network, damaged weights: each library has its own
        raise PluginError(f"{user}: cannot load {model!r}: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    if isinstance(error, ImportError) and "torchvision" in str(error).lower():
        return "it needs torchvision, of the version that fits your torch: pip install torchvision"
    line = next(filter(None, map(str.strip, str(error).splitlines())), "")
    return line if line and isinstance(error, OSError | ValueError) else f"{type(error).__name__}: {line}"
