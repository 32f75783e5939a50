"""Results depend on what is measured: not on workers, order, names or the company of other conditions."""

import pytest

from ohr.dataset.inputs import read_inputs
from ohr.spec.read import read_spec

from .conftest import doses, rows, values

BASES = {
    "clean": "{name: clean}",
    "read": "{name: read, ocr: {kind: pixels}}",
    "pepper": "{name: pepper, image_noise: {kind: salt_and_pepper, severity: [0.1, 0.5]}, ocr: {kind: pixels}}",
    "formatting": "{name: formatting, text_noise: {kind: formatting, rate: 0.6}}",
}


def spec(*names):
    bases = "".join(f"  - {BASES[name]}\n" for name in names)
    return f"""\
benchmark: {{kind: tiny}}
knowledge_bases:
{bases}chunker: {{kind: page}}
retrievers: [{{kind: bm25}}]
generators: [{{kind: parrot}}]
"""


@pytest.fixture(scope="module")
def whole(once):
    """A run of all knowledge bases."""
    return once(spec(*BASES))


@pytest.fixture(scope="module")
def drawn(once):
    """A run of three draws."""
    return once(spec("clean", "pepper"), "replicates=3", "evaluate=[retrieval]")


def table(finished):
    kept = ("question_id", "kb", "stage", "metric", "retriever", "generator", "status")
    return {tuple(row[name] for name in kept): row["value"] for row in rows(finished)}


def test_the_order_of_knowledge_bases_does_not_change_values(home, whole):
    one, other = table(whole), table(home.run(spec(*reversed(BASES))))
    assert {place: repr(value) for place, value in other.items()} == {
        place: repr(value) for place, value in one.items()
    }


def test_a_knowledge_base_alone_or_a_stage_alone_has_the_values_it_has_among_others(home, whole):
    among = table(whole)
    alone = table(home.run(spec("pepper"), "evaluate=[retrieval]"))
    assert {place[2] for place in alone} == {"page", "retrieval"}
    places = [place for place in alone if place[1].startswith("pepper") and not place[3].endswith("_floor")]
    assert places
    assert [repr(alone[place]) for place in places] == [repr(among[place]) for place in places]


def test_more_noise_does_more_damage_to_coupled_levels(whole):
    mild, severe = (values(whole, kb=f"pepper-{level}", stage="page", metric="lcs_kb") for level in (0.1, 0.5))
    assert all(severe[question] <= mild[question] for question in mild)
    assert sum(severe.values()) < sum(mild.values())


def test_replicates_are_different_draws_of_the_same_levels(drawn):
    assert [dose["kb"] for dose in doses(drawn)] == [
        "clean",
        *(f"pepper-{level}#{draw}" for level in (0.1, 0.5) for draw in range(3)),
    ]
    found = [values(drawn, kb=f"pepper-0.5#{draw}", stage="page", metric="lcs_kb") for draw in range(3)]
    assert len({tuple(each.values()) for each in found}) == 3


def test_the_seed_changes_noise_and_a_replicate_is_the_next_seed(home, drawn):
    second = home.run(spec("pepper"), "seed=1", "evaluate=[retrieval]")
    found = values(drawn, kb="pepper-0.5#1", stage="page", metric="lcs_kb")
    assert found == values(second, kb="pepper-0.5", stage="page", metric="lcs_kb")
    assert found != values(drawn, kb="pepper-0.5#0", stage="page", metric="lcs_kb")


def inputs(home, *overrides):
    return read_inputs(read_spec(home.write(spec("clean")), overrides, trust_plugins=True))


def test_a_sample_is_stratified_by_evidence_source(home):
    full = inputs(home, "benchmark.size=40").questions
    part = inputs(home, "benchmark.size=40", "sample=20").questions
    shares = {source: sum(q.evidence_source == source for q in full) for source in ("text", "table")}
    assert len(part) == 20
    assert {source: sum(q.evidence_source == source for q in part) for source in shares} == {
        source: count * 20 // len(full) for source, count in shares.items()
    }
    assert [q.id for q in part] == [q.id for q in full if q in part]


def test_a_sample_is_drawn_by_the_seed(home):
    samples = [inputs(home, "benchmark.size=40", "sample=9", f"seed={seed}").questions for seed in (0, 0, 1)]
    drawn = [[question.id for question in sample] for sample in samples]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("limit", [1, 2, 4, 5, 99])
def test_a_limit_spreads_over_the_domains(home, limit):
    read = inputs(home, "benchmark.size=8", f"limit={limit}")
    assert len(read.documents) == min(limit, 8)
    assert len({document.domain for document in read.documents}) == min(limit, 4)
    assert {question.document for question in read.questions} == {document.name for document in read.documents}


def test_no_question_is_outside_the_rows(home):
    finished = home.run(spec("clean"), "limit=2")
    assert len(rows(finished, kb="clean", stage="overall", metric="f1")) == 4
