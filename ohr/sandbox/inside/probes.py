"""Tests of each mechanism by its use, in child processes, and of all together by attacks on them."""

import mmap
import os
import sys
from collections.abc import Callable, Collection
from contextlib import suppress
from errno import EPERM

from . import kernel, landlock, namespaces, seccomp
from .confine import Plan, Sizes, confine, enter, limit, with_filter

_DOES_NOT_HOLD = OSError(EPERM, "was accepted and does not hold")


def plan(sizes: Sizes, base: str, without: Collection[str], *, mounts: bool) -> tuple[Plan, dict[str, str]]:
    """Return the mechanisms that work here, and for each "" or the reason why it does not.

    Args:
        base: a folder of ours; where `mounts` allows it, an empty folder in memory becomes the root.
    """
    root, reasons = _root(sizes, base, without, mounts=mounts)
    steps: dict[str, Callable[[], None]] = {
        "privileges": namespaces.drop,
        "landlock": lambda: _landlock("/box" if root == "mount" else base),
        "limits": lambda: limit(sizes),
        "seccomp": seccomp.attempt,
    }
    tried = {name: "left out" if name in without else trial(step) for name, step in steps.items()}
    works = {name for name, reason in tried.items() if not reason}
    found = Plan(root, "privileges" in works, "landlock" in works, "limits" in works)
    return with_filter(found) if "seccomp" in works else found, {**reasons, **tried}


def _root(sizes: Sizes, base: str, without: Collection[str], *, mounts: bool) -> tuple[str, dict[str, str]]:
    """Find a way to a root folder of its own; the way in memory first, which bounds what a program may write."""
    if "root" in without:
        return "", {"root": "left out"}
    reason = "no mount namespace"
    if mounts:
        try:
            namespaces.empty_root(base)
            reason = trial(lambda: enter("mount", sizes, ""))
            if not reason:
                return "mount", {"root": ""}
        except OSError as error:
            reason = str(error)
    if "chroot" not in without and not trial(lambda: enter("chroot", sizes, base)):
        return "chroot", {"root": ""}
    return "", {"root": reason}


def _landlock(folder: str) -> None:
    os.chdir(folder)
    landlock.restrict()
    try:
        os.close(os.open("/", os.O_RDONLY))
    except PermissionError:
        return
    raise _DOES_NOT_HOLD


def trial(step: Callable[[], object]) -> str:
    """Take a step in a child process; return "" or the reason why it failed."""
    result, into = os.pipe()
    child = os.fork()
    if child == 0:
        reason = b"it ended early"
        try:
            step()
            reason = b""
        except BaseException as error:
            reason = (str(error) or type(error).__name__).encode()
        finally:
            os.write(into, reason + b".")
            os._exit(0)
    os.close(into)
    with os.fdopen(result, "rb") as reading:
        text = reading.read()
    os.waitpid(child, 0)
    return text[:-1].decode() if text.endswith(b".") else "it ended early"


def attack(found: Plan, sizes: Sizes, folder: str) -> None:
    """Put up all walls and try what they must prevent.

    Raises:
        OSError: where an attack succeeds; with the names of those.
    """
    parent = os.getppid()
    confine(found, sizes, folder, parent)
    attacks: dict[str, Callable[[], object]] = {
        "open a socket": lambda: kernel.call("socket", 2, 1, 0),
        "start a process": _fork,
        "signal its parent": lambda: os.kill(parent, 0),
        "read a file": lambda: os.open(sys.executable, os.O_RDONLY),
        "write a file": lambda: os.open(os.devnull, os.O_WRONLY),
        "run machine code of its own": lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC),
        "pass its memory limit": lambda: mmap.mmap(-1, sizes.memory + 4096),
    }
    won = [name for name, step in attacks.items() if _succeeds(step)]
    if won:
        raise OSError(EPERM, f"a program could {', '.join(won)}")


def _succeeds(step: Callable[[], object]) -> bool:
    with suppress(OSError):
        step()
        return True
    return False


def _fork() -> None:
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
