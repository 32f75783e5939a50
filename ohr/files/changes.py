"""What was read from a file is kept until the file changes."""

from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")

State = tuple[tuple[str, int, int], ...]


def state_of(*paths: Path) -> State:
    """Return names, sizes and times of files, by which a change is noticed; a file that is absent has a state, too."""
    return tuple(map(_state, paths))


def kept_until_changed(
    most: int = 8,
) -> Callable[[Callable[Concatenate[Path, _P], _T]], Callable[Concatenate[Path, _P], _T]]:
    """Make a function that reads a file keep its last results; an error is not kept.

    Args:
        most: results that are kept, of several files or with several further arguments, which must be hashable.
    """

    def decorated(read: Callable[Concatenate[Path, _P], _T]) -> Callable[Concatenate[Path, _P], _T]:
        @lru_cache(maxsize=most)
        def kept(state: State, path: Path, *args: _P.args, **kwargs: _P.kwargs) -> _T:  # noqa: ARG001 # a key
            return read(path, *args, **kwargs)

        @wraps(read)
        def current(path: Path, *args: _P.args, **kwargs: _P.kwargs) -> _T:
            return kept(state_of(path), path, *args, **kwargs)

        return current

    return decorated


def _state(path: Path) -> tuple[str, int, int]:
    try:
        about = path.stat()
    except OSError:  # whoever reads it reports that
        return str(path), -1, -1
    return str(path), about.st_size, about.st_mtime_ns
