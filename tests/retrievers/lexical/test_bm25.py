import re
from collections import Counter
from math import log
from random import Random

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25L, BM25Okapi, BM25Plus

from ohr.retrievers.lexical import bm25
from ohr.retrievers.lexical.bm25 import BM25, BM25Reference
from ohr.retrievers.lexical.bm25 import BM25Okapi as Okapi
from ohr.retrievers.lexical.words import different_words
from ohr.testing import indexed

from ..corpus import chunks

corpora = st.lists(
    st.lists(st.sampled_from(["rain", "harbour", "lease", "rent", "may", "wall", "x1"]), max_size=12).map(" ".join),
    max_size=9,
)
queries = st.lists(st.sampled_from(["rain", "harbour", "lease", "rent", "absent"]), max_size=5).map(" ".join)


def lucene(texts, query, k1=1.5, b=0.75):
    """BM25 as in Lucene 8 (Kamphuis et al., ECIR 2020), word by word."""
    bags = [Counter(text.split()) for text in texts]
    mean = sum(bag.total() for bag in bags) / max(len(bags), 1)
    scores = []
    for bag in bags:
        score = 0.0
        for word in query.split():
            df = sum(word in other for other in bags)
            idf = log(1 + (len(bags) - df + 0.5) / (df + 0.5))
            score += idf * bag[word] / (bag[word] + k1 * (1 - b + b * bag.total() / mean)) if bag[word] else 0.0
        scores.append(score)
    return scores


@given(corpora, queries, st.floats(0.1, 3), st.floats(0, 1))
def test_scores_are_those_of_the_formula(texts, query, k1, b):
    (hits,) = indexed(BM25(k1=k1, b=b), chunks(*texts)).search([query], 99)
    expected = {place: score for place, score in enumerate(lucene(texts, query, k1, b)) if score > 0}
    assert {hit.place: hit.score for hit in hits} == pytest.approx(expected, rel=1e-5)


@given(corpora, queries, st.integers(1, 5))
def test_the_best_k_are_the_first_k_of_all(texts, query, k):
    index = indexed(BM25(), chunks(*texts))
    assert index.search([query], k)[0] == index.search([query], 99)[0][:k]


def test_chinese_is_found_by_its_words():
    index = indexed(BM25(), chunks("今年的租金是三百元。", "合同从二〇二一年开始。", "Rent is due in May."))
    assert [
        [hit.place for hit in hits] for hits in index.search(["租金是多少？", "合同什么时候开始", "May rent"], 1)
    ] == [[0], [1], [2]]


def test_case_punctuation_and_articles_do_not_matter():
    index = indexed(BM25(), chunks("THE Harbour-wall!", "a lease"))
    assert [hit.place for hit in index.search(["harbourwall"], 2)[0]] == [0]
    assert index.search(["the", "a ... !"], 2) == [[], []]


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
@pytest.mark.parametrize("texts", [(), ("", "...", "the")])
def test_a_corpus_without_a_word_finds_nothing(variant, texts):
    index = indexed(BM25(variant=variant), chunks(*texts))
    assert index.search(["rain", ""], 3) == [[], []]


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
def test_every_variant_finds_the_rarest_word_first(variant):
    texts = ["rain rain wall", "rain wall", "wall lease", "wall may", "wall rent"]
    hits = indexed(BM25(variant=variant), chunks(*texts)).search(["lease rain"], 2)[0]
    assert hits[0].place in (0, 2)
    assert {hit.place for hit in hits} <= {0, 1, 2}


@given(corpora, queries)
def test_scores_are_those_of_rank_bm25_for_the_same_formula(texts, query):
    """BM25+ is the one that both have as published; rank-bm25's BM25L has a factor of its own, Okapi a floor."""
    texts = [*texts, "rain wall"]
    expected = BM25Plus([text.split() for text in texts], delta=0.5).get_scores(query.split())
    (hits,) = indexed(BM25(variant="bm25+", tokenizer="whitespace"), chunks(*texts)).search([query], 99)
    assert [expected[hit.place] for hit in hits] == pytest.approx([hit.score for hit in hits], abs=1e-4)


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
def test_every_variant_finds_the_chunks_with_a_word_of_the_query_and_no_others(variant):
    index = indexed(BM25(variant=variant), chunks("rain wall", "rain", "lease rain", "wall rain"))
    assert {hit.place for hit in index.search(["lease"], 9)[0]} == {2}
    assert {hit.place for hit in index.search(["rain"], 9)[0]} == {0, 1, 2, 3}  # worth nothing to some variants
    assert index.search(["absent", "?!"], 9) == [[], []]


@pytest.mark.parametrize(
    ("texts", "query"),
    [
        (("El castillo está en Granada, cerca.", "Nada sobre ciudades."), "¿Granada?"),
        (("القلعة في القاهرة، كبيرة", "لا شيء هنا"), "القاهرة؟"),
        (("किला दिल्ली। बड़ा", "यहाँ कुछ नदी"), "दिल्ली?"),
        (("トウキョウで始まった。", "ナゴヤの規則。"), "トウキョウ？"),
        (("ปราสาทอยู่ในกรุงเทพมหานคร", "แม่น้ำ"), "กรุงเทพมหานคร"),
        (("ປາສາດຢູ່ວຽງຈັນ", "ແມ່ນ້ຳ"), "ວຽງຈັນ"),
        (("Das Haus in Ko\u0308ln", "Nichts."), "Köln"),
    ],
)
@pytest.mark.parametrize("language", ["auto", "en"])
def test_marks_of_any_script_do_not_hide_a_word(texts, query, language):
    hits = indexed(BM25(language=language), chunks(*texts)).search([query], 1)[0]
    without_spaces = any("\u0e00" <= sign <= "\u30ff" and not sign.isspace() for sign in query)
    assert [hit.place for hit in hits] == ([] if language == "en" and without_spaces else [0])


