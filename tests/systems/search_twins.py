"""Twins of search services: each takes the requests that its product's reference describes, and refuses all others.

Their score is a BM25 of their own: what is tested is the exchange, not the ranking.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import log
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ..conftest import serving

Reply = tuple[int, Any]


class Refused(Exception):
    """A request that the product would refuse: its status and its body."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status)
        self.status, self.body = status, body


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def bm25(texts: list[str], query: str, most: int) -> list[tuple[int, float]]:
    """Return the places and scores of the best texts; those without a word of the query are none."""
    pages = [words(text) for text in texts]
    mean = sum(map(len, pages)) / max(len(pages), 1) or 1
    scores = []
    for place, page in enumerate(pages):
        score = 0.0
        for word in {*words(query)}:
            count, having = page.count(word), sum(word in each for each in pages)
            idf = log(1 + (len(pages) - having + 0.5) / (having + 0.5))
            score += idf * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * len(page) / mean))
        scores.append((place, score))
    return sorted([each for each in scores if each[1] > 0], key=lambda each: -each[1])[:most]


def only(given: Any, *names: str) -> Any:
    """Return a mapping that has these keys and no other."""
    if not isinstance(given, dict) or {*given} != {*names}:
        raise Refused(400, {"error": {"message": f"want {names}, got {given}", "reason": "parsing_exception"}})
    return given


class Twin:
    """A product with its indexes; `faults` are texts of documents that it does not take."""

    def __init__(self) -> None:
        self.indexes: dict[str, list[dict[str, Any]]] = {}
        self.faults: list[str] = []

    def reply(self, method: str, path: str, query: dict[str, str], kind: str, sent: bytes) -> Reply:
        raise NotImplementedError

    def index(self, name: str) -> list[dict[str, Any]]:
        if name not in self.indexes:
            raise Refused(404, {"error": {"message": f"no such index [{name}]"}})
        return self.indexes[name]

    def searched(self, documents: list[dict[str, Any]], query: str, most: int) -> list[tuple[dict[str, Any], float]]:
        return [(documents[place], score) for place, score in bm25([each["text"] for each in documents], query, most)]

    def parsed(self, kind: str, sent: bytes) -> Any:
        if kind != "application/json":
            raise Refused(415, {"error": {"message": f"Content-Type {kind} is not supported"}})
        return json.loads(sent)


class OpenSearch(Twin):
    def reply(self, method, path, query, kind, sent):
        name, _, verb = path.strip("/").partition("/")
        match method, verb:
            case "PUT", "":
                if name != name.lower() or re.search(r'[\\/*?"<>| ,#:]|^[-_+]', name):
                    raise Refused(400, {"error": {"type": "invalid_index_name_exception"}})
                properties = only(only(self.parsed(kind, sent), "mappings")["mappings"], "properties")["properties"]
                assert properties["text"] == {"type": "text"}
                self.indexes[name] = []
                return 200, {"acknowledged": True, "shards_acknowledged": True, "index": name}
            case "POST", "_bulk":
                return self.bulk(name, query, kind, sent.decode())
            case "POST", "_search":
                asked = only(self.parsed(kind, sent), "query", "size")
                text = only(only(asked["query"], "match")["match"], "text")["text"]
                pages_found = self.searched(self.index(name), text, asked["size"])
                hits = [{"_index": name, "_id": "x", "_score": score, "_source": page} for page, score in pages_found]
                total = {"value": len(hits), "relation": "eq"}
                shards = {"total": 1, "successful": 1, "skipped": 0, "failed": 0}
                return 200, {
                    **{"took": 7, "timed_out": False, "_shards": shards},
                    "hits": {"total": total, "max_score": hits[0]["_score"] if hits else None, "hits": hits},
                }
        raise Refused(405, {"error": f"Incorrect HTTP method for uri [{path}]"})

    def bulk(self, name, query, kind, text):
        if kind != "application/x-ndjson" or not text.endswith("\n") or query != {"refresh": "true"}:
            raise Refused(406 if kind != "application/x-ndjson" else 400, {"error": {"type": "illegal_argument"}})
        lines = [json.loads(line) for line in text.removesuffix("\n").split("\n")]
        items = []
        for action, page in zip(lines[::2], lines[1::2], strict=True):
            assert action == {"index": {}}
            if page["text"] in self.faults:
                reason = {"type": "mapper_parsing_exception", "reason": "failed to parse field [text]"}
                items.append({"index": {"_index": name, "status": 400, "error": reason}})
            else:
                self.index(name).append(only(page, "text", "file"))
                items.append({"index": {"_index": name, "_id": str(len(items)), "status": 201, "result": "created"}})
        return 200, {"took": 3, "errors": any("error" in item["index"] for item in items), "items": items}


