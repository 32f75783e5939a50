"""Late interaction: many vectors per page, text and query, compared by MaxSim, in blocks that bound the memory."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr import extras
from ohr.contracts import Hit, Index, Retriever
from ohr.errors import PluginError

from .vectors import Vectors


class TokenEmbedder(Retriever):
    """A retriever that can embed the tokens of a text."""

    @abstractmethod
    def token_vectors(self, texts: Sequence[str]) -> list[Vectors]:
        """Embed the tokens of each text: (tokens, dim). No text is allowed."""

    def warnings(self, texts: Collection[str]) -> Sequence[str]:  # noqa: ARG002 # for those that have some
        """Return the warnings about the different texts of a corpus, such as how many are cut."""
        return ()


@lru_cache(maxsize=4)
def query_token_vectors(retriever: TokenEmbedder, queries: tuple[str, ...]) -> list[Vectors]:
    """Embed the questions once, (tokens, dim) each: every knowledge base is asked the same ones."""
    return retriever.token_vectors(queries)


_BLOCK = 1 << 15  # page vectors held at once: 16 MB of float32 at 128 dimensions
_SIMILARITIES = 1 << 24  # of query vectors with a block's page vectors: 64 MB


@dataclass(frozen=True)
class PageVectors:
    """The vectors of all pages, one page after the other: no padding is stored, so none takes part in a maximum.

    Args:
        vectors: (all pages' vectors, dim), float32 or float16; usually mapped from disk.
        ends: (pages,) where each page's vectors end.
    """

    vectors: NDArray[Any]
    ends: NDArray[np.int64]
    device: str = "cpu"
    block: int = field(default=_BLOCK, repr=False)

    @classmethod
    def gather(cls, pages: Iterable[NDArray[Any]], device: str, what: str) -> "PageVectors":
        """Collect pages' vectors, each (n, dim), in a temporary file; `what` names the maker in errors.

        Raises:
            PluginError: a page's vectors are not finite.
        """
        # kept open by the map; deleted by the system when nobody uses it any more
        with TemporaryFile() as kept:
            ends: list[int] = []
            dim, kind = 1, np.dtype(np.float32)
            for place, page in enumerate(pages):
                if not np.isfinite(page).all():
                    raise PluginError(f"{what}: the model gave NaN or infinity for page {place} of the corpus")
                kept.write(np.ascontiguousarray(page).tobytes())
                ends.append((ends[-1] if ends else 0) + len(page))
                dim, kind = page.shape[1], page.dtype
            kept.flush()
            shape = (ends[-1] if ends else 0, dim)
            vectors = np.memmap(kept, dtype=kind, mode="r", shape=shape) if ends else np.zeros(shape, kind)
        return cls(vectors, np.array(ends, dtype=np.int64), device)

    def search(self, queries: Sequence[NDArray[np.float32]], k: int) -> list[list[Hit]]:
        """Rank pages by the sum over a query's vectors of the largest inner product with a page's vector.

        Every page is compared with every query (Khattab & Zaharia, SIGIR 2020; Faysse et al., arXiv:2407.01449).

        Args:
            queries: each (n, dim).
        """
        if not len(self.ends) or not queries or k <= 0:
            return [[] for _ in queries]
        torch = extras.load("torch", "dense")
        scores = torch.zeros((len(queries), 0), device=self.device)
        places = torch.zeros((len(queries), 0), dtype=torch.long, device=self.device)
        for first, found in self.blocks(queries):
            here = torch.arange(first, first + found.shape[1], device=self.device).expand(len(queries), -1)
            scores, places = torch.cat([scores, found], 1), torch.cat([places, here], 1)
            # stable, so that ties stay in the order of the pages
            scores, order = scores.sort(dim=1, descending=True, stable=True)
            scores, places = scores[:, :k], places.gather(1, order[:, :k])
        pairs = zip(places.tolist(), scores.tolist(), strict=True)
        return [[Hit(*hit) for hit in zip(at, row, strict=True)] for at, row in pairs]

    def blocks(self, queries: Sequence[NDArray[np.float32]]) -> Iterator[tuple[int, Any]]:
        """Score block after block of pages: the first page's place, and scores (queries, pages)."""
        torch = extras.load("torch", "dense")
        flat = torch.from_numpy(np.concatenate(queries)).float().to(self.device)
        owner = torch.repeat_interleave(torch.tensor([len(query) for query in queries])).to(self.device)
        first = 0
        while first < len(self.ends):
            begin = int(self.ends[first - 1]) if first else 0
            last = max(first + 1, int(np.searchsorted(self.ends, begin + self.block, side="right")))
            made = np.array(self.vectors[begin : self.ends[last - 1]])
            pages = torch.from_numpy(made).to(self.device).float()
            lengths = np.diff(self.ends[first:last], prepend=begin)
            yield first, _maxsim(flat, owner, len(queries), pages, lengths)
            first = last

    @property
    def arrays(self) -> Mapping[str, NDArray[Any]]:
        """The arrays, for an index."""
        return {"vectors": self.vectors, "ends": self.ends}

    @classmethod
    def of(cls, index: Index, device: str) -> "PageVectors":
        """Return the vectors of an index with these arrays."""
        return cls(index["vectors"], index["ends"], device)


def _maxsim(flat: Any, owner: Any, count: int, pages: Any, lengths: NDArray[np.int64]) -> Any:
    """Score `count` queries, whose vectors are `flat` and belong to `owner`, against a block's pages."""
    torch = extras.load("torch", "dense")
    scores = torch.empty((count, len(lengths)), device=flat.device)
    starts = np.cumsum(lengths) - lengths
    for length in np.unique(lengths).tolist():
        members = np.flatnonzero(lengths == length)  # pages of one length need no padding to be compared at once
        if len(members) == len(lengths):
            same = pages
        else:
            rows = (starts[members][:, None] + np.arange(length)).ravel()
            same = pages[torch.from_numpy(rows).to(pages.device)]
        sums = torch.zeros((count, len(members)), device=flat.device)
        step = max(1, _SIMILARITIES // max(len(same), 1))
        for low in range(0, len(flat), step):
            best = (flat[low : low + step] @ same.T).view(-1, len(members), length).amax(2)
            sums.index_add_(0, owner[low : low + step], best)
        scores[:, torch.from_numpy(members).to(flat.device)] = sums
    return scores
