"""A sandbox for programs that models write: each runs in a process of its own that the kernel keeps from all else.

from ohr.sandbox import Limits, run_programs

for outcome in run_programs(["def solution(): return 2 * 21"], Limits(seconds=3)):
    print(outcome.how, outcome.number)

One interpreter loads the allowed modules and forks a process for each program. That process has no network, no file but
those in its own empty folder, no other process and no thread, and limits of time, memory and output.
"""

from .running import Sandbox, isolation, run_program, run_programs
from .values import MODULES, UNSAFE, Isolation, Limits, Outcome, SandboxError

__all__ = [
    "MODULES",
    "UNSAFE",
    "Isolation",
    "Limits",
    "Outcome",
    "Sandbox",
    "SandboxError",
    "isolation",
    "run_program",
    "run_programs",
]
