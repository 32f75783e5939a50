"""Question sets in the layouts of other programs, what is to be repaired, and passages with words around them."""

import csv
import json
from dataclasses import replace
from io import StringIO

import pyarrow
import pyarrow.parquet
import pytest

from ohr.contracts import Page, Question
from ohr.errors import DataError
from ohr.questions.candidate import Evidence, Removal
from ohr.questions.imports import all_repairs, of_question, read_candidates
from ohr.questions.places import Places
from ohr.questions.truth_texts import Texts
from ohr.questions.verification import verify

RENT = "The rent of Berth 3 is 1,200,000 florins a year, payable in twelve equal instalments at the quay of Pethering."
NOTICE = "Notice must be given to the harbour master of Norrgate in writing, six months before the lease ends."
TITLED = "Document 3: the plan of the quay is kept by the clerk."
TRUTH = {
    "law/lease": [Page("law/lease", 0, f"Lease\n\n{RENT}"), Page("law/lease", 1, NOTICE)],
    "law/notice": [Page("law/notice", 0, f"A copy of a clause.\n\n{NOTICE}")],
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


def ragas(**parts):
    return {"user_input": QUESTION, "reference": ANSWER, "reference_contexts": [RENT], **parts}


def assert_is_rent(brought):
    (candidate,) = brought.candidates
    assert (candidate.question, candidate.answers) == (QUESTION, (ANSWER,))
    assert (candidate.document, candidate.origin) == ("law/lease", "imported")
    assert candidate.evidence == (Evidence(0, RENT, 7, 7 + len(RENT)),)
    assert brought.repairs == ()
    assert len(verify(brought.candidates, TRUTH).survivors) == 1


def in_csv(row):
    written = StringIO()
    writer = csv.DictWriter(written, list(row))
    writer.writeheader()
    writer.writerow(row)
    return written.getvalue()


def test_rows_of_ragas_in_each_form(read):
    brought = read(json.dumps(ragas()) + "\n", "set.jsonl")
    assert_is_rent(brought)
    assert brought.candidates[0].made_by.endswith("set.jsonl:1")
    assert_is_rent(read([ragas()]))
    assert_is_rent(read({name: [value] for name, value in ragas().items()}))
    assert_is_rent(read(in_csv(ragas(reference_contexts=str([RENT]))), "rows.csv"))  # lists as Python prints them


def test_labeled_data_sets_of_llama_index(read):
    example = {
        "query": QUESTION,
        "query_by": {"model_name": "", "type": "human"},
        "reference_contexts": [RENT],
        "reference_answer": ANSWER,
        "reference_answer_by": {"model_name": "", "type": "human"},
    }
    brought = read({"examples": [example]})
    assert_is_rent(brought)
    assert brought.notes[0] == "set.json: not used: query_by, reference_answer_by"


def test_an_answer_of_an_unknown_task_is_listed_and_not_removed(read):
    silent = read([ragas(reference="100,000 florins")])
    (repair,) = silent.repairs
    assert repair.fault == "answer not in evidence"
    assert "'100,000 florins'" in repair.detail
    assert repair.detail.endswith("; if it is worked out, write task_type reasoning")
    assert silent.candidates[0].task == ""
    assert silent.notes[0].startswith("1 question without the task_type understanding or reasoning")
    assert len(verify(silent.candidates, TRUTH).survivors) == 1


def test_a_task_that_is_known_decides_about_an_answer_that_is_not_in_the_evidence(read):
    read_with = {task: read([ragas(reference="100,000", task_type=task)]) for task in ("understanding", "reasoning")}
    assert [len(brought.repairs) for brought in read_with.values()] == [1, 0]
    assert [brought.notes for brought in read_with.values()] == [(), ()]
    removals = {task: verify(brought.candidates, TRUTH).removals for task, brought in read_with.items()}
    assert [removal.rule for removal in removals["understanding"]] == ["answer_not_in_evidence"]
    assert removals["reasoning"] == ()


def test_finetune_data_sets_of_llama_index_have_no_answers(read):
    content = {"queries": {"a": QUESTION}, "corpus": {"n": RENT}, "relevant_docs": {"a": ["n"]}, "mode": "text"}
    brought = read(content)
    (candidate,) = brought.candidates
    assert (candidate.id, candidate.answers, candidate.evidence[0].page) == ("a", (), 0)
    assert [(repair.fault, repair.detail) for repair in brought.repairs] == [("no answer", "the question has none")]
    assert verify(brought.candidates, TRUTH).removals[0].reason == "has no answer"


def test_queries_and_responses_of_llama_index(read):
    brought = read({"queries": {"a": QUESTION, "b": "Who?"}, "responses": {"a": "5 florins"}})
    assert [(each.id, each.answers) for each in brought.candidates] == [("a", ("5 florins",)), ("b", ())]
    faults = ["evidence not found", "no answer", "evidence not found"]
    assert [repair.fault for repair in brought.repairs] == faults


def test_test_sets_of_ragas_before_0_2(read):
    row = {"question": QUESTION, "contexts": [RENT], "ground_truth": ANSWER, "episode_done": True}
    absent = {"ground_truth": "The answer to given question is not present in context"}
    rows = [row | {"evolution_type": "reasoning"}, row | absent | {"evolution_type": "simple"}]
    brought = read(rows)
    assert [(each.task, each.answers) for each in brought.candidates] == [("reasoning", (ANSWER,)), ("", ())]
    assert brought.candidates[0].evidence == (Evidence(0, RENT, 7, 7 + len(RENT)),)
    assert [repair.fault for repair in brought.repairs] == ["no answer"]


def test_what_a_system_answered_and_retrieved_is_not_taken(read):
    row = {"question": QUESTION, "contexts": [NOTICE], "answer": "5 florins", "ground_truths": [ANSWER]}
    brought = read([row])
    assert (brought.candidates[0].answers, brought.candidates[0].evidence) == ((ANSWER,), ())
    assert brought.notes[0].endswith("taken for what a system answered or retrieved, not used: answer, contexts")
    (candidate,) = read([ragas(response="5 florins", retrieved_contexts=[NOTICE])]).candidates
    assert (candidate.answers, candidate.evidence[0].text) == ((ANSWER,), RENT)


def test_an_answer_alone_is_the_accepted_one_and_its_context_the_evidence(read):
    assert_is_rent(read([{"question": QUESTION, "answer": ANSWER, "context": RENT}]))


def test_marks_of_ragas_before_the_passages_of_several_hops_are_left_out(read):
    hops = [f"<1-hop>\n\n{RENT}", f"<2-hop>\n\n{NOTICE}"]
    (candidate,) = read([ragas(reference_contexts=hops)]).candidates
    assert [(passage.page, passage.text) for passage in candidate.evidence] == [(0, RENT), (1, NOTICE)]


def test_a_passage_over_the_end_of_a_page_becomes_two(read):
    over = f"{RENT[12:]} {NOTICE[:6]}"
    (candidate,) = read([ragas(reference_contexts=[over])]).candidates
    assert candidate.evidence == (Evidence(0, RENT[12:-1], 19, 6 + len(RENT)), Evidence(1, "Notice", 0, 6))


def test_a_passage_that_is_cut_inside_words_is_completed(read):
    (candidate,) = read([ragas(reference_contexts=[RENT[14:51]])]).candidates
    assert RENT[14:51] == "rth 3 is 1,200,000 florins a year, pa"
    assert candidate.evidence == (Evidence(0, "Berth 3 is 1,200,000 florins a year, payable", 19, 63),)
    (candidate,) = read([ragas(reference_contexts=[f"{RENT[14:]} {NOTICE[:4]}"])]).candidates
    assert [passage.text for passage in candidate.evidence] == [RENT[12:-1], "Notice"]
    assert len(verify([candidate], TRUTH).survivors) == 1


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("law/notice", "law/notice"),
        ("notice", "law/notice"),
        ("C:\\sets\\Notice.PDF", "law/notice"),
        ("other.pdf", "law/lease"),
    ],
)
def test_a_document_may_be_named_as_its_file(read, name, document):
    brought = read([ragas(reference_contexts=[NOTICE], document=name)])
    assert brought.candidates[0].document == document
    unknown = [note for note in brought.notes if "not there by this name" in note]
    assert len(unknown) == (name == "other.pdf")


