"""Page images: into vision retrievers and into prompts, noisy, one at a time, and never by their text."""

from math import isnan

import pytest

from ohr.runner.plan import plan
from ohr.spec.read import read_spec
from ohr.store import open_store

from .conftest import rows, values

BASES = """benchmark: {kind: tiny, size: 2}
knowledge_bases:
  - {name: clean}
  - {name: smudged, image_noise: {kind: smudge, severity: 0.9}}
chunker: {kind: tokens, size: 16, overlap: 0}
"""
SEEN = BASES + "retrievers: [{kind: eye, top_k: 1, log: LOG}]\ngenerators: [{kind: parrot}]\n"


@pytest.fixture
def seen(home):
    return SEEN.replace("LOG", str(home.folder / "eye.log"))


@pytest.fixture(scope="module")
def finished(once):
    """A run with another knowledge base, in which the noisy images are read."""
    read = "  - {name: read, image_noise: {kind: smudge, severity: 0.9}, ocr: {kind: pixels}}\nchunker"
    return once(SEEN.replace("LOG", "eye.log").replace("chunker", read), "evaluate=[retrieval, overall]")


def test_noise_reaches_a_vision_retriever_without_ocr(finished):
    assert set(values(finished, kb="clean", stage="retrieval", metric="hit@1").values()) == {1.0}
    assert values(finished, kb="smudged", stage="retrieval", metric="hit@1")["q1"] == 0.0
    assert {row["noise_type"] for row in rows(finished, kb="smudged")} == {"semantic"}


def test_a_passage_is_a_page_with_the_text_of_the_knowledge_base(finished):
    assert {row["chunker"] for row in rows(finished, stage="retrieval") + rows(finished, stage="overall")} == {None}
    assert set(values(finished, kb="clean", stage="overall", metric="f1").values()) == {1.0}  # parrot reads text
    (hit,) = [hit for hit in rows(finished, "hits") if (hit["question_id"], hit["kb"]) == ("q0", "clean")]
    assert (hit["start"], hit["end"]) == (0, len(hit["text"]))
    assert hit["text"].startswith("[law/0 page 0]")


def test_only_pictures_are_damaged_without_an_engine_and_with_one_the_dose_is_that_of_its_text(finished):
    assert all(isnan(value) for value in values(finished, kb="smudged", stage="page", metric="damaged").values())
    assert set(values(finished, kb="clean", stage="page", metric="damaged").values()) == {0.0}
    assert set(values(finished, kb="read", stage="page", metric="damaged").values()) == {1.0}


def test_an_image_is_embedded_once_whatever_engine_read_it_and_a_second_run_looks_at_nothing(home, seen):
    read = "  - {name: read, image_noise: {kind: smudge, severity: 0.9}, ocr: {kind: pixels}}\nchunker"
    home.run(seen.replace("chunker", read), "evaluate=[retrieval]")
    before = home.log("eye.log")
    assert set(before.values()) == {1}
    home.run(seen, "evaluate=[retrieval]", "retrievers.0.top_k=2")
    assert home.log("eye.log") == before


def test_another_strength_or_seed_is_another_index(home, seen):
    home.run(seen, "evaluate=[retrieval]")
    before = home.log("eye.log").total()
    home.run(seen.replace("severity: 0.9", "severity: 0.8"), "evaluate=[retrieval]")
    assert home.log("eye.log").total() == before + 4


def test_a_page_without_image_fails_alone_and_is_tried_again(home, seen):
    text = seen.replace("severity: 0.9", "severity: 0.1, jams: '[law/0 page 1]'")
    finished = home.run(text, "evaluate=[retrieval]")
    (failure,) = finished.ledger.failures
    assert (failure.stage, failure.item, failure.reason) == (
        "page image",
        "smudged: law/0 page 2",
        "RuntimeError: ink spilt",
    )
    (failed,) = rows(finished, kb="smudged", stage="retrieval", metric="hit@1", status="failed")
    assert (failed["question_id"], failed["value"]) == ("q1", 0.0)
    mended = home.run(text.replace("[law/0 page 1]", "[none]"), "evaluate=[retrieval]")
    assert not mended.ledger.failures
    assert values(mended, kb="smudged", stage="retrieval", metric="hit@1")["q1"] == 1.0


def test_pages_without_text_are_passages_too(home, seen):
    finished = home.run(seen, "evaluate=[retrieval]", "benchmark.blank=law/0 page 1", "retrievers.0.top_k=9")
    found = [hit for hit in rows(finished, "hits") if (hit["question_id"], hit["kb"]) == ("q0", "clean")]
    assert sorted(hit["page"] for hit in found) == [0, 1]
    assert finished.ledger.failures == []


def test_a_generator_that_reads_images_sees_noisy_pages(home):
    text = BASES + "retrievers: [{kind: eye, top_k: 1}]\ngenerators: [{kind: gazer}]\n"
    finished = home.run(text)
    for stage in ("generation", "overall"):
        assert set(values(finished, kb="clean", stage=stage, metric="f1").values()) == {1.0}
        assert set(values(finished, kb="smudged", stage=stage, metric="f1").values()) == {0.0}
    assert set(values(finished, kb="evidence_only", stage="reference", metric="f1").values()) == {1.0}
    assert set(values(finished, kb="closed_book", stage="reference", metric="f1").values()) == {0.0}
    assert set(values(finished, kb="shuffled_context", stage="reference", metric="f1").values()) == {0.0}


def test_images_are_in_the_key_of_an_answer_that_needs_them(home):
    logs = {name: home.folder / f"{name}.log" for name in ("gazer", "parrot")}
    generators = ", ".join(f"{{kind: {name}, log: {log}}}" for name, log in logs.items())
    text = BASES + f"retrievers: [{{kind: eye}}]\ngenerators: [{generators}]\n"
    home.run(text, "evaluate=[generation]")
    before = {name: home.log(f"{name}.log").total() for name in logs}
    finished = home.run(text.replace("severity: 0.9", "severity: 0.95"), "evaluate=[generation]")
    assert home.log("gazer.log").total() == before["gazer"] + 4
    assert home.log("parrot.log").total() == before["parrot"]
    assert set(values(finished, kb="smudged", stage="generation", metric="f1", generator="parrot").values()) == {1.0}


def test_the_plan_knows_every_key(home, seen):
    spec = read_spec(home.write(seen), ["evaluate=[retrieval]"], trust_plugins=True)
    assert plan(spec, home.store, 1).steps["searches"].left == 4
    home.run(seen, "evaluate=[retrieval]")
    done = plan(spec, home.store, 1)
    assert done.steps["searches"].left == 0
    assert done.cells["retrieval"] == 2  # whatever the number of chunkers
    assert open_store(home.store).exists()


def test_image_noise_that_only_some_look_at_is_refused(home, seen):
    mixed = seen.replace("[{kind: eye", "[{kind: bm25}, {kind: eye")
    with pytest.raises(Exception, match="that all read images"):
        home.run(mixed)
    home.run(mixed.replace("{name: smudged,", "{name: smudged, retrievers: [eye],"), "evaluate=[retrieval]")
