"""The messages of Leptonica, Tesseract's image library: kept for the case of an error, not written to the terminal.

It reports what Tesseract then gets over, as "Error in boxClipToRectangle: box outside rectangle" where the search for
lines looks beside the page (https://github.com/tesseract-ocr/tesseract/issues/427).
"""

import ctypes
import sys
from collections import deque
from functools import lru_cache

_said: deque[str] = deque(maxlen=3)


def _keep(message: bytes) -> None:
    _said.append(message.decode(errors="replace").strip())


_handler = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_keep)


@lru_cache(maxsize=1)
def keep_messages() -> bool:
    """Keep messages from now on; where Leptonica is built in so that it cannot be reached, they go to the terminal."""
    module = sys.modules.get("tesserocr.tesserocr") or sys.modules["tesserocr"]
    try:
        # a name that the extension module does not have is looked up in the libraries that it brought along
        ctypes.CDLL(str(module.__file__)).leptSetStderrHandler(_handler)
    except (AttributeError, OSError):
        return False
    return True


def messages() -> str:
    """Give the last messages since they were asked for, as one line, and forget them."""
    told = "; ".join(_said)
    _said.clear()
    return told
