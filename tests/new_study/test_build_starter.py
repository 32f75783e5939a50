"""The settings of a build to start from: YAML as written, and with each comment that is a key."""

import re

import pytest
import yaml

from ohr.new_study import build_starter as module
from ohr.new_study.build_starter import build_starter
from ohr.registry import Registry

KEYS = {"writer", "judges", "answerers", "silver", "corrected", "questions", "verification", "prices", "seed"}


def uncommented(text):
    """Return the text with the keys in its comments; the first line is words."""
    return re.sub(r"^# ", "", text.partition("\n")[2], flags=re.MULTILINE).replace("\n#   ", "\n  ")


def test_it_is_what_it_says():
    read = yaml.safe_load(build_starter())
    assert list(read) == ["writer", "questions", "verification", "seed"]
    writer = Registry().load("generator", read["writer"].pop("kind"))
    assert writer.model_validate(read["writer"]).temperature == 0.7
    assert read["questions"]["total"] == 60


def test_each_comment_with_a_key_can_be_taken():
    read = yaml.safe_load(uncommented(build_starter()))
    assert set(read) == KEYS
    for each in (*read["judges"], *read["answerers"]):
        Registry().load("generator", each.pop("kind")).model_validate(each)
    assert read["prices"] == {"openai": {"in": 0.15, "out": 0.6}}


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
