"""Which topics are about one document, where nobody says: those that share a relevant one."""

import re
from collections.abc import Sequence

import numpy as np

from ohr.files.trec import Judgments
from ohr.messages.wording import counted
from ohr.statistics.clusters import Clusters

_PART = re.compile(r"#[\d_]+$")
"""A page or a passage of a document, as ohr (`document#3`) and MS MARCO (`document#0_17`) write it."""

ALONE = "each topic counts by itself: where several are about one document, intervals are too short and p too small"
"""The note where nothing says which topics are about one document."""


def shared_documents(topics: Sequence[str], judgments: Judgments) -> tuple[Clusters, str, list[str]]:
    """Group topics that share a relevant document, also through others.

    Pages and passages count as their document. A topic without a relevant document is by itself.

    Args:
        topics: of the judgments.
        judgments: the grades.

    Returns:
        The groups; `document`, or `topic` where each is by itself; and what to know of them.

    Edge cases: where most topics are of one group, and fewer than half of these share any one document, as where topics
    have many relevant documents, the group says nothing of documents: each topic is by itself, with a note.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    about = [
        {_PART.sub("", document) for document, grade in judgments.grades[topic].items() if grade > 0}
        for topic in topics
    ]
    codes = {document: code for code, document in enumerate(sorted(set().union(*about)), start=len(topics))}
    ends = [(place, codes[document]) for place, documents in enumerate(about) for document in documents]
    row, column = np.array(ends, dtype=np.intp).reshape(-1, 2).T
    size = len(topics) + len(codes)
    groups = connected_components(coo_array((np.ones(len(row)), (row, column)), shape=(size, size)), directed=False)[1]
    clusters = Clusters.of(groups[: len(topics)])
    if len(clusters.counts) == len(topics):
        return clusters, "topic", [f"{ALONE}; --clusters FILE says which are"]
    largest, together = clusters.counts.max(), np.bincount(column).max()
    if largest > len(topics) / 2 and together < largest / 2:
        chained = f"{counted(len(topics), 'topic')} share relevant documents so that no groups of them are apart"
        return Clusters.of(topics), "topic", [f"{chained}; {ALONE}; --clusters FILE says which are"]
    made = "topics that share a relevant document count as questions about one document"
    return clusters, "document", [f"{made}; --clusters FILE says it otherwise"]
