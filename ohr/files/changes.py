"""Results of reading files, which are kept until the files change."""

from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar, cast

_Read = TypeVar("_Read", bound=Callable[..., Any])

State = tuple[tuple[str, int, int], ...]
"""Name, size and time of change of each file."""


def state_of(*paths: Path) -> State:
    """Return names, sizes and times of files, by which a change is noticed; a file that is absent has a state, too."""
    return tuple(map(_state, paths))


def kept_until_changed(most: int = 8, largest: int | None = None) -> Callable[[_Read], _Read]:
    """Make a function that reads a file, its first argument, keep its last results; an error is not kept.

    The argument may be a name of something else that is read, such as a prompt that ohr brings; that never changes.

    Args:
        most: results that are kept, of several files or with several further arguments, which must be hashable.
        largest: bytes of a file whose result is kept; any by default.
    """

    def decorated(read: _Read) -> _Read:
        @lru_cache(maxsize=most)
        def kept(state: State, path: Path | str, *given: Any, **named: Any) -> Any:  # noqa: ARG001 # the state is a key
            return read(path, *given, **named)

        @wraps(read)
        def current(path: Path | str, *given: Any, **named: Any) -> Any:
            state = state_of(Path(path))
            if largest is not None and not 0 <= state[0][1] <= largest:
                return read(path, *given, **named)
            return kept(state, path, *given, **named)

        return cast("_Read", current)

    return decorated


def _state(path: Path) -> tuple[str, int, int]:
    try:
        about = path.stat()
    except (OSError, ValueError):  # whoever reads it reports that
        return str(path), -1, -1
    return str(path), about.st_size, about.st_mtime_ns
