"""Which noise twins look like: ohr's own is found with its strength, and what ohr does not have is not matched."""

import numpy as np
import pytest

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.noise_files.likeness import _near, candidates, likenesses, sampled
from ohr.noise_files.noise_parts import simplest
from ohr.noise_files.page_changes import FEATURES, CleanPage, changes, sizes
from ohr.noise_files.text_twins import of_benchmark, pair
from ohr.registry import Registry
from ohr.steps.documents.treat import TreatedPages, treat

REGISTRY = Registry()
CALIBRATES = pytest.mark.acceptance
CLEAN = of_benchmark(REGISTRY.load("benchmark", "mini")(domains=("law", "manual"), languages=("en",), max_pages=2))


def noise(kind, **fields):
    (family,) = REGISTRY.treatments()[kind]
    return REGISTRY.load(family, kind).model_validate({"kind": kind, **fields})


def under(stage, seed=0, clean=CLEAN):
    return {name: treat(TreatedPages.of(pages), [stage], (), seed).pages for name, pages in clean.items()}


def changed(function):
    return {name: [Page(name, page.index, function(page.text)) for page in pages] for name, pages in CLEAN.items()}


def held_against(noisy, *kinds, clean=CLEAN):
    noises = candidates(REGISTRY)
    twins = pair(clean, noisy, ("clean", "noisy")).documents
    return likenesses(twins, {kind: noises[kind] for kind in kinds}, 400, lambda kind: None)


@pytest.mark.parametrize(
    ("kind", "rate", "fields", "others"),
    [
        pytest.param("formatting", 0.3, {}, ("channel",), marks=CALIBRATES),
        pytest.param("formatting", 0.4, {"rules": {"bold": 1}}, (), marks=CALIBRATES),
        pytest.param("channel", 0.6, {"profile": "rapidocr"}, ("table_format",), marks=CALIBRATES),
        ("table_format", 1, {"to": "html"}, ("drop_pages",)),
    ],
)
def test_kind_and_strength_are_recovered(kind, rate, fields, others):
    best, *rest = held_against(under(noise(kind, rate=rate, **fields)), kind, *others)
    assert best.matched and best.noise.kind == kind
    assert best.severity.mean == pytest.approx(rate, abs=0.05)
    applied = noise(kind, **fields)
    assert all(getattr(best.noise, name) == getattr(applied, name) for name in fields)
    assert not any(other.matched for other in rest)


@pytest.mark.parametrize(
    ("foreign", "kinds"),
    [
        pytest.param(str.upper, ("formatting", "shuffle_pages"), marks=CALIBRATES),
        pytest.param(lambda text: " ".join(reversed(text.split(" "))), ("channel", "table_format"), marks=CALIBRATES),
        (lambda text: " ".join(w for place, w in enumerate(text.split(" ")) if place % 40 >= 8), ("channel",)),
    ],
    ids=["capitals", "words in reverse", "blocks of words gone"],
)
def test_what_ohr_does_not_have_is_not_matched(foreign, kinds):
    assert not any(found.matched for found in held_against(changed(foreign), *kinds))


def test_variants_that_a_first_look_cannot_tell_apart_are_all_fitted():
    applied, other = (noise("channel", rate=0.5, profile=name) for name in ("rapidocr", "tesseract"))
    first = pair(CLEAN, under(applied), ("clean", "noisy")).documents[:2]
    assert _near(first, [other, applied]) == [applied]  # the other is three times as far away
    assert _near(first, [applied, applied]) == [applied, applied]


def test_noise_of_whole_pages_is_told_apart():
    judged = held_against(under(noise("drop_pages", rate=0.5)), "drop_pages", "double_pages")
    assert [(each.noise.kind, each.matched) for each in judged] == [("drop_pages", True), ("double_pages", False)]


def test_what_four_draws_miss_does_not_refuse_the_right_noise():
    """One table of 24 has signs that Markdown must escape; the noise changed it, and none of the first four draws."""
    cells = ["4"] * 17 + [" | ".join("abcdefghijklmno")] + ["4"] * 6
    rows = (f"<tr><th>Rate</th><th>Year</th></tr><tr><td>{cell}</td><td>2010</td></tr>" for cell in cells)
    clean = {
        f"law/{place:02}": [Page(f"law/{place:02}", 0, f"Rent is due.\n\n<table>{row}</table>")]
        for place, row in enumerate(rows)
    }
    noisy = under(noise("table_format", to="markdown", rate=0.3), clean=clean)
    (judged,) = held_against(noisy, "table_format", clean=clean)
    assert judged.matched and judged.noise.to == "markdown"


