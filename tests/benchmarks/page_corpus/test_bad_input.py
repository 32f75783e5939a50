"""Wrong page corpora: an error that says what is there and what helps, or a fault that is counted."""

from math import nan

import pytest

from ohr.benchmarks.page_corpus import PageCorpus
from ohr.errors import DataError

from .conftest import judged, page, query


def fault(pages, **fields) -> str:
    with pytest.raises(DataError) as error:
        pages.benchmark(**fields).documents()
    return str(error.value).replace(str(pages.root), "ROOT")


def test_other_columns_are_listed_with_what_is_needed(pages):
    pages.corpus = [{"page": 1, "picture": b"x"}]
    assert fault(pages) == (
        "ROOT/corpus/test-00000-of-00001.parquet: has no column for the id (corpus_id or id or _id); "
        "the image (image); its columns are page, picture"
    )


def test_judgments_without_grades_are_refused(pages):
    pages.qrels = [{"query_id": 0, "corpus_id": 0}]
    assert "has no column for the grade (score); its columns are query_id, corpus_id" in fault(pages)


def test_a_folder_of_another_layout_is_refused(pages):
    pages.save()
    (pages.root / "qrels/test-00000-of-00001.parquet").unlink()
    (pages.root / "qrels").rmdir()
    with pytest.raises(DataError, match=r"has no folder qrels; there is corpus, queries\. A page corpus has corpus, q"):
        PageCorpus(root=pages.root).documents()


def test_a_folder_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(DataError, match="absent: no such folder"):
        PageCorpus(root=tmp_path / "absent").documents()


def test_a_folder_without_parquet_says_what_is_there(pages):
    pages.save()
    (pages.root / "queries/test-00000-of-00001.parquet").rename(pages.root / "queries/test.jsonl")
    with pytest.raises(DataError, match=r"queries: has no Parquet file; there is test\.jsonl"):
        PageCorpus(root=pages.root).documents()


def test_a_pointer_of_git_lfs_is_called_that(pages):
    pages.save()
    (pages.root / "corpus/test-00000-of-00001.parquet").write_text(
        "version https://git-lfs.github.com/spec/v1\noid x\n"
    )
    with pytest.raises(DataError, match=r"is a pointer of git-lfs, not the data: run `git lfs pull`"):
        PageCorpus(root=pages.root).documents()


