"""The settings of a build to start from: YAML as written, and with each comment that is a key."""

import re

import pytest
import yaml

from ohr.builder.build_settings import read_settings
from ohr.new_study import wizard as module
from ohr.new_study.wizard import build_starter

KEYS = {"writer", "judges", "answerers", "silver", "corrected", "questions", "verification", "prices", "seed"}


def uncommented(text):
    """Return the text with the keys in its comments; the first line is words."""
    return re.sub(r"^# ", "", text.partition("\n")[2], flags=re.MULTILINE).replace("\n#   ", "\n  ")


def test_it_is_what_it_says():
    read = yaml.safe_load(build_starter())
    assert list(read) == ["writer", "questions", "verification", "seed"]
    assert read["questions"]["total"] == 60


@pytest.mark.parametrize("change", [str, uncommented])
def test_a_build_reads_it_as_it_is_and_with_each_key_that_is_a_comment(tmp_path, change):
    path = tmp_path / "build.yaml"
    path.write_text(change(build_starter()))
    settings = read_settings(path)
    assert settings.file.questions.total == 60
    assert settings.writer.stage.model == "MODEL"


def test_each_comment_with_a_key_can_be_taken(tmp_path):
    text = uncommented(build_starter())
    assert set(yaml.safe_load(text)) == KEYS
    path = tmp_path / "build.yaml"
    path.write_text(text)
    settings = read_settings(path)
    assert [each.stage.model for each in (*settings.judges, *settings.answerers)] == ["ANOTHER_MODEL"] * 2
    assert settings.silver.kind == "tesseract"
    assert settings.file.prices["writer"].tokens_out == 0.6


@pytest.mark.parametrize(
    ("installed", "scans", "line"),
    [
        (("rapidocr",), True, "silver: {kind: rapidocr}"),
        (("tesserocr", "rapidocr"), True, "silver: {kind: tesseract}"),
        (("tesserocr",), False, "# silver: {kind: tesseract}"),
        ((), True, "# silver: {kind: tesseract}"),
    ],
)
def test_scans_are_read_by_an_engine_that_is_installed(monkeypatch, installed, scans, line):
    monkeypatch.setattr(module, "find_spec", lambda name: name in installed or None)
    (silver,) = [line for line in build_starter(scans=scans).splitlines() if "silver" in line]
    assert silver.startswith(line)