def counts(clean, noisy):
    pages = [CleanPage(place, text) for place, text in enumerate(clean)]
    return {name: value for name, value in zip(FEATURES, changes(pages, noisy), strict=True) if value}


@pytest.mark.parametrize(
    ("noisy", "expected"),
    [
        ({0: "one two", 1: "three"}, {}),
        ({0: "one two"}, {"pages absent": 1}),
        ({0: "three", 1: "one two"}, {"pages changed": 2, "pages with another's text": 2}),
        ({0: "one two", 1: "three", 2: "more"}, {"pages added": 1}),
        (
            {0: "one", 1: "three"},
            {
                "pages changed": 1, "edit distance": 4, "edit distance of the content": 4, "words lost in order": 1,
                "words lost as scored": 1, "single words lost": 1,
            },
        ),
    ],
)  # fmt: skip
def test_changes_are_counted_by_page(noisy, expected):
    assert counts(["one two", "three"], noisy) == expected


def test_no_count_jumps_when_a_page_loses_one_word_more():
    """The spread of a count that is rarely a whole page's cannot be seen in four draws; the right noise was refused."""
    page = CleanPage(0, " ".join(f"word{place}" for place in range(100)))
    lost = [changes([page], {0: " ".join(page.text.split()[count:])}) for count in range(1, 100)]
    assert np.abs(np.diff(lost, axis=0)).max() <= 10  # the tenth word of a run


def test_pages_that_are_empty_on_both_sides_change_nothing():
    assert counts(["", "a"], {0: "", 1: "a"}) == {} and not sizes([CleanPage(0, "")])[len(FEATURES) - 1]


@pytest.mark.parametrize(("names", "said"), [((), "no document"), (("law/a", "law/b"), "2 documents")])
def test_too_few_twins_are_refused(names, said):
    side = {name: [Page(name, 0, "text")] for name in names}
    with pytest.raises(DataError, match=f"clean and noisy have {said} with clean text in common"):
        pair(side, side, ("clean", "noisy"))


def test_a_sample_is_of_all_parts_and_never_too_small():
    twins = pair(CLEAN, CLEAN, ("", "")).documents
    assert sampled(twins, 10**6) == list(twins) and len(sampled(twins, 1)) >= 4


def test_parts_with_one_rate_get_one_weight_and_others_keep_theirs():
    twins = pair(CLEAN, under(noise("formatting", rate=0.4, rules={"title": 1, "paragraph": 1})), ("", "")).documents
    assert simplest(twins, noise("formatting", rate=0.48, rules={"title": 1, "paragraph": 0.84})).rate < 0.43
    twins = pair(CLEAN, under(noise("formatting", rate=0.4, rules={"bold": 1, "paragraph": 0.3})), ("", "")).documents
    rules = simplest(twins, noise("formatting", rate=0.4, rules={"bold": 1, "paragraph": 0.3})).rules
    assert (rules.bold, rules.paragraph) == (1, 0.3)


def test_what_a_noise_changes_is_counted_once():
    twin = pair(CLEAN, CLEAN, ("", "")).documents[0]
    counted = twin.changed_by(noise("formatting", rate=0.5), 1)
    assert counted.any() and twin.changed_by(noise("formatting", rate=0.5), 1) is counted
    assert (twin.changed_by(noise("formatting", rate=0.5), 2) != counted).any()
    assert (twin.changed_by(noise("formatting", rate=0.9), 1) != counted).any()


@pytest.mark.parametrize("domains", [(), ("law", "manual")], ids=["all documents", "too few for an interval of a half"])
def test_the_strength_of_a_matched_noise_is_that_of_all_documents(domains):
    """Half of them, drawn twice, were up to .09 away from the share of pages that are absent."""
    clean = of_benchmark(REGISTRY.load("benchmark", "mini")(domains=domains or None, languages=("en",)))
    for seed in range(3):
        noisy = under(noise("drop_pages", rate=0.3), seed, clean)
        pages, left = (sum(map(len, side.values())) for side in (clean, noisy))
        (best,) = held_against(noisy, "drop_pages", clean=clean)
        assert best.matched and best.severity.mean == pytest.approx(1 - left / pages, abs=0.04)
        assert best.noise.rate == best.severity.mean


def test_a_noise_at_severity_0_is_not_what_changed_pages():
    clean = {
        f"law/{name}": [Page(f"law/{name}", 0, f"The {name} opens at nine and closes at noon.")] for name in "abcdef"
    }
    noisy = {name: [Page(name, 0, pages[0].text.replace("nine", "mine"))] for name, pages in clean.items()}
    judged = held_against(noisy, "drop_pages", "double_pages", clean=clean)
    assert not any(each.matched for each in judged)
