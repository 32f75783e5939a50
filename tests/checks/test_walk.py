"""The count of the calls between files on one walk."""

import sys
from pathlib import Path

from checks.walk import Walk, counts, stays


def test_only_calls_that_lead_to_other_files_are_on_the_main_line_and_each_entry_is_a_stay():
    main, read, parse, run, word = (("a", "main"), ("b", "read"), ("c", "parse"), ("d", "run"), ("e", "word"))
    steps = [(main, read), (read, parse), (parse, word), (main, run), (run, read)]
    assert stays(steps, reach=1) == ["a", "b", "c", "a", "d", "b"]
    assert stays(steps, reach=3) == ["a", "d"]
    assert next(iter(counts(stays(steps, reach=1)))) == "6 stays, 2 returns, 4 files"


def test_a_pair_of_functions_counts_once_and_servants_and_libraries_are_left_out(tmp_path):
    sources = {
        "run.py": "def run(many):\n    for _ in range(3):\n        list(map(many['step'], 'ab'))",
        "step.py": "def step(item):\n    return help(item)",
        "text/help.py": "def help(item):\n    return item",
    }
    names = {}
    for file, source in sources.items():
        exec(compile(source, str(tmp_path / file), "exec"), names)
    walk = Walk(Path(tmp_path))
    sys.setprofile(walk.notice)
    names["run"](names)
    sys.setprofile(None)
    assert walk.steps == [(("run.py", "run:1"), ("step.py", "step:1"))]
