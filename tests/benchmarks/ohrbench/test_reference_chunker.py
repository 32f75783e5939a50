import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.chunkers.reference import Reference
from ohr.chunkers.sentence import sentence_starts
from ohr.contracts import Page
from ohr.errors import StageError
from ohr.graph.cells import searches
from ohr.spec.read import read_spec

WORDS = [
    "rain",
    "harbour",
    "lease,",
    "rent.",
    "Mr.",
    "U.S.",
    "...",
    "，",
    "合同。",
    "租金？",
    "\n\n\n",
    "\n",
    " ",
    "x" * 40,
]
texts = st.lists(st.sampled_from(WORDS), max_size=150).map(" ".join)


def split(text, **fields):
    return Reference(**fields).split([Page("law/lease", 3, text)])


def label_tokens(naive, base="gt"):
    return naive.count(f"page_idx: 3\nfile_path: data/retrieval_base/{base}/law/lease.json")


@given(text=texts, room=st.integers(4, 90))
def test_chunks_are_those_of_the_published_code(naive, text, room):
    found = [chunk.text for chunk in split(text, size=label_tokens(naive) + room)]
    assert found == naive.split_page(text, room)


def test_a_page_that_fits_is_one_chunk_without_the_space_around_it():
    (chunk,) = split("  The lease. \n")
    assert (chunk.text, chunk.start, chunk.end, chunk.pages) == ("The lease.", 2, 12, (3,))


def test_an_empty_page_is_one_empty_chunk_but_a_blank_one_is_none():
    assert [chunk.text for chunk in split("")] == [""]
    assert split(" \n\t") == []


def test_a_failed_page_gives_no_chunk():
    assert Reference().split([Page("law/lease", 0, "", error="unreadable")]) == []


def test_the_name_of_the_knowledge_base_takes_tokens_from_the_text(naive):
    text = "Rent is due. " * 40
    tokens = naive.count(text)
    size = label_tokens(naive) + tokens
    longer = label_tokens(naive, "semantic_noise_Qwen2.5-VL-72B_moderate")
    assert longer > label_tokens(naive)
    assert len(split(text, size=size)) == 1
    assert len(split(text, size=size, base="semantic_noise_Qwen2.5-VL-72B_moderate")) == 2


def test_the_chunker_of_a_knowledge_base_has_its_name_unless_one_is_set():
    assert Reference().for_base("MinerU").base == "MinerU"
    assert Reference(base="gt").for_base("MinerU").base == "gt"
    text = "Rent is due. " * 400
    assert split(text) == split(text, base="gt")


def test_the_name_of_a_condition_plays_no_part_in_its_chunks(tmp_path):
    file = tmp_path / "spec.yaml"
    file.write_text(
        "benchmark: {kind: mini}\nknowledge_bases:\n  - {name: anything}\n"
        "  - {name: mine, ocr: {kind: precomputed, root: results/MinerU}}\n"
        "chunker: {kind: reference}\nretrievers: [{kind: bm25}]\nevaluate: [retrieval]\n"
    )
    assert [chunker.stage.base for _, chunker, _ in searches(read_spec(file))] == ["gt", "MinerU"]


def test_clauses_lose_repeated_punctuation_and_the_span_still_covers_them(naive):
    text = "one two three...four five six,,seven eight nine"
    chunks = split(text, size=label_tokens(naive) + 5)
    assert "".join(chunk.text for chunk in chunks) == "one two three.four five six,seven eight nine"
    assert [text[chunk.start : chunk.end] for chunk in chunks] == [
        "one two three.",
        "four five six,",
        "seven eight nine",
    ]


def test_a_name_that_leaves_no_room_is_reported():
    with pytest.raises(StageError) as caught:
        split("The lease began.", size=5)
    assert str(caught.value) == (
        "chunker reference failed on law/lease page 4: its file's name leaves no room for text in 5 tokens"
    )


def test_lone_surrogates_are_taken():
    assert len(split("x\ud800 y" * 2000)) > 1


# --- sentences ------------------------------------------------------------------------------------------


SIGNS = [
    ".",
    "!",
    "?",
    " ",
    "\n",
    '"',
    "'",
    ")",
    "]",
    "...",
    " . . .",
    "--",
    "A",
    "b",
    "U.S",
    "5",
    "1,2",
    "Dr",
    ",",
    "(",
]


@given(st.lists(st.sampled_from([*SIGNS, "\u3000", "。", "*", "\t", ";", ":"]), max_size=40).map("".join))
def test_sentences_begin_where_nltk_sees_them(text):
    nltk = pytest.importorskip("nltk.tokenize.punkt")
    assert sentence_starts(text) == [start for start, _ in nltk.PunktSentenceTokenizer().span_tokenize(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Rent is due. It is late.", ["Rent is due. ", "It is late."]),
        ("Why? It is! Yes", ["Why? ", "It is! ", "Yes"]),
        ("By J. Bach. He wrote.", ["By J. Bach. ", "He wrote."]),
        ("See no. 5. below it.", ["See no. ", "5. below it."]),
        ("Wait... then go.", ["Wait... then go."]),
        ("Dr. Smith left.", ["Dr. ", "Smith left."]),
        ('He said "Go." Then left.', ['He said "Go." ', "Then left."]),
        ("It ends.) Next one.", ["It ends.) ", "Next one."]),
        ("It ends.” Next one. Last.", ["It ends.” Next one. ", "Last."]),  # a later NLTK cuts after the quote
        ("租金三百元。合同。", ["租金三百元。合同。"]),
        ("  Indented. So.", ["  Indented. ", "So."]),
        (" \n ", []),
        ("", []),
    ],
)
def test_a_text_is_cut_as_the_published_code_does(text, sentences):
    starts = sentence_starts(text)
    assert [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=False)] == sentences
