"""Landlock: rules of the kernel, for a process by itself, on files, TCP, signals and abstract sockets."""

import os
import struct

from . import kernel

_VERSION_ONLY = 1
_PATH_BENEATH = 1

_ALL_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""The number of rights on files by version: REFER came with 2, TRUNCATE with 3, IOCTL_DEV with 5."""
_WITH_DEVICES = 16

_OWN_FOLDER = (1 << 1) | (1 << 2) | (1 << 3) | (1 << 8)
"""WRITE_FILE, READ_FILE, READ_DIR, MAKE_REG."""
_TRUNCATE = 1 << 14
_TCP = 0b11  # bind and connect
_SCOPES = 0b11  # abstract Unix sockets and signals


def version() -> int:
    """Return the version of Landlock in this kernel.

    Raises:
        OSError: where there is none, or it is switched off.
    """
    return kernel.call("landlock_create_ruleset", 0, 0, _VERSION_ONLY)


def restrict() -> None:
    """Leave this process, for good, no file but those in its working folder, no TCP and no signal to others.

    Older kernels lack the rules on TCP (version 4) and on signals (6); the filter of system calls has both.

    Raises:
        OSError: where the kernel refuses.
    """
    known = version()
    files = (1 << _ALL_FILE_RIGHTS.get(known, _WITH_DEVICES)) - 1
    attributes = [files, *([_TCP] if known >= 4 else []), *([_SCOPES] if known >= 6 else [])]
    wanted = struct.pack(f"{len(attributes)}Q", *attributes)
    rules = kernel.call("landlock_create_ruleset", wanted, len(wanted), 0)
    folder = os.open(".", os.O_PATH | os.O_DIRECTORY)
    try:
        beneath = struct.pack("=Qi", (_OWN_FOLDER | _TRUNCATE) & files, folder)
        kernel.call("landlock_add_rule", rules, _PATH_BENEATH, beneath, 0)
        kernel.call("prctl", kernel.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        kernel.call("landlock_restrict_self", rules, 0)
    finally:
        os.close(folder)
        os.close(rules)
