"""BM25 on disk, by the search engine Tantivy."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ohr import extras
from ohr.contracts import Chunk, Hit, Index

from ..lexical.words import WordRetriever
from .hits import first_hits, reported, spaced

_HEAP = 2_000_000_000
"""Bytes that the writer holds at most; then it starts another segment. A million chunks of 150 words take half."""


class Tantivy(WordRetriever, kind="tantivy"):
    """Ranks chunks by BM25 from an index on disk, of which only what a search touches is read into memory.

    Words are cut as for `bm25`. The constants are Tantivy's own, k1 = 1.2 and b = 0.75; a length above 40 words counts
    as the next lower one of a scale with steps of up to an eighth, as in Lucene.
    """

    extra: ClassVar[str | None] = "tantivy"
    packages: ClassVar[tuple[str, ...]] = ("tantivy", "rjieba")

    def check(self) -> None:
        """Raise when Tantivy is missing."""
        extras.require("tantivy", "tantivy")

    def index(self, chunks: Sequence[Chunk]) -> Index:
        """Write every word of every chunk into a folder."""
        files = {"tantivy": lambda path: self._write(chunks, path)} if chunks else {}
        return Index({"size": len(chunks), **files})

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Rank the chunks that have a word of the query; ties in the order of the chunks."""
        if not index["size"] or k <= 0:
            return [[] for _ in queries]
        engine = index.once("engine", lambda: _Engine.of(index["tantivy"]))
        asked = [[spaced([word]) for word in self.cut(query)] for query in queries]
        return first_hits(lambda some, most: [engine.hits(words, most) for words in some], asked, k, index["size"])

    def _write(self, chunks: Sequence[Chunk], folder: Path) -> None:
        library = extras.load("tantivy", "tantivy")
        folder.mkdir()
        # frequencies without positions, as no phrase is searched for
        fields = library.SchemaBuilder().add_text_field("words", tokenizer_name="spaces", index_option="freq")
        schema = fields.add_unsigned_field("place", fast=True).build()
        with reported(f"retriever {self.kind}: cannot write {folder}"):
            index = library.Index(schema, path=str(folder))
            spaces = library.TextAnalyzerBuilder(library.Tokenizer.whitespace()).build()
            index.register_tokenizer("spaces", spaces)
            writer = index.writer(heap_size=_HEAP, num_threads=1)  # of several, each would fill a segment of its own
            for place, chunk in enumerate(chunks):
                document = library.Document()
                document.add_text("words", spaced(self.cut(chunk.text)))
                document.add_unsigned("place", place)
                writer.add_document(document)
            writer.commit()
            writer.wait_merging_threads()


@dataclass(frozen=True)
class _Engine:
    library: Any
    schema: Any
    searcher: Any

    @classmethod
    def of(cls, folder: Path) -> "_Engine":
        library = extras.load("tantivy", "tantivy")
        remedy = "remove the folder, and the next run makes it again"
        with reported(f"retriever tantivy: cannot open its index {folder}", remedy):
            index = library.Index.open(str(folder))
            index.config_reader("manual")  # nobody writes to it, so that no thread has to watch it
            return cls(library, index.schema, index.searcher())

    def hits(self, words: Sequence[str], most: int) -> list[Hit]:
        """Find chunks by words, which count as often as they are listed; they are terms, and never parsed."""
        query, should = self.library.Query, self.library.Occur.Should
        terms = [(should, query.term_query(self.schema, "words", word, "freq")) for word in words]
        found = self.searcher.search(query.boolean_query(terms), most, count=False).hits
        places = self.searcher.fast_field_values("place", [address for _, address in found])
        return [Hit(place, score) for place, (score, _) in zip(places, found, strict=True)]
