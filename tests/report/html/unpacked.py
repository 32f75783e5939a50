"""The data of a report, as its scripts read it: packed, no text of a run could be found in it."""

import base64
import re
import zlib

BLOB = re.compile(r'<script type="application/octet-stream" data-blob="[^"]+">([A-Za-z0-9+/=]+)</script>')


def unpacked(page):
    """Return the page with its data unpacked."""
    return BLOB.sub(lambda blob: zlib.decompress(base64.b64decode(blob[1]), -zlib.MAX_WBITS).decode(), page)
