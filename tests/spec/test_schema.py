from importlib.resources import files

import jsonschema
import pytest
from ruamel.yaml import YAML

from ohr.spec.read import read_spec
from ohr.spec.schema import spec_schema

PIPELINES = sorted(path.name for path in files("ohr.pipelines").iterdir() if path.name.endswith(".yaml"))
GOOD = {"benchmark": {"kind": "mini"}, "knowledge_bases": [{}], "retrievers": [{"kind": "bm25", "top_k": [1, 2]}]}


@pytest.fixture(scope="module")
def validator():
    schema = spec_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize("name", PIPELINES)
def test_every_shipped_spec_fits_the_schema(validator, name):
    text = files("ohr.pipelines").joinpath(name).read_text("utf-8")
    assert list(validator.iter_errors(YAML(typ="safe", pure=True).load(text))) == []


@pytest.mark.parametrize("name", PIPELINES)
def test_every_shipped_spec_is_read(name, tmp_path, monkeypatch):
    for folder in ("OHRBENCH_DATA", "OPENDATALOADER_BENCH", "OHR_STUDY", "QUESTION_SET"):
        monkeypatch.setenv(folder, str(tmp_path))
    assert read_spec(files("ohr.pipelines").joinpath(name)).knowledge_bases


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"chunker": {"kind": "tokens", "size": [64, 128], "name": "small"}},
        {"knowledge_bases": [{"text_noise": [{"kind": "formatting", "rate": 0.1}]}]},
        {"knowledge_bases": [{"image_noise": {"kind": "rotation"}, "ocr": {"kind": "tesseract"}}]},
        {"benchmark": {"kind": "mini", "domains": ["law"]}},
        {"extends": "base.yaml"},
    ],
)
def test_the_schema_takes_what_the_reader_takes(validator, change):
    assert validator.is_valid({**GOOD, **change})


@pytest.mark.parametrize(
    "change",
    [
        {"seeed": 1},
        {"chunker": {"kind": "tokens", "siz": 64}},
        {"chunker": {"kind": "tokns"}},
        {"chunker": {"size": 64}},
        {"knowledge_bases": []},
        {"knowledge_bases": [{"nam": "a"}]},
        {"knowledge_bases": [{"text_noise": {"kind": "formatting", "rate": 3}}]},
        {"knowledge_bases": [{"ocr": {"kind": "precomputed"}}]},
        {"retrievers": [{"kind": "bm25", "top_k": []}]},
        {"retrievers": [{"kind": "bm25", "top_k": 0}]},
        {"evaluate": ["retrieval", "overal"]},
    ],
)
def test_the_schema_refuses_a_typo(validator, change):
    assert not validator.is_valid({**GOOD, **change})
