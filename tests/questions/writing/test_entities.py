import pytest

from ohr.contracts import Page
from ohr.errors import MissingExtra, SpecError
from ohr.questions.writing.entities import entities_of

COMMON = "We met in Ardwen on Tuesday. "
PAGES = {
    f"d{number}": [Page(f"d{number}", 0, COMMON + (text if number == 0 else f"Nothing else, {number}."))]
    for number, text in enumerate(
        ["We saw that the Corran Lamp Company pays Ina Moss, and that NATO's Harbor of Ferrol is closed.", *[""] * 30]
    )
}


@pytest.fixture(scope="module")
def spacy_model(tmp_path_factory):
    """A real spaCy pipeline on disk, with rules in place of trained weights."""
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    ruler = pipeline.add_pipe("entity_ruler")
    ruler.add_patterns(
        [{"label": "ORG", "pattern": "corran lamp company"}, {"label": "MONEY", "pattern": "five pounds"}]
    )
    folder = tmp_path_factory.mktemp("spacy") / "model"
    pipeline.to_disk(folder)
    return folder


def test_english_names_are_capital_words_inside_sentences_that_few_documents_have():
    entities = entities_of(PAGES)
    assert entities(PAGES["d0"][0].text, "en") == {"Corran Lamp Company", "Ina Moss", "NATO", "Harbor of Ferrol"}
    assert entities(COMMON, "en") == frozenset()  # each document has Ardwen and Tuesday
    assert entities("Corran begins a sentence.", "en") == frozenset()


def test_chinese_names_are_tagged_runs_with_the_word_that_ends_them():
    entities = entities_of(PAGES)
    text = "符晓棠在清华大学学习，后来到岫通公司工作。公司在望溪镇。"
    assert {"符晓棠", "清华大学", "望溪镇"} <= entities(text, "zh")
    assert not {"公司", "学习"} & entities(text, "zh")


def test_a_spacy_model_finds_the_names_of_its_language(spacy_model):
    entities = entities_of(PAGES, str(spacy_model))
    assert entities("the corran lamp company owes five pounds to Ina Moss", "en") == {"corran lamp company"}
    assert entities("符晓棠在清华大学学习", "zh") == entities_of(PAGES)("符晓棠在清华大学学习", "zh")


def test_a_spacy_model_that_is_missing_or_finds_nothing_is_refused(spacy_model, tmp_path):
    import spacy

    with pytest.raises(SpecError, match=r"cannot load the spaCy model 'en_no_such_model'.*spacy download"):
        entities_of(PAGES, "en_no_such_model")
    with pytest.raises(SpecError, match="cannot load the spaCy model"):
        entities_of(PAGES, str(tmp_path))
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(SpecError, match="finds no names"):
        entities_of(PAGES, str(tmp_path / "blank"))


def test_without_spacy_a_named_model_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    with pytest.raises(MissingExtra, match="entities"):
        entities_of(PAGES, "en_core_web_sm")
