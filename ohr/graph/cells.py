"""The cells of a run: every combination that its stages of evaluation need."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ohr.contracts import Agent, AnyRetriever, Chunker, Generator, System
from ohr.messages.wording import named
from ohr.spec.model import KnowledgeBase, Named, Spec

Noisy = Literal["index", "reading"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One knowledge base x chunker x retriever x generator x stage; None where the stage does not use one.

    An agent is both: in the stage `retrieval` it is scored by the pages that it looked at, in `overall` by its answers.
    A system takes the place of an agent, and is scored by its contexts as a retriever is by its hits.
    """

    stage: str
    base: KnowledgeBase
    chunker: Named[Chunker] | None = None
    retriever: Named[AnyRetriever] | None = None
    generator: Named[Generator] | None = None
    swap: "Swap | None" = None
    agent: Named[Agent] | Named[System] | None = None

    @property
    def label(self) -> str:
        """The parts' names, for people."""
        parts = [item.name for item in (self.chunker, self.retriever, self.generator, self.agent) if item is not None]
        noisy = f" ({self.swap.noisy} only)" if self.swap else ""
        return " / ".join([self.stage, f"{self.base.name}{noisy}", *parts])

    @property
    def read(self) -> KnowledgeBase:
        """The knowledge base that is read: another one than is searched where texts are swapped."""
        return self.swap.clean if self.swap and self.swap.noisy == "index" else self.base


@dataclass(frozen=True, slots=True)
class Swap:
    """Two knowledge bases in one cell: one is searched, and the other one is read at the same places.

    Args:
        noisy: where the cell's own base is: as `index` it is searched and the clean one is read; as `reading` the
            clean one is searched.
        clean: its counterpart without noise.
    """

    noisy: Noisy
    clean: KnowledgeBase


def cells(spec: Spec) -> list[Cell]:
    """List a spec's cells, stage by stage and in the order of its file."""
    found = [Cell("page", base) for base in spec.knowledge_bases]
    if "retrieval" in spec.evaluate:
        found += [Cell("retrieval", base, chunker, retriever) for base, chunker, retriever in searches(spec)]
    if "generation" in spec.evaluate:
        found += [Cell("generation", b, generator=g) for b in spec.knowledge_bases for g in spec.generators]
    if "overall" in spec.evaluate:
        found += [Cell("overall", b, c, r, g) for b, c, r in searches(spec) for g in spec.generators]
    found += [cell for work in agent_work(spec) for cell in agent_cells(spec, work)]
    found += [cell for own in system_work(spec) for cell in agent_cells(spec, own)]
    found += [cell for pair in system_swaps(spec) for cell in system_swapped(spec, *pair)]
    return [*found, *(cell for pair in swaps(spec) for cell in swapped(spec, *pair))]


AgentWork = tuple[KnowledgeBase, Named[Chunker] | None, Named[Agent]]
SystemWork = tuple[KnowledgeBase, None, Named[System]]
"""A knowledge base, a chunker and an agent; without a chunker where the agent searches page images alone."""


def agent_work(spec: Spec) -> list[AgentWork]:
    """List the agents with what they work on."""
    found: list[AgentWork] = []
    for base in spec.knowledge_bases:
        for agent in spec.agents:
            cuts = any(not retriever.reads_images for retriever in agent.stage.retrievers().values())
            chunkers = (
                [replace(one, stage=one.stage.for_base(base.folder)) for one in spec.chunkers] if cuts else [None]
            )
            found += [(base, chunker, agent) for chunker in chunkers]
    return found


def system_work(spec: Spec) -> list[SystemWork]:
    """List the systems with what they ingest."""
    return [(base, None, system) for base in spec.knowledge_bases for system in spec.systems]


def agent_cells(spec: Spec, work: AgentWork | SystemWork) -> list[Cell]:
    """List the cells of an agent's work: the pages that it looked at, where retrieval is evaluated, and its answers."""
    base, chunker, agent = work
    stages = [stage for stage in ("retrieval", "overall") if stage in spec.evaluate]
    if not getattr(agent.stage, "answers", True):  # a system that gives contexts alone
        stages = [stage for stage in stages if stage == "retrieval"]
    return [Cell(stage, base, chunker, agent=agent) for stage in stages]


def count(spec: Spec) -> dict[str, int]:
    """Count a spec's cells by stage, those with swapped texts apart."""
    return dict(Counter(f"{cell.stage} with swapped texts" if cell.swap else cell.stage for cell in cells(spec)))


Search = tuple[KnowledgeBase, Named[Chunker] | None, Named[AnyRetriever]]
"""A knowledge base, its chunker and its retriever; without a chunker where the chunks are pages."""


def searches(spec: Spec) -> list[Search]:
    """List the searches; empty when no stage retrieves."""
    if not {"retrieval", "overall"} & set(spec.evaluate):
        return []
    found: list[Search] = []
    for base in spec.knowledge_bases:
        used = [named for named in spec.retrievers if base.uses(named.name)]
        for chunker in spec.chunkers:
            own = replace(chunker, stage=chunker.stage.for_base(base.folder))
            found += [(base, own, retriever) for retriever in used if not retriever.stage.reads_images]
        found += [(base, None, retriever) for retriever in used if retriever.stage.reads_images]
    return found


