"""Searches of agents: one query at a time in an index that stays open, each different one made once and kept."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ohr.contracts import Found, QueryRetriever, Question, Search
from ohr.errors import InputsGone, StoreError
from ohr.keys import key
from ohr.steps.retrieval.indexing import Indexed, Searched
from ohr.steps.retrieval.retrieve import Found as RankedChunk
from ohr.steps.retrieval.retrieve import as_found, as_records
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Report

_CHUNKS = 20_000
"""Passages of the indexes that are held open; at least one is. With an index for each document, dozens are in use."""


@dataclass(frozen=True, slots=True)
class Source:
    """One scope of a knowledge base, as one retriever of an agent searches it.

    Args:
        inputs: keys of the passages and images; None where one failed.
        texts: keys of the passages that an index of images alone does not depend on, but its hits do.
        whole: no input failed.
    """

    scope: Searched
    inputs: tuple[str | None, ...]
    texts: tuple[str | None, ...] = ()
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Query:
    """A search that a question waits for."""

    search: Search
    source: Source
    question: Question


@dataclass
class Queries:
    """Searches the indexes of an agent, which stay open while there is room."""

    context: Context
    report: Report
    _open: dict[tuple[str, tuple[str | None, ...]], Indexed] = field(default_factory=dict)

    def make(self, queries: Sequence[Query]) -> list[tuple[tuple[Found, ...] | str, str, bool]]:
        """Search; returns the hits of each query, or why it failed, its key, and whether it was there."""
        names = [_query_key(query) for query in queries]
        kept = read_sound(self.context.store, set(names), "ranking")
        done: dict[str, tuple[Found, ...] | str] = {}
        groups: dict[tuple[str, int], dict[str, Query]] = defaultdict(dict)
        for name, query in zip(names, queries, strict=True):
            if name in kept:
                done[name] = _hits(as_found(kept[name]), query)
            else:
                groups[query.source.scope.index, query.search.k][name] = query
        for wanted in groups.values():
            done |= self._search(wanted)
        return [(done[name], name, name in kept) for name in names]

    def _search(self, wanted: Mapping[str, Query]) -> dict[str, tuple[Found, ...] | str]:
        """Search one index for queries with one number of hits."""
        queries, store = list(wanted.values()), self.context.store
        source, k = queries[0].source, queries[0].search.k
        retriever = source.scope.retriever
        try:
            made = self._opened(source)
        except (StoreError, InputsGone):
            raise  # of the engine, not of the retriever
        except (Exception, SystemExit) as error:  # a retriever may raise anything: the searches of this index fail
            return dict.fromkeys(wanted, f"{type(error).__name__}: {error}")
        # most look at the text alone; arms that look at the truth find what the question needs, whatever the query
        asked = [replace(query.question, text=query.search.query) for query in queries]
        ranked, failed = made.search(retriever, asked, k)
        self.report.calls["agent searches"] += len(asked)
        self.context.watch.restart()
        done: dict[str, tuple[Found, ...] | str] = {}
        for place, (name, query) in enumerate(wanted.items()):
            if place in failed:
                done[name] = failed[place]
                continue
            hits = ranked[place]
            done[name] = _hits([RankedChunk(made.passages.chunks[hit.place], hit.score) for hit in hits], query)
            if source.whole:
                store.put(name, as_records(made, hits))
        return done

    def _opened(self, source: Source) -> Indexed:
        place = (source.scope.index, source.inputs)
        if place not in self._open:
            held = sum(len(one.passages.chunks) for one in self._open.values())
            while self._open and held > _CHUNKS:
                held -= len(self._open.pop(next(iter(self._open))).passages.chunks)
            made = Indexed.of(source.scope, source.inputs, self.context.store, self.report, whole=source.whole)
            self._open[place] = made
        return self._open[place]


def _query_key(query: Query) -> str:
    source, search, question = query.source, query.search, query.question
    # arms that look at the truth, such as `oracle`, find by the question
    truth = (
        []
        if isinstance(source.scope.retriever, QueryRetriever)
        else [question.id, question.document, question.pages, question.evidence, question.domain, *question.relevant]
    )
    inputs = [] if source.whole else list(source.inputs)
    return key("query", source.scope.index, list(source.texts), search.k, search.query, truth, inputs)


def _hits(hits: Sequence[RankedChunk], query: Query) -> tuple[Found, ...]:
    """Return hits as an agent gets them; pages that were found by their images have no passage."""
    looks = query.source.scope.retriever.reads_images
    return tuple(
        Found(
            (hit.chunk.document, hit.chunk.pages[0]),
            "" if looks else hit.chunk.text,
            hit.score,
            tuple((hit.chunk.document, page) for page in hit.chunk.pages),
        )
        for hit in hits
    )
