"""Fetches FCMBench: the images from the hub; the questions, where it has none, from the published repository."""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from urllib.error import URLError
from urllib.request import urlopen

from ohr.errors import DataError
from ohr.files import hub
from ohr.messages.wording import counted

from .json_lines import read_items
from .layout import find_questions

REPOSITORY = "QFIN/FCMBench-Data"
_VERSION = "FCMBench_v1.1_"  # the data set has other versions and tracks, too
QUESTIONS = "FCMBench_v1.1_testset_small.jsonl"
COMMIT = "0cbbba5bbf6c3e7aaf9b91b7019137acc4856a4c"
"""Commit of github.com/QFIN-tech/FCMBench whose small set is taken."""
_ADDRESS = f"https://raw.githubusercontent.com/QFIN-tech/FCMBench/{COMMIT}/vision_language/{QUESTIONS}"
_SECONDS = 60


def fetch(
    folder: Path,
    revision: str | None = None,
    *,
    repository: str = REPOSITORY,
    endpoint: str | None = None,
    address: str = _ADDRESS,
) -> Sequence[str]:
    """Download images and questions of V1.1 into a folder, check and unpack them; returns lines to print.

    Args:
        address: of the small set's questions; all else is as for `ohr.files.hub.fetch`.

    Raises:
        MissingExtra: huggingface_hub is not installed.
        DataError: a server cannot be reached, or a file is damaged.
    """
    found = hub.fetch(repository, folder, revision, wanted=_is_wanted, endpoint=endpoint)
    lines = [found.line]
    path = find_questions(folder, "small")
    if path is None:
        path = folder / QUESTIONS
        _download(address, path)
        lines.append(f"{QUESTIONS} from {address}")
    return [*lines, f"{counted(len(read_items(path)), 'question')} with answers", f"root: {folder}"]


def _is_wanted(name: str) -> bool:
    return PurePosixPath(name).name.startswith(_VERSION)


def _download(address: str, path: Path) -> None:
    try:
        with urlopen(address, timeout=_SECONDS) as reply:
            content = reply.read()
    except (URLError, OSError) as error:
        reason = getattr(error, "reason", None) or error
        raise DataError(f"{address}: cannot be fetched ({reason}); run the same command again") from None
    part = path.with_name(f".{path.name}.part")  # a killed fetch leaves no half file under its name
    part.write_bytes(content)
    part.replace(path)
