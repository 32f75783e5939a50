"""Question sets in the layouts of other programs, and passages with what these write around them."""

import csv
import json

import pyarrow
import pyarrow.parquet
import pytest

from ohr.contracts import Page
from ohr.errors import DataError
from ohr.questions.imports import read_candidates
from ohr.questions.places import Places
from ohr.questions.texts import Texts

RENT = "The rent of Berth 3 is 1,200,000 florins a year, payable in twelve equal instalments at the quay of Pethering."
NOTICE = "Notice must be given to the harbour master of Norrgate in writing, six months before the lease ends."
TITLED = "Document 3: the plan of the quay is kept by the clerk."
TRUTH = {
    "law/lease": [Page("law/lease", 0, f"Lease\n\n{RENT}"), Page("law/lease", 1, NOTICE)],
    "law/third": [Page("law/third", 0, f"{TITLED}\n\nThe ferry timetable of Marrow Sound is printed in May.")],
}
QUESTION, ANSWER = "How much is the rent of Berth 3 a year?", "1.2 million florins"
GOLDEN = {
    "input": QUESTION,
    "actual_output": "5 florins",
    "expected_output": ANSWER,
    "retrieval_context": ["x"],
    "context": [NOTICE, RENT],
    "source_file": "lease.pdf",
}
GISKARD = {
    "id": "g",
    "question": QUESTION,
    "reference_answer": ANSWER,
    "reference_context": f"Document 0b-1: {RENT}\n\nDocument 8: {NOTICE}",
    "conversation_history": [],
    "metadata": {"question_type": "double"},
}
SQUAD = {"id": "s", "title": "lease", "context": RENT, "question": QUESTION}
MARKED = {"text": [ANSWER, ANSWER], "answer_start": [1, 1]}


