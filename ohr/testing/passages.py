"""Conformance of chunkers and retrievers, and a corpus that a retriever has indexed, to be searched in tests."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ohr.contracts import AnyRetriever, Chunk, Chunker, Hit, Image, Index, Page, Question, with_parts
from ohr.files.indexes import reopened
from ohr.testing.stage import TEXTS, check_stage, require, suite


@dataclass(frozen=True)
class Indexed:
    """An index as a search finds it: stored, and opened again."""

    retriever: AnyRetriever
    index: Index

    @property
    def notes(self) -> tuple[str, ...]:
        """Warnings from its making."""
        return tuple(self.index.notes)

    def search(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Search for texts; retrievers that look at the truth about a question find nothing."""
        questions = [Question(str(place), text, (), "", (), (), "", "") for place, text in enumerate(queries)]
        return self.retriever.search_questions(self.index, questions, k)


def indexed(retriever: AnyRetriever, chunks: Sequence[Chunk] = (), images: Iterable[Image] = ()) -> Indexed:
    """Index chunks, or pages with these images, as the engine does.

    Raises:
        TypeError: the retriever returns something other than an Index.
    """
    index = retriever.index_without_parts(chunks, images)
    if not isinstance(index, Index):
        raise TypeError(f"`index` must return an Index, not {type(index).__name__}")
    parts = [indexed(part, chunks, images).index for part in retriever.indexed_parts]
    return Indexed(retriever, with_parts(retriever, reopened(index), parts))


@suite
def check_chunker(chunker: Chunker, *, empty_pages: bool = False) -> None:
    """Check a chunker.

    Args:
        chunker: the chunker.
        empty_pages: True for a published protocol that counts an empty page as an empty chunk.
    """
    check_stage(chunker)
    require(chunker, chunker.split([]) == [], "no page must give no chunk")
    blank = [Page("d/a", 0, ""), Page("d/a", 1, " \n "), Page("d/a", 2, "", error="unreadable")]
    require(chunker, chunker.split(blank[empty_pages:]) == [], "pages without text must give no chunk")
    long = " ".join(f"Sentence {number} says a little more than the last one did." for number in range(2000))
    pages = [Page("d/a", index, text) for index, text in enumerate((*TEXTS, long, "和" * 4000))]
    chunks = chunker.split(pages)
    require(chunker, chunks == chunker.split(tuple(pages)), "one text must give one result")
    require(chunker, len({chunk.id for chunk in chunks}) == len(chunks), "the ids of chunks must differ")
    for chunk in chunks:
        require(
            chunker,
            chunk.document == "d/a" and len(chunk.pages) > 0,
            f"chunk {chunk.id} lacks its document or page",
        )
        part = pages[chunk.pages[0]].text[chunk.start : chunk.end]
        same = chunk.text == part if len(chunk.pages) == 1 else bool(part) and chunk.text.startswith(part)
        require(chunker, same, f"chunk {chunk.id}: its text is not the text of its span")
        empty = empty_pages and not pages[chunk.pages[0]].text
        require(chunker, bool(chunk.text.strip()) or empty, f"chunk {chunk.id} has no text")
    places = [(chunk.pages, chunk.start) for chunk in chunks]
    require(chunker, places == sorted(places), "chunks must come in the order of the text")


def _chunks(*texts: str) -> list[Chunk]:
    return [Chunk(f"d/a:{place}:0", "d/a", (place,), 0, len(text), text) for place, text in enumerate(texts)]


