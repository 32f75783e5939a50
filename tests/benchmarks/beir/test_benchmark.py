"""Documents and questions of a data set in BEIR's layout."""

import gzip
import json
import os
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ohr.benchmarks.beir import Beir
from ohr.contracts import Document, Question, Relevant
from ohr.errors import DataError
from ohr.files.names import quoted_id
from ohr.testing import check_benchmark


def text(benchmark, place):
    return benchmark.pages(benchmark.documents()[place])[0].text


def asked(benchmark):
    return {question.id: question for question in benchmark.questions()}


def test_a_document_is_one_page_of_title_and_text_joined_by_a_space(data_set):
    benchmark = data_set.read()
    assert benchmark.documents()[0] == Document("port/d1", "port", "en", 1)
    assert [text(benchmark, place) for place in range(3)] == [
        "Berth fees A night costs 14 crowns.",
        "The ferry leaves at noon.",
        "Ice is made in the ice house.",
    ]


def test_a_question_is_about_the_best_document_and_knows_all_that_are_judged(data_set):
    data_set.judgments = "query-id\tcorpus-id\tscore\nq1\td3\t1\nq1\td2\t2\nq1\td1\t2\n"
    (question,) = data_set.read().questions()
    assert question == Question(
        id="q1",
        text="What does a berth cost?",
        answers=(),
        document="port/d2",
        pages=(0,),
        evidence=("The ferry leaves at noon.",),
        evidence_source="text",
        domain="port",
        places=(("port/d2", 0), ("port/d1", 0), ("port/d3", 0)),
        relevant=(Relevant("port/d3", 0, 1), Relevant("port/d2", 0, 2), Relevant("port/d1", 0, 2)),
    )
    check_benchmark(data_set.read())


def test_the_name_and_the_language_are_fields(data_set):
    benchmark = data_set.read(name="my port/2", language="de")
    assert benchmark.documents()[0] == Document("my%20port%2F2/d1", "my%20port%2F2", "de", 1)
    assert text(benchmark, 0).startswith("Berth fees")


def test_packed_files_and_judgments_of_trec_are_read_as_the_plain_ones(data_set):
    plain = data_set.read()
    known = [(plain.documents(), plain.questions(), text(plain, 2))]
    root = data_set.root
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        (root / f"{name}.gz").write_bytes(gzip.compress((root / name).read_bytes()))
        (root / name).unlink()
    packed = Beir(root=root)
    known.append((packed.documents(), packed.questions(), text(packed, 2)))
    (root / "qrels/test.tsv.gz").unlink()
    (root / "qrels/test.qrels").write_text("q1 0 d1 1\n")
    known.append((packed.documents(), packed.questions(), text(packed, 2)))
    assert known[0] == known[1] == known[2]


def test_a_damaged_archive_is_one_sentence(data_set):
    root = data_set.write()
    packed = gzip.compress((root / "corpus.jsonl").read_bytes())
    (root / "corpus.jsonl").unlink()
    for content in (b"no archive", packed[:-9]):
        (root / "corpus.jsonl.gz").write_bytes(content)
        with pytest.raises(DataError, match=r"corpus\.jsonl\.gz: is damaged"):
            Beir(root=root).documents()


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("PLAIN-10_b.c~", "PLAIN-10_b.c~"),
        (4983, "4983"),
        ("a b/c", "a%20b%2Fc"),
        ("50%", "50%25"),
        ("..", "%2E%2E"),
        ("\u00fc", "%C3%BC"),
    ],
)
def test_an_id_is_quoted_where_it_has_signs_that_names_cannot_have(data_set, name, written):
    data_set.corpus[0]["_id"] = name
    data_set.judgments = f"query-id\tcorpus-id\tscore\nq1\t{name}\t1\n"
    benchmark = data_set.read()
    assert benchmark.documents()[0].name == f"port/{written}"
    assert asked(benchmark)["q1"].evidence == ("Berth fees A night costs 14 crowns.",)


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_quoted_id_is_safe_and_can_be_read_back(name):
    written = quoted_id(name)
    assert unquote(written) == name
    assert written.isascii() and written.strip(".")
    assert not set(written) & set(' /\\:\t\n?*"<>|')


