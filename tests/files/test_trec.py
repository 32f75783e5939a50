"""Runs, judgments and maps of topics: each layout is read, each fault is named with its line."""

import gzip

import numpy as np
import pytest

from ohr.errors import DataError
from ohr.files.trec import read_qrels, read_run, read_topic_documents

RUN = "q1 Q0 d1 1 2.5 bm25\nq1 Q0 d2 2 1.5 bm25\nq2 Q0 d1 1 0.5 bm25\n"
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
GRADES = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}


@pytest.fixture
def file(tmp_path):
    def write(content, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refuses(read, path, message):
    with pytest.raises(DataError) as error:
        read(path)
    assert message in str(error.value)


@pytest.mark.parametrize(
    "content",
    [
        QRELS,
        QRELS.replace(" ", "\t"),
        QRELS.replace(" ", " \t  "),
        QRELS.replace("\n", "  \r\n"),
        " " + QRELS,
        "\ufeff" + QRELS,
        "# made by hand\n\n" + QRELS.replace("q2", "# a remark\n\nq2"),
        "query_id iteration doc_id relevance\n" + QRELS,
        "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td2\t0\nq2\td3\t2\n",
        "q1\td1\t1\nq1\td2\t0\nq2\td3\t2",
        "q1 0 d1 1.0\nq1 0 d2 0\nq2 0 d3 +2\n",
        gzip.compress(QRELS.encode(), mtime=0),
    ],
)
def test_judgments_are_read_in_every_layout(file, content):
    found = read_qrels(file(content))
    assert found.grades == GRADES
    assert not found.notes


def test_ids_with_blanks_are_read_between_tabs(file):
    found = read_qrels(file("query-id\tcorpus-id\tscore\nq 1\td/1 a\t1\nq2\td2\t0\n"))
    assert found.grades == {"q 1": {"d/1 a": 1}, "q2": {"d2": 0}}
    assert read_run(file("q 1\tQ0\td 1\t1\t0.5\ta run\n")).scores(["q 1"]) == {"q 1": {"d 1": 0.5}}
    assert read_run(file("q 1\tQ0\td\t1\t0.5\tbm25\tmore\n")).scores(["q 1"]) == {"q 1": {"d": 0.5}}


def test_grades_below_0_and_equal_lines_are_counted(file):
    found = read_qrels(file("q1 0 d1 -1\nq1 0 d1 -1\nq2 0 d2 1\n"))
    assert found.grades == {"q1": {"d1": -1}, "q2": {"d2": 1}}
    assert found.notes == (
        "file.txt: 1 line repeated with the same grade, counted once",
        "file.txt: 2 grades below 0: not relevant, as 0",
    )
    assert found.without_relevant == ["q1"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "file.txt: has no line of a file of qrels"),
        ("\n# nothing\n", "file.txt: has no line of a file of qrels"),
        (QRELS + "q1 0 d1 0\n", ":4: document 'd1' of topic 'q1' is listed again, after line 1 with another grade"),
        (QRELS + "q3 0 d1 0.5\n", ":4: the grade must be a whole number, at most 1,000,000 (got '0.5')"),
        (QRELS + "q3 0 d1 nan\n", ":4: the grade must be a whole number, at most 1,000,000 (got 'nan')"),
        ("# x\n" + QRELS + "q3 0 d1 high\n", ":5: the grade must be a number (got 'high')"),
        (QRELS + "q3 0 d1\n", ":4: has 3 fields, and line 1 has 4"),
        ("q1\td1\t1\n\td2\t1\n", ":2: the topic must not be empty (got '')"),
        (RUN, ":1: has 6 fields; a file of qrels has 4 (topic iteration document grade) or 3 (topic document grade)"),
        (RUN, "It looks like a run"),
        (QRELS.encode() + b"q3 0 d\xe9 1\n", ":4: is not UTF-8 text"),
        (QRELS.encode("utf-16"), "is not UTF-8 text"),
        (gzip.compress(QRELS.encode(), mtime=0)[:-9], "cannot be read"),
    ],
)
def test_what_is_wrong_with_judgments_is_said(file, content, message):
    refuses(read_qrels, file(content), message)


@pytest.mark.parametrize(
    "content",
    [
        RUN,
        RUN.replace(" ", "\t"),
        RUN.replace(" ", "  "),
        RUN.replace("\n", "\r\n"),
        "\ufeff# a remark\n" + RUN,
        "qid Q0 docno rank score name\n" + RUN,
        RUN[:-1] + " and what follows\n",
        RUN.replace(" ", "\t").replace("\n", "\tmore\n"),
        gzip.compress(RUN.encode(), mtime=0),
    ],
)
def test_runs_are_read_in_every_layout(file, content):
    run = read_run(file(content))
    assert run.scores(["q2", "q1", "q9"]) == {"q2": {"d1": 0.5}, "q1": {"d1": 2.5, "d2": 1.5}}
    assert (run.tag, run.topics, run.tied, run.notes) == ("bm25", ["q1", "q2"], 0, ())


