"""Run all checks: print each fault on a line of its own, and exit with 1 if there is any.

Arguments are folders and files whose English is checked too: `python -m checks ohr/engine`.
"""

import sys

from . import layers, packages, prose, sizes

faults = [*layers.faults(), *packages.faults(), *sizes.faults(), *prose.faults(clean=[*prose.CLEAN, *sys.argv[1:]])]
sys.exit("\n".join(faults) or 0)