def test_documents_and_queries_without_text_are_counted(data_set):
    data_set.corpus += [{"_id": "d4", "title": "", "text": ""}, {"_id": "d5", "title": None}]
    data_set.queries[1]["text"] = " "
    data_set.judgments += "q2\td2\t1\n"
    benchmark = data_set.read()
    assert list(asked(benchmark)) == ["q1"]
    assert benchmark.origin(asked(benchmark)["q1"]) == f"{data_set.root / 'queries.jsonl'}:1"
    assert text(benchmark, 3) == text(benchmark, 4) == ""
    assert list(benchmark.notes()) == [
        "2 documents without text: port/d4, port/d5",
        "1 query without text, left out: q2",
    ]
    check_benchmark(benchmark)


def test_a_question_is_about_a_document_with_text_where_one_of_the_best_has_some(data_set):
    data_set.corpus[0] = {"_id": "d1", "text": ""}
    data_set.judgments += "q1\td2\t1\n"
    (question,) = data_set.read().questions()
    assert question.document == "port/d2"


def test_a_judgment_of_an_unknown_document_stays_and_is_counted(data_set):
    data_set.judgments = "query-id\tcorpus-id\tscore\nq1\tgone\t2\nq1\td1\t1\nq2\tgone\t1\n"
    benchmark = data_set.read()
    first, second = benchmark.questions()
    assert (first.document, second.document) == ("port/d1", "port/gone")
    assert first.grades == {("port/gone", 0): 2, ("port/d1", 0): 1}
    assert second.evidence == ("",)
    assert list(benchmark.notes()) == [
        "2 judgments of a document that the corpus lacks, kept as not found: q1 gone, q2 gone"
    ]
    check_benchmark(benchmark)


def test_a_query_that_is_judged_but_absent_or_without_a_relevant_document_is_left_out(data_set):
    data_set.judgments += "q2\td1\t0\nq2\td2\t-1\nq9\td1\t1\n"
    benchmark = data_set.read()
    assert list(asked(benchmark)) == ["q1"]
    assert list(benchmark.notes()) == [
        "test.tsv: 1 grade below 0: not relevant, as 0",
        "1 judged query that queries.jsonl lacks, left out: q9",
        "1 query without a relevant document, left out: BEIR counts it 0: q2",
    ]


def test_a_line_that_is_read_again_is_counted_and_one_that_contradicts_is_refused(data_set):
    data_set.judgments += "q1\td1\t1\n"
    assert list(data_set.read().notes()) == ["test.tsv: 1 line repeated with the same grade, counted once"]
    data_set.judgments += "q1\td1\t2\n"
    with pytest.raises(DataError, match=r"test\.tsv:4: document 'd1' of topic 'q1' .* with another grade"):
        data_set.read().questions()


@pytest.mark.parametrize(
    "judgments",
    [
        "query-id\tcorpus-id\tscore\r\nq 1\td 1\t2\r\n",  # Windows, spaces in ids
        "q 1\td 1\t2",  # no header
        "\ufeffquery-id\tcorpus-id\tscore\n\nq 1\td 1\t2.0\n",  # from a spreadsheet
        "q 1\tQ0\td 1\t2\n",
        "query-id corpus-id score\nq1 d1 2\n",
        "q1  Q0   d1  2\n",
    ],
)
def test_judgments_are_cut_at_tabs_and_without_them_at_spaces(data_set, judgments):
    space = " " if "\t" in judgments else ""
    data_set.corpus[0]["_id"], data_set.queries[0]["_id"] = f"d{space}1", f"q{space}1"
    data_set.judgments = judgments
    (question,) = data_set.read().questions()
    assert (question.id, question.relevant) == (f"q{space}1", (Relevant(f"port/d{'%20' * bool(space)}1", 0, 2),))


def test_judgments_without_a_row_or_of_other_queries_are_refused(data_set):
    data_set.judgments = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td1\tmuch\n"
    with pytest.raises(DataError, match=r"test\.tsv:3: the grade must be a number"):
        data_set.read().questions()
    data_set.judgments = "query-id\tcorpus-id\tscore\n"
    with pytest.raises(DataError, match=r"test\.tsv: has no line of a file of qrels"):
        data_set.read().questions()
    data_set.judgments += "other\td1\t1\n"
    with pytest.raises(DataError, match=r"test\.tsv: no query of queries\.jsonl has a relevant document in it"):
        data_set.read().questions()


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{"_id": "d4", "text"', "without a JSON object"),
        ('["d4"]', "without a JSON object"),
        ('{"id": "d4", "text": "a"}', "without `_id`, a text or a whole number"),
        ('{"_id": true, "text": "a"}', "without `_id`, a text or a whole number"),
        ('{"_id": "d4", "text": 7}', "whose `text` is no text"),
        ('{"_id": "d4", "title": ["a"]}', "whose `title` is no text"),
    ],
)
def test_lines_of_the_corpus_that_are_wrong_are_counted_and_named(data_set, line, fault):
    data_set.corpus += [line, "", line.replace("d4", "d5")]
    with pytest.raises(
        DataError, match=rf"2 lines {fault}: \S+corpus\.jsonl:4( \(it has _?id, text\))?, \S+corpus\.jsonl:6"
    ):
        data_set.read().documents()


