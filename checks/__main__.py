"""Run all checks: print each fault on a line of its own, and exit with 1 if there is any."""

import sys

from . import layers, prose, sizes

faults = [*layers.faults(), *sizes.faults(), *prose.faults()]
sys.exit("\n".join(faults) or 0)