def test_stems_find_other_forms():
    index = indexed(BM25(tokenizer="stems"), chunks("The lease was terminated.", "A wall."))
    assert [hit.place for hit in index.search(["terminating leases"], 2)[0]] == [0]
    assert indexed(BM25(), chunks("The lease was terminated.", "A wall.")).search(["terminating leases"], 2) == [[]]


def test_whitespace_keeps_words_unchanged():
    index = indexed(BM25(tokenizer="whitespace"), chunks("Rain.", "rain"))
    assert [hit.place for hit in index.search(["rain"], 2)[0]] == [1]


def test_cells_of_html_are_words_without_their_tags():
    texts = "<table><tr><td>835</td><td>1683</td></tr></table>", "835x"
    found = [indexed(BM25(tokenizer=name), chunks(*texts)).search(["835 1683"], 2)[0] for name in ("words", "content")]
    assert [len(hits) for hits in found] == [0, 1]


def test_without_a_cutter_a_run_of_chinese_is_one_word():
    assert indexed(BM25(language="en"), chunks("今年的租金是三百元。", "墙")).search(["租金"], 2) == [[]]


@pytest.mark.parametrize("block", [1 << 22, 40])
@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
def test_scores_are_bm25s_s_to_the_last_bit_in_one_block_and_in_many(variant, block, monkeypatch):
    monkeypatch.setattr(bm25, "_BLOCK", block)
    draw = Random(0)
    words = [[f"w{int(draw.triangular(0, 90, 0))}" for _ in range(draw.randint(0, 60))] for _ in range(200)]
    index = BM25(variant=variant, tokenizer="whitespace", k1=1.23, b=0.37).index(chunks(*map(" ".join, words)))
    numbers: dict[str, int] = {}
    theirs = bm25s.BM25(k1=1.23, b=0.37, delta=0.5, method=variant)
    corpus = [[numbers.setdefault(word, len(numbers)) for word in text] for text in words]
    theirs.index((corpus, numbers), create_empty_token=False, show_progress=False)
    assert index["words"] == list(numbers)
    for mine, name in (("starts", "indptr"), ("places", "indices"), ("scores", "data")):
        assert index[mine].tolist() == theirs.scores[name].tolist()
    absent = theirs.nonoccurrence_array
    assert index.contents.get("absent", np.zeros(0)).tolist() == ([] if absent is None else absent.tolist())


# --- as others compute it ---------------------------------------------------------------------------------

TEXTS = ["rain fell on harbour wall", "lease of harbour", "rent due in may", "harbour harbour rain", "harbour lease"]
CHUNKS = chunks(*TEXTS)


@pytest.mark.parametrize(("variant", "library"), [("okapi", BM25Okapi), ("l", BM25L), ("plus", BM25Plus)])
def test_scores_are_the_library_s(variant, library):
    expected = library([text.split() for text in TEXTS]).get_scores(["harbour", "rent"])
    (hits,) = indexed(Okapi(variant=variant), CHUNKS).search(["harbour rent"], 9)
    assert {hit.place: hit.score for hit in hits} == {place: expected[place] for place in (0, 1, 2, 3, 4)}


@pytest.mark.parametrize("variant", ["okapi", "l", "plus"])
def test_a_chunk_without_a_word_of_the_query_is_not_found(variant):
    index = indexed(Okapi(variant=variant), CHUNKS)
    assert index.search(["unseen words", "?!", ""], 9) == [[], [], []]
    assert [hit.place for hit in index.search(["rent"], 9)[0]] == [2]


def test_a_match_is_found_though_its_score_is_0_or_less():
    (halves,) = indexed(Okapi(), CHUNKS[1:3]).search(["rent"], 9)
    assert [(hit.place, hit.score) for hit in halves] == [(1, 0)]
    (all_of_them,) = indexed(Okapi(), chunks("rent", "rent", "rent")).search(["rent"], 9)
    assert [hit.place for hit in all_of_them] == [0, 1, 2]
    assert all(hit.score < 0 for hit in all_of_them)


def test_with_ohrbench_s_words_the_library_scores_as_bm25_reference():
    asked = ["rains on harbours", "the lease", "absent"]
    theirs, ours = (
        indexed(plugin, CHUNKS).search(asked, 9) for plugin in (Okapi(tokenizer="ohrbench"), BM25Reference())
    )
    assert [len(hits) for hits in theirs] == [4, 2, 0]
    for same, hits in zip(ours, theirs, strict=True):  # the reference finds chunks without a word of the query too
        assert [hit.place for hit in same[: len(hits)]] == [hit.place for hit in hits]
        assert [hit.score for hit in same[: len(hits)]] == pytest.approx([hit.score for hit in hits], abs=1e-12)


# --- words ------------------------------------------------------------------------------------------------


@given(st.text(st.sampled_from("aBé_1 .’–\u00a0\u2003\u203f²·，中\ud800\n"), max_size=30))
def test_different_words_are_those_of_the_expression(text):
    found = list(different_words(text))
    assert sorted(found) == sorted(set(re.findall(r"\w+", text.lower())))


def test_different_words_come_in_a_fixed_order():
    assert list(different_words("Rain on the wall; rain·fall")) == ["rain", "on", "the", "wall", "fall"]
