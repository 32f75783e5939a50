"""Namespaces, a root folder of its own, and the loss of all privileges."""

import os
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from . import kernel

KINDS = {
    "mounts": 0x00020000,
    "cgroup": 0x02000000,
    "hostname": 0x04000000,
    "ipc": 0x08000000,
    "processes": 0x20000000,
    "network": 0x40000000,
}
"""Namespaces by the flag of unshare(2)."""

_USER = 0x10000000
_NOBODY = 65534

_NO_SET_ID, _NO_DEVICES, _NO_PROGRAMS = 2, 4, 8
_PRIVATE = 0x4000 | 0x40000  # MS_REC | MS_PRIVATE: mounts of this process reach no other one
_DETACH = 2
_BOX = "/box"


def separate(without: Collection[str]) -> dict[str, str]:
    """Move this process into new namespaces, by its own right or by that of a new user namespace.

    The process namespace holds for the children of this process.

    Returns:
        for each kind "" or the reason why it is not new.
    """
    kinds = {name: flag for name, flag in KINDS.items() if name not in without}
    left_out = {name: "left out" for name in KINDS if name in without}
    found = {name: _unshared(flag) for name, flag in kinds.items()}
    if not kinds or not all(found.values()):
        return {**found, **left_out, "user": "not needed"}
    refused = "left out" if "user" in without else _new_users()
    if not refused:
        found = {name: _unshared(flag) for name, flag in kinds.items()}
    return {**found, **left_out, "user": refused}


def _new_users() -> str:
    user, group = os.geteuid(), os.getegid()
    if refused := _unshared(_USER):
        return refused
    with suppress(OSError):  # without a map the process is nobody, which suffices
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{_NOBODY} {group} 1", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{_NOBODY} {user} 1", encoding="ascii")
    return ""


def _unshared(flag: int) -> str:
    try:
        kernel.call("unshare", flag)
    except OSError as error:
        return error.strerror or "refused"
    return ""


def empty_root(base: str) -> None:
    """Replace the root folder of this mount namespace by an empty one in memory.

    Raises:
        OSError: where the kernel refuses.
    """
    kernel.call("mount", b"none", b"/", 0, _PRIVATE, 0)
    _memory(base, "size=64k,mode=0755")
    os.chdir(base)
    Path("box").mkdir()
    kernel.call("pivot_root", b".", b".")  # puts the old root on top of the new one
    kernel.call("umount2", b".", _DETACH)
    os.chdir("/")


def empty_box(size: int) -> None:
    """Replace the root folder, for this process alone, by an empty one in memory that may hold `size` bytes.

    Raises:
        OSError: where the kernel refuses.
    """
    kernel.call("unshare", KINDS["mounts"])
    _memory(_BOX, f"size={size},nr_inodes=1024,mode=0777")
    os.chroot(_BOX)
    os.chdir("/")


def _memory(place: str, options: str) -> None:
    flags = _NO_SET_ID | _NO_DEVICES | _NO_PROGRAMS
    kernel.call("mount", b"none", place.encode(), b"tmpfs", flags, options.encode())


def own(folder: str) -> None:
    """Make a folder the property of the user that `drop` turns root into."""
    if os.geteuid() == 0:
        with suppress(OSError):
            os.chown(folder, _NOBODY, _NOBODY)


def drop() -> None:
    """Renounce root and all capabilities of this process.

    Raises:
        OSError: where the kernel refuses.
    """
    if os.geteuid() == 0:
        with suppress(OSError):  # a container may know no other user; its root without capabilities is nobody
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    version_3 = (0x20080522).to_bytes(4, "little") + bytes(4)
    kernel.call("capset", version_3, bytes(24))
