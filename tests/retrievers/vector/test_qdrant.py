"""Qdrant: its own client, against its embedded engine and a small server that speaks its REST API."""

import sqlite3
import threading
from zlib import crc32

import numpy as np
import pytest
from pydantic import ValidationError

from ohr.errors import MissingKey, PluginError
from ohr.keys import identity
from ohr.retrievers.vector.dense import Dense
from ohr.retrievers.vector.qdrant import Qdrant
from ohr.retrievers.vector.vectors import EmbeddingRetriever, search_vectors
from ohr.testing import check_retriever, indexed

from ..corpus import chunks
from .qdrant_server import qdrant_server

TEXTS = ("The feline slept.", "Rates were raised.", "Pour milk.", "The wall is old.", "Rain fell.", "Rain fell.")
QUERIES = ("Where did the cat nap?", "weather", "")
HTML = (200, {"content-type": "text/html"}, "<html>Welcome</html>")


class Letters(EmbeddingRetriever, kind="letters"):
    """Embeds a text by its pairs of letters, without a model."""

    model: str = "none"

    def check(self):
        pass

    def embed_passages(self, texts):
        vectors = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for pair in zip(f" {text}", text, strict=False):
                row[crc32("".join(pair).encode()) % 64] += 1
        return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1), ()

    def embed_queries(self, queries):
        return self.embed_passages(queries)[0]


@pytest.fixture
def server():
    with qdrant_server() as state:
        yield state


def on(server, **fields):
    return Qdrant(
        url=server.url,
        **{"embedder": Letters(), "backoff": 0.01, "retries": 2, "timeout": 5.0, "batch_size": 2, **fields},
    )


def failed(server, fields, *, number, status=500, headers=None, text='{"status":{"error":"broken"}}', only=""):
    server.faults, server.only = [(status, headers or {}, text)] * number, only
    with pytest.raises(PluginError) as caught:
        retriever = on(server, **fields)
        indexed(retriever, chunks(*TEXTS)).search(QUERIES, 2)
    return str(caught.value)


def test_a_server_keeps_the_contract(server):
    check_retriever(on(server, batch_size=100))


@pytest.mark.parametrize("k", [1, 2, 5, 9])
def test_a_search_gives_what_dense_gives(server, tmp_path, k):
    expected = indexed(Dense(), chunks(*TEXTS)).search(QUERIES, k)
    for retriever in (
        on(server, embedder={"kind": "dense"}),
        Qdrant(path=tmp_path / "folder"),
        Qdrant(path=":memory:"),
    ):
        rankings = indexed(retriever, chunks(*TEXTS)).search(QUERIES, k)
        for ranking, hits in zip(rankings, expected, strict=True):
            assert [hit.place for hit in ranking] == [hit.place for hit in hits]
            assert [hit.score for hit in ranking] == pytest.approx([hit.score for hit in hits], abs=1e-6)


def test_of_equal_chunks_the_first_are_found_however_many_there_are(server):
    texts = ["Rain fell."] * 70 + ["Pour milk."]
    (hits,) = indexed(on(server, batch_size=100), chunks(*texts)).search(["Rain fell."], 3)
    assert [hit.place for hit in hits] == [0, 1, 2]


def test_a_second_run_finds_the_collection(server):
    first = indexed(on(server), chunks(*TEXTS))
    sent = [request for request in server.requests if request.startswith("PUT")]
    assert len(sent) == 1 + 3
    second = indexed(on(server), chunks(*TEXTS))
    assert second.index["collection"] == first.index["collection"]
    assert [request for request in server.requests if request.startswith("PUT")] == sent
    other = indexed(on(server), chunks(*TEXTS[:5]))
    assert other.index["collection"] != first.index["collection"]


def test_what_is_missing_is_sent_and_nothing_else(server):
    index = indexed(on(server), chunks(*TEXTS))
    expected = index.search(QUERIES, 6)
    server.client.delete(index.index["collection"], [3])
    del server.requests[:]
    assert index.search(QUERIES, 6) == expected
    assert sum(request.startswith("PUT") and request.endswith("/points") for request in server.requests) == 1


def test_a_collection_that_is_gone_is_filled_again(server):
    index = indexed(on(server), chunks(*TEXTS))
    expected = index.search(QUERIES, 3)
    server.restart()
    assert index.search(QUERIES, 3) == expected