@suite
def check_retriever(retriever: AnyRetriever, *, finds: bool = True) -> None:
    """Check a retriever; one that reads images is given pages on which the texts are written.

    Each index is stored and opened again before it is searched, as the engine does.

    Args:
        retriever: the retriever.
        finds: False where no text can be expected to find itself: a model with random weights, a sanity arm.
    """
    check_stage(retriever)
    texts = ("The cat sat on the mat.", "Stock prices fell sharply today.", "今年的租金是三百元。", *TEXTS)
    corpus = _chunks(*texts)
    empty, index = _indexed(retriever, []), _indexed(retriever, corpus)
    require(retriever, empty.search(["?"], 3) == [[]], "an empty corpus must be allowed, and find nothing")
    require(retriever, corpus == _chunks(*texts), "it must not change the chunks")
    require(retriever, index.search([], 3) == [], "no query must give no ranking")
    for place in range(3 * finds):
        best = index.search([texts[place]], 1)[0]
        require(
            retriever,
            [hit.place for hit in best] == [place],
            f"{texts[place]!r} must find its own chunk",
        )
    longer = "x " * 600  # than the 512 tokens that many models read
    queries = ("cat prices", "租金", "", "   ", "\N{SNOWMAN}", "?", longer, *TEXTS)
    for k in (1, 2, 99):
        _check_ranking(retriever, index, queries, k, len(texts))
    if finds:
        _check_ties(retriever)
    questions = [Question("q", "Where?", ("there",), "d/a", (0, 1), texts[:2], "text", "d")]
    rankings = retriever.search_questions(index.index, questions, 2)
    require(retriever, len(rankings) == 1, "one question must give one ranking")
    require(retriever, len(rankings[0]) <= 2, "at most k hits must come")


def _indexed(retriever: AnyRetriever, chunks: Sequence[Chunk]) -> Indexed:
    made = indexed(retriever, chunks, [page_image(chunk.text) for chunk in chunks if retriever.reads_images])
    for path in _files(made.index):
        pickled = path.suffix in (".pkl", ".pickle", ".pt") or path.read_bytes()[:1] == b"\x80"
        require(retriever, not pickled, f"{path.name} is a pickle: an index must be saved without")
    return made


def _files(index: Index) -> Iterator[Path]:
    """List the files that a library of the retriever's wrote."""
    for content in index.contents.values():
        if isinstance(content, Index):
            yield from _files(content)
        elif isinstance(content, Path):
            yield from (path for path in (content, *content.rglob("*")) if path.is_file())


def page_image(text: str) -> Image:
    """Write a text on a small page; equal texts give equal pages, longer ones taller pages."""
    from PIL import Image as Pillow
    from PIL import ImageDraw

    lines = [text[start : start + 30] for start in range(0, min(len(text), 300), 30)]
    picture = Pillow.new("RGB", (200, 60 + 14 * len(lines)), "white")
    for place, line in enumerate(lines):
        written = line.encode("ascii", "replace").decode()
        ImageDraw.Draw(picture).text((10, 20 + 14 * place), written, fill="black")
    return np.asarray(picture).copy()


@suite
def _check_ranking(retriever: AnyRetriever, index: Indexed, queries: Sequence[str], k: int, size: int) -> None:
    ranked = index.search(queries, k)
    require(retriever, len(ranked) == len(queries), f"{len(queries)} queries gave {len(ranked)} rankings")
    for hits in ranked:
        places = [hit.place for hit in hits]
        require(retriever, len(hits) <= k, f"at most {k} hits were asked for, {len(hits)} came")
        require(retriever, len(set(places)) == len(places), "a chunk must not be found twice")
        require(retriever, all(0 <= place < size for place in places), f"places must be those of chunks: {places}")
        require(retriever, all(np.isfinite(hit.score) for hit in hits), "scores must be finite")
        ordered = sorted(hits, key=lambda hit: (-hit.score, hit.place))
        require(retriever, hits == ordered, "hits must come best first, ties in the order of the chunks")
    require(retriever, index.search(queries, k) == ranked, "one query must give one result")


@suite
def _check_ties(retriever: AnyRetriever) -> None:
    others = [f"a different thing {number}" for number in range(60)]  # so that the words asked for are rare
    index = _indexed(retriever, _chunks(*["rain fell on the old harbour wall"] * 40, *others))
    for k in (1, 7, 40):
        places = [hit.place for hit in index.search(["rain on the harbour"], k)[0]]
        require(
            retriever,
            places == list(range(k)),
            f"of equal chunks the first {k} must be found, not {places}",
        )
