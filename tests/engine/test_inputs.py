import pytest

from ohr.engine.inputs import read_inputs
from ohr.errors import SpecError
from ohr.spec.read import read_spec

ENGINES = """\
benchmark: {kind: tiny, language: zh}
knowledge_bases:
  - {name: one, ocr: {kind: tesseract}}
  - {name: two, ocr: {kind: tesseract, languages: [eng, chi_sim]}}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
"""


def read(home, *overrides):
    return read_inputs(read_spec(home.write(ENGINES), overrides, trust_plugins=True))


def test_every_engine_must_read_the_documents_language(home):
    with pytest.raises(SpecError) as caught:
        read(home)
    assert str(caught.value).startswith("ocr tesseract: no language pack for zh (4 documents, e.g. law/0). ")


def test_engines_that_read_the_language_are_fine(home):
    assert len(read(home, "knowledge_bases.0.ocr.languages=[eng, chi_sim]").documents) == 4


def test_nothing_to_ask_is_told(home):
    with pytest.raises(SpecError) as caught:
        read(home, "benchmark.size=0", "benchmark.language=en")
    assert str(caught.value) == "benchmark tiny: nothing left: 0 documents, 0 questions"
