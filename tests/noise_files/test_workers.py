"""Processes that share much work."""

import signal
import subprocess
import sys
from time import monotonic, sleep

from ohr.processes import started_at

PROGRAM = """
import os, time
from ohr.noise_files.workers import workers
if __name__ == "__main__":
    with workers(2) as executor:
        print(executor.submit(os.getpid).result(), flush=True)
        time.sleep(60)
"""


def test_processes_end_with_the_one_that_was_killed(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    with subprocess.Popen([sys.executable, tmp_path / "program.py"], stdout=subprocess.PIPE, text=True) as parent:
        worker = int(parent.stdout.readline())
        assert started_at(worker) is not None
        parent.send_signal(signal.SIGKILL)
    end = monotonic() + 8
    while started_at(worker) is not None and monotonic() < end:
        sleep(0.02)
    assert started_at(worker) is None