@pytest.fixture
def read(tmp_path):
    def read(content, name="set.json"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
        return read_candidates(path, TRUTH)

    return read


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def passages(brought):
    return [[each.text for each in candidate.evidence] for candidate in brought.candidates]


def evidence(read, text):
    brought = read([{"question": QUESTION, "answer": ANSWER, "evidence": text}])
    return [each.text for each in brought.candidates[0].evidence], brought


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("g.json", [GOLDEN]),
        ("g.jsonl", lines({**GOLDEN, "context": f"{NOTICE}|{RENT}"})),
        ("g.csv", None),
    ],
)
def test_goldens_of_deepeval(read, tmp_path, name, content):
    if content is None:
        with (tmp_path / "rows.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, list(GOLDEN))
            writer.writeheader()
            writer.writerow({**GOLDEN, "context": f"{NOTICE}|{RENT}", "retrieval_context": "x"})
        content = (tmp_path / "rows.csv").read_text()
    brought = read(content, name)
    (candidate,) = brought.candidates
    assert (candidate.question, candidate.answers, candidate.document) == (QUESTION, (ANSWER,), "law/lease")
    assert passages(brought) == [[NOTICE, RENT]]
    assert "not used: actual_output, retrieval_context" in brought.notes[0]


def test_test_sets_of_giskard_name_a_document_before_each_passage(read):
    brought = read(lines(GISKARD), "g.jsonl")
    assert brought.candidates[0].id == "g"
    assert passages(brought) == [[RENT, NOTICE]]
    assert brought.repairs == ()
    assert brought.notes[-2:] == (
        "2 passages with words around them that are on no page, such as 'Document 0b-1:': they are left out",
        "1 text of several passages, divided between them",
    )


def test_squad_and_its_rows(read):
    asked = {"id": "s", "question": QUESTION, "answers": [{"text": ANSWER, "answer_start": 1}] * 2}
    without = {
        "id": "t",
        "question": "Who?",
        "answers": [],
        "is_impossible": True,
        "plausible_answers": [{"text": "x"}],
    }
    articles = [{"title": "lease", "paragraphs": [{"context": RENT, "qas": [asked, without]}]}]
    printed = f"{{'text': array(['{ANSWER}'], dtype=object), 'answer_start': array([0])}}"
    for answers in (MARKED, str(MARKED), printed):
        flat = read([{**SQUAD, "answers": answers}])
        assert [(each.id, each.answers) for each in flat.candidates] == [("s", (ANSWER,))]
    nested = read({"version": "v2.0", "data": articles})
    assert [(each.id, each.answers) for each in nested.candidates] == [("s", (ANSWER,)), ("t", ())]
    assert passages(nested) == [[RENT], [RENT]]
    with pytest.raises(DataError, match=r"article 0: a paragraph must have a list `qas` of mappings.*it has context"):
        read({"data": [{"paragraphs": [{"context": RENT}]}]})


def test_rows_of_openai_evals(read):
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": QUESTION}]
    brought = read(lines({"input": messages, "ideal": [ANSWER, 2.50]}, {"input": "Who?", "ideal": "Marsh"}), "e.jsonl")
    assert [(each.question, each.answers) for each in brought.candidates] == [
        (QUESTION, (ANSWER, "2.5")),
        ("Who?", ("Marsh",)),
    ]


@pytest.mark.parametrize("given", ["", "queries.jsonl"])
def test_a_folder_of_beir_has_the_relevant_texts_as_evidence(tmp_path, given):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text(
        lines({"_id": "d", "title": "t", "text": RENT}, {"_id": "e", "text": NOTICE})
    )
    (tmp_path / "queries.jsonl").write_text(lines({"_id": "q", "text": QUESTION}, {"_id": "r", "text": "Who?"}))
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\nq\te\t0\n")
    brought = read_candidates(tmp_path / given, TRUTH)
    assert [(each.id, each.answers) for each in brought.candidates] == [("q", ())]
    assert passages(brought) == [[RENT]]
    assert brought.notes[0] == "1 query that test.tsv does not judge, left out"
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tabsent\t1\n")
    with pytest.raises(DataError, match="the documents of the query 'q' must be keys of corpus"):
        read_candidates(tmp_path / given, TRUTH)


def test_a_folder_that_is_not_beirs_and_queries_alone(tmp_path, read):
    with pytest.raises(DataError, match=r"queries\.jsonl and qrels/test\.tsv; it has none"):
        read_candidates(tmp_path, TRUTH)
    assert [each.question for each in read(lines({"_id": "q", "text": QUESTION}), "q.jsonl").candidates] == [QUESTION]
    with pytest.raises(DataError, match=r"no column for the question .*; its columns are _id, title, text"):
        read(lines({"_id": "d", "title": "t", "text": RENT}), "corpus.jsonl")


def test_parquet_with_nested_columns(tmp_path):
    rows = [{**SQUAD, "answers": MARKED}, {**SQUAD, "id": None, "question": "Who?", "answers": None}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "q.parquet")
    brought = read_candidates(tmp_path / "q.parquet", TRUTH)
    assert [each.answers for each in brought.candidates] == [(ANSWER,), ()]
    assert brought.candidates[0].made_by.endswith("q.parquet: row 1")
    assert passages(brought) == [[RENT], [RENT]]


@pytest.mark.parametrize(
    "text",
    [
        f"Document 3: {RENT}",
        f"Document ID: {RENT}",
        f"[1] {RENT}",
        f"Source: x.pdf, page 3\n{RENT}",
        f"Source: x.pdf, page 3 {RENT}",
        f"Passage 2:\n{RENT}",
        f"Context:\n\n{RENT}",
        f'- "…{RENT}..."',
        f"<1-hop>\n\n{RENT}",
        f"<context>\n{RENT}\n</context>",
        f"<context><doc id=3>\n[3] Passage: {RENT}\n</doc></context>",
        f"{RENT} [1]",
        f"{RENT} (Source: x.pdf, p. 3)",
        f"{RENT}\n\nSource: x.pdf, page 3",
        f"来源：租约\n{RENT}",
    ],
)
def test_what_is_around_a_passage_is_left_out(read, text):
    texts, brought = evidence(read, text)
    assert ([each.rstrip(".") for each in texts], brought.repairs) == ([RENT.rstrip(".")], ())


def test_a_passage_that_is_on_the_page_with_its_label_keeps_it(read):
    texts, brought = evidence(read, TITLED)
    assert texts == [TITLED]
    assert not any("around" in note for note in brought.notes)


def test_words_are_left_out_only_where_the_rest_is_found(read):
    changed = f"Document 3: {RENT.replace('twelve', 'ten')}"
    texts, brought = evidence(read, changed)
    assert texts == [changed]
    assert [repair.fault for repair in brought.repairs] == ["evidence not found"]
    prose = f"By the text of the clause that was struck out, which the parties keep: {RENT}"
    assert evidence(read, prose)[0] == [prose]


def test_a_text_of_several_passages_is_divided_only_where_all_are_found(read):
    texts, brought = evidence(read, f"Lease\n\n{RENT}\n\nDocument 2: {NOTICE}")
    assert (texts, brought.repairs) == ([f"Lease\n\n{RENT}", NOTICE], ())
    for other in ("Document 2: Notice is not wanted.", "| a | b |", "Nothing of this is on any page."):
        text = f"{RENT}\n\n{other}"
        assert evidence(read, text)[0] == [text]


def test_a_table_is_not_divided_into_its_cells(read):
    text = "Berth 3|florins|a year"
    assert evidence(read, text)[0] == [text]


PAGES = [
    "The cost of the wall was 15 million euro in all, and 25 parts of content came at -5 degrees. page 42 of 50.",
    "The cost of the wall was 1.5 million euro in all, and the frost came at 5 degrees. The result is 42 units.",
]


@pytest.mark.parametrize(
    ("passage", "page"),
    [
        ("The cost of the wall was 1.5 million euro in all", 1),
        ("The cost of the wall was 15 million euro in all", 0),
        ("came at 5 degrees", 1),
        ("came at -5 degrees", 0),
        ("Result: 42", -1),
        ("Document 9: Yes", -1),
        ("art", -1),
        ("ten", -1),
    ],
)
def test_evidence_has_the_numbers_of_its_page_and_is_no_part_of_a_word(passage, page):
    texts = Texts({"law/wall": [Page("law/wall", number, text) for number, text in enumerate(PAGES)]})
    _, evidence = Places(texts, {passage}).of([passage], "law/wall")
    found = [each.page if each.start >= 0 else -1 for each in evidence]
    assert found == [page]


@pytest.mark.parametrize(
    "wrapped",
    [
        "【文档3】{}",
        "参考资料1：{}",
        "第5页：{}",
        "Page 5: {}",
        "Document(page_content='{}')",
        "Document(page_content='{}', metadata={{}})",
    ],
)
def test_further_words_around_a_passage_are_left_out(wrapped):
    texts = Texts(TRUTH)
    passage = wrapped.format(RENT)
    document, evidence = Places(texts, {passage}).of([passage], "")
    assert (document, [each.page for each in evidence], evidence[0].start >= 0) == ("law/lease", [0], True)


def test_a_null_among_answers_is_left_out(tmp_path):
    (tmp_path / "q.jsonl").write_text(json.dumps({"question": QUESTION, "answers": [ANSWER, None], "evidence": RENT}))
    (candidate,) = read_candidates(tmp_path / "q.jsonl", TRUTH).candidates
    assert candidate.answers == (ANSWER,)
