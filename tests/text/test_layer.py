import pytest

from ohr.text.layer import clean_layer


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("func\x02tions of lan\ufffeguage", "functions of language"),
        ("pro\u00ad\ncess", "process"),
        ("func-\ntions", "func-tions"),  # nobody can know: the metrics see `functions` either way
        ("e\ufb03cient \ufb01nd \ufb02ow \ufb00", "efficient find flow ff"),
        ("a\x00b \x07c\x1f\u200b\ufeff", "ab c"),
        ("one\xa0two\r\nthree\x0cfour", "one two\nthree\nfour"),
        ("plain text - with a dash\nand 3-4 lines", "plain text - with a dash\nand 3-4 lines"),
        ("عقد الإيجار", "عقد الإيجار"),
        ("", ""),
    ],
)
def test_signs_that_nobody_types_are_gone(raw, clean):
    assert clean_layer([raw]) == [clean]


def test_the_rest_of_the_document_decides_about_a_hyphen():
    pages = [
        "well\x02known and well-known",
        "co-\noperate, and they cooperate",
        "state-of-the-\nart is state-of-the-art",
    ]
    assert clean_layer(pages) == [
        "well-known and well-known",
        "cooperate, and they cooperate",
        "state-of-the-art is state-of-the-art",
    ]


def test_a_cut_word_is_no_evidence_of_itself():
    assert clean_layer(["pre\x02fix pre\x02fix"]) == ["prefix prefix"]
