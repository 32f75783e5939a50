"""Data sets of the Hugging Face hub: a fixed revision, resumable, checked, unpacked."""

import json
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha1, sha256
from pathlib import Path, PurePosixPath
from shutil import copyfileobj
from typing import Any
from zipfile import ZipFile, ZipInfo

from ohr import extras
from ohr.errors import DataError
from ohr.files.json_input import mapping_in
from ohr.messages.wording import counted

RECORD = "fetched.json"
"""File beside the data that records its origin: the repository, the commit, and each file's hash."""
_RATIO, _FREE = 100, 2**30
"""An archive may unpack to this many times its size, or to a GiB: texts shrink to a third, a bomb to a thousandth."""
_UTF8_NAME = 0x800  # bit of a member's flags: its name is in UTF-8


@dataclass(frozen=True, slots=True)
class Fetched:
    """The result of a fetch.

    Args:
        repository: on the hub.
        commit: of the data set; a second fetch takes the same one.
        files: names of the files that were wanted.
        unpacked: number of files that came out of archives.
    """

    repository: str
    commit: str
    files: tuple[str, ...]
    unpacked: int

    @property
    def line(self) -> str:
        """The result in words, to be printed."""
        files = counted(len(self.files), "file")
        return f"{files} of {self.repository} at commit {self.commit}, {self.unpacked} unpacked"


def fetch(
    repository: str,
    folder: Path,
    revision: str | None = None,
    *,
    wanted: Callable[[str], bool] = bool,
    endpoint: str | None = None,
) -> Fetched:
    """Download a data set into a folder, check every file, and unpack its archives.

    Complete files are not downloaded again, and an interrupted download is resumed. The first fetch
    records the commit, so that a later one gives the same data. A file that was fetched and changed since is kept as
    `<name>.bak-<time>`; one that was not fetched is never replaced.

    Args:
        folder: made if it is not there.
        revision: a commit, tag or branch; by default the commit of an earlier fetch into this folder, else the newest.
        wanted: reports whether a file is downloaded, by its name; all are.
        endpoint: the hub's address; by default that of `HF_ENDPOINT`.

    Raises:
        MissingExtra: huggingface_hub is not installed.
        DataError: the hub cannot be reached, a file is not what the hub says it is, or an archive is damaged or would
            write outside of the folder.
    """
    hub = extras.load("huggingface_hub", "data")
    record = mapping_in(folder / RECORD)
    if not record:
        _refuse(folder / RECORD)
    api = hub.HfApi(endpoint=endpoint)
    try:
        about = api.dataset_info(repository, revision=revision or record.get("commit"), files_metadata=True)
        folder.mkdir(parents=True, exist_ok=True)
        known, hashes = record.get("sha256") or {}, {}
        for file in (file for file in about.siblings if wanted(file.rfilename)):
            url = hub.hf_hub_url(
                repository, file.rfilename, repo_type="dataset", revision=about.sha, endpoint=api.endpoint
            )
            hashes[file.rfilename] = _obtained(file, url, folder, repository, known.get(file.rfilename))
    except _network_errors() as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise DataError(f"{repository}: cannot be fetched ({reason}); run the same command again to resume") from None
    unpacked = sum(unpack(folder / name, folder) for name in hashes if name.endswith(".zip"))
    found = {"repository": repository, "commit": about.sha, "sha256": hashes}
    (folder / RECORD).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return Fetched(repository, about.sha, tuple(hashes), unpacked)


def root_below(folder: Path, is_root: Callable[[Path], bool]) -> Path | None:
    """Return the folder itself or the first one at most two levels down that is the root of a data set, if any is."""
    return next(filter(is_root, (folder, *sorted(folder.glob("*/")), *sorted(folder.glob("*/*/")))), None)


def unpack(archive: Path, folder: Path) -> int:
    """Unpack an archive into a folder and return the number of files. Files that are there with their size are kept.

    Raises:
        DataError: the archive is damaged, a member would be written outside of the folder, is a link or has no name, or
            the whole is out of all proportion to the archive.
    """
    try:
        with ZipFile(archive) as opened:
            members = [member for member in opened.infolist() if not member.filename.endswith("/")]
            whole = sum(member.file_size for member in members)
            if whole > max(_FREE, _RATIO * archive.stat().st_size):
                raise DataError(f"{archive}: unpacks to {whole:,} bytes, more than {_RATIO} times its size")
            targets = [(member, _target(archive, member, folder)) for member in members]
            for member, target in targets:
                _write(opened, member, target)
    except (DataError, OSError):
        raise
    except Exception as error:  # each method of compression has errors of its own
        raise DataError(f"{archive}: damaged: {error}; delete it and fetch again") from None
    return len(targets)