def test_a_collection_that_goes_while_it_is_searched_is_filled_again(server):
    index = indexed(on(server), chunks(*TEXTS))
    expected, answer = index.search(QUERIES, 3), server.answer

    def lose_once(method, path, body):
        if path.endswith("query/batch"):
            server.answer = answer
            server.restart()
        return answer(method, path, body)

    server.answer = lose_once
    assert index.search(QUERIES, 3) == expected


def test_two_runs_fill_one_collection_at_once(server):
    indexes = []
    runs = [
        threading.Thread(target=lambda: indexes.append(indexed(on(server, batch_size=1), chunks(*TEXTS)))) for _ in "ab"
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert len({index.index["collection"] for index in indexes}) == 1
    assert server.points() == len(TEXTS)
    assert indexes[0].search(QUERIES, 3) == indexes[1].search(QUERIES, 3)


@pytest.mark.parametrize(
    "fault", [(500, {}, "{}"), (503, {}, "busy"), (429, {"retry-after": "0"}, "{}"), (429, {}, "{}"), (0, {}, "")]
)
@pytest.mark.parametrize("only", ["^GET /$", "count", "PUT .*points", "query"])
def test_a_request_that_fails_twice_is_tried_again(server, fault, only):
    server.faults, server.only = [fault] * 2, only
    rankings = indexed(on(server), chunks(*TEXTS)).search(QUERIES, 3)
    assert not server.faults
    assert rankings == indexed(on(server), chunks(*TEXTS)).search(QUERIES, 3)


def test_a_server_that_is_not_there_is_an_error_before_any_work():
    with pytest.raises(
        PluginError, match=r"cannot reach http://127\.0\.0\.1:9: .*refused.*`path` in place of `url` needs no server"
    ):
        Qdrant(url="http://127.0.0.1:9", backoff=0.01).check()


def test_a_server_that_keeps_failing_is_an_error(server):
    said = failed(server, {}, number=9, only="query")
    assert said == 'retriever qdrant: the service answered 500: {"status":{"error":"broken"}}'


def test_a_server_that_hangs_is_an_error(server):
    release, answer = threading.Event(), server.answer

    def hang(method, path, body):
        if "query" in path:
            release.wait(10)
        return answer(method, path, body)

    server.answer = hang
    try:
        with pytest.raises(PluginError, match=r"retriever qdrant: cannot reach .*timed out"):
            indexed(on(server, timeout=1, retries=0), chunks(*TEXTS)).search(QUERIES, 3)
    finally:
        release.set()


def test_a_server_that_is_gone_is_not_waited_for_again_and_again(server):
    index = indexed(on(server, retries=0), chunks(*TEXTS))
    server.faults = [(0, {}, "")] * 99
    for _ in range(9):
        with pytest.raises(PluginError, match="cannot reach"):
            index.search(QUERIES, 3)
    assert len(server.faults) == 96


@pytest.mark.parametrize("only", ["^GET /$", "count", "query"])
def test_what_is_not_of_qdrant_is_an_error(server, only):
    said = failed(server, {}, number=9, status=200, headers=HTML[1], text=HTML[2], only=only)
    assert said == f"retriever qdrant: {server.url} does not answer as Qdrant does"


def test_a_page_that_is_not_found_is_not_a_missing_collection(server):
    said = failed(
        server, {}, number=9, status=404, headers=HTML[1], text="<html>No collection here</html>", only="count"
    )
    assert said == "retriever qdrant: the service answered 404: <html>No collection here</html>"


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("1.9.7", "is Qdrant 1.9.7, and the client 1.20.0 needs a version from 1.10 below 2"),
        ("2.0.1", "is Qdrant 2.0.1, and the client 1.20.0 needs a version from 1.10 below 2"),
        ("", "is not a Qdrant server: it calls itself"),
    ],
)
def test_another_version_is_an_error_before_any_work(server, version, message):
    server.version = version
    with pytest.raises(PluginError) as caught:
        on(server).check()
    assert message in str(caught.value)


def test_a_version_that_nobody_vouches_for_is_a_note(server):
    server.version = "1.14.1"
    assert indexed(on(server), chunks(*TEXTS)).index.notes == [
        "the server is Qdrant 1.14.1 and the client 1.20.0: Qdrant promises that they fit together only where they are "
        "one minor version apart",
    ]


