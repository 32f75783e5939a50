import json
from pathlib import Path

import jsonschema
from ruamel.yaml import YAML

DOCS = Path(__file__).parents[2] / "docs"


def test_the_schema_in_docs_is_current(ohr):
    """Write it again with `ohr schema > docs/spec.schema.json`."""
    assert (DOCS / "spec.schema.json").read_text(encoding="utf-8") == ohr("schema").stdout


def test_the_schema_takes_a_right_spec_and_refuses_a_typo(ohr, home):
    schema = json.loads(ohr("schema").stdout)
    spec = YAML(typ="safe").load((home / "small.yaml").read_text())
    validator = jsonschema.Draft202012Validator(schema)
    assert list(validator.iter_errors(spec)) == []
    assert len(list(validator.iter_errors(spec | {"retriever": []}))) == 1