def test_ids_that_are_there_twice_are_named_with_both_lines(data_set):
    data_set.corpus += [{"_id": 7, "text": "a"}, {"_id": "7", "text": "b"}]
    with pytest.raises(DataError, match=r"1 line with the `_id` of another: \S+corpus\.jsonl:5 \('7', as line 4\)"):
        data_set.read().documents()
    data_set.corpus.pop()
    data_set.queries.append(data_set.queries[0])
    with pytest.raises(DataError, match=r"queries\.jsonl:3 \('q1', as line 1\)"):
        data_set.read().questions()


def test_a_folder_says_what_it_has_where_a_file_is_missing(data_set, tmp_path):
    root = data_set.write()
    with pytest.raises(DataError, match=r"has neither corpus\.jsonl nor corpus\.jsonl\.gz; it has port/; root may be"):
        Beir(root=tmp_path).documents()
    with pytest.raises(DataError, match=r"nowhere: no such folder"):
        Beir(root=tmp_path / "nowhere").documents()
    (root / "corpus.jsonl").unlink()
    with pytest.raises(DataError, match=r"neither corpus\.jsonl nor .*; it has qrels/, queries\.jsonl$"):
        Beir(root=root).documents()
    (root / "corpus.jsonl").write_text("")
    with pytest.raises(DataError, match=r"corpus\.jsonl: has no document"):
        Beir(root=root).documents()


def test_a_split_that_is_not_there_lists_those_that_are(data_set):
    root = data_set.write()
    (root / "qrels/train.tsv").write_text("q2\td2\t1\n")
    assert list(asked(Beir(root=root, split="train"))) == ["q2"]
    with pytest.raises(DataError, match=r"no split 'tests'\. Choose one of: test, train\. Did you mean 'test'"):
        Beir(root=root, split="tests").questions()
    for name in ("test.tsv", "train.tsv"):
        (root / "qrels" / name).unlink()
    with pytest.raises(DataError, match=r"has no judgments; they belong into qrels/test\.tsv"):
        Beir(root=root).questions()


@pytest.mark.acceptance
def test_a_document_of_ten_megabytes_is_read(data_set):
    data_set.corpus[1]["text"] = "word " * 2_000_000
    benchmark = data_set.read()
    assert len(text(benchmark, 1)) == 9_999_999
    assert text(benchmark, 2) == "Ice is made in the ice house."
    with pytest.raises(DataError, match=r"port/d2: 9,999,999 characters are more than a page image of 32,000 pixels"):
        benchmark.page_image(benchmark.documents()[1], 0)


def test_a_changed_file_is_read_again(data_set):
    benchmark = data_set.read()
    before = benchmark.fingerprint(benchmark.documents()[0], images=False)
    data_set.judgments += "q2\td2\t1\n"
    assert data_set.read().fingerprint(benchmark.documents()[0], images=False) == before
    data_set.corpus[0]["text"] = "A night costs 15 crowns."
    os.utime(data_set.write() / "corpus.jsonl", ns=(1, 1))
    assert text(benchmark, 0) == "Berth fees A night costs 15 crowns."
    assert benchmark.fingerprint(benchmark.documents()[0], images=False) != before


def test_the_first_bytes_may_be_a_mark_and_texts_half_characters(data_set):
    root = data_set.write()
    odd = json.dumps({"_id": "d4", "text": "half \ud83d"})
    (root / "corpus.jsonl").write_bytes(b"\xef\xbb\xbf" + (root / "corpus.jsonl").read_bytes() + odd.encode() + b"\r\n")
    benchmark = Beir(root=root)
    assert text(benchmark, 0) == "Berth fees A night costs 14 crowns."
    assert text(benchmark, 3) == "half ?"


def test_the_sample_has_two_grades_and_several_relevant_documents():
    sample = Beir(root="sample")
    grades = [tuple(question.grades.values()) for question in sample.questions()]
    assert (len(sample.documents()), len(grades)) == (40, 15)
    assert {grade for some in grades for grade in some} == {1, 2}
    assert sum(len(some) > 1 for some in grades) == 14
    assert not sample.notes()
    check_benchmark(sample, images=40)
