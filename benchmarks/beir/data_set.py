"""A BEIR data set as documents and questions: the queries of a split, with the documents that are judged for them.

Its files are `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv`, each also as .gz.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ohr.contracts import Question, Relevant
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.files.names import quoted_id
from ohr.files.trec import Judgments, read_qrels
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import named
from ohr.registry import choices

from ..copies import Copy
from .corpus_lines import Corpus, opened, read_corpus, records, text_of

SAMPLE = Path(__file__).parent / "sample" / "harbor"

_QRELS = (".tsv", ".txt", ".qrels", ".trec")


def file_of(root: Path, name: str) -> Path:
    """Return `corpus.jsonl` or `queries.jsonl` of a data set, or the one that is packed.

    Raises:
        DataError: there is none; the message says what the folder has.
    """
    for path in (root / name, root / f"{name}.gz"):
        if path.is_file():
            return path
    if not root.is_dir():
        raise DataError(f"{root}: no such folder")
    there = sorted(f"{path.name}/" if path.is_dir() else path.name for path in root.iterdir())
    below = sorted(path.parent.name for path in root.glob(f"*/{name}*"))
    hint = f"; root may be meant to be {root / below[0]}" if below else ""
    raise DataError(f"{root}: has neither {name} nor {name}.gz; it has {named(there) or 'nothing'}{hint}")


def splits(root: Path) -> Mapping[str, Path]:
    """Return the files of judgments by split; of several files of a split, the .tsv."""
    found: dict[str, Path] = {}
    for path in sorted((root / "qrels").glob("*"), key=lambda path: (".tsv" not in path.suffixes, path.name)):
        name = path.name.removesuffix(".gz")
        if path.is_file() and name.endswith(_QRELS):
            found.setdefault(name[: name.rindex(".")], path)
    return found


def split_file(root: Path, split: str) -> Path:
    """Return the file of a split's judgments.

    Raises:
        DataError: there is none; the message lists those that are there.
    """
    there = splits(root)
    if not there:
        raise DataError(f"{root}: has no judgments; they belong into qrels/{split}.tsv")
    if split not in there:
        raise DataError(f"{root}: has no split {split!r}. {choices(split, list(there))}")
    return there[split]


_MOST_PLACES = 10
"""Relevant documents that a generator reads at most, the best first: TREC collections judge hundreds for a query."""


@dataclass(frozen=True, slots=True)
class DataSet(Copy):
    """The content of a data set.

    Args:
        corpus: its documents, with their texts on disk.
    """

    corpus: Corpus


@dataclass(frozen=True, eq=False)
class Queries:
    """The queries of a data set: their texts, and the file and line of each, by id in the order of the file."""

    texts: Mapping[str, str]
    places: Mapping[str, str]


def load(root: Path, split: str, name: str, language: str) -> DataSet:
    """Read a data set; files that did not change are read once.

    Args:
        name: of the data set; the folder's where it is empty.

    Raises:
        DataError: files are missing, cannot be read, or have something else in them.
    """
    corpus = corpus_of(root, name, language)
    query_file, judgment_file = file_of(root, "queries.jsonl"), split_file(root, split)
    return _put_together(corpus, _read_queries(query_file), _read_judgments(judgment_file))


def corpus_of(root: Path, name: str, language: str) -> Corpus:
    """Read the corpus of a data set alone, as `load` does; one look at the file reports whether it is the same."""
    held = _held.get((root, name, language))
    if held is None or not held.is_current:  # looked up for each document: to find the file takes longer than to read
        held = read_corpus(file_of(root, "corpus.jsonl"), name or root.resolve().name, language)
        _held.clear()
        _held[root, name, language] = held
    return held


_held: dict[tuple[Path, str, str], Corpus] = {}
"""The corpus that was asked for last."""


@kept_until_changed(most=4)
def _read_queries(path: Path) -> Queries:
    texts, places, faults = {}, {}, list[Fault]()
    with opened(path) as file:
        for line in records(path, file, faults):
            texts[line.name] = text_of(line, "text", faults).strip()
            places[line.name] = line.where
    if faults:
        raise DataError("\n".join(sentences(faults)))
    return Queries(texts, places)


@kept_until_changed(most=4)
def _read_judgments(path: Path) -> Judgments:
    return read_qrels(path)


@lru_cache(maxsize=4)
def _put_together(corpus: Corpus, queries: Queries, judgments: Judgments) -> DataSet:
    asked, faults = [], list(_unknown(corpus, queries, judgments))
    for query, text in queries.texts.items():
        grades = judgments.grades.get(query, {})
        if not any(grade > 0 for grade in grades.values()):
            if grades:
                faults.append(Fault("query", "without a relevant document, left out: BEIR counts it 0", query))
        elif not text:
            faults.append(Fault("query", "without text, left out", query))
        else:
            asked.append(_question(query, text, grades, corpus))
    if not asked:
        raise DataError(f"{judgments.path}: no query of queries.jsonl has a relevant document in it")
    if not any(page.document in corpus.places for question in asked for page in question.relevant if page.grade > 0):
        raise DataError(f"{judgments.path}: the corpus has none of the documents that are relevant in it")
    faults += [
        Fault("query", "with the id of a document, which it does not find: BEIR leaves it out, too", question.id)
        for question in asked
        if question.hidden
    ]
    notes = [*judgments.notes, *sentences(faults)]
    return DataSet(corpus.documents, tuple(asked), queries.places, tuple(notes), corpus)


def _question(query: str, text: str, grades: Mapping[str, float], corpus: Corpus) -> Question:
    """Return a question about its best document: of those with the highest grade, the first that has text."""
    domain = corpus.documents[0].domain
    judged = tuple(Relevant(f"{domain}/{quoted_id(name)}", 0, grade) for name, grade in grades.items())
    ranked = sorted((page for page in judged if page.grade > 0), key=lambda page: -page.grade)
    there = [page for page in ranked if page.document in corpus.places]
    best = [page for page in there if page.grade == there[0].grade]
    written = [page for page in best if page.document not in corpus.empty]
    document = (written or best or ranked)[0].document
    return Question(
        id=query,
        text=text,
        answers=(),
        document=document,
        pages=(0,),
        evidence=(corpus.text(document) if there else "",),
        evidence_source="text",
        domain=domain,
        places=tuple((page.document, page.page) for page in there[:_MOST_PLACES]),
        relevant=judged,
        hidden=((own, 0),) if (own := f"{domain}/{quoted_id(query)}") in corpus.places else (),
    )


def _unknown(corpus: Corpus, queries: Queries, judgments: Judgments) -> Iterator[Fault]:
    """Report what is judged but not there, and documents without text."""
    domain = corpus.documents[0].domain
    for query, grades in judgments.grades.items():
        if query not in queries.texts:
            yield Fault("judged query", "that queries.jsonl lacks, left out", query)
            continue
        for name in grades:
            if f"{domain}/{quoted_id(name)}" not in corpus.places:
                yield Fault("judgment", "of a document that the corpus lacks, kept as not found", f"{query} {name}")
    for document in sorted(corpus.empty, key=corpus.places.__getitem__):
        yield Fault("document", "without text", document)
