"""Edit distance of two ordered trees whose nodes cost 1 to insert or to delete (Zhang and Shasha, 1989)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Tree:
    """An ordered tree, its nodes in postorder.

    Attributes:
        labels: The number of each node's label, shape (nodes,).
        first: The node that comes first in the subtree of each node, its leftmost leaf, shape (nodes,).
    """

    labels: Indices
    first: Indices

    @property
    def sizes(self) -> Indices:
        """Number of nodes in the subtree of each node, shape (nodes,)."""
        return np.arange(len(self.first)) - self.first + 1

    @property
    def highest(self) -> Indices:
        """Highest node that begins with each leaf, -1 for nodes that are no leaves, shape (nodes,)."""
        highest = np.full(len(self.first), -1)
        highest[self.first] = np.arange(len(self.first))
        return highest

    @property
    def inner_keyroots(self) -> Indices:
        """Nodes with children that are the highest of those with their leftmost leaf, in postorder."""
        keyroots = np.sort(self.highest[self.highest >= 0])
        return keyroots[self.first[keyroots] < keyroots]


def tree_distance(left: Tree, right: Tree, cost_row: Callable[[int], Array]) -> float:
    """Return the least cost of edits that turn one tree into the other.

    The published algorithm visits each pair of subtrees that begin with different leaves. Most of those are pairs of
    cells: where one tree is a leaf, the distance is known at once, as all nodes of the other are inserted but the one
    that costs least to rename. The others are visited for all subtrees of the right tree at the same time.

    Args:
        left: Best the smaller one: there is a step in Python for each of its nodes and levels.
        right: The other tree.
        cost_row: Gives for a label of the left tree the costs, from 0 to 1, of renaming it to each label of the right.
    """
    if len(left.first) == 1 or len(right.first) == 1:
        least = min(float(cost_row(label)[right.labels].min()) for label in np.unique(left.labels))
        return max(len(left.first), len(right.first)) - 1 + least
    return _Distances(left, right, cost_row).of_roots()


class _Columns:
    """Subtrees of the right tree that do not hold each other, side by side; before each a column for no node at all."""

    def __init__(self, tree: Tree, roots: Indices, drop: float) -> None:
        widths = tree.sizes[roots] + 1
        self.heads = np.cumsum(widths) - widths
        self.within = np.arange(int(widths.sum())) - np.repeat(self.heads, widths)
        first = np.repeat(tree.first[roots], widths)
        self.nodes = np.maximum(first + self.within - 1, 0)
        # the column before a node's subtree; that of a head is never used, and must only exist
        self.before = np.maximum(np.arange(len(self.nodes)) - tree.sizes[self.nodes], 0)
        self.on_path = np.flatnonzero((tree.first[self.nodes] == first) & (self.within > 0))
        self.path_nodes = self.nodes[self.on_path]
        # taken off before a running minimum: insertions cost 1, and each subtree is set far below the one before,
        # so that the minimum begins again
        self.tilt = self.within + np.repeat(np.arange(len(roots)), widths) * drop


class _Distances:
    def __init__(self, left: Tree, right: Tree, cost_row: Callable[[int], Array]) -> None:
        self.left, self.right, self.cost_row = left, right, cost_row
        self.left_sizes, self.right_sizes = left.sizes, right.sizes
        self.left_highest, self.keyroots = left.highest, left.inner_keyroots
        drop = 2.0 * (len(left.first) + len(right.first) + 2)
        self.groups = [_Columns(right, roots, drop) for roots in _levels(right)]
        self.inner = np.flatnonzero(self.right_sizes > 1)
        self.spans = np.column_stack((right.first[self.inner], self.inner + 1)).ravel()
        self.subtrees: dict[int, Array] = {}  # inner node of the left tree -> distances to all subtrees of the right

    def of_roots(self) -> float:
        """Visit the subtrees of the left tree, smaller ones first."""
        for root in self.keyroots:
            self._visit(int(root))
        return float(self.subtrees[len(self.left.first) - 1][-1])

    def _visit(self, root: int) -> None:
        start = int(self.left.first[root])
        rows = [columns.within.astype(np.float64) for columns in self.groups]
        kept = {start - 1: rows}  # by the last node of the forest, as long as a subtree that begins after it is to come
        least = np.full(len(self.right.first), np.inf)
        for node in range(start, root + 1):
            costs = self.cost_row(int(self.left.labels[node]))[self.right.labels]
            first = int(self.left.first[node])
            np.minimum(least, costs, out=least)
            distances = self._to_subtrees(node, costs, least)
            rows = list(rows)
            for number, columns in enumerate(self.groups):
                row = kept[first - 1][number][columns.before] + distances[columns.nodes]
                if first == start:
                    row[columns.on_path] = rows[number][columns.on_path - 1] + costs[columns.path_nodes]
                np.minimum(row, rows[number] + 1, out=row)
                row[columns.heads] = node - start + 1
                rows[number] = np.minimum.accumulate(row - columns.tilt) + columns.tilt
                if first == start:
                    distances[columns.path_nodes] = rows[number][columns.on_path]
            if first == start < node:
                self.subtrees[node] = distances
            if node == self.left_highest[first]:
                del kept[first - 1]
            if node < root and self.left_highest[node + 1] >= 0:
                kept[node] = rows

    def _to_subtrees(self, node: int, costs: Array, least: Array) -> Array:
        """Return the distances from a left subtree to those of the right, as far as they are known."""
        if node in self.subtrees:
            return self.subtrees[node]
        if self.left_sizes[node] > 1:  # to the leaves; `least` has seen this subtree and nothing else
            return least + float(self.left_sizes[node] - 1)
        distances = costs.copy()
        cheapest = np.minimum.reduceat(np.append(costs, np.inf), self.spans)[::2]
        distances[self.inner] = self.right_sizes[self.inner] - 1 + cheapest
        return distances


def _levels(tree: Tree) -> Iterator[Indices]:
    """Group the inner keyroots so that each comes after those in its subtree."""
    keyroots = tree.inner_keyroots
    heights: list[int] = []
    open_: list[int] = []  # positions in keyroots of subtrees that no later one holds yet
    for position, root in enumerate(keyroots):
        height = 0
        while open_ and keyroots[open_[-1]] >= tree.first[root]:
            height = max(height, heights[open_.pop()] + 1)
        heights.append(height)
        open_.append(position)
    for height in range(max(heights) + 1):
        yield keyroots[np.flatnonzero(np.array(heights) == height)]


def postorder(children: Sequence[int], labels: Sequence[int]) -> Tree:
    """Make a tree of the number of children and the label of each node, in postorder."""
    pending: list[int] = []  # first leaves of subtrees without a parent yet
    first = []
    for node, count in enumerate(children):
        leaf = pending[-count] if count else node
        if count:
            del pending[-count:]
        pending.append(leaf)
        first.append(leaf)
    return Tree(np.array(labels, dtype=np.intp), np.array(first, dtype=np.intp))
