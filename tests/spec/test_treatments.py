"""Treatments of a knowledge base: the lists that fit, those that do not, and what a manifest holds of them."""

import pytest

from ohr.contracts import Treatment
from ohr.dataset.inputs import read_inputs
from ohr.graph.cache_keys import Keys
from ohr.graph.compile import compile_graph
from ohr.treatments import recorded_treatments

SMALL = """\
benchmark: {kind: mini, domains: [law], languages: [en], max_pages: 1}
retrievers: [{kind: bm25}]
evaluate: [retrieval]
replicates: 2
"""
PLUGIN = """\
from ohr.contracts import Correction, ImageTreatment, TextTreatment, TreatedImage, TreatedPage
from ohr.generators.extractive import Extractive


class Straight(ImageTreatment, kind="straight"):
    def treat(self, image, others, rng):
        return TreatedImage(image)


class Joined(TextTreatment, kind="joined"):
    def treat(self, pages, rng):
        return [TreatedPage(page.text) for page in pages]


class Asked(Correction, kind="asked"):
    @property
    def model(self):
        return Extractive()

    def prompt_for(self, page):
        return None

    def corrected(self, page, reply):
        return TreatedPage(page.text)
"""


@pytest.fixture
def listed(spec, tmp_path):
    """Read a spec with one knowledge base of these treatments."""
    (tmp_path / "repairs.py").write_text(PLUGIN)

    def read(treatments, **how):
        text = f"{SMALL}plugins: [./repairs.py]\nknowledge_bases:\n  - treatments: {treatments}\n"
        return spec(text, trust=True, **how)

    return read


def kinds(read):
    return [[each.kind for each in base.treatments] for base in read.knowledge_bases if not base.replicate]


@pytest.mark.parametrize(
    ("treatments", "expected"),
    [
        ("[{kind: tesseract}]", ["tesseract"]),
        ("[{kind: drop_pages}]", ["drop_pages", "ground_truth"]),
        ("[{kind: joined}]", ["ground_truth", "joined"]),
        ("[{kind: drop_pages}, {kind: formatting}]", ["drop_pages", "ground_truth", "formatting"]),
        (
            "[{kind: rotation}, {kind: straight}, {kind: rotation}, {kind: tesseract}, {kind: formatting}, "
            "{kind: joined}]",
            ["rotation", "straight", "rotation", "tesseract", "formatting", "joined"],
        ),
        ("[{kind: tesseract}, {kind: rapidocr}, {kind: vote}]", ["vote"]),
        ("[{kind: vote, parts: [{kind: tesseract}, {kind: rapidocr}]}]", ["vote"]),
    ],
)
def test_a_list_that_fits(listed, treatments, expected):
    assert kinds(listed(treatments)) == [expected]


@pytest.mark.parametrize(
    ("treatments", "key", "message"),
    [
        (
            "[{kind: formatting}, {kind: straight}]",
            "treatments.1",
            "straight needs an image, but text_noise `formatting` gives text",
        ),
        (
            "[{kind: tesseract}, {kind: straight}]",
            "treatments.1",
            "straight needs an image, but ocr `tesseract` gives text",
        ),
        (
            "[{kind: tesseract}, {kind: rapidocr}]",
            "treatments.1",
            "rapidocr needs an image, but ocr `tesseract` gives text: let a kind that chooses, such as best_of, follow "
            "two engines",
        ),
        (
            "[{kind: joined}, {kind: tesseract}]",
            "treatments.0",
            "joined needs text, but no engine has read the pages yet: put it after `tesseract`",
        ),
        (
            "[{kind: formatting, target_r_noise: 0.3}, {kind: asked}]",
            "treatments.1",
            "a target cannot be searched through asked: its model would be asked at every strength",
        ),
        ("[{kind: joined, rate: 1}]", "treatments.0.rate", "unknown key. Choose one of: kind."),
        ("[{kind: formatting, rate: [0.1, 2]}]", "treatments.0.rate.1", "must be less than or equal to 1 (got 2)"),
    ],
)
def test_a_list_that_does_not_fit_is_reported_with_its_line(faults, tmp_path, treatments, key, message):
    (tmp_path / "repairs.py").write_text(PLUGIN)
    text = f"{SMALL}plugins: [./repairs.py]\nknowledge_bases:\n  - treatments: {treatments}\n"
    assert faults(text, trust=True) == [f"spec.yaml:7: knowledge_bases.0.{key}: {message}"]


