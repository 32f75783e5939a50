"""All walls around one program, in the order in which they must go up."""

import os
import resource
import signal
from dataclasses import dataclass, replace

from . import kernel, landlock, namespaces, seccomp


@dataclass(frozen=True)
class Plan:
    """The mechanisms that work on this machine; each program gets all of them, or is not run.

    Args:
        root: how a program gets a root folder of its own: `mount` (in memory), `chroot`, or not at all.
        filter: the instructions of the filter; none where it does not work.
    """

    root: str = ""
    privileges: bool = False
    landlock: bool = False
    limits: bool = False
    filter: bytes = b""


@dataclass(frozen=True)
class Sizes:
    """Limits of one program: CPU seconds, and bytes of address space (in all) and of its folder."""

    cpu_seconds: int
    memory: int
    folder: int


def confine(plan: Plan, sizes: Sizes, folder: str, parent: int) -> None:
    """Put up the walls of a plan around this process, for good.

    Args:
        folder: the program's own; unused where its root is in memory.
        parent: the process whose end is this one's end.

    Raises:
        OSError: where a wall does not go up; the program must not run.
    """
    enter(plan.root, sizes, folder)
    if plan.privileges:
        namespaces.drop()
    end_with(parent)
    if plan.landlock:
        landlock.restrict()
    if plan.limits:
        limit(sizes)
    if plan.filter:
        seccomp.install(plan.filter)


def enter(root: str, sizes: Sizes, folder: str) -> None:
    """Change to the program's folder, as its root where there is a way."""
    if root == "mount":
        namespaces.empty_box(sizes.folder)
        return
    os.chdir(folder)
    if root == "chroot":
        os.chroot(".")


def end_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends; nobody may trace it or read its memory."""
    try:
        kernel.call("prctl", kernel.PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        kernel.call("prctl", kernel.PR_SET_DUMPABLE, 0, 0, 0, 0)
    except OSError:  # not Linux: without isolation, by the user's word
        return
    if os.getppid() != parent:
        os._exit(1)


def limit(sizes: Sizes) -> None:
    """Set the limits of this process; the hard ones, which cannot be raised again.

    Raises:
        OSError: where the system lacks one.
    """
    for kind, most in (
        (resource.RLIMIT_CPU, sizes.cpu_seconds),
        (resource.RLIMIT_AS, sizes.memory),
        (resource.RLIMIT_FSIZE, sizes.folder),
        (resource.RLIMIT_NOFILE, 16),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
    ):
        _, highest = resource.getrlimit(kind)
        most = most if highest == resource.RLIM_INFINITY else min(most, highest)
        # a program can ignore SIGXCPU, which comes at the first limit of CPU time, but not SIGKILL at the second
        hard = most + 1 if kind == resource.RLIMIT_CPU and most != highest else most
        resource.setrlimit(kind, (most, hard))


def with_filter(plan: Plan) -> Plan:
    """Add the filter that fits the other walls: no file is opened that nothing but the filter would keep away."""
    return replace(plan, filter=seccomp.build(files=plan.landlock or bool(plan.root), looks=bool(plan.root)))
