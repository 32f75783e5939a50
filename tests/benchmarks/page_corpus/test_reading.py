"""Page corpora are read: documents, texts, graded pages, answers, languages and groups."""

import pytest

from ohr.benchmarks.page_corpus import PageCorpus
from ohr.benchmarks.page_corpus.corpus import Pages
from ohr.contracts import Document, Page, Relevant
from ohr.testing import check_benchmark

from .conftest import judged, page, query


def test_a_document_is_all_pages_with_its_id_in_the_order_of_their_numbers(pages):
    pages.corpus = [page(7, index=12, text="second"), page(8, "bylaw", 1, "x"), page(9, index=4, text="first")]
    pages.qrels = [judged(0, 7)]
    benchmark = pages.benchmark()
    lease, bylaw = benchmark.documents()
    assert (lease.name, lease.domain, lease.language, lease.pages) == ("harbour%20set/lease", "harbour%20set", "en", 2)
    assert bylaw.name == "harbour%20set/bylaw"
    assert [read.text for read in benchmark.pages(lease)] == ["first", "second"]
    assert benchmark.pages(lease)[1] == Page(lease.name, 1, "second")
    assert benchmark.questions()[0].pages == (1,)
    assert [benchmark.page_image(lease, index)[0, 0, 0] for index in (0, 1)] == [9, 7]
    check_benchmark(benchmark)


def test_relevant_pages_have_grades_and_are_of_several_documents(pages):
    pages.qrels = [judged(0, 0, 1), judged(0, 2, 2), judged(0, 1, 0)]
    (question,) = pages.benchmark().questions()
    lease, bylaw = "harbour%20set/lease", "harbour%20set/bylaw"
    assert question.relevant == (Relevant(bylaw, 0, 2.0), Relevant(lease, 0, 1.0))
    assert question.grades == {(bylaw, 0): 2.0, (lease, 0): 1.0}
    assert (question.document, question.pages, question.evidence) == (bylaw, (0,), ("Sleep.",))
    assert question.places == ((bylaw, 0), (lease, 0))
    assert question.domain == "harbour%20set"


def test_of_pages_with_the_highest_grade_the_first_judged_is_the_document(pages):
    pages.qrels = [judged(0, 2, 2), judged(0, 1, 2), judged(0, 0, 1)]
    (question,) = pages.benchmark().questions()
    assert (question.document, question.pages) == ("harbour%20set/bylaw", (0,))
    pages.qrels = [judged(0, 1, 2), judged(0, 0, 1), judged(0, 2, 2)]
    (question,) = pages.benchmark().questions()
    assert (question.document, question.pages) == ("harbour%20set/lease", (0, 1))
    assert question.evidence == ("It began in 1964.", "It ends in 2034.")


def test_the_merged_answer_is_first_and_each_is_accepted_once(pages):
    pages.queries = [query(0, answer="in 1964", raw_answers=["1964", "in 1964", "", None])]
    assert pages.benchmark().questions()[0].answers == ("in 1964", "1964")
    pages.queries = [query(0, answer=None)]
    assert pages.benchmark().questions()[0].answers == ()


def test_results_are_grouped_by_language_types_format_and_content(pages):
    about = {"query_types": ["numerical", "multi-hop"], "query_format": "question", "content_type": ["Table", "Text"]}
    pages.queries = [query(0, **about)]
    assert pages.benchmark().questions()[0].groups == (
        ("language", "english"),
        ("query_type", "multi-hop+numerical"),
        ("query_format", "question"),
        ("content_type", "table+text"),
    )


@pytest.mark.parametrize(
    ("content", "source"),
    [
        (["Table"], "table"),
        (["Chart"], "chart"),
        (["Text"], "text"),
        (["Infographic"], "multi"),
        (["Table", "Text"], "multi"),
        (["N/A (If relevance score=0)"], "text"),
        ([], "text"),
        (None, "text"),
    ],
)
def test_the_source_of_evidence_follows_the_content(pages, content, source):
    pages.queries = [query(0, content_type=content)]
    assert pages.benchmark().questions()[0].evidence_source == source


def test_languages_of_queries_are_chosen_by_name(pages):
    pages.queries = [query(0), query(1, "Quand ?", "french")]
    pages.qrels = [judged(0, 0), judged(1, 0)]
    assert [question.id for question in pages.benchmark().questions()] == ["0", "1"]
    assert [question.text for question in pages.benchmark(languages=["French"]).questions()] == ["Quand ?"]
    assert pages.benchmark(languages=["french"]).notes() == ()


def test_languages_of_documents_come_from_their_metadata(pages):
    pages.documents = [{"doc_id": "lease", "doc_language": "French"}, {"doc_id": "bylaw", "doc_language": None}]
    assert [each.language for each in pages.benchmark(document_language="de").documents()] == ["fr", "de"]
    pages.documents = [{"doc_id": "lease", "doc_language": "pt-BR"}]
    assert [each.language for each in pages.benchmark().documents()] == ["pt", "en"]


