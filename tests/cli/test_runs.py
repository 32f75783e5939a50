"""`ohr runs`: tags, partial runs, settings that differ, and which run a name means."""

import json
import shutil
from pathlib import Path

import pytest


@pytest.fixture
def study(home, finished):
    """A working folder with copies of one finished run: whole, limited, with another seed, and limited again."""
    source = finished[0] / finished[1].stdout.split("results: ")[1].splitlines()[0]

    def copied(hour, **spec):
        folder = home / f"runs/small/20260101T{hour:02}0000-{hour:08x}"
        shutil.copytree(source, folder)
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["started"] = f"2026-01-01T{hour:02}:00:00+00:00"
        manifest["spec"] |= spec
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return folder.name

    return [copied(1), copied(2, limit=1), copied(3, seed=7), copied(4, limit=1)]


def listed(ohr, *words):
    return [Path(run["path"]).name for run in json.loads(ohr("runs", *words, "--json").stdout)]


def test_partial_runs_are_marked(study, ohr):
    assert [run["partial"] for run in json.loads(ohr("runs", "--json").stdout)] == ["", "limit 1", "", "limit 1"]
    assert [("limit 1" in line) for line in ohr("runs").stdout.splitlines()[1:]] == [False, True, False, True]


def test_a_limit_that_cuts_nothing_makes_no_part(study, home, ohr):
    path = home / "runs/small" / study[1] / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["spec"]["limit"] = manifest["documents"] + 1
    path.write_text(json.dumps(manifest))
    assert [run["partial"] for run in json.loads(ohr("runs", "--json").stdout)] == ["", "", "", "limit 1"]


def test_a_name_means_its_newest_whole_run(study, ohr):
    for words in (("show", "small"), ("export", "small", "--csv", "-")):
        result = ohr(*words)
        assert result.exit_code == 0
        assert result.stderr == f"small: run {study[2]}; there is a newer one, {study[3]} (finished, limit 1)\n"
    assert f"small/{study[2].partition('-')[0]}" in ohr("export", "small", "--csv", "-").stdout
    assert ohr("show", f"small/{study[0]}").stderr == ""
    shutil.rmtree(f"runs/small/{study[3]}")
    assert ohr("show", "small").stderr == ""


def test_where_all_runs_are_partial_the_newest_is_meant(study, ohr):
    for name in (study[0], study[2]):
        shutil.rmtree(f"runs/small/{name}")
    assert ohr("show", "small").stderr == ""
    assert study[3].partition("-")[0] in ohr("export", "small", "--csv", "-").stdout


def test_settings_that_differ_are_listed_by_their_place(study, ohr):
    header, *lines = ohr("runs", "--diff").stdout.splitlines()
    assert header.split() == ["small", *study]
    assert [line.split() for line in lines] == [["seed", "0", "0", "7", "0"], ["limit", "1", "1"]]
    assert json.loads(ohr("runs", "--diff", "--json").stdout)["small"]["seed"][study[2]] == "7"
    assert ohr("runs", f"small/{study[0]}", "--diff").stdout == "small: one run\n"


def test_an_added_level_is_one_difference(study, home, ohr):
    path = home / "runs/small" / study[2] / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["spec"]["knowledge_bases"].insert(1, {"name": "new", "ocr": {"kind": "tesseract"}})
    path.write_text(json.dumps(manifest))
    lines = [line.split() for line in ohr("runs", "--diff").stdout.splitlines()[1:]]
    assert ["knowledge_bases.new", "yes"] in lines and len(lines) == 3


def test_tags_are_added_changed_removed_and_found(study, ohr):
    run = f"small/{study[0]}"
    assert ohr("runs", run, "--tag", "paper=yes", "--tag", "note=a = b").stdout.endswith(": note=a = b paper=yes\n")
    ohr("runs", run, "--tag", "note=")
    assert listed(ohr, "--where", "paper=yes") == [study[0]]
    assert listed(ohr, "--where", "paper=no") == [] == listed(ohr, "--where", "note=a = b")
    assert listed(ohr, "--where", "name=small", "--where", "status=finished") == study
    assert "paper=yes" in ohr("runs").stdout
    assert ohr("show", run).exit_code == 0  # its results are as they were


@pytest.mark.parametrize(
    "words", [["small", "--tag", "x"], ["--tag", "x=y"], ["small", "--tag", "a=\n"], ["small", "--tag", "name=b"]]
)
def test_a_tag_that_is_none_is_refused(study, ohr, words):
    result = ohr("runs", *words)
    assert result.exit_code == 2 and "Traceback" not in result.stderr
    assert not list(Path("runs").rglob("tags.json"))


def test_damaged_tags_are_reported_and_the_run_listed(study, home, ohr):
    (home / "runs/small" / study[0] / "tags.json").write_text("[]")
    assert listed(ohr) == study
    assert ohr("runs").stderr == f"runs/small/{study[0]}/tags.json: is not a mapping of tags to text\n"


def test_a_run_is_tagged_as_it_is_done(there, ohr_here):
    done = ohr_here("run", "small.yaml", "--workers", "1", "--tag", "commit=abc")
    try:
        assert "an earlier run has finished this study" in done.stdout  # tags change nothing of a run
        assert json.loads(ohr_here("runs", "--where", "commit=abc", "--json").stdout)[0]["tags"] == {"commit": "abc"}
        assert "an earlier run" in ohr_here("run", "small.yaml", "--workers", "1").stdout
    finally:
        for path in Path("runs").rglob("tags.json"):
            path.unlink()
