"""OHRBench's retrieval evaluation written as its public code is: plain strings and loops, nothing cached.

The oracle of the tests and the peer of `speed/ohrbench_retrieval.py`. BM25 is the library that the published
code uses, rank-bm25; tokens are counted by tiktoken.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from nltk.stem import PorterStemmer
from nltk.tokenize import PunktSentenceTokenizer
from rank_bm25 import BM25Okapi

from ohr.text.tokens import encoding
from ohr.text.words import normalise


@dataclass(frozen=True)
class Node:
    file: str
    page: int
    text: str


def read_nodes(root: Path, base: str, domain: str, size: int = 1024) -> list[Node]:
    nodes = []
    for path in sorted((root / "retrieval_base" / base / domain).rglob("*.json")):
        for entry in json.loads(path.read_text(encoding="utf-8")):
            page = entry["page_idx"] if "page_idx" in entry else entry["page_no"]
            label = f"page_idx: {page}\nfile_path: data/retrieval_base/{base}/{domain}/{path.name}"
            nodes += [Node(path.stem, page, text) for text in split_page(entry["text"], size - count(label))]
    return nodes


def count(text: str) -> int:
    return len(encoding().encode(text, allowed_special="all"))


def split_page(text: str, size: int) -> list[str]:
    if text == "":
        return [text]
    chunks, current, length = [], [], 0
    for piece in pieces(text, size):
        tokens = count(piece)
        if current and length + tokens > size:
            chunks.append("".join(current))
            current, length = [], 0
        current.append(piece)
        length += tokens
    chunks.append("".join(current))
    return [chunk.strip() for chunk in chunks if chunk.strip()]


def pieces(text: str, size: int) -> list[str]:
    if count(text) <= size:
        return [text]
    parts = [text]
    for cut in (keeping("\n\n\n"), sentences, clauses, keeping(" "), list):
        parts = cut(text)
        if len(parts) > 1:
            break
    return [piece for part in parts for piece in pieces(part, size)]


def keeping(separator: str):
    def cut(text: str) -> list[str]:
        parts = text.split(separator)
        return [part for part in [parts[0], *(separator + part for part in parts[1:])] if part]

    return cut


def sentences(text: str) -> list[str]:
    starts = [start for start, _ in PunktSentenceTokenizer().span_tokenize(text)]
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=False)]


def clauses(text: str) -> list[str]:
    return re.findall("[^,.;。？！]+[,.;。？！]?", text)


def tokenise(text: str, stopwords: frozenset[str]) -> list[str]:
    stemmer = PorterStemmer()
    found = [word for word in re.findall(r"\w+", text.lower()) if word not in stopwords]
    return [stemmer.stem(word) for word in dict.fromkeys(found)]


def rank(bm25: BM25Okapi, query: list[str], k: int) -> list[int]:
    scores = bm25.get_scores(query)
    return sorted(range(len(scores)), key=lambda place: scores[place], reverse=True)[:k]


def lcs_length(one: list[str], other: list[str]) -> int:
    table = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, word in enumerate(one):
        for j, against in enumerate(other):
            same = table[i][j] + 1
            table[i + 1][j + 1] = same if word == against else max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


def score(question: dict, found: list[Node]) -> float:
    pages, evidence = question["evidence_page_no"], question["evidence_context"]
    pages = pages if isinstance(pages, list) else [pages]
    evidence = "\n".join(evidence) if isinstance(evidence, list) else evidence
    name = question["doc_name"].split("/", 1)[1]
    own = [node.text for node in found if node.file == name and node.page in pages]
    if not own:
        return 0.0
    retrieved, wanted = normalise("\n\n".join(own)).split(), normalise(evidence).split()
    return lcs_length(retrieved, wanted) / len(wanted)