def test_without_document_ids_each_page_is_a_document(pages):
    pages.corpus = [{"corpus-id": number, "image": page(number)["image"]} for number in (0, 1)]
    pages.queries = [{"query-id": 0, "query": "When?"}]
    pages.qrels = [{"query-id": 0, "corpus-id": 1, "score": 1.0}]
    benchmark = pages.benchmark()
    assert [each.name for each in benchmark.documents()] == ["harbour%20set/0", "harbour%20set/1"]
    (question,) = benchmark.questions()
    assert (question.document, question.pages, question.evidence) == ("harbour%20set/1", (0,), ())
    assert list(benchmark.pages(benchmark.documents()[0])) == []
    check_benchmark(benchmark)


def test_without_page_numbers_pages_are_in_the_order_of_their_rows(pages):
    pages.corpus = [
        {"corpus_id": number, "doc_id": "lease", "markdown": text} for number, text in ((5, "first"), (2, "second"))
    ]
    pages.qrels = [judged(0, 2)]
    benchmark = pages.benchmark()
    assert [read.text for read in benchmark.pages(benchmark.documents()[0])] == ["first", "second"]
    assert benchmark.questions()[0].pages == (1,)


def test_ids_of_any_text_are_quoted(pages):
    pages.queries = [query(0, query_id="query-test-0")]
    pages.corpus = [page(0, "a b/c"), page(1, "a%20b/c"), page(2, ".."), page(3, "合同")]
    for row in pages.corpus:
        row["corpus_id"] = f"corpus-test-{row['corpus_id']}"
    pages.qrels = [{"query_id": "query-test-0", "corpus_id": "corpus-test-0", "score": 1}]
    assert pages.benchmark().questions()[0].id == "query-test-0"
    names = [each.name for each in pages.benchmark().documents()]
    assert names[:3] == ["harbour%20set/a%20b%2Fc", "harbour%20set/a%2520b%2Fc", "harbour%20set/%2E%2E"]
    check_benchmark(pages.benchmark())


def test_a_set_may_be_in_several_files_of_one_split(pages):
    pages.save()
    (pages.root / "corpus/test-00000-of-00001.parquet").unlink()
    pages.write("corpus", pages.corpus[2:], "test-00001-of-00002-0123456789abcdef")
    pages.write("corpus", pages.corpus[:2], "test-00000-of-00002-0123456789abcdef")
    benchmark = PageCorpus(root=pages.root)
    assert [each.pages for each in benchmark.documents()] == [2, 1]
    assert benchmark.page_image(benchmark.documents()[1], 0)[0, 0, 0] == 2


def test_the_test_split_is_taken_where_there_are_several(pages):
    pages.save()
    pages.write("queries", [query(0, "Of training?")], "train-00000-of-00001")
    assert PageCorpus(root=pages.root).questions()[0].text == "When?"


def test_folders_of_splits_are_read_too(pages):
    for name in ("corpus", "queries", "qrels"):
        pages.write(f"{name}/train", getattr(pages, name), "0000")
    assert len(PageCorpus(root=pages.root).questions()) == 1
    assert len(PageCorpus(root=pages.root, split="train").questions()) == 1


def test_a_change_of_a_file_is_seen(pages):
    benchmark = pages.benchmark()
    (question,) = benchmark.questions()
    assert (question.text, benchmark.origin(question).partition(": ")[2]) == ("When?", "row 0")
    pages.queries = [query(0, "When did it begin?")]
    pages.save()
    assert benchmark.questions()[0].text == "When did it begin?"


def test_fingerprints_follow_texts_and_image_files(pages):
    benchmark = pages.benchmark()
    lease = benchmark.documents()[0]
    before = [benchmark.fingerprint(lease, images=shown) for shown in (False, True)]
    pages.corpus[1] = page(1, index=1, text="It ends in 2035.")
    pages.save()
    after = [benchmark.fingerprint(lease, images=shown) for shown in (False, True)]
    assert before[0] != after[0]
    assert before[1] != after[1]
    pages.queries = [query(0, "Another question?")]
    pages.save()
    assert [benchmark.fingerprint(lease, images=shown) for shown in (False, True)] == after


def test_the_sample_has_grades_languages_and_several_documents():
    benchmark = PageCorpus(root="sample")
    questions = benchmark.questions()
    assert (len(benchmark.documents()), sum(each.pages for each in benchmark.documents()), len(questions)) == (
        6,
        12,
        20,
    )
    assert {grade for question in questions for grade in question.grades.values()} == {1.0, 2.0}
    assert any(len({place[0] for place in question.grades}) > 2 for question in questions)
    english, french = (PageCorpus(root="sample", languages=[name]).questions() for name in ("english", "french"))
    assert [question.grades for question in english] == [question.grades for question in french]
    assert benchmark.notes() == ()
    assert all(answer for question in questions for answer in question.answers)


def test_texts_stay_in_arrow_until_they_are_asked_for(pages):
    held = pages.benchmark()._copy().pages
    assert isinstance(held, Pages)
    assert held.texts[0].type == "string"
    assert held.documents[0] == Document("harbour%20set/lease", "harbour%20set", "en", 2)
