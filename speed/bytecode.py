"""Whether the bytecode of ohr is written: without it every process compiles what it imports, and no time is right."""

import sys
from importlib.util import cache_from_source
from pathlib import Path

import ohr


def require_bytecode() -> None:
    """End the script where a process could not write the bytecode of what it imports."""
    place = Path(cache_from_source(str(ohr.__file__)))
    if sys.dont_write_bytecode:
        sys.exit("PYTHONDONTWRITEBYTECODE is set: every process would compile what it imports; unset it")
    try:
        place.parent.mkdir(exist_ok=True)
        (place.parent / "speed.tmp").touch()
        (place.parent / "speed.tmp").unlink()
    except OSError as error:
        sys.exit(f"{place.parent}: no bytecode can be written: {error.strerror}; every process would compile ohr again")