def test_a_list_beside_the_short_keys_and_an_unknown_kind_are_reported(faults):
    assert faults(
        f"{SMALL}knowledge_bases:\n  - {{treatments: [{{kind: tesseract}}], ocr: {{kind: tesseract}}}}\n"
    ) == ["spec.yaml:6: knowledge_bases.0.ocr: either `treatments`, which holds all in their order, or this"]
    (line,) = faults(f"{SMALL}knowledge_bases:\n  - treatments: [{{kind: tessaract}}]\n")
    assert line.startswith("spec.yaml:6: knowledge_bases.0.treatments.0.kind: Choose one of: ")
    assert line.endswith("Did you mean 'tesseract'? (got 'tessaract')")


def test_the_short_keys_and_the_list_have_the_same_keys_of_results(spec):
    short = "{image_noise: {kind: rotation, severity: 0.4}, ocr: {kind: tesseract}, text_noise: {kind: formatting}}"
    listed = "{treatments: [{kind: rotation, severity: 0.4}, {kind: tesseract}, {kind: formatting}]}"
    graphs = []
    for entry in (short, listed):
        read = spec(f"{SMALL}knowledge_bases: [{entry}]\n")
        graphs.append(compile_graph(Keys(read, read_inputs(read))))
    assert graphs[0].steps.keys() == graphs[1].steps.keys()


def test_a_repair_is_drawn_once_and_noise_with_it_as_often_as_noise_alone(listed):
    assert [base.name for base in listed("[{kind: tesseract}, {kind: joined}]").knowledge_bases] == ["tesseract+joined"]
    assert len(listed("[{kind: formatting}, {kind: joined}]").knowledge_bases) == 2
    assert len(listed("[{kind: formatting, rate: 0}, {kind: joined}]").knowledge_bases) == 1


def test_a_manifest_holds_what_it_held_and_lists_what_the_short_keys_cannot_say(spec, listed):
    read = spec(f"{SMALL}knowledge_bases: [{{treatments: [{{kind: rotation}}, {{kind: tesseract}}]}}]\n")
    written = read.knowledge_bases[0].written()
    assert "treatments" not in written and written["text_noise"] == [] and written["ocr"]["kind"] == "tesseract"
    assert [each.purpose for each in recorded_treatments(written)] == ["noise", "reading"]
    written = listed("[{kind: straight}, {kind: tesseract}]").knowledge_bases[0].written()
    assert "ocr" not in written
    assert [(each.purpose, each.takes) for each in recorded_treatments(written)] == [
        ("repair", "image"),
        ("reading", "image"),
    ]


def test_a_treatment_may_have_a_target_where_it_is_noise(spec, faults):
    read = spec(f"{SMALL}knowledge_bases: [{{treatments: [{{kind: drop_pages, target_r_noise: 0.2}}]}}]\n")
    noise: Treatment = read.knowledge_bases[0].calibrated
    assert noise.kind == "drop_pages"
    assert read.knowledge_bases[0].with_strength(0.7).treatments[0].rate == 0.7


@pytest.mark.parametrize("other", ["a again", "a again 2"])
def test_a_name_of_a_repeat_is_refused_for_another_condition(faults, other):
    bases = f"knowledge_bases:\n  - {{name: a, repeats: 3}}\n  - {{name: {other}, text_noise: {{kind: formatting}}}}\n"
    (fault,) = faults(SMALL + bases)
    assert fault.endswith(f"knowledge_bases: {other!r} is what `aa` and `repeats` call a repeat of 'a'")


def test_a_repeated_condition_is_not_repeated_once_more(spec):
    read = spec(
        f"{SMALL}aa: true\nknowledge_bases: [{{name: a, repeats: 2}}, {{name: b, ocr: {{kind: text_layer}}}}]\n"
    )
    again = {base.condition: base.again_of for base in read.knowledge_bases if base.again_of}
    assert again == {"a again": "a", "b again": "b"}
