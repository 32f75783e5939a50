"""The questions of a run as arrays, and how they are divided into groups and share documents."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ohr.contracts import SOURCES, Question
from ohr.results.folder.manifest_choices import Strata
from ohr.results.run import Run
from ohr.results.tables.groups import ATTRIBUTES, GROUPS
from ohr.results.tables.read_table import plain
from ohr.statistics.clusters import Clusters
from ohr.statistics.estimate import NO_INTERVAL

Flags = NDArray[np.bool_]
Places = NDArray[np.intp]

CLEAN_TEXT = "clean_text"
"""The trait `yes` or `no`, where some questions have clean text and others none."""


@dataclass(frozen=True)
class Part:
    """Some of a run's questions.

    Args:
        places: (n,) among all questions.
        clusters: how they share documents and, where these are fixed strata, domains.
        by_domain: how they share documents and domains, whatever the strata.
        left_out: questions of the same group that do not count.
    """

    places: Places
    clusters: Clusters
    by_domain: Clusters
    left_out: int = 0

    @property
    def domains(self) -> Places:
        """(n,) code of each one's domain."""
        return self.by_domain.strata[self.by_domain.documents]


@dataclass(frozen=True)
class Questions:
    """The questions of a run, as columns with one value per question.

    Args:
        traits: by name: TRAITS, then the groups of the benchmark's own; empty where a question has none.
        clean_text: whether the ground truth has any text on the question's pages.
        compared: the scores are compared with clean text: a question without any is in no mean and no pair.
        strata: whether domains are fixed strata, as the spec chose.
    """

    ids: tuple[str, ...]
    documents: NDArray[np.str_]
    traits: Mapping[str, NDArray[np.str_]]
    clean_text: Flags
    strata: Strata = "auto"
    compared: bool = False

    @classmethod
    def of(cls, asked: Sequence[Question], without_text: Collection[str] = ()) -> Self:
        """Take the questions of a benchmark, of which some have no clean text."""
        columns = {name: [getattr(question, name) for question in asked] for name in ATTRIBUTES}
        made = cls._made([q.id for q in asked], [q.document for q in asked], [len(q.grades) for q in asked], columns)
        made = replace(made, clean_text=np.array([question.id not in without_text for question in asked], bool))
        return made._grouped([dict(question.groups) for question in asked])

    @classmethod
    def read(cls, run: Run) -> Self:
        """Read the questions of a run.

        Raises:
            DataError: the table is missing or damaged.
        """
        import pyarrow.compute as pc

        names = ["question_id", "document", "clean_text", "groups", *ATTRIBUTES]
        table = plain(run.table("questions", [*names, "pages", "relevant"]))
        columns = {name: table[name].to_pylist() for name in names}
        groups = [dict(pair.partition("=")[::2] for pair in pairs) for pairs in columns.pop("groups")]
        judged = table["relevant"].to_pylist()
        relevant = [sum(page["grade"] > 0 for page in pages) for pages in judged]
        pages = list(map(max, relevant, pc.list_value_length(table["pages"]).to_pylist()))
        made = cls._made(columns.pop("question_id"), columns.pop("document"), pages, columns)
        made = replace(made, clean_text=np.array(columns["clean_text"], bool), strata=run.choices.strata)
        return made._grouped(groups)

    def _grouped(self, groups: Sequence[Mapping[str, str]]) -> Self:
        """Add groups of the benchmark's own to the traits, "" where a question has none; and CLEAN_TEXT where mixed."""
        names = dict.fromkeys(name for one in groups for name in one)
        own = {name: np.array([one.get(name, "") for one in groups], dtype=str) for name in names}
        if not self.clean_text.all():
            own[CLEAN_TEXT] = np.where(self.clean_text, "yes", "no")
        return replace(self, traits={**self.traits, **own})

    @classmethod
    def _made(
        cls, ids: Sequence[str], documents: Sequence[str], pages: Sequence[int], columns: Mapping[str, Sequence[str]]
    ) -> Self:
        traits = {name: np.array(columns[name], dtype=str) for name in ATTRIBUTES}
        spans = ["multi-page" if count > 1 else "single-page" for count in pages]
        traits["pages"] = np.array(spans, dtype=str)
        return cls(tuple(ids), np.array(documents, dtype=str), traits, np.ones(len(ids), bool))

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The place of each question."""
        return {name: place for place, name in enumerate(self.ids)}

    def groups(self, trait: str) -> list[str]:
        """List the values of a trait: evidence sources as the papers do, everything else by name."""
        order = {source: place for place, source in enumerate(SOURCES)}
        return sorted(set(self.traits[trait].tolist()) - {""}, key=lambda name: (order.get(name, len(order)), name))

    @cached_property
    def _parts(self) -> dict[tuple[str, str], Part]:
        return {}

    def part(self, trait: str, group: str) -> Part:
        """Choose the questions of a group: one value of a trait or, of evidence sources, one of GROUPS.

        Every mean and every pair is over such a part. Those that do not count are in none but CLEAN_TEXT's own.
        """
        known = self._parts
        if (trait, group) not in known:
            held = self.traits[trait]
            if trait == "evidence_source" and group in GROUPS:
                belongs = [source for source in self.groups(trait) if GROUPS[group](source)]
                chosen = np.isin(held, belongs)
            else:
                chosen = held == group
            counted = chosen & (self.counted | (trait == CLEAN_TEXT))
            left_out = int(chosen.sum() - counted.sum())
            known[trait, group] = replace(self.among(np.flatnonzero(counted)), left_out=left_out)
        return known[trait, group]

    @property
    def counted(self) -> Flags:
        """Whether each question counts: all do, but beside clean text those that have none."""
        return self.clean_text | (not self.compared)

    def among(self, places: Places) -> Part:
        """Choose questions by their places."""
        documents, domains = self.documents[places], self.traits["domain"][places]
        fixed = self.strata == "domain" or (self.strata == "auto" and _are_strata(documents, domains))
        by_domain = Clusters.of(documents, domains)
        return Part(places, by_domain if fixed else Clusters.of(documents), by_domain)


def _are_strata(documents: NDArray[np.str_], domains: NDArray[np.str_]) -> bool:
    """Report whether domains are fixed strata: each must have documents enough to know its own variance.

    With two documents a domain has one degree of freedom: intervals of mini's sources came out wider than [0, 1].
    """
    _, first = np.unique(documents, return_index=True)
    counts = np.unique(domains[first], return_counts=True)[1]
    return bool(counts.size) and int(counts.min()) >= NO_INTERVAL