@pytest.mark.parametrize("status", [401, 403])
def test_a_key_that_is_refused_is_hidden_and_is_not_part_of_an_index(server, monkeypatch, status):
    monkeypatch.setenv("SECRET_API_KEY", "abcdefgh12345678")
    fields = {"api_key_env": "SECRET_API_KEY"}
    index = indexed(on(server, **fields), chunks(*TEXTS)).index
    assert "abcdefgh12345678" not in repr(index.contents) + repr(index.notes)
    said = failed(server, fields, number=9, status=status, text="Invalid API key abcdefgh12345678", only="count")
    hint = "; is `api_key_env` the variable with the key?"
    assert said == f"retriever qdrant: the service answered {status}: Invalid API key ***{hint}"
    assert server.headers[-1]["api-key"] == "abcdefgh12345678"
    assert len(server.faults) == 8


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://me:secret@127.0.0.1:6333", "url holds a user name or a key; use `api_key_env` instead"),
        ("http://127.0.0.1:6333?api-key=x", "url must end with its path"),
    ],
)
def test_a_key_in_the_address_is_refused(url, message):
    with pytest.raises(PluginError, match=message):
        Qdrant(url=url).check()


def test_a_key_that_is_not_set_is_an_error(monkeypatch):
    monkeypatch.delenv("NO_API_KEY", raising=False)
    with pytest.raises(MissingKey):
        Qdrant(url="http://127.0.0.1:9", api_key_env="NO_API_KEY").check()


def test_a_collection_of_somebody_else_is_an_error(server):
    from qdrant_client import models

    index = indexed(on(server), chunks(*TEXTS))
    point = models.PointStruct(id=77, vector=[0.0] * 64)
    server.client.upsert(index.index["collection"], [point])
    with pytest.raises(PluginError, match=r"has 7 points, and should have 6: somebody else .* Remove the collection"):
        index.search(QUERIES, 3)


def replaced(server, name, vectors, **config):
    """Put a collection of somebody else in the place of ohr's."""
    from qdrant_client import models

    server.client.delete_collection(name)
    server.client.create_collection(name, models.VectorParams(**{"size": 64, "distance": "Dot", **config}))
    server.client.upsert(name, models.Batch(ids=list(range(len(vectors))), vectors=vectors.tolist()))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"distance": "Euclid"}, "has points with 64 numbers and the distance Euclid, and not 64 numbers and Dot"),
        ({"distance": "Cosine"}, "has points with 64 numbers and the distance Cosine"),
        ({"size": 8}, "has points with 8 numbers and the distance Dot, and not 64"),
        ({}, "has another vector than ohr's at the point 0"),
    ],
)
@pytest.mark.parametrize("number", [4, 6])
def test_a_collection_with_other_content_is_neither_searched_nor_filled(server, config, message, number):
    index = indexed(on(server), chunks(*TEXTS))
    name = index.index["collection"]
    foreign = np.random.default_rng(0).standard_normal((number, config.get("size", 64)))
    replaced(server, name, foreign, **config)
    for search in (lambda: index.search(QUERIES, 3), lambda: indexed(on(server), chunks(*TEXTS))):
        with pytest.raises(PluginError) as caught:
            search()
        assert f"{server.url}: collection {name} {message}" in str(caught.value)
        assert str(caught.value).endswith("Remove the collection, and ohr fills it again")


@pytest.mark.parametrize(
    ("distance", "message"),
    [
        ("Euclid", "the distance Euclid, and not 64 numbers and Dot"),
        ("", "has points with several vectors each"),
    ],
)
def test_an_empty_collection_of_another_kind_is_not_filled(server, distance, message):
    from qdrant_client import models

    index = indexed(on(server), chunks(*TEXTS))
    name, vectors = index.index["collection"], models.VectorParams(size=64, distance=distance or "Dot")
    server.client.delete_collection(name)
    server.client.create_collection(name, vectors if distance else {"a": vectors})
    with pytest.raises(PluginError, match=message):
        index.search(QUERIES, 3)


def test_one_vector_of_somebody_else_between_the_compared_ones_is_found_as_a_hit(server):
    from qdrant_client import models

    texts = [f"number {place}" for place in range(40)]
    index = indexed(on(server, batch_size=100), chunks(*texts))
    name = index.index["collection"]
    server.client.upsert(name, [models.PointStruct(id=4, vector=[1.0] * 64)])
    with pytest.raises(PluginError, match=f"{name} has another vector than ohr's at the point 4: somebody else"):
        index.search(["number 4"], 3)