def test_rows_without_a_question_are_left_out_and_counted(read):
    brought = read([ragas(user_input=" "), ragas()])
    assert len(brought.candidates) == 1
    assert brought.notes[0] == "set.json: 1 row without a question left out"


def test_plain_csv(read):
    brought = read(
        f'question,answer,evidence,document,id\n{QUESTION},1.2 million florins,"{RENT}",law/lease,r1\n', "a.csv"
    )
    assert_is_rent(brought)
    assert brought.candidates[0].id == "r1"


def test_evidence_that_is_not_found_has_its_best_match(read):
    changed = RENT.replace("twelve equal", "ten unequal")
    brought = read([ragas(reference_contexts=[changed])])
    (repair,) = brought.repairs
    assert repair.fault == "evidence not found"
    assert "best match: 'The rent of Berth 3 is 1,200,000 florins a year" in repair.detail
    assert repair.detail.endswith("on page 1 of law/lease")
    assert brought.candidates[0].document == "law/lease"
    assert brought.candidates[0].evidence == (Evidence(0, changed),)


def test_evidence_that_no_page_resembles(read):
    brought = read([ragas(reference_contexts=["Zygotic quokkas vex jumping sphinxes by the waltz of bad nymphs."])])
    (repair,) = brought.repairs
    assert (repair.fault, brought.candidates[0].document) == ("evidence not found", "")
    assert "no page resembles it" in repair.detail
    assert "no page of any document" in verify(brought.candidates, TRUTH).removals[0].reason


