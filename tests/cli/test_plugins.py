import json
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field

from ohr.cli.display.plugin_fields import Parameter, parameters
from ohr.contracts import FAMILIES, Stage, execution
from ohr.parts import RetrieverPart
from ohr.registry import Registry

from ..conftest import CHUNKER


def test_every_plugin_has_a_line(ohr):
    listed = json.loads(ohr("plugins", "--json").stdout)
    assert [(about["family"], about["kind"]) for about in listed] == [
        (family, kind) for family in FAMILIES for kind in Registry().names(family)
    ]
    assert all(about["description"] for about in listed)


@pytest.mark.parametrize("name", ["retriever", "retrievers", "ohr.retrievers"])
def test_a_family_is_listed_by_any_of_its_names(ohr, name):
    lines = ohr("plugins", name).stdout.splitlines()
    assert lines[0].split() == ["family", "kind", "what", "it", "does", "extra"]
    assert [line.split()[:2] for line in lines[1:]] == [["retriever", kind] for kind in Registry().names("retriever")]


@pytest.mark.parametrize("name", ["image-noise", "image_noise", "image_noises"])
def test_a_family_of_two_words_is_listed(ohr, name):
    assert "salt_and_pepper" in ohr("plugins", name).stdout


def test_a_plugin_whose_library_is_missing_is_listed_and_says_so(ohr, monkeypatch):
    monkeypatch.setattr("importlib.metadata.requires", lambda name: ['no-such-library-ohr>=1; extra == "dense"'])
    (line,) = [line for line in ohr("plugins", "retrievers").stdout.splitlines() if line.split()[1] == "dense"]
    assert line.endswith("dense (not installed: pip install 'ohr[dense]')")


@pytest.mark.parametrize(
    ("requirements", "ending"),
    [
        (['no-such-library-ohr==1; extra == "pp-structure"'], "(not installed: pip install 'ohr[pp_structure]')"),
        (
            [
                'ohr[a.b,ocr]; extra == "pp-structure"',
                'no-such-library-ohr>=1; extra == "a-b"',
                'numpy; extra == "ocr"',
            ],
            "(not installed: pip install 'ohr[pp_structure]')",
        ),
        (
            ['no-such-library-ohr==1; python_version < "3.10" and extra == "pp-structure"'],
            '(not for this Python: no-such-library-ohr needs python_version < "3.10")',
        ),
        (['numpy>=1; python_version < "4" and extra == "pp-structure"'], "pp_structure (installed)"),
    ],
)
def test_an_extra_is_read_with_those_that_it_takes_in_and_the_python_that_it_needs(
    ohr, monkeypatch, requirements, ending
):
    monkeypatch.setattr("importlib.metadata.requires", lambda name: requirements)
    (line,) = [line for line in ohr("plugins", "ocr").stdout.splitlines() if line.split()[1] == "pp_structure"]
    assert line.endswith(ending)


def test_an_unknown_family(ohr):
    result = ohr("plugins", "retreivers")
    assert result.exit_code == 2
    assert result.stderr == (
        "no family 'retreivers'. Choose one of: ocr, ocr_format, image_noise, text_noise, treatment, chunker, "
        "retriever, generator, agent, system, metric, benchmark. Did you mean 'retriever'?\n"
    )


def test_a_plugin_is_shown_with_its_parameters(ohr):
    lines = ohr("plugins", "show", "retriever", "bm25").stdout.splitlines()
    assert lines[0] == "retriever bm25 (version 5)"
    assert lines[1] == "Ranks chunks by the rare words they share with the query (Robertson & Zaragoza 2009)."
    head = next(place for place, line in enumerate(lines) if line.startswith("parameter"))
    assert [line.split()[0] for line in lines[head : head + 3]] == ["parameter", "top_k", "tokenizer"]
    assert (
        " ".join(next(line for line in lines if line.split()[:1] == ["b"]).split())
        == "b number 0.75 >= 0, <= 1 How much long chunks are penalised."
    )


def test_a_plugin_is_shown_as_json(ohr):
    report = json.loads(ohr("plugins", "show", "retrievers", "dense", "--json").stdout)
    assert report["plugin"]["extra"] == "dense"
    assert {
        "name": "batch_size",
        "type": "whole number",
        "default": "32",
        "range": "> 0",
        "description": "Texts encoded at once; halved when memory runs out.",
        "changes_results": False,
    } in report["parameters"]


def test_an_unknown_plugin_to_show(ohr):
    result = ohr("plugins", "show", "chunker", "pages")
    assert result.exit_code == 2
    kinds = ", ".join(Registry().names("chunker"))
    assert result.stderr == f"no chunker 'pages'. Choose one of: {kinds}. Did you mean 'page'?\n"


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Odd(Stage):
    kind: Literal["odd"] = "odd"
    where: Path
    color: Color = Color.RED
    sizes: Annotated[tuple[int, ...], Field(description="Some.")] = (1, 2)
    share: Annotated[float | None, Field(gt=0, le=1)] = None
    sure: Annotated[bool, execution("Does it?")] = True
    mark: Literal["", "*"] = ""
    searcher: RetrieverPart


def test_parameters_are_reported_in_words():
    assert parameters(Odd) == [
        Parameter("where", "path", "required", "", "", True),
        Parameter("color", "red, blue", '"red"', "", "", True),
        Parameter("sizes", "list of whole number", "[1, 2]", "", "Some.", True),
        Parameter("share", "number or null", "null", "> 0, <= 1", "", True),
        Parameter("sure", "true or false", "true", "", "Does it?", False),
        Parameter("mark", '"", *', '""', "", "", True),
        Parameter("searcher", "plugin", "required", "", "", True),
    ]


def test_a_plugin_file_is_listed_and_shown(ohr, home):
    assert ohr("new", "retriever", "mine").exit_code == 0
    file = next(home.rglob("mine.py"))
    listed = ohr("plugins", "retrievers", "--plugin", file)
    assert listed.exit_code == 0, listed.stderr
    assert "mine" in [line.split()[1] for line in listed.stdout.splitlines()]
    shown = ohr("plugins", "show", "retriever", "mine", "--plugin", file)
    assert shown.stdout.startswith("retriever mine (version ")
    assert "top_k" in shown.stdout
    assert "mine" not in ohr("plugins", "retrievers").stdout


def test_a_file_that_claims_the_name_of_a_plugin_of_ohrs_is_said_to(ohr, tmp_path):
    (tmp_path / "mine.py").write_text(CHUNKER.format(name="Mine", kind="tokens"))
    lines = ohr("plugins", "chunkers", "--plugin", tmp_path / "mine.py").stdout.splitlines()
    (line,) = [line for line in lines if line.split()[1] == "tokens"]
    assert " cannot be used: chunker 'tokens' is claimed twice: Mine in " in line