@pytest.mark.parametrize("place", [0, 4])
def test_a_point_of_somebody_else_in_place_of_one_is_named(server, place):
    from qdrant_client import models

    index = indexed(on(server, batch_size=100), chunks(*[f"number {place}" for place in range(40)]))
    name = index.index["collection"]
    server.client.delete(name, [place])
    server.client.upsert(name, [models.PointStruct(id=77, vector=[1.0] * 64)])
    fault = {0: "has as many points as it should have, but not the point 0", 4: "has the point 77, which is none of"}
    with pytest.raises(PluginError, match=f"{name} {fault[place]}"):
        index.search(["number"], 3)


@pytest.mark.parametrize(
    "body",
    ['{"status":"ok"}', '{"result":null}', "[]", '{"result":7}', "[" * 100_000, ""],
    ids=["no result", "null", "list", "number", "deep", "empty"],
)
@pytest.mark.parametrize("only", ["^GET /$", "count", "PUT /collections/[^/]*$", "PUT .*points", "query", "GET .*ohr-"])
def test_an_answer_without_a_result_is_an_error(server, body, only):
    if "GET .*" in only:
        indexed(on(server), chunks(*TEXTS))
    said = failed(server, {}, number=9, status=200, text=body, only=only)
    assert said == f"retriever qdrant: {server.url} does not answer as Qdrant does"


def of_points(name):
    return lambda answered: [{"points": [{"id": name, "version": 0, "score": 1}]}] * len(answered)


ID = "5e0ae95c-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (of_points(ID), f"has the point {ID}, which is none of ohr's"),
        (of_points("text"), "has the point text, which is none of ohr's"),
        (lambda answered: [], "gave 0 rankings of 2"),
        (lambda answered: answered[:1], "gave 1 rankings of 2"),
        (lambda answered: (answered * 2)[:3], "gave 3 rankings of 2"),
        (lambda answered: [{"points": reply["points"][:1]} for reply in answered], "gave 1 hits where 6 are there"),
    ],
)
def test_hits_that_cannot_be_are_an_error(server, change, message):
    index, answer = indexed(on(server), chunks(*TEXTS)), server.answer
    server.answer = lambda method, path, body: (
        change(answer(method, path, body)) if "query" in path else answer(method, path, body)
    )
    with pytest.raises(PluginError, match=message):
        index.search(QUERIES[:2], 3)


@pytest.mark.parametrize("damage", ["cut", "shape", "points", "blob"])
def test_a_damaged_folder_is_named(tmp_path, damage):
    folder = tmp_path / "folder"
    retriever = Qdrant(path=folder, embedder=Letters(), timeout=0.1)
    index = indexed(retriever, chunks(*TEXTS))
    (file,) = folder.rglob("*.sqlite")
    if damage == "points":
        file.write_bytes(b"not a database" * 99)
    elif damage == "blob":
        with sqlite3.connect(file) as points:
            points.execute("UPDATE points SET point = ?", (b"no pickle",))
    else:
        (folder / "meta.json").write_text({"cut": '{"collections": ', "shape": "[]"}[damage])
    with pytest.raises(PluginError, match=f"the folder {folder} is damaged, .*: name another one, or remove"):
        index.search(QUERIES, 3)


def test_equal_chunks_at_several_places_keep_their_order_for_many_questions(server):
    random = np.random.default_rng(5)
    texts = [f"text {number}" for number in random.integers(0, 30, 300)]
    questions = [f"text {number}" for number in range(64)]
    exact = search_vectors(Letters().index(chunks(*texts)), Letters().embed_queries(questions), 20)
    for retriever in (on(server, batch_size=100), Qdrant(path=":memory:", embedder=Letters())):
        for ranking, hits in zip(indexed(retriever, chunks(*texts)).search(questions, 20), exact, strict=True):
            assert [hit.score for hit in ranking] == pytest.approx([hit.score for hit in hits], abs=1e-6)
            scores: dict[str, set[float]] = {}
            places: dict[str, list[int]] = {}
            for hit in ranking:
                scores.setdefault(texts[hit.place], set()).add(hit.score)
                places.setdefault(texts[hit.place], []).append(hit.place)
            assert all(len(each) == 1 for each in scores.values())
            for text, some in places.items():
                assert some == [place for place, each in enumerate(texts) if each == text][: len(some)]


