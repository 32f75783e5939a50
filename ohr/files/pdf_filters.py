"""Filters of a PDF's streams that nothing here undoes, such as those of later versions of the format."""

import re
from pathlib import Path

from ohr.files.changes import kept_until_changed
from ohr.files.names import printable

_KNOWN = {
    "ASCIIHexDecode", "ASCII85Decode", "LZWDecode", "FlateDecode", "RunLengthDecode", "CCITTFaxDecode", "JBIG2Decode",
    "DCTDecode", "JPXDecode", "Crypt", "AHx", "A85", "LZW", "Fl", "RL", "CCF", "DCT",
}  # fmt: skip
"""Filters of PDF 2.0 (ISO 32000-2, table 6), and the short names of some (table 92)."""
_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_FILTERS = re.compile(rb"/Filter\s*(?:\[([^\]]*)\]|(/[^\s/<>\[\](){}%]+))")
_NAME = re.compile(rb"/([^\s/<>\[\](){}%]+)")
_CODE = re.compile(rb"#([0-9A-Fa-f]{2})")
_LONGEST = 4096
"""Bytes of a dictionary before its stream: longer ones have no filter that is looked for."""


def unknown_filters(content: bytes) -> list[str]:
    """Return the names of filters of streams that PDF 2.0 does not have, sorted.

    The dictionary of a stream is never compressed itself; a `/Filter` elsewhere, as of encryption, is something else.
    """
    found = set[str]()
    for stream in _STREAM.finditer(content):
        start = content.rfind(b"obj", max(stream.start() - _LONGEST, 0), stream.start())
        for several, single in _FILTERS.findall(content, max(start, 0), stream.start()) if start >= 0 else ():
            names = (_CODE.sub(_sign, name) for name in _NAME.findall(several or single))
            found.update(printable(name.decode("latin-1")) for name in names)
    return sorted(found - _KNOWN)


def _sign(code: re.Match[bytes]) -> bytes:
    return bytes([int(code[1], 16)])


@kept_until_changed(64)
def unread(path: Path) -> str:
    """Name the filters of a file that are not undone here, as what compresses it; nothing where there are none."""
    return compressed_by(path.read_bytes())


def compressed_by(content: bytes) -> str:
    """As `unread`, of the content of a file."""
    names = unknown_filters(content)
    return f"compressed by {' and '.join(names)}, which {'is' if len(names) == 1 else 'are'} not read here" * bool(
        names
    )
