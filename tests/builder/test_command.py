"""`ohr data build` as its users run it."""

import csv
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

OHR = Path(sys.executable).with_name("ohr")


def command(place, *more, **options):
    arguments = [OHR, "data", "build", "docs", "--to", "set", "--spec", "build.yaml", "--trust-plugins", *more]
    return subprocess.Popen(
        arguments, cwd=place.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def test_a_killed_build_asks_nothing_twice(place):
    slow = ("--set", "writer.seconds=0.2", "--workers", "1")
    killed = command(place, *slow, start_new_session=True)
    while len(place.asked) < 6:
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.05)
    os.killpg(killed.pid, 9)
    killed.communicate()
    finished = command(place, "--workers", "1")
    output, errors = finished.communicate()
    assert finished.returncode == 0, errors
    # the reply that was under way when the build was killed is the only one that was not kept
    assert Counter(Counter(place.asked).values()) in ({1: len(set(place.asked))}, {1: len(set(place.asked)) - 1, 2: 1})
    assert "next: ohr data review set" in output


@pytest.mark.acceptance
def test_the_set_is_reviewed_and_run_by_the_commands_that_the_build_names(place):
    built = command(place, "--workers", "1", "--json")
    summary = json.loads(built.communicate()[0])
    assert summary["questions"] == len(json.loads((place.out / "qas_v2.json").read_text()))
    assert (place.out / "funnel.svg").is_file()
    for arguments in (["data", "review", "set", "--summary"], ["check", "set/study.yaml"]):
        done = subprocess.run([OHR, *arguments], cwd=place.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr


def test_the_list_of_repairs_has_every_question_that_was_removed(place):
    rows = [
        "What did the Drumlow Lantern cost in the shop in this document?,x,costs less than a bun",
        "How many birds did the Drumlow Homing Society enter for the Callow Head race?,12,nowhere in any page",
    ]
    (place.folder / "own.csv").write_text("\n".join(["question,answers,evidence", *rows]))
    built = command(place, "--questions", "own.csv", "--set", "writer=null", "--workers", "1")
    output, errors = built.communicate()
    assert (built.returncode, "no question is left" in errors) == (1, True)
    with (place.out / "repairs.csv").open(newline="") as opened:
        listed = [(row["where"].rpartition(":")[2], row["fault"]) for row in csv.DictReader(opened)]
    assert listed == [("2", "evidence not found"), ("2", "context dependent"), ("3", "evidence not found")]
    assert "context dependent   1       1" in output
    assert "Removed nothing: unusable length" in output