def system_swaps(spec: Spec) -> list[tuple[SystemWork, KnowledgeBase]]:
    """List the systems whose loss is split by stage, each with the first knowledge base without noise."""
    clean = next((base for base in spec.knowledge_bases if base.noise_type == "none"), None)
    return [
        (work, clean)
        for work in system_work(spec)
        if clean is not None and work[0].condition in spec.decompose and work[2].stage.answers_from_given
    ]


def system_swapped(spec: Spec, work: SystemWork, clean: KnowledgeBase) -> Iterator[Cell]:
    """Yield the cells with swapped texts of one system."""
    for swap in (Swap("index", clean), Swap("reading", clean)):
        yield from (replace(cell, swap=swap) for cell in agent_cells(spec, work))


def swaps(spec: Spec) -> list[tuple[Search, Search]]:
    """List the searches whose loss is split by stage, each with its clean counterpart: the first one without noise."""
    clean: dict[tuple[str, ...], Search] = {}
    for search in searches(spec):
        if search[0].noise_type == "none":
            clean.setdefault(search_place(search)[1:], search)
    return [
        (search, clean[pipeline])
        for search in searches(spec)
        if search[0].condition in spec.decompose and search[1] and (pipeline := search_place(search)[1:]) in clean
    ]


def swapped(spec: Spec, noisy: Search, clean: Search) -> Iterator[Cell]:
    """Yield the cells with swapped texts of one search."""
    for swap in (Swap("index", clean[0]), Swap("reading", clean[0])):
        if "retrieval" in spec.evaluate:
            yield Cell("retrieval", *noisy, swap=swap)
        if "overall" in spec.evaluate:
            yield from (Cell("overall", *noisy, generator, swap) for generator in spec.generators)


def not_swapped(spec: Spec) -> list[str]:
    """List the searches of noisy conditions whose loss cannot be split, with the reason."""
    done = {search_place(noisy) for noisy, _ in swaps(spec)}
    left = [s for s in searches(spec) if s[0].condition in spec.decompose and search_place(s) not in done]
    blind = dict.fromkeys(retriever.name for _, chunker, retriever in left if chunker is None)
    alone = dict.fromkeys((base.condition, retriever.name) for base, chunker, retriever in left if chunker)
    agents = [agent.name for agent in spec.agents if spec.decompose]
    return [
        *(f"decompose: {name} is an agent, which reads what it likes: its loss is not split" for name in agents),
        *(
            f"decompose: {item.name} has no `answer(question, contexts)`: its loss is not split"
            for item in spec.systems
            if spec.decompose and not item.stage.answers_from_given
        ),
        *(
            f"decompose: {name} looks at page images, which have no text to swap: its loss is not split"
            for name in blind
        ),
        *(
            f"decompose: {name} searches no clean knowledge base: its loss on {base} is not split"
            for base, name in alone
        ),
    ]


def search_place(search: Search) -> tuple[str, str, str]:
    """Name a search: base, chunker, retriever; "" where there is none."""
    base, chunker, retriever = search
    return base.name, chunker.name if chunker else "", retriever.name


def drawn_once(spec: Spec) -> Iterator[str]:
    """Yield a note where each noise is drawn once for the sake of systems: intervals hold no spread between draws."""
    if spec.systems and spec.replicates == 1:
        yield "each noise is drawn once, as each draw is ingested by itself; `replicates: 3` shows how draws differ"


def undosed(spec: Spec) -> Iterator[str]:
    """Yield a note where systems read noisy images that no engine of the spec reads: the noise has no dose."""
    blind = [base.noise for base in spec.knowledge_bases if not base.has_text]
    if spec.systems and blind:
        yield (
            f"no `ocr` reads the images of {named(list(dict.fromkeys(blind)))}: curves have no dose to be drawn over; "
            "`ocr: {kind: tesseract}` there measures it, and changes nothing of what a system gets as images"
        )


def unreached(spec: Spec) -> Iterator[str]:
    """Yield a note for each agent that a noise reaches in part, or not at all: its scores there mean something else.

    Text noise, and the errors of an engine on clean images, leave the page images as they are: an agent that reads both
    can look past them.
    """
    texts = [base for base in spec.knowledge_bases if base.noise_type != "none" and not base.image_treatments]
    names = list(dict.fromkeys(base.noise for base in texts))
    if not names:
        return
    listed = f"noise of text alone ({named(names)})"
    for agent in spec.whole:
        if "text" not in agent.stage.reads:
            yield f"{agent.name} reads page images only: {listed} cannot reach it, and its scores there are flat"
        elif "image" in agent.stage.reads:
            yield f"{agent.name} reads page images too, which {listed} leaves clean: it can look past that noise"
