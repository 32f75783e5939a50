"""Run all checks: print each fault on a line of its own, and exit with 1 if there is any."""

import sys

from . import layers, names, packages, prose, rooms, sizes

faults = [fault for check in (layers, packages, sizes, rooms, prose, names) for fault in check.faults()]
sys.exit("\n".join(faults) or 0)