class AzureAiSearch(Twin):
    """Indexes a document only at the third look after it came."""

    looks = 0

    def reply(self, method, path, query, kind, sent):
        if query.pop("api-version", None) != "2024-07-01":
            raise Refused(400, {"error": {"code": "", "message": "Invalid or missing api-version"}})
        parts = path.strip("/").split("/")
        if (method, parts) == ("POST", ["indexes"]):
            asked = only(self.parsed(kind, sent), "name", "fields")
            if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,126}[a-z0-9])?", asked["name"]):
                raise Refused(400, {"error": {"message": "Invalid index name"}})
            assert [field["name"] for field in asked["fields"] if field.get("key")] == ["id"]
            self.indexes[asked["name"]], self.looks = [], 0
            return 201, {"@odata.context": "...", "name": asked["name"], "fields": asked["fields"]}
        documents = self.index(parts[1])
        match method, *parts[2:]:
            case "POST", "docs", "index":
                (page,) = only(self.parsed(kind, sent), "value")["value"]
                only(page, "@search.action", "id", "text", "file")
                if not re.fullmatch(r"[\w=-]+", page["id"]):
                    raise Refused(400, {"error": {"message": f"Invalid document key: {page['id']}"}})
                status = {"key": page["id"], "status": True, "errorMessage": None, "statusCode": 201}
                if page["text"] in self.faults:
                    status |= {"status": False, "errorMessage": "The index is full.", "statusCode": 422}
                    return 207, {"value": [status]}
                documents.append(page)
                return 200, {"value": [status]}
            case "GET", "docs":
                only(query, "search", "$filter")
                identifier = re.fullmatch(r"id eq '(\w+)'", query["$filter"])
                self.looks += 1
                there = [page for page in documents if identifier and page["id"] == identifier[1] and self.looks > 2]
                return 200, {"value": [{"@search.score": 1.0, **page} for page in there]}
            case "POST", "docs", "search":
                asked = only(self.parsed(kind, sent), "search", "searchMode", "queryType", "top", "select")
                pages_found = self.searched(documents, asked["search"], asked["top"])
                names = asked["select"].split(",")
                hits = [{"@search.score": score, **{name: page[name] for name in names}} for page, score in pages_found]
                return 200, {"@odata.context": "...", "value": hits}
        raise Refused(404, "")


class Weaviate(Twin):
    def reply(self, method, path, query, kind, sent):
        asked = self.parsed(kind, sent)
        if method == "POST" and path == "/v1/schema":
            only(asked, "class", "vectorizer", "properties")
            if not re.fullmatch(r"[A-Z][_0-9A-Za-z]*", asked["class"]):
                raise Refused(422, {"error": [{"message": f"'{asked['class']}' is not a valid class name"}]})
            self.indexes[asked["class"]] = []
            return 200, asked
        if method == "POST" and path == "/v1/objects":
            page = only(only(asked, "class", "properties")["properties"], "text", "file")
            if page["text"] in self.faults:
                raise Refused(422, {"error": [{"message": "invalid text property 'text'"}]})
            self.index(asked["class"]).append(page)
            return 200, {**asked, "id": "dd44bbee-ca5f-4db7-a412-5fc6a2300001"}
        if method == "POST" and (name := re.fullmatch(r"/v1/search/(\w+)/bm25", path)):
            only(asked, "query", "limit", "returnProperties", "returnMetadata")
            assert (asked["returnProperties"], asked["returnMetadata"]) == (["text", "file"], ["score"])
            pages_found = self.searched(self.index(name[1]), asked["query"], asked["limit"])
            hits = [{"id": "x", "properties": page, "metadata": {"score": score}} for page, score in pages_found]
            return 200, {"results": hits, "tookMs": 7}
        raise Refused(404, {"code": 404, "message": f"path {path} was not pages_found"})


class Vespa(Twin):
    """Has one schema, `page`, with the fields kb, file and text."""

    yql = (
        'select text, file from page where kb contains "%s" and '
        '({grammar: "weakAnd", defaultIndex: "text"}userInput(@q))'
    )

    def reply(self, method, path, query, kind, sent):
        asked = self.parsed(kind, sent)
        if method == "POST" and (place := re.fullmatch(r"/document/v1/ohr/page/docid/([\w-]+)", path)):
            fields = only(only(asked, "fields")["fields"], "kb", "file", "text")
            if fields["text"] in self.faults:
                raise Refused(507, {"pathId": path, "message": "disk is full"})
            self.indexes.setdefault("page", []).append(fields)
            return 200, {"pathId": path, "id": f"id:ohr:page::{place[1]}"}
        if method == "POST" and path == "/search/":
            only(asked, "yql", "q", "hits", "ranking", "timeout")
            kb = re.fullmatch(re.escape(self.yql).replace("%s", "(.*)"), asked["yql"])
            if not kb:
                raise Refused(400, {"root": {"errors": [{"code": 3, "message": "Illegal query"}]}})
            documents = [page for page in self.indexes.get("page", []) if page["kb"] == kb[1]]
            root: dict[str, Any] = {"id": "toplevel", "relevance": 1.0, "coverage": {"coverage": 100}}
            if pages_found := self.searched(documents, asked["q"], asked["hits"]):
                names = ("text", "file")
                root["children"] = [
                    {"id": "x", "relevance": score, "source": "c", "fields": {name: page[name] for name in names}}
                    for page, score in pages_found
                ]
            return 200, {"root": root}
        raise Refused(404, {"message": f"nothing at {path}"})


TWINS = {
    "opensearch": OpenSearch,
    "elasticsearch": OpenSearch,
    "azure_ai_search": AzureAiSearch,
    "weaviate": Weaviate,
    "vespa": Vespa,
}


@contextmanager
def twin_server(name: str) -> Iterator[tuple[Twin, str]]:
    """Serve a twin; yields it and its root."""
    twin = TWINS[name]()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: Any) -> None:
            pass

        def play(self) -> None:
            sent = self.rfile.read(int(self.headers.get("content-length", 0)))
            address = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(address.query).items()}
            kind = self.headers.get("content-type", "").partition(";")[0]
            try:
                if isinstance(twin, AzureAiSearch) and self.headers.get("api-key") != "azure-key":
                    raise Refused(403, {"error": {"message": "Access denied"}})
                status, body = twin.reply(self.command, unquote(address.path), query, kind, sent)
            except Refused as refused:
                status, body = refused.status, refused.body
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = play

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server, serving(server):
        yield twin, f"http://127.0.0.1:{server.server_port}"
