"""The messages of Leptonica, Tesseract's image library: kept for the case of an error, not written to the terminal.

It reports faults from which Tesseract recovers, such as "Error in boxClipToRectangle: box outside rectangle" where the
search for lines looks beside the page (https://github.com/tesseract-ocr/tesseract/issues/427).
"""

import ctypes
import sys
from collections import deque
from functools import lru_cache

_kept: deque[str] = deque(maxlen=3)


def _keep(message: bytes) -> None:
    _kept.append(message.decode(errors="replace").strip())


_handler = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_keep)


@lru_cache(maxsize=1)
def keep_messages() -> bool:
    """Keep messages from now on; a Leptonica that is linked in so that it cannot be reached writes them to stderr."""
    module = sys.modules.get("tesserocr.tesserocr") or sys.modules["tesserocr"]
    try:
        # a name that the extension module does not have is looked up in the libraries that it brought along
        ctypes.CDLL(str(module.__file__)).leptSetStderrHandler(_handler)
    except (AttributeError, OSError):
        return False
    return True


def messages() -> str:
    """Return the last messages since the last call, as one line, and forget them."""
    joined = "; ".join(_kept)
    _kept.clear()
    return joined
