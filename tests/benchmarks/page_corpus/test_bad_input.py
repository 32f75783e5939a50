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


FILE = "test-00000-of-00001.parquet"


@pytest.mark.parametrize(
    ("rows", "fields", "message"),
    [
        ({"corpus": [{"page": 1, "picture": b"x"}]}, {},
         f"ROOT/corpus/{FILE}: has no column for the id (corpus_id or id or _id); the image (image); its columns are "
         "page, picture"),
        ({"qrels": [{"query_id": 0, "corpus_id": 0}]}, {},
         f"ROOT/qrels/{FILE}: has no column for the grade (score); its columns are query_id, corpus_id"),
        ({"corpus": [page(4, index=3), page(5, "bylaw", 3), page(6, index=3)]}, {},
         "pages 4 and 6 of lease have the same number 3"),
        ({"corpus": [page(4, index="iv")]}, {}, "page 4 of lease: its page number is 'iv'"),
        *(({"corpus": [page(0), page(1) | {part: None}]}, {}, f"ROOT/corpus/{FILE}: row 1: has no ")
          for part in ("corpus_id", "doc_id", "page_number_in_doc")),
        ({"corpus": [page(0), page(0, "bylaw", 7)]}, {},
         f"ROOT/corpus/{FILE}: row 1: the id '0' is that of another page, too"),
        ({"queries": [query(0, answer="1964"), query(0, "Where?", answer="1964")]}, {},
         f"ROOT/queries/{FILE}: row 1: the id '0' is that of another query, too"),
        ({"corpus": [page(0, text=["a", "list"])]}, {},
         f"ROOT/corpus/{FILE}: the column markdown must hold texts, and is of the type list"),
        ({}, {"split": "train"}, "ROOT/corpus: has no split 'train': choose one of test as `split`"),
        ({"queries": [query(0), query(1, language="french")]}, {"languages": ["german"]},
         "languages: no query is in 'german'; they are in english, french"),
        ({"queries": [{"query_id": 0, "query": "When?"}]}, {"languages": ["german"]},
         "languages: no query is in 'german'; the queries name no language"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_used_are_refused(pages, rows, fields, message):
    for name, found in rows.items():
        setattr(pages, name, found)
    assert fault(pages, **fields).startswith(message)


DAMAGED = rf"qrels/{FILE}: cannot be read as Parquet: [^\n]+$"


@pytest.mark.parametrize(
    ("path", "change", "message"),
    [
        ("qrels", "rename away", r"has no folder qrels; there is away, corpus, queries\. A page corpus has corpus, q"),
        (".", "rename ../away", "harbour set: no such folder"),
        (f"queries/{FILE}", "rename test.jsonl", r"queries: has no Parquet file; there is test\.jsonl"),
        (f"corpus/{FILE}", "rename test-00000-of-00003.parquet",
         "has 1 of 3 files of the split test: the download is not complete"),
        (f"corpus/{FILE}", b"version https://git-lfs.github.com/spec/v1\noid x\n",
         "is a pointer of git-lfs, not the data: run `git lfs pull`"),
        (f"qrels/{FILE}", b"", DAMAGED),
        (f"qrels/{FILE}", b"PAR1 no table", DAMAGED),
        (f"qrels/{FILE}", b"no parquet at all", DAMAGED),
        (f"qrels/{FILE}", "damage", DAMAGED),
    ],
)  # fmt: skip
def test_files_that_are_not_as_they_should_be_are_refused(pages, path, change, message):
    place = pages.save() / path
    if isinstance(change, bytes):
        place.write_bytes(change)
    elif change == "damage":
        content = place.read_bytes()
        place.write_bytes(content[:4] + bytes(56) + content[60:])
    else:
        place.rename(place.parent / change.removeprefix("rename "))
    with pytest.raises(DataError, match=message):
        PageCorpus(root=pages.root).documents()


def test_one_of_several_splits_must_be_chosen_where_none_is_test(pages):
    for name in ("corpus", "queries", "qrels"):
        for split in ("train", "dev"):
            pages.write(name, getattr(pages, name), f"{split}-00000-of-00001")
    with pytest.raises(DataError, match=r"corpus: has several splits: choose one of dev, train as `split`$"):
        PageCorpus(root=pages.root).documents()
    assert len(PageCorpus(root=pages.root, split="dev").questions()) == 1


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
    pages.queries += [query(1, "Who?", answer="x"), query(2, " ", answer="x")]
    pages.qrels = [judged(0, 0), judged(2, 0), judged(9, 0), judged(0, 99), judged(0, 98)]
    pages.qrels += [judged(0, 1, -1), judged(0, 2, nan)]
    benchmark = pages.benchmark()
    assert benchmark.notes() == (
        "1 judgment of a query that is not there, left out: 9 with page 0",
        "2 judgments of a page that is not in the corpus, left out: 0 with page 99, 0 with page 98",
        "1 judgment with a grade below 0, taken as not relevant: 0 with page 1",
        "1 judgment without a number as its grade, left out: 0 with page 2",
        "1 question without a relevant page, left out: 1",
        "1 question without text, left out: 2",
    )
    assert [(question.id, len(question.grades)) for question in benchmark.questions()] == [("0", 1)]


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


@pytest.mark.parametrize(
    ("image", "message"),
    [
        ({"bytes": None, "path": "a.png"}, r"corpus/test-00000-of-00001\.parquet: row 1: .*image"),
        ({"bytes": b"no image", "path": None}, r"corpus/test-00000-of-00001\.parquet: row 1: .*image"),
        ("a.png", "has no bytes of an image in the column image"),
        (None, "harbour%20set/lease: the corpus has no images"),
    ],
)
def test_a_broken_image_is_a_fault_of_its_page_alone(pages, image, message):
    for row in pages.corpus if image is None else ():
        del row["image"]
    for row in pages.corpus if image == "a.png" else pages.corpus[1:2] if image else ():
        row["image"] = image
    benchmark = pages.benchmark()
    lease = benchmark.documents()[0]
    with pytest.raises(DataError, match=message):
        benchmark.page_image(lease, 1)
    if isinstance(image, dict):
        assert benchmark.page_image(lease, 0).shape == (4, 6, 3)


def test_an_image_column_of_bytes_is_read(pages):
    for row in pages.corpus:
        row["image"] = row["image"]["bytes"]
    benchmark = pages.benchmark()
    assert benchmark.page_image(benchmark.documents()[1], 0)[0, 0, 0] == 2


def test_files_of_one_configuration_may_have_other_types_of_numbers(pages):
    pages.save()
    (pages.root / "qrels/test-00000-of-00001.parquet").unlink()
    pages.write("qrels", [judged(0, 0)], "test-00000-of-00002")
    pages.write("qrels", [judged(0, 1, 2.5)], "test-00001-of-00002")
    assert list(PageCorpus(root=pages.root).questions()[0].grades.values()) == [2.5, 1.0]
