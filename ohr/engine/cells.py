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


def searches(spec: Spec) -> list[tuple[KnowledgeBase, Named[Chunker], Named[Retriever]]]:
    """List what is indexed and searched; empty when no stage retrieves."""
    if not {"retrieval", "overall"} & set(spec.evaluate):
        return []
    return [
        (base, replace(chunker, stage=chunker.stage.for_base(base.name)), retriever)
        for base in spec.knowledge_bases
        for chunker in spec.chunkers
        for retriever in spec.retrievers
        if base.retrievers is None or retriever.name in base.retrievers
    ]
