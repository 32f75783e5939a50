"""GOCR and Ocrad, where Debian's packages are installed."""

import os
from shutil import which

import numpy as np
import pytest

from ohr.errors import PluginError
from ohr.ocr.pnm_programs import Gocr, Ocrad

from ..conftest import typeset

PROGRAMS = [
    pytest.param(plugin, marks=pytest.mark.skipif(which(plugin.words[0]) is None, reason=f"no {plugin.words[0]}"))
    for plugin in (Gocr, Ocrad)
]


@pytest.mark.parametrize("plugin", PROGRAMS)
def test_a_typeset_line_is_read_as_far_as_the_program_can(plugin):
    page = typeset("The quick brown fox is due in May")
    read, blank = plugin().recognise([page, np.full((1, 1, 3), 255, dtype=np.uint8)])
    assert "quick brown fox" in read.text and (read.words, read.confidence) == ((), None)
    assert (blank.text, blank.error) == ("", None)


@pytest.mark.parametrize("plugin", [Gocr, Ocrad])
def test_a_missing_program_is_one_sentence_with_its_package(plugin, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    engine = plugin()
    with pytest.raises(PluginError, match=f"^ocr {engine.kind}: no program '{engine.kind}'. Debian: apt-get install"):
        engine.check()
    assert next(engine.recognise([typeset("Rent")])).error == f"{engine.kind} does not start: No such file or directory"


@pytest.mark.parametrize(
    ("script", "error"),
    [("exec sleep 60", "took longer than 0.2 seconds"), ("echo no image >&2; exit 3", "ended with status 3: no image")],
)
def test_a_program_that_fails_costs_its_page(script, error, tmp_path, monkeypatch):
    program = tmp_path / "gocr"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (read,) = Gocr(timeout=0.2 if "sleep" in script else 30).recognise([typeset("Rent")])
    assert read.error == f"gocr {error}"


def test_another_program_is_another_engine(tmp_path, monkeypatch):
    found = []
    for content in ("one", "two"):
        program = tmp_path / content / "ocrad"
        program.parent.mkdir()
        program.write_text(content)
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(program.parent))
        found.append(Ocrad().identity())
    assert found[0] != found[1]
