"""Files that commands write over: only those that ohr wrote and nobody changed."""

import json
import os
import shutil
from pathlib import Path

import pytest
from PIL import Image

from ohr.cli import data_convert
from ohr.errors import DataError
from ohr.results.folder.replace import UNFINISHED, filled, written

TEXT = "The lease began in 1964. Rent is due in May, and it is paid at the office of the harbour.\n"
FOREIGN = "these are mine\n"

FILES = [
    ("report small --images 0 --out {out}.html", "{out}.html", "--out"),
    ("export small --csv {out}.csv", "{out}.csv", "--csv"),
    ("export small --latex {out}.tex", "{out}.tex", "--latex"),
    ("export small --markdown {out}.md", "{out}.md", "--markdown"),
    ("plot small --format svg --x r_noise --columns all --out {home}", "{home}/performance-all.svg", "--out"),
    ("noise preview {home}/page.txt --out {out}.html --kinds formatting", "{out}.html", "--out"),
    ("noise preview page.txt --kinds formatting", "{home}/page-noise.html", "--out"),
    ("noise preview {home}/page.png --kinds psf_blur --ocr none --out {out}.png", "{out}.png", "--out"),
    ("noise fit --gt {home}/gt --ocr {home}/read --out {out}.json", "{out}.json", "--out"),
    ("init docs", "{home}/study.yaml", "--force"),
    ("new retriever mine --in {home}", "{home}/mine.py", "--in"),
]
"""Commands that write files, the file that is in the way, and the option that the message names."""

FOLDERS = [
    ("report small --images 0 --out {out}.html", "{out}-data", "--out"),
    ("export small --texts {out}", "{out}", "--texts"),
    ("export small --answers {out}", "{out}", "--answers"),
    ("noise apply {home}/page.txt {out} --noise {{kind:formatting}}", "{out}", "OUT"),
    ("data convert {home}/gt {out} --format ohrbench", "{out}", "OUT"),
]


@pytest.fixture
def place(finished, ohr, home):
    """Where commands run: a copy of a finished run, documents, pages, and nothing of the user's in the way."""
    shutil.copytree(finished[0] / "runs", home / "runs")
    (home / "page.txt").write_text(TEXT)
    (home / "docs").mkdir()
    for path in (home / "page.png", home / "docs/scan.png"):
        Image.new("RGB", (200, 120), "white").save(path)
    for base in ("gt", "read"):
        for name in ("lease", "permit"):
            path = home / base / "law" / f"{name}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps([{"page_idx": 0, "text": TEXT * 20}, {"page_idx": 1, "text": TEXT}]))
    return home


def words(command, home):
    said = command.format(home=home, out=home / "out").split()
    return [word.replace("{kind:", "{kind: ") for word in said]


def content(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("command", "target", "option"), FILES)
def test_a_file_that_is_not_ohrs_stays_and_is_kept_aside_by_force(place, ohr, command, target, option):
    path = Path(target.format(home=place, out=place / "out"))
    path.write_text(FOREIGN)
    before = content(place)
    done = ohr(*words(command, place))
    assert (done.exit_code, path.read_text()) == (2, FOREIGN), done.output
    assert path.name in done.stderr and option in done.stderr
    assert content(place) == before
    if command.startswith("new "):
        return
    assert ohr(*words(command, place), "--force").exit_code == 0
    assert [kept.read_text() for kept in path.parent.glob(f"{path.name}.bak-*")] == [FOREIGN]
    assert path.read_bytes() != FOREIGN.encode()


@pytest.mark.parametrize(("command", "target", "option"), FOLDERS)
def test_a_folder_that_is_not_ohrs_stays_and_is_kept_aside_by_force(place, ohr, command, target, option):
    folder = Path(target.format(home=place, out=place / "out"))
    (folder / "scans").mkdir(parents=True)
    (folder / "scans/1.png").write_text(FOREIGN)
    before = content(place)
    done = ohr(*words(command, place))
    assert done.exit_code == 2, done.output
    assert folder.name in done.stderr and option in done.stderr
    assert content(place) == before
    assert ohr(*words(command, place), "--force").exit_code == 0
    assert [(kept / "scans/1.png").read_text() for kept in place.glob(f"{folder.name}.bak-*")] == [FOREIGN]


@pytest.mark.parametrize(("command", "target", "option"), [row for row in FILES if not row[0].startswith("new ")])
def test_what_ohr_wrote_is_replaced_until_somebody_changes_it(place, ohr, command, target, option):
    path = Path(target.format(home=place, out=place / "out"))
    for _ in range(2):
        assert ohr(*words(command, place)).exit_code == 0
    with path.open("ab") as opened:
        opened.write(b" ")
    changed = path.read_bytes()
    assert ohr(*words(command, place)).exit_code == 2
    assert path.read_bytes() == changed