def test_evidence_that_may_be_on_a_page_that_nothing_read(read, tmp_path):
    lost = "Zygotic quokkas vex jumping sphinxes by the waltz of bad nymphs."
    rows = [
        ragas(id=name, document=document, reference_contexts=[passage])
        for name, document, passage in (
            ("scan", "scan.pdf", lost),
            ("lease", "law/lease", lost),
            ("near", "law/lease", RENT.replace("twelve equal", "ten unequal")),
            ("third", "law/third", lost),
        )
    ]
    (tmp_path / "set.json").write_text(json.dumps(rows))
    brought = read_candidates(tmp_path / "set.json", TRUTH, {"law/lease": 1, "law/scan": 3})
    assert [candidate.document for candidate in brought.candidates] == ["law/scan", *["law/lease"] * 2, "law/third"]
    details = [repair.detail.partition("; ")[2] for repair in brought.repairs]
    assert details[:2] == [
        "no page resembles it; no engine read 3 pages of law/scan",
        "no page resembles it; no engine read 1 page of law/lease",
    ]
    assert details[2].endswith("on page 1 of law/lease; no engine read 1 page of law/lease")
    assert details[3] == "no page resembles it"
    assert not any("not there by this name" in note for note in brought.notes)
    assert "no page of law/scan holds" in verify(brought.candidates, TRUTH).removals[0].reason


def test_all_that_rules_removed_is_to_be_repaired(read):
    rows = [
        ragas(id="vague", user_input="What does the table above say about the rent of Berth 3?"),
        ragas(id="stays"),
        ragas(id="silent", reference=""),
        ragas(id="short", user_input="Berth rent?", reference=""),
        ragas(id="lost", reference_contexts=["Nowhere in any page at all."]),
        ragas(id="again", user_input=QUESTION.replace("How much", "how much")),
    ]
    brought = read(rows)
    removals = verify(brought.candidates, TRUTH).removals
    written = replace(brought.candidates[0], id="written", origin="written")
    foreign = Removal("written", "names_no_entity", "names nothing")
    faults = all_repairs(brought.repairs, (foreign, *removals), (written, *brought.candidates))
    assert [(repair.candidate, repair.fault) for repair in faults] == [
        ("vague", "context dependent"),
        ("silent", "no answer"),
        ("short", "no answer"),
        ("short", "unusable length"),
        ("lost", "evidence not found"),
        ("again", "near duplicate"),
    ]
    assert faults[0].detail.startswith("says 'the table above'")
    assert faults[0].where == brought.candidates[0].made_by
    assert {removal.candidate for removal in removals} <= {repair.candidate for repair in faults}
    assert all_repairs((), removals, [replace(each, origin="written") for each in brought.candidates]) == ()


