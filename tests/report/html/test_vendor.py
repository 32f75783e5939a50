"""The libraries in the page are the published ones, with their licences."""

import re
from hashlib import sha256
from importlib.resources import files

from ohr.report.html.report_page import _SCRIPTS, _STYLES

VENDOR = files("ohr.report.html") / "assets" / "vendor"


def test_every_library_is_the_published_file_and_has_its_licence():
    rows = re.findall(r"^\| `([^`]+)` .* `([0-9a-f]{64})` \|$", (VENDOR / "README.md").read_text("utf-8"), re.MULTILINE)
    listed = dict(rows)
    assert listed.keys() == {path.name for path in VENDOR.iterdir() if path.name.endswith((".js", ".css"))}
    for name, digest in listed.items():
        assert sha256((VENDOR / name).read_bytes()).hexdigest() == digest
        licence = (VENDOR / f"{name.partition('.')[0]}.LICENSE").read_text("utf-8")
        assert "Copyright" in licence
        assert b"</script" not in (VENDOR / name).read_bytes().lower()


def test_every_library_is_used():
    used = {name.partition("/")[2] for name in (*_SCRIPTS, *_STYLES) if name.startswith("vendor/")}
    assert used == {path.name for path in VENDOR.iterdir() if path.name.endswith((".js", ".css"))}