@pytest.mark.parametrize("other", ["s.csv", "./s.csv"])
def test_two_options_cannot_name_one_file(place, ohr, other):
    done = ohr("export", "small", "--csv", "s.csv", "--latex", other)
    assert done.exit_code == 2 and "two options name one file" in done.stderr
    assert not (place / "s.csv").exists()


@pytest.mark.parametrize("name", ["manifest.json", "scores.parquet", "summary.csv"])
@pytest.mark.parametrize("command", ["export small --csv", "report small --images 0 --out"])
def test_the_files_of_a_run_are_not_written_over(place, ohr, name, command):
    path = next(place.glob(f"runs/small/*/{name}"))
    before = path.read_bytes()
    assert ohr(*command.split(), path).exit_code == 2
    assert path.read_bytes() == before


def test_a_report_in_the_folder_of_its_run_is_written_again(place, ohr):
    report = next(place.glob("runs/small/*")) / "report.html"
    report.write_text("old")
    assert ohr("report", "small", "--images", 0).exit_code == 0
    assert "<html" in report.read_text()


def test_the_data_of_a_report_is_replaced_until_something_else_is_among_it(place, ohr, monkeypatch):
    monkeypatch.setattr("ohr.report.html.report_file._EMBEDDED", 0)  # as if there were much
    command = ("report", "small", "--images", 0, "--out", place / "out.html")
    for _ in range(2):
        assert ohr(*command).stdout.split() == [str(place / "out.html"), str(place / "out-data")]
    (place / "out-data/mine.txt").write_text(FOREIGN)
    before = content(place)
    done = ohr(*command)
    assert done.exit_code == 2 and "out-data: is a folder that has files already" in done.stderr
    assert content(place) == before


@pytest.mark.parametrize("header", ["Frage;Antwort;Datei;Seite", "what,which"])
@pytest.mark.parametrize("force", [[], ["--force"]])
def test_questions_with_an_unknown_header_are_neither_replaced_nor_taken_for_none(place, ohr, header, force):
    (place / "questions.csv").write_text(f"{header}\nWer?;Marsh;scan;1\n")
    before = content(place)
    done = ohr("init", "docs", *force)
    assert done.exit_code == 2
    assert "questions.csv:1: has no column for the question (question or questions" in done.stderr
    assert header.replace(";", ",").split(",")[0] in done.stderr
    assert content(place) == before


def test_a_writer_that_fails_leaves_the_old_file_and_no_other(tmp_path):
    path = tmp_path / "table.csv"
    with written(path, "--csv") as new:
        new.write_text("old")
    before = content(tmp_path)
    with pytest.raises(DataError, match=r"table.csv: cannot be written: No space left"), written(path, "--csv") as new:
        new.write_text("half")
        raise OSError(28, "No space left on device")
    assert content(tmp_path) == before


def test_a_link_is_not_followed_and_a_pipe_is_written_to(tmp_path):
    (tmp_path / "theirs").write_text(FOREIGN)
    (tmp_path / "link.csv").symlink_to("theirs")
    with pytest.raises(DataError, match="did not write"), written(tmp_path / "link.csv", "--csv"):
        pass
    assert (tmp_path / "theirs").read_text() == FOREIGN
    with written(Path(os.devnull), "--csv") as new:
        new.write_text("x")
    assert Path(os.devnull).is_char_device()


def test_a_conversion_that_was_killed_continues_and_does_nothing_twice(place, ohr, monkeypatch):
    write, done = data_convert._write, []

    def killed(target, document, pages, words):
        if done:
            raise KeyboardInterrupt
        done.append(document.name)
        return write(target, document, pages, words)

    command = ("data", "convert", place / "gt", place / "out", "--format", "ohrbench")
    monkeypatch.setattr(data_convert, "_write", killed)
    assert ohr(*command).exit_code != 0
    assert (place / "out" / UNFINISHED).is_file()
    (place / "out/law/permit.json").write_text('[{"page_idx": 0, "te')  # as a kill used to leave it
    monkeypatch.setattr(data_convert, "_write", lambda *what: done.append(what[1].name) or write(*what))
    again = ohr(*command)
    assert (again.exit_code, done) == (0, ["law/lease", "law/permit"])
    assert "4 pages of 2 documents" in again.stdout
    assert len(json.loads((place / "out/law/permit.json").read_text())) == 2
    assert not (place / "out" / UNFINISHED).exists()
    assert ohr(*command).exit_code == 2


def test_only_the_same_command_continues_in_an_unfinished_folder(tmp_path):
    with pytest.raises(KeyError), filled(tmp_path / "out", "OUT", {"command": "one"}):
        raise KeyError
    with pytest.raises(DataError, match="name another with OUT"), filled(tmp_path / "out", "OUT", {"command": "two"}):
        pass
    with filled(tmp_path / "out", "OUT", {"command": "one"}):
        pass
    assert list((tmp_path / "out").iterdir()) == []
