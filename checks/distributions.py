"""Check a wheel and an sdist before they are published: `python -m checks.distributions FOLDER`.

The folder has the sdist, the wheel that was built from it, and below `direct/` the wheel that was built from the
checkout itself.
"""

import re
import sys
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

NOT_PUBLISHED = re.compile(r"(^|/)(tests?|build|runs|\.[a-z_]+|__pycache__)/|(^|/)\.(?!gitkeep)|\.py[co]$|\.sqlite$")
"""Names of files that belong to a checkout, to a run or to a tool."""

MACHINE_PATH = re.compile(rb"(?<![\w.:/])/(?:home|root|Users|tmp|work|builds)/[\w.-]+/[\w./-]*")
"""A path of the machine that built the files; a short one, such as `/tmp/x`, may be an example."""

NEEDED = ("ohr/py.typed", "ohr/commit.txt")
LARGEST = 20_000_000
"""Bytes of a file to upload: the first release has 11 million."""


def faults(folder: Path) -> list[str]:
    """Return one line for each fault of the files in a folder."""
    sdist, wheel, direct = (next(folder.glob(name), None) for name in ("*.tar.gz", "*.whl", "direct/*.whl"))
    if not (sdist and wheel and direct):
        return [f"{folder}: needs a .tar.gz, a .whl and a direct/*.whl"]
    in_wheel = files_of_wheel(wheel)
    return [
        *_differences(in_wheel, files_of_wheel(direct)),
        *_missing(wheel, in_wheel),
        *(
            fault
            for path, files in ((wheel, in_wheel), (sdist, files_of_sdist(sdist)))
            for fault in _wrong(path, files)
        ),
    ]


def files_of_wheel(path: Path) -> dict[str, bytes]:
    """Read the files of a wheel."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


def files_of_sdist(path: Path) -> dict[str, bytes]:
    """Read the files of an sdist, named without its top folder."""
    with tarfile.open(path) as archive:
        opened = {item.name.split("/", 1)[1]: archive.extractfile(item) for item in archive if item.isfile()}
        return {name: file.read() for name, file in opened.items() if file}


def _differences(wheel: Mapping[str, bytes], direct: Mapping[str, bytes]) -> Iterator[str]:
    for name in sorted(wheel.keys() ^ direct.keys()):
        without = "the sdist's wheel" if name in direct else "the checkout's wheel"
        yield f"{name}: {without} lacks it; is it in MANIFEST.in, or left in build/ by an earlier build?"
    common = [name for name in sorted(wheel.keys() & direct.keys()) if not name.endswith("/RECORD")]
    yield from (f"{name}: differs between the two wheels" for name in common if wheel[name] != direct[name])


def _missing(path: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    yield from (f"{path.name}: lacks {name}" for name in NEEDED if name not in files)


def _wrong(path: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    if (size := path.stat().st_size) > LARGEST:
        yield f"{path.name}: has {size:,} bytes, more than {LARGEST:,}"
    yield from (f"{path.name}: {name} is no part of a release" for name in files if NOT_PUBLISHED.search(name))
    for name, content in files.items():
        if machine_path := MACHINE_PATH.search(content):
            yield f"{path.name}: {name} has a path of a machine: {machine_path[0].decode(errors='replace')}"


if __name__ == "__main__":
    sys.exit("\n".join(faults(Path(sys.argv[1]))) or 0)
