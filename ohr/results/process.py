"""Whether the process that writes a run's folder is still there."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def this_process() -> dict[str, Any]:
    """Describe this process so that another one can find out whether it is still running."""
    return {"pid": os.getpid(), "host": platform.node(), "started": _started(os.getpid())}


def is_alive(process: Any) -> bool:
    """Report whether a process that `this_process` described is still running; on another host it is taken to be."""
    if not isinstance(process, Mapping) or not isinstance(process.get("pid"), int):
        return False
    if process.get("host") != platform.node():
        return True
    try:
        os.kill(process["pid"], 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's
        pass
    started = _started(process["pid"])
    # a process number is given again; where the system has no /proc, the number alone must do
    return started is None or process.get("started") in (None, started)


def _started(pid: int) -> str | None:
    """Return when a process started, as boot and ticks since then, which no clock can change; "" for a dead one."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    state, ticks = fields[0], fields[19]
    return "" if state in "ZX" else f"{boot} {ticks}"
