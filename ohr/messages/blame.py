"""Which line of a plugin an error is about."""

from inspect import getsourcefile, getsourcelines
from pathlib import Path
from traceback import extract_tb

from ohr.contracts.values import Permanent
from ohr.errors import OhrError, PermanentError

_OF_CODE = (AttributeError, TypeError, NameError)


def fault_of(error: BaseException, *plugins: object) -> str:
    """Put an error in one sentence, with the plugin's file and line where its code or what it returned is wrong.

    Args:
        plugins: those that may be to blame, the likeliest first; the ones that come with ohr are not named.
    """
    text = str(error) if isinstance(error, OhrError) else f"{type(error).__name__}: {error}"
    of_code = isinstance(error, _OF_CODE) or type(error).__name__ == "BrokenContract"
    places = (place(error, type(plugin)) for plugin in plugins) if of_code else ()
    at = next(filter(None, places), "")
    reason = f"{text} ({at})" if at else text
    return Permanent(reason) if isinstance(error, PermanentError) else reason


def place(error: BaseException, plugin: type) -> str:
    """Return `file:line` of the plugin's last line that ran, else of its class; "" for one that comes with ohr."""
    try:
        file = getsourcefile(plugin)
        first = getsourcelines(plugin)[1]
    except (OSError, TypeError):  # typed in by hand, in a notebook say
        return ""
    if file is None or plugin.__module__.partition(".")[0] == "ohr":
        return ""
    lines = [frame.lineno for frame in extract_tb(error.__traceback__) if frame.filename == file]
    return f"{Path(file).name}:{lines[-1] if lines else first}"
