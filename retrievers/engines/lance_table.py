"""Tables of LanceDB: written block by block, tagged when they are whole, and searched."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ohr import extras
from ohr.contracts import Hit
from ohr.errors import PluginError
from ohr.models.resident import parts

from .hits import reported

_WHOLE = "whole"
"""The tag of the version that is searched. Later versions, which others write, change nothing of it."""
_CACHE = 1 << 29
"""Bytes of an index that a process holds; LanceDB's own limit is 6 GB, which is most of a small machine."""
_QUERIES = 128
"""Vectors that are searched for in one pass over the table."""
_PROBES = 200
"""Chunks that are searched for among the others to measure recall, as for FAISS."""


def connected(uri: str) -> Any:
    """Open a folder or object store of tables; nothing is written yet."""
    library = extras.load("lancedb", "lancedb")
    session = library.Session(index_cache_size_bytes=_CACHE, metadata_cache_size_bytes=_CACHE // 4)
    return library.connect(uri if "://" in uri else str(Path(uri).expanduser().absolute()), session=session)


def check_uri(uri: str) -> None:
    """Raise where tables cannot be; a local folder is not made yet.

    Raises:
        PluginError: LanceDB does not know the scheme, cannot connect, or a file is in the way.
    """
    if "://" in uri:
        with reported(
            f"retriever lancedb: cannot use `uri: {uri}`", "name a folder, or an object store as s3://BUCKET/PATH"
        ):
            connected(uri)
        return
    folder = Path(uri).expanduser().absolute()
    file = next((each for each in (folder, *folder.parents) if each.exists() and not each.is_dir()), None)
    if file is not None:
        raise PluginError(f"retriever lancedb: `uri: {uri}` must be a folder or object store, and {file} is a file")


def write(tables: Any, name: str, schema: Any, blocks: Iterable[Any], indexes: Mapping[str, Any], size: int) -> Any:
    """Write a table in place of any half-written one, unless another run was faster, and return it.

    Args:
        tables: as `connected` returns them.
        schema: of Arrow.
        blocks: record batches of Arrow.
        indexes: LanceDB's descriptions of the indexes, by column.
        size: number of rows.
    """
    if (faster := whole(tables, name, size)) is not None:
        return faster
    # a table that is there is not dropped: another run may be searching a whole version of it by now
    table = tables.create_table(name, schema=schema, mode="create" if _opened(tables, name) is None else "overwrite")
    for block in blocks:
        table.add(block)
    for column, described in indexes.items():
        table.create_index(column, config=described)
    tag = table.tags.update if _WHOLE in table.tags.list() else table.tags.create
    tag(_WHOLE, table.version)
    return table


def whole(tables: Any, name: str, size: int) -> Any | None:
    """Open the whole version of a table; None where there is no table, or it was never finished."""
    table = _opened(tables, name)
    if table is None or _WHOLE not in table.tags.list():
        return None
    table.checkout(_WHOLE)
    return table if table.count_rows() == size else None


def _opened(tables: Any, name: str) -> Any | None:
    try:
        return tables.open_table(name)
    except ValueError as error:  # LanceDB has no class of its own for it
        if "was not found" in str(error):
            return None
        raise


@dataclass(frozen=True)
class Table:
    """A whole table as it is searched.

    Args:
        opened: LanceDB's.
        size: number of rows.
        metric: LanceDB's name of the distance.
        settings: of an approximate search: `probes`, `ef` and `refine`, those that are set.
    """

    opened: Any
    size: int
    metric: str
    settings: Mapping[str, int] = field(default_factory=dict)

    def by_words(self, queries: Sequence[str], most: int) -> list[list[Hit]]:
        """Find rows for queries, each words with spaces between; none is parsed."""
        match = extras.load("lancedb.query", "lancedb").MatchQuery
        rankings = []
        for query in queries:
            search = self.opened.search(match(query, "words"), query_type="fts")
            found = search.limit(most).select(["place", "_score"]).to_arrow()
            rankings.append([Hit(*row) for row in zip(*_columns(found, "place", "_score"), strict=True)])
        return rankings

    def by_vectors(self, queries: Sequence[NDArray[np.float32]], most: int, exact: bool = False) -> list[list[Hit]]:
        """Find rows for vectors (dim,) by inner product, or for vectors of tokens (tokens, dim) by MaxSim.

        Args:
            exact: look at every row, whatever index there is.
        """
        if queries and queries[0].ndim == 2:  # a pass for each: LanceDB takes several for the tokens of one
            return [self._nearest(query, most, exact, [len(query)])[0] for query in queries]
        blocks = parts(range(len(queries)), _QUERIES)
        return [
            hits
            for block in blocks
            for hits in self._nearest([queries[place] for place in block], most, exact, [1] * len(block))
        ]

    def _nearest(self, vectors: Any, most: int, exact: bool, best: Sequence[int]) -> list[list[Hit]]:
        """Search for vectors in one pass; a score is what is best possible less the distance."""
        search = self.opened.search(vectors, vector_column_name="vector").distance_type(self.metric).limit(most)
        if exact:
            search = search.bypass_vector_index()
        for name, value in self.settings.items():
            search = getattr(search, {"probes": "nprobes", "refine": "refine_factor"}.get(name, name))(value)
        found = search.select(["place", "_distance"]).to_arrow()
        places, distances = _columns(found, "place", "_distance")
        # LanceDB numbers the queries where there are several
        owners = _columns(found, "query_index")[0] if "query_index" in found.column_names else [0] * len(places)
        rankings: list[list[Hit]] = [[] for _ in best]
        for owner, place, distance in zip(owners, places, distances, strict=True):
            rankings[owner].append(Hit(place, best[owner] - distance))
        return rankings

    def recall(self) -> float:
        """Measure the share of the exact ten nearest that the index finds, for vectors spread over the table."""
        step = max(1, self.size // _PROBES)
        rows = self.opened.search().where(f"place % {step} = 0").limit(_PROBES).select(["vector"]).to_arrow()
        probes = [np.array(row, np.float32) for row in rows["vector"].to_pylist() if row]
        near, true = (self.by_vectors(probes, 10, exact) for exact in (False, True))
        shared = [len({hit.place for hit in a} & {hit.place for hit in b}) for a, b in zip(near, true, strict=True)]
        return float(np.mean(shared)) / min(10, self.size)


def _columns(found: Any, *names: str) -> list[list[Any]]:
    return [found[name].to_pylist() for name in names]