@pytest.mark.parametrize("content", [b"", b"PAR1 no table", b"no parquet at all"])
def test_a_file_that_is_no_parquet_is_one_sentence(pages, content):
    pages.save()
    (pages.root / "qrels/test-00000-of-00001.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"qrels/test-00000-of-00001\.parquet: cannot be read as Parquet: [^\n]+$"):
        PageCorpus(root=pages.root).documents()


def test_a_file_that_is_damaged_inside_is_one_sentence(pages):
    path = pages.save() / "queries/test-00000-of-00001.parquet"
    content = bytearray(path.read_bytes())
    content[4:60] = bytes(56)
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read as Parquet"):
        PageCorpus(root=pages.root).documents()


def test_a_missing_part_of_a_split_is_noticed(pages):
    pages.save()
    old = pages.root / "corpus/test-00000-of-00001.parquet"
    old.rename(old.with_name("test-00000-of-00003.parquet"))
    with pytest.raises(DataError, match="has 1 of 3 files of the split test: the download is not complete"):
        PageCorpus(root=pages.root).documents()


def test_a_split_that_is_not_there_is_refused_with_those_that_are(pages):
    assert "ROOT/corpus: has no split 'train': choose one of test as `split`" in fault(pages, split="train")


def test_one_of_several_splits_must_be_chosen_where_none_is_test(pages):
    for name in ("corpus", "queries", "qrels"):
        for split in ("train", "dev"):
            pages.write(name, getattr(pages, name), f"{split}-00000-of-00001")
    with pytest.raises(DataError, match=r"corpus: has several splits: choose one of dev, train as `split`$"):
        PageCorpus(root=pages.root).documents()
    assert len(PageCorpus(root=pages.root, split="dev").questions()) == 1


def test_a_language_that_is_not_there_is_refused_with_those_that_are(pages):
    pages.queries = [query(0), query(1, language="french")]
    assert fault(pages, languages=["german"]) == "languages: no query is in 'german'; they are in english, french"
    pages.queries = [{"query_id": 0, "query": "When?"}]
    assert fault(pages, languages=["german"]) == "languages: no query is in 'german'; the queries name no language"


def test_two_pages_with_one_number_are_refused_with_both_ids(pages):
    pages.corpus = [page(4, index=3), page(5, "bylaw", 3), page(6, index=3)]
    assert fault(pages) == "pages 4 and 6 of lease have the same number 3"


def test_a_page_number_that_is_none_is_refused(pages):
    pages.corpus = [page(4, index="iv")]
    assert fault(pages) == "page 4 of lease: its page number is 'iv'"


@pytest.mark.parametrize("part", ["corpus_id", "doc_id", "page_number_in_doc"])
def test_a_page_that_lacks_what_others_have_is_refused(pages, part):
    pages.corpus[1][part] = None
    assert "ROOT/corpus/test-00000-of-00001.parquet: row 1: has no " in fault(pages)


def test_ids_of_two_pages_and_of_two_queries_are_refused(pages):
    pages.corpus.append(page(0, "bylaw", 7))
    assert "row 3: the id '0' is that of another page, too" in fault(pages)
    pages.corpus.pop()
    pages.queries.append(query(0, "Where?", answer="1964"))
    assert "row 1: the id '0' is that of another query, too" in fault(pages)


def test_what_is_there_twice_is_counted(pages):
    pages.corpus.append(pages.corpus[0])
    pages.queries.append(pages.queries[0])
    pages.qrels = [judged(0, 0, 2), judged(0, 0, 1), judged(0, 1)]
    benchmark = pages.benchmark()
    assert benchmark.notes() == (
        "1 page that is there twice, taken once: 0",
        "1 question that is there twice, taken once: 0",
        "1 judgment that is there twice, of which the highest grade counts: 0 with page 0",
    )
    assert benchmark.documents()[0].pages == 2
    assert list(benchmark.questions()[0].grades.values()) == [2.0, 1.0]


def test_judgments_that_cannot_count_are_counted(pages):
    pages.queries.append(query(1, "Who?", answer="x"))
    pages.qrels = [judged(0, 0), judged(9, 0), judged(0, 99), judged(0, 98), judged(0, 1, -1), judged(0, 2, nan)]
    benchmark = pages.benchmark()
    assert benchmark.notes() == (
        "1 judgment of a query that is not there, left out: 9 with page 0",
        "2 judgments of a page that is not in the corpus, left out: 0 with page 99, 0 with page 98",
        "1 judgment with a grade below 0, taken as not relevant: 0 with page 1",
        "1 judgment without a number as its grade, left out: 0 with page 2",
        "1 question without a relevant page, left out: 1",
    )
    assert [(question.id, len(question.grades)) for question in benchmark.questions()] == [("0", 1)]


def test_queries_without_text_are_left_out_and_counted(pages):
    pages.queries.append(query(1, " ", answer="x"))
    pages.qrels.append(judged(1, 0))
    benchmark = pages.benchmark()
    assert benchmark.notes() == ("1 question without text, left out: 1",)
    assert len(benchmark.questions()) == 1


def test_pages_without_text_are_counted_and_kept(pages):
    pages.corpus[1]["markdown"], pages.corpus[2]["markdown"] = "", None
    benchmark = pages.benchmark()
    assert benchmark.notes() == ("2 pages without text in the corpus: 1, 2",)
    assert [each.text for each in benchmark.pages(benchmark.documents()[0])] == ["It began in 1964.", ""]


def test_a_corpus_whose_texts_are_all_empty_has_no_ground_truth(pages):
    for row in pages.corpus:
        row["markdown"] = " \n"
    benchmark = pages.benchmark()
    assert (list(benchmark.pages(benchmark.documents()[0])), benchmark.notes()) == ([], ())
    assert benchmark.questions()[0].evidence == ()


def test_a_column_of_texts_that_holds_something_else_is_refused(pages):
    pages.corpus = [page(0, text=["a", "list"])]
    assert "the column markdown must hold texts, and is of the type list" in fault(pages)


@pytest.mark.parametrize("image", [{"bytes": None, "path": "a.png"}, {"bytes": b"no image", "path": None}])
def test_a_broken_image_is_a_fault_of_its_page_alone(pages, image):
    pages.corpus[1]["image"] = image
    benchmark = pages.benchmark()
    lease = benchmark.documents()[0]
    with pytest.raises(DataError, match=r"corpus/test-00000-of-00001\.parquet: row 1: .*image"):
        benchmark.page_image(lease, 1)
    assert benchmark.page_image(lease, 0).shape == (4, 6, 3)


def test_an_image_column_of_bytes_is_read(pages):
    for row in pages.corpus:
        row["image"] = row["image"]["bytes"]
    benchmark = pages.benchmark()
    assert benchmark.page_image(benchmark.documents()[1], 0)[0, 0, 0] == 2


def test_an_image_column_of_something_else_is_a_fault_of_the_page(pages):
    for row in pages.corpus:
        row["image"] = "a.png"
    benchmark = pages.benchmark()
    with pytest.raises(DataError, match="has no bytes of an image in the column image"):
        benchmark.page_image(benchmark.documents()[0], 0)


def test_a_corpus_without_images_says_so(pages):
    for row in pages.corpus:
        del row["image"]
    benchmark = pages.benchmark()
    with pytest.raises(DataError, match="harbour%20set/lease: the corpus has no images"):
        benchmark.page_image(benchmark.documents()[0], 0)


def test_files_of_one_configuration_may_have_other_types_of_numbers(pages):
    pages.save()
    (pages.root / "qrels/test-00000-of-00001.parquet").unlink()
    pages.write("qrels", [judged(0, 0)], "test-00000-of-00002")
    pages.write("qrels", [judged(0, 1, 2.5)], "test-00001-of-00002")
    assert list(PageCorpus(root=pages.root).questions()[0].grades.values()) == [2.5, 1.0]
