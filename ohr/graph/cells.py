"""The cells of a run: every combination that its stages of evaluation need."""

from dataclasses import dataclass, replace

from ohr.contracts import Chunker, Generator, Retriever
from ohr.spec.model import KnowledgeBase, Named, Spec


@dataclass(frozen=True, slots=True)
class Cell:
    """One knowledge base x chunker x retriever x generator x stage; None where the stage does not use one."""

    stage: str
    base: KnowledgeBase
    chunker: Named[Chunker] | None = None
    retriever: Named[Retriever] | None = None
    generator: Named[Generator] | None = None

    @property
    def label(self) -> str:
        """The parts' names, for people."""
        parts = [item.name for item in (self.chunker, self.retriever, self.generator) if item is not None]
        return " / ".join([self.stage, self.base.name, *parts])


def cells(spec: Spec) -> list[Cell]:
    """List a spec's cells, stage by stage and in the order of its file."""
    found = [Cell("page", base) for base in spec.knowledge_bases]
    if "retrieval" in spec.evaluate:
        found += [Cell("retrieval", base, chunker, retriever) for base, chunker, retriever in searches(spec)]
    if "generation" in spec.evaluate:
        found += [Cell("generation", b, generator=g) for b in spec.knowledge_bases for g in spec.generators]
    if "overall" in spec.evaluate:
        found += [Cell("overall", b, c, r, g) for b, c, r in searches(spec) for g in spec.generators]
    return found


Search = tuple[KnowledgeBase, Named[Chunker] | None, Named[Retriever]]
"""A knowledge base, its chunker and its retriever; without a chunker where the chunks are pages."""


def searches(spec: Spec) -> list[Search]:
    """List the searches; empty when no stage retrieves."""
    if not {"retrieval", "overall"} & set(spec.evaluate):
        return []
    found: list[Search] = []
    for base in spec.knowledge_bases:
        used = [named for named in spec.retrievers if base.retrievers is None or named.name in base.retrievers]
        for chunker in spec.chunkers:
            own = replace(chunker, stage=chunker.stage.for_base(base.name))
            found += [(base, own, retriever) for retriever in used if not retriever.stage.reads_images]
        found += [(base, None, retriever) for retriever in used if retriever.stage.reads_images]
    return found


def search_place(search: Search) -> tuple[str, str, str]:
    """Name a search: base, chunker, retriever; "" where there is none."""
    base, chunker, retriever = search
    return base.name, chunker.name if chunker else "", retriever.name