def test_a_topic_that_begins_like_a_remark_is_one(file):
    assert read_run(file("#1 Q0 d1 1 2.5 bm25\n")).topics == ["#1"]


def test_documents_are_ranked_by_score_whatever_ranks_and_order_say(file):
    run = read_run(file("q1 Q0 a 1 0.1 t\nq2 Q0 a 1 3 t\nq1 Q0 b 2 0.9 t\nq2 Q0 b 2 2 t\n"))
    assert list(run.scores(["q1"])["q1"]) == ["b", "a"]
    (note,) = run.notes
    assert note.startswith("file.txt: in 1 topic the ranks are in another order than the scores")
    assert read_run(file("q1 Q0 a first 0.1 t\nq1 Q0 b second 0.9 t\n")).notes == ()


def test_scores_are_tied_where_trec_eval_cannot_tell_them_apart(file):
    run = read_run(file("q1 Q0 a 1 0.123456789 t\nq1 Q0 b 2 0.123456788 t\nq2 Q0 a 1 2 t\nq2 Q0 b 2 1 t\n"))
    assert run.tied == 1
    assert np.float32(0.123456789) == np.float32(0.123456788)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "file.txt: has no line of a run"),
        (QRELS, ":1: has 4 fields; a run has 6 (topic Q0 document rank score tag). It looks like a file of qrels"),
        ("q1 d1 1\n", ":1: has 3 fields; a run has 6"),
        ('{"q1": {"d1": 1}}', ":1: has 3 fields; a run has 6"),
        (RUN + "q2 Q0 d2 2 nan bm25\n", ":4: the score must be a finite number (got 'nan')"),
        (
            "\n" + RUN + "q2 Q0 d2 2 -inf bm25\n" * 2,
            ":5: the score must be a finite number (got '-inf') (2 such lines)",
        ),
        (RUN + "q2 Q0 d2 2 1,5 bm25\n", ":4: the score must be a number (got '1,5')"),
        (
            RUN + "q2 Q0 d1 2 0.4 bm25\n",
            ":4: document 'd1' of topic 'q2' is listed again, after line 3: a run has it once",
        ),
        (RUN + "q3 Q0 d1 1 0.4 dense\n", "holds 2 runs, by their tags bm25, dense: write each to its own file"),
        (RUN + "q3 Q0 d1 1 0.4\n", ":4: has 5 fields, and line 1 has 6"),
        (RUN.encode() + b"q3 Q0 d\xff 1 0.4 bm25\n", ":4: is not UTF-8 text"),
    ],
)
def test_what_is_wrong_with_a_run_is_said(file, content, message):
    refuses(read_run, file(content), message)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(DataError, match=r"nothing\.trec: cannot be read: No such file"):
        read_run(tmp_path / "nothing.trec")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("map.tsv", "topic\tdocument\nq1\ta b\nq2\tc\n"),
        ("map.csv", "query-id,doc\nq1,a b\nq2,c\n"),
        ("map.csv", "q1,a b\nq2,c\nq2,c\n"),
        ("map.csv", '"q1","a b"\n"q2","c"\n'),
        ("map.json", '{"q1": "a b", "q2": "c"}'),
    ],
)
def test_maps_of_topics_are_read_in_every_layout(file, name, content):
    assert read_topic_documents(file(content, name)) == {"q1": ("a b", ""), "q2": ("c", "")}


def test_a_map_may_have_domains(file):
    assert read_topic_documents(file("q1 a law\nq2  c news\n")) == {"q1": ("a", "law"), "q2": ("c", "news")}


def test_a_name_in_quotes_may_have_commas(file):
    map_ = file('topic,document\nq1,"report 0, 2000"\nq2,"Smith, 0"\n', "map.csv")
    assert read_topic_documents(map_) == {"q1": ("report 0, 2000", ""), "q2": ("Smith, 0", "")}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("map.csv", "q1,a,b,c\n", ":1: must have a topic and a document"),
        ("map.csv", "", "has no line of a map of topics"),
        ("map.csv", "q1,a\nq1,b\n", ":2: topic 'q1' has another document"),
        ("map.txt", "q1 a\nq1 b\n", ":2: topic 'q1' has another document or domain above"),
        ("map.txt", "q1\n", ":1: has 1 field; a map of topics has 2"),
        ("map.txt", "", "has no line of a map of topics"),
        ("map.json", "[1]", "must be a mapping of topics to documents"),
        ("map.json", "{}", "must be a mapping of topics to documents"),
        ("map.json", '{"q1": 1}', "must be a mapping of topics to documents"),
        ("map.json", "{", "not readable as JSON"),
        ("map.json", '{"q1": "a", "q1": "b"}', "is there twice"),
    ],
)
def test_what_is_wrong_with_a_map_is_said(file, name, content, message):
    refuses(read_topic_documents, file(content, name), message)