def test_recall_of_a_graph_is_measured(server):
    index, answer = indexed(on(server, exact=False), chunks(*TEXTS)), server.answer
    assert index.index.notes == ["Qdrant's graph is approximate: recall@10 1.000 against exact search"]

    def forget(method, path, body):
        """Leave out the best point of a search in the graph, and repeat the worst in its place."""
        if "query" not in path or body["searches"][0]["params"].get("exact"):
            return answer(method, path, body)
        return [{"points": reply["points"][1:]} for reply in answer(method, path, _more(body))]

    def _more(body):
        return {"searches": [{**search, "limit": search["limit"] + 1} for search in body["searches"]]}

    server.answer = forget
    server.restart()
    texts = [f"number {place}" for place in range(40)]
    (note,) = indexed(on(server, exact=False, batch_size=100), chunks(*texts)).index.notes
    assert note == "Qdrant's graph is approximate: recall@10 0.900 against exact search"


def test_the_embedded_engine_has_no_graph(tmp_path):
    index = indexed(Qdrant(path=tmp_path / "folder", embedder=Letters(), exact=False), chunks(*TEXTS)).index
    assert index.notes == ["the embedded engine has no graph: the search is exact"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # the client leaves a file open
def test_a_folder_in_use_is_waited_for(tmp_path):
    from qdrant_client import QdrantClient

    holder = QdrantClient(path=str(tmp_path / "folder"))
    threading.Timer(0.3, holder.close).start()
    index = indexed(Qdrant(path=tmp_path / "folder", embedder=Letters()), chunks(*TEXTS))
    assert index.search(["Rain"], 1)[0][0].place == 4
    holder = QdrantClient(path=str(tmp_path / "folder"))
    with pytest.raises(PluginError, match=r"another process uses the folder .* for 0.2 s"):
        Qdrant(path=tmp_path / "folder", embedder=Letters(), timeout=0.2).search(index.index, ["Rain"], 1)
    holder.close()


def test_where_a_collection_is_does_not_decide_the_results():
    there, here = Qdrant(url="http://127.0.0.1:9"), Qdrant(path=":memory:", batch_size=1)
    assert identity(there) == identity(here)
    assert identity(here) != identity(Qdrant(path=":memory:", embedder={"kind": "dense", "max_tokens": 9}))
    assert identity(here) != identity(Qdrant(path=":memory:", exact=False))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "needs `url`, the address of a server, or `path`"),
        ({"url": "http://a", "path": "b"}, "has both `url`, .* and `path`, .*: give one, not both"),
        ({"url": "http://[::1"}, "is no address of a server"),
        ({"url": "http://a:99999"}, "is no address of a server, .*0-65535"),
        ({"url": "http://a:abc"}, "is no address of a server"),
        ({"url": "http://a:0"}, "is no address of a server"),
        ({"url": "http://:80"}, "is no address of a server"),
        ({"path": "b", "m": 8}, "`m` would not count: `exact: true` builds and searches no graph"),
        ({"path": "b", "ef": 9, "ef_construct": 9}, "`ef_construct` and `ef` would not count"),
        ({"path": "b", "api_key_env": "A_API_KEY"}, "`api_key_env` belongs to a server"),
        ({"path": "b", "embedder": {"kind": "bm25"}}, "must be a retriever that embeds, dense or mteb, and not bm25"),
        ({"path": "b", "embedder": {"kind": "dense", "index_type": "hnsw"}}, "set `exact: false` of qdrant itself"),
        ({"url": "ftp://a"}, "should match pattern"),
        ({"path": "b", "prefix": "a/b"}, "should match pattern"),
    ],
)
def test_fields_that_do_not_fit_are_errors(fields, message):
    with pytest.raises(ValidationError, match=message):
        Qdrant(**fields)


def test_vectors_that_are_not_finite_are_an_error(monkeypatch):
    broken = np.full((2, 4), np.nan, dtype=np.float32)
    monkeypatch.setattr(Dense, "vectors", lambda self, chunks: (broken, ()))
    with pytest.raises(PluginError, match="the model gave NaN or infinity for 2 of 2 chunks"):
        Qdrant(path=":memory:").index_passages(chunks("a", "b"), ())
