"""Tree edit distance similarity of two tables, as PubTabNet defines it (Zhong et al., 2020, arXiv 1911.10683)."""

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from ohr.extras import load

from .tree_distance import Array, postorder, tree_distance

_SURROGATES = re.compile("[\ud800-\udfff]")
_CACHED_COSTS = 40_000_000
"""Costs of renaming that are kept, 320 MB of them; those of tables with more distinct cells are computed repeatedly."""


def teds(prediction_html: str, truth_html: str, *, structure_only: bool = False) -> float:
    """Return the tree edit distance similarity of the first table of each text, raw: nothing is normalized.

    It is 1 - (edit distance of the trees) / (elements below the larger `<table>`). To insert or delete a node costs 1;
    to rename it 1, or between `<td>` with equal spans the normalized edit distance of their content, in which a tag is
    one character. Equal to PubTabNet's `metric.py`, also in that `<th>` is no cell, that elements within a cell count
    in the divisor only, and that two tables that differ much have a negative similarity.

    Args:
        prediction_html: HTML with or without `<body>`. The published code wants `<body>` and gives 0 without.
        truth_html: The same.
        structure_only: Compare no content of cells (TEDS-S).

    Returns:
        At most 1, maybe negative; 0 if either has no table; nan where the published code stops with an error: two
        tables without an element, or a span that is no whole number.
    """
    tables = [_first_table(text) for text in (prediction_html, truth_html)]
    if any(table is None for table in tables):
        return 0.0
    elements = max(sum(1 for _ in table.iterdescendants("*")) for table in tables)
    try:
        small, large = sorted((_nodes(table, structure_only) for table in tables), key=len)
    except ValueError:
        return float("nan")
    return 1.0 - _distance(small, large) / elements if elements else float("nan")


class _Node(NamedTuple):
    """A node of a table's tree, in postorder; spans and content are those of `<td>`."""

    tag: str
    children: int
    spans: tuple[int, int] = (0, 0)
    content: tuple[str, ...] = ()


def _first_table(text: str) -> Any:
    html = load("lxml.html", "parse_scores")
    # encoding: as published; it decides how bytes would be read, and what a <meta charset> cannot change
    parser = html.HTMLParser(remove_comments=True, encoding="utf-8")
    text = _SURROGATES.sub("\ufffd", text)
    return next(
        iter(html.document_fromstring(f"<html><body>{text}</body></html>", parser=parser).xpath("body/table")), None
    )


def _nodes(table: Any, structure_only: bool) -> list[_Node]:
    walker = load("lxml.etree", "parse_scores").iterwalk(table, events=("start", "end", "pi"))
    nodes = []
    children = [0]
    for event, element in walker:
        if event == "start":
            children.append(0)
            if element.tag == "td":
                walker.skip_subtree()
            continue
        count = children.pop() if event == "end" else 0
        children[-1] += 1
        if element.tag == "td":
            spans = (int(element.get("colspan", "1")), int(element.get("rowspan", "1")))
            nodes.append(_Node("td", 0, spans, () if structure_only else tuple(_tokens(element))[1:-1]))
        else:
            nodes.append(_Node(element.tag if event == "end" else "<?", count))
    return nodes


def _tokens(cell: Any) -> list[str]:
    """Cut a cell into characters and tags; the definition leaves out the end of `unk` and the text after a `td`."""
    tokens: list[str] = []
    for event, element in load("lxml.etree", "parse_scores").iterwalk(cell, events=("start", "end", "pi")):
        tag = "<?" if event == "pi" else element.tag
        if event != "end":
            tokens.append(f"<{tag}>")
            tokens.extend(element.text or "")
        if event != "start":
            if tag != "unk":
                tokens.append(f"</{tag}>")
            if tag != "td":
                tokens.extend(element.tail or "")
    return tokens


def _distance(left: Sequence[_Node], right: Sequence[_Node]) -> float:
    trees, kinds = [], []
    for nodes in (left, right):
        numbers: dict[_Node, int] = {}
        labels = [numbers.setdefault(node._replace(children=0), len(numbers)) for node in nodes]
        trees.append(postorder([node.children for node in nodes], labels))
        kinds.append(list(numbers))
    return tree_distance(trees[0], trees[1], _cost_row(kinds[0], kinds[1]))


def _cost_row(left: Sequence[_Node], right: Sequence[_Node]) -> Callable[[int], Array]:
    """Return what gives the costs of renaming a kind of node to each kind of the right table, shape (kinds,)."""
    signs: dict[str, str] = {}
    same_shape = defaultdict(list)
    for number, node in enumerate(right):
        same_shape[node.tag, node.spans].append((number, _signed(node, signs)))
    comparable = {
        shape: ([number for number, _ in kinds], [text for _, text in kinds]) for shape, kinds in same_shape.items()
    }

    @lru_cache(maxsize=max(1, _CACHED_COSTS // len(right)))
    def cost_row(kind: int) -> Array:
        node = left[kind]
        costs = np.ones(len(right))
        numbers, texts = comparable.get((node.tag, node.spans), ([], []))
        if numbers:
            text = _signed(node, signs)
            costs[numbers] = cdist([text], texts, scorer=Levenshtein.normalized_distance, dtype=np.float64)
        return costs

    return cost_row


def _signed(node: _Node, signs: dict[str, str]) -> str:
    """Write each token, also a tag, as one character."""
    return "".join(signs.setdefault(token, chr(len(signs))) for token in node.content)