def _target(archive: Path, member: ZipInfo, folder: Path) -> Path:
    """Return where a member goes; every member is checked before the first is written."""
    if stat.S_ISLNK(member.external_attr >> 16):
        raise DataError(f"{archive}: {member.filename!r} is a link")
    return _inside(folder, _name(member), str(archive))


def _name(member: ZipInfo) -> str:
    """Return a member's name; many programs write UTF-8 without the flag that says so."""
    if member.flag_bits & _UTF8_NAME:
        return member.filename
    try:
        return member.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.filename


def _inside(folder: Path, name: str, source: str) -> Path:
    """Return where a file of this name goes, and refuse one that would leave the folder."""
    inside = PurePosixPath(name.replace("\\", "/"))
    if not inside.parts:
        raise DataError(f"{source}: {name!r} names no file")
    escapes = inside.is_absolute() or ".." in inside.parts or ":" in inside.parts[0]
    target = folder.joinpath(*inside.parts)
    if escapes or not target.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{source}: {name!r} would be written outside of {folder}")
    return target


def _write(opened: ZipFile, member: ZipInfo, target: Path) -> None:
    if target.is_file() and target.stat().st_size == member.file_size:
        return
    _refuse(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name[:200]}.part")  # a killed fetch leaves no half file under its name
    with opened.open(member) as source, part.open("wb") as out:
        copyfileobj(source, out)
    part.replace(target)


def _refuse(target: Path) -> None:
    """Refuse to write over a file that is not the hub's."""
    if target.exists():
        raise DataError(f"{target}: is there already and not the hub's file: move it, or name another folder with --to")


def _obtained(file: Any, url: str, folder: Path, repository: str, earlier: object) -> str:
    """Download a file unless it is there, from where an earlier download stopped, and return its SHA-256.

    The hub's own client starts a file again in each process, which with gigabytes may never end.
    """
    target, wanted = _inside(folder, file.rfilename, repository), file.lfs.sha256 if file.lfs else file.blob_id
    if target.is_file() and wanted in (found := _hashes(target)):
        return found[0]
    if target.is_file() and earlier and earlier not in _hashes(target):  # fetched earlier, and changed since
        target.rename(target.with_name(f"{target.name}.bak-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"))
    elif not earlier:
        _refuse(target)
    # named by the content that is wanted, so that parts of two revisions are not put together
    part = target.with_name(f".{target.name[:200]}.{wanted[:12]}.part")
    part.parent.mkdir(parents=True, exist_ok=True)
    if part.is_file() and part.stat().st_size > file.size:
        part.unlink()
    client, utils = (extras.load(f"huggingface_hub.{name}", "data") for name in ("file_download", "utils"))
    with part.open("ab") as out:
        client.http_get(url, out, resume_size=out.tell(), headers=utils.build_hf_headers(), expected_size=file.size)
    found = _hashes(part)
    if wanted not in found:
        part.unlink()
        hashes = f"(hashes {found[0][:12]} and {found[1][:12]}, not {wanted[:12]})"
        raise DataError(f"{target}: the download differs from the hub's file {hashes}; fetch again")
    part.replace(target)
    return found[0]


def _network_errors() -> tuple[type[Exception], ...]:
    """List the errors of a hub that cannot be reached; its client is built on one library or another."""
    errors = extras.load("huggingface_hub.errors", "data")
    return (OSError, errors.OfflineModeIsEnabled, errors.HfHubHTTPError, *errors.HfHubHTTPError.__bases__)


def _hashes(path: Path) -> tuple[str, str]:
    """Return a file's SHA-256, by which the hub knows large files, and its hash in git, by which it knows others."""
    digest, blob = sha256(), sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as opened:
        while block := opened.read(1 << 20):
            digest.update(block)
            blob.update(block)
    return digest.hexdigest(), blob.hexdigest()