def test_a_question_without_evidence_is_to_be_repaired(read):
    (repair,) = read([ragas(reference_contexts=None)]).repairs
    assert (repair.fault, repair.detail) == ("evidence not found", "the question has none")


def test_an_ambiguous_document_is_to_be_repaired(read):
    row = ragas(user_input="To whom is notice given?", reference="the harbour master", reference_contexts=[NOTICE])
    brought = read([row, row | {"document": "law/notice"}])
    assert [candidate.document for candidate in brought.candidates] == ["law/lease", "law/notice"]
    assert [(repair.fault, repair.detail) for repair in brought.repairs] == [
        ("ambiguous document", "all of its evidence is also in law/notice"),
        ("ambiguous document", "all of its evidence is also in law/lease"),
    ]


def test_a_second_passage_decides_which_document_is_meant(read):
    (candidate,) = read([ragas(reference_contexts=[NOTICE, RENT])]).candidates
    assert [(passage.page, passage.start >= 0) for passage in candidate.evidence] == [(1, True), (0, True)]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ([], "a.json", "holds no question"),
        ("", "a.jsonl", "holds no question"),
        ("{", "a.json", "not readable as JSON"),
        ({"examples": [3]}, "a.json", "must be a mapping"),
        ({"answers": 3}, "a.json", "must be a list of questions.* its columns are answers"),
        ([{"reference": "x"}], "a.json", r"no column for the question \(.*input\); its columns are reference"),
        ([ragas(user_input=3)], "a.json", "its question must be one text"),
        ([ragas(user_input=[{"role": "user"}])], "a.json", "its question must be one text"),
        ([ragas(reference_contexts={"a": 1})], "a.json", "evidence must be a list of texts"),
        ([ragas(evidence_source="video")], "a.json", "evidence_source must be one of text, table"),
        ([ragas(id="a"), ragas(id="a"), ragas(id="b")], "a.json", "1 id used more than once: a"),
        (
            {"queries": {"a": "b"}, "corpus": {}, "relevant_docs": {"a": ["n"]}},
            "a.json",
            "relevant_docs of the query 'a'",
        ),
        ("answer\nx\n", "a.csv", "question"),
    ],
)
def test_a_file_that_is_not_sound_is_refused(read, content, name, message):
    with pytest.raises(DataError, match=message):
        read(content, name)


def test_a_question_of_a_benchmark_keeps_its_pages():
    question = Question("q", "租期？", ("1",), "law/lease", (0, 1), ("a", "b"), "chart", "law", task_type="reasoning")
    candidate = of_question(question)
    assert candidate.evidence == (Evidence(0, "a"), Evidence(1, "b"))
    assert (candidate.source, candidate.task, candidate.language, candidate.pages) == (
        "chart",
        "reasoning",
        "zh",
        (0, 1),
    )


def test_questions_without_an_id_keep_their_names_when_rows_are_added(read):
    def names(*questions):
        return [each.id for each in read([{"question": question, "id": ""} for question in questions]).candidates]

    first, second = names("Who pays?", "Who leaves?")
    assert names("Who comes?", "Who pays?", "Who pays?", "Who leaves?")[1:] == [first, f"{first}-2", second]


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
        ("g.csv", in_csv({**GOLDEN, "context": f"{NOTICE}|{RENT}", "retrieval_context": "x"})),
    ],
)
def test_goldens_of_deepeval(read, name, content):
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
    with pytest.raises(DataError, match=r"absent\.csv: cannot be read"):
        read_candidates(tmp_path / "absent.csv", TRUTH)
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
        f"【文档3】{RENT}",
        f"参考资料1：{RENT}",
        f"第5页：{RENT}",
        f"Page 5: {RENT}",
        f"Document(page_content='{RENT}')",
        f"Document(page_content='{RENT}', metadata={{}})",
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


def test_a_null_among_answers_is_left_out(read):
    assert_is_rent(read([{"question": QUESTION, "answers": [ANSWER, None], "evidence": RENT}]))
