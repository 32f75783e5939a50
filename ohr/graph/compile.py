"""Compiles a spec into its graph: knowledge bases, searches, prompts and scores, each key made once."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ohr.contracts import CaseJudgeMetric, CaseMetric, Correction, Document, Generator, OcrBackend, Question
from ohr.graph.cache_keys import Keys, again
from ohr.graph.cells import (
    Cell,
    Search,
    SystemWork,
    agent_cells,
    agent_work,
    search_place,
    searches,
    swapped,
    swaps,
    system_swapped,
    system_swaps,
    system_work,
)
from ohr.graph.episodes import add_episodes, add_given, add_replies
from ohr.graph.graph import BasePart, Batch, CellPart, Graph, shared_out
from ohr.graph.indexes import Scope, add_source, scopes
from ohr.keys import key
from ohr.metrics.rankings import SHOWN_METRICS
from ohr.ocr.ground_truth import GroundTruth
from ohr.spec.model import KnowledgeBase, Named
from ohr.steps.answers.correcting import PrepareCorrection
from ohr.steps.answers.judge_prompts import PrepareJudging, PreparePageJudging
from ohr.steps.answers.prompts import PreparePrompts
from ohr.steps.answers.scoring import ScoreAnswers, ScorePages, ScoreRetrieval, ScoreShown
from ohr.steps.documents.damage import MeasureDamage
from ohr.steps.documents.make_document import CorrectDocument, MakeDocument
from ohr.steps.documents.page_images import PageImage, acting
from ohr.steps.documents.read_pages import ReadDocument, ReadPages
from ohr.steps.retrieval.retrieve import Retrieve
from ohr.steps.retrieval.swapped_texts import SwapHits
from ohr.work.step import Step


def compile_graph(keys: Keys) -> Graph:
    """Compile a spec; runs nothing and looks nothing up in the store."""
    return _Compiler(keys).graph_of_all()


@dataclass
class _Compiler:
    keys: Keys
    graph: Graph = field(default_factory=Graph)
    made: dict[str, dict[str, str]] = field(default_factory=dict)
    """The documents of each knowledge base."""
    indexes: dict[str, str] = field(default_factory=dict)
    """The first step of each index, after which the others that use it run."""
    found: dict[tuple[str, str, str], list[Batch]] = field(default_factory=dict)
    """The hits of each search."""
    asked_about: dict[str, dict[str, Correction]] = field(default_factory=lambda: defaultdict(dict))
    """The keys of what models are asked about the pages of each knowledge base."""
    replied: dict[tuple[str, str], list[Batch]] = field(default_factory=dict)
    """The replies of each system, by knowledge base and system."""

    def __post_init__(self) -> None:
        self.spec, self.inputs = self.keys.spec, self.keys.inputs
        self.scopes = scopes(self.keys)

    def graph_of_all(self) -> Graph:
        searches_of: dict[str, list[Search]] = defaultdict(list)
        for search in searches(self.spec):
            searches_of[search[0].name].append(search)
        for base in self.spec.knowledge_bases:
            known = self.inputs.by_name
            read = {name: range(len(self.keys.read_order(base, document))) for name, document in known.items()}
            pages = add_pages(self.graph, self.keys, base, read)
            documents = self.made[base.name] = self.documents(base, pages)
            scored = self.page_scores(base, documents)
            lost = self.damage(base, documents)
            part = BasePart(base, tuple(documents.values()), lost, pages, *scored, self.asked_about[base.name])
            self.graph.parts.append(part)
            for search in searches_of[base.name]:
                self.search(search, documents)
            if "generation" in self.spec.evaluate:
                self.generation(base, documents)
        self.agents()
        self.systems()
        for noisy, clean in swaps(self.spec):
            for cell in swapped(self.spec, noisy, clean):
                self.cell(cell, self.swap(cell, noisy, clean))
        if {"generation", "overall"} & set(self.spec.evaluate):
            self.references()
        return self.graph

    def documents(self, base: KnowledgeBase, pages: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Add the documents of a base; returns their keys by name."""
        seed, document_keys = self.spec.seed + base.replicate, {}
        starts = [place for place, each in enumerate(base.text_treatments) if isinstance(each, Correction)]
        stops = [*starts, None]
        for name, document in self.inputs.by_name.items():
            work = MakeDocument(self.spec.benchmark, base, document, seed, self.keys.placing(base, document))
            key = self.keys.document(base, document, pages[name], stops[0])
            document_keys[name] = self.graph.add(Step(replace(work, stop=stops[0]), (key,), tuple(pages[name]))).key
            for start, stop in zip(starts, stops[1:], strict=True):
                asked = self.correction(base, document, start, document_keys[name])
                key = self.keys.document(base, document, pages[name], stop)
                correct = CorrectDocument(base, document, seed, work.questions, start, stop)
                document_keys[name] = self.graph.add(Step(correct, (key,), (document_keys[name], asked))).key
        return document_keys

    def correction(self, base: KnowledgeBase, document: Document, start: int, document_key: str) -> str:
        """Add the step that asks a model about the pages of a document; returns its key."""
        correction = base.text_treatments[start]
        assert isinstance(correction, Correction)
        made_by = (self.keys.identity(correction.model), self.keys.files, *again(base))
        work = PrepareCorrection(base.name, document, correction, made_by)
        asked = self.graph.add(Step(work, (self.keys.correction(base, correction, document_key),), (document_key,))).key
        self.asked_about[base.name][asked] = correction
        return asked

    def damage(self, base: KnowledgeBase, documents: dict[str, str]) -> tuple[str, ...]:
        if not base.has_text:
            return ()
        edited = any(each.keeps_edits for each in base.text_treatments)
        cuts = self.spec.benchmark.scoring.segment_chinese
        return tuple(
            self.graph.add(
                Step(
                    MeasureDamage(base.name, self.inputs.by_name[name], cuts, edited),
                    (self.keys.damage(made, self.inputs.by_name[name]),),
                    (made,),
                )
            ).key
            for name, made in documents.items()
        )

    def page_scores(self, base: KnowledgeBase, documents: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
        """Add the scores of the pages that questions are about, and what judges are asked about them.

        Returns:
            the keys of the scores, and of the keys of the judges' replies, by document.
        """
        rules, scores, judged = self.keys.rules, dict[str, str](), dict[str, str]()
        if not base.has_text or not (rules.page_metrics or rules.facts):
            return scores, judged
        for name, made in documents.items():
            document = self.inputs.by_name[name]
            if not self.inputs.about.get(name):
                continue
            if self.keys.page_judges:
                judged[name] = self.keys.page_judging(made, document)
                work = PreparePageJudging(base.name, document, self.keys.page_judges)
                self.graph.add(Step(work, (judged[name],), (made,)))
            scores[name] = self.keys.page_scores(made, document)
            inputs = (made, *([judged[name]] if name in judged else []))
            self.graph.add(Step(ScorePages(base.name, document, rules), (scores[name],), inputs))
        return scores, judged

    def search(self, search: Search, documents: dict[str, str]) -> None:
        """Add a search, and its cells: retrieval, and overall for each generator."""
        hits = [
            Batch(places, scope.name, name)
            for scope in self.scopes
            for places, name in self.hits(search, scope, documents).items()
        ]
        self.found[search_place(search)] = hits
        if "retrieval" in self.spec.evaluate:
            self.cell(Cell("retrieval", *search), hits)
        for generator in self.spec.generators if "overall" in self.spec.evaluate else ():
            self.cell(Cell("overall", *search, generator), hits)

    def cell(self, cell: Cell, hits: Sequence[Batch]) -> None:
        """Add a cell that scores hits, or the answers to them: a system's, which are there, or a generator's."""
        if cell.stage == "retrieval":
            parts = [replace(batch, scores=self.retrieval_scores(cell, batch)) for batch in hits]
        elif cell.generator is None:
            parts = [self.scored(cell, replace(batch, hits=None)) for batch in hits]
        else:
            parts = [self.scored(cell, replace(batch, prompts=self.overall(cell, batch))) for batch in hits]
        self.graph.parts.append(CellPart(cell, tuple(parts)))

    def swap(self, cell: Cell, noisy: Search, clean: Search) -> list[Batch]:
        """Add the steps that read the hits of one search in the other's knowledge base; returns these hits."""
        assert cell.swap is not None
        searched, reading = (noisy, clean) if cell.swap.noisy == "index" else (clean, noisy)
        documents = {scope.name: scope.names for scope in self.scopes}
        label = f"{noisy[2].name} on {noisy[0].name} ({cell.swap.noisy} only)"
        held: dict[str, list[Batch]] = defaultdict(list)
        for batch in self.found[search_place(searched)]:
            held[batch.scope].append(batch)
        return [
            read
            for scope, batches in held.items()
            for read in self.read_elsewhere(batches, label, documents[scope], searched[0], reading[0])
        ]

    def read_elsewhere(
        self,
        batches: Sequence[Batch],
        label: str,
        names: tuple[str, ...],
        searched: KnowledgeBase,
        read: KnowledgeBase,
    ) -> Iterator[Batch]:
        """Yield batches with their hits as another knowledge base has them; adds the steps that read its documents."""
        mine, theirs = (tuple(self.made[base.name][name] for name in names) for base in (searched, read))
        both = key("documents", mine, theirs)
        for shared in shared_out(batches):
            hits = tuple(str(batch.hits) for batch in shared)
            outputs = tuple(self.keys.swapped(each, both) for each in hits)
            self.graph.add(Step(SwapHits(label, hits, names), outputs, (*hits, *mine, *theirs)))
            yield from (replace(batch, hits=output) for batch, output in zip(shared, outputs, strict=True))

    def hits(self, search: Search, scope: Scope, documents: dict[str, str]) -> dict[tuple[int, ...], str]:
        """Add the steps that index and search one scope; returns the hits' keys by batch."""
        base, chunker, retriever = search
        source = add_source(self.graph, self.keys, scope, (base, chunker, retriever.stage), documents)
        batches, index, top_k = tuple(scope.batches()), source.searched.index, retriever.stage.top_k
        apart = [key("documents", source.apart)] if source.apart else []
        outputs = tuple(self.keys.hits(index, apart, top_k, self.asked(places)) for places in batches)
        work = Retrieve(retriever.name, source.searched, batches)
        first = dict.fromkeys(self.indexes.setdefault(each, outputs[0]) for each in source.searched.indexes)
        after = tuple(step for step in first if step != outputs[0])
        self.graph.add(Step(work, outputs, (*source.texts, *source.images), after))
        return dict(zip(batches, outputs, strict=True))

    def overall(self, cell: Cell, batch: Batch) -> Step:
        assert batch.hits is not None
        return self.prompts(cell, "overall", batch.questions, ["overall", batch.hits], (batch.hits,), hits=batch.hits)

    def agents(self) -> None:
        """Add the agents' episodes, and their cells; those of one base and agent are the same in all its cells."""
        for work in agent_work(self.spec):
            batches = add_episodes(self.graph, self.keys, self.scopes, work, self.made[work[0].name], self.indexes)
            for cell in agent_cells(self.spec, work):
                looked = cell.stage == "retrieval"  # scored by the pages that it looked at
                parts = (
                    replace(batch, scores=self.shown_scores(cell, batch)) if looked else self.scored(cell, batch)
                    for batch in batches
                )
                self.graph.parts.append(CellPart(cell, tuple(parts)))

    def systems(self) -> None:
        """Add the systems' replies, the places of their contexts, and their cells."""
        for work in system_work(self.spec):
            batches = add_replies(self.graph, self.keys, work, self.made[work[0].name])
            for cell in agent_cells(self.spec, work):
                self.cell(cell, batches)
            self.replied[work[0].name, work[2].name] = batches
        for work, clean in system_swaps(self.spec):
            for cell in system_swapped(self.spec, work, clean):
                self.swapped_system(cell, work, clean)

    def swapped_system(self, cell: Cell, work: SystemWork, clean: KnowledgeBase) -> None:
        """Add a cell in which a system answers from the contexts of one knowledge base with the text of another."""
        assert cell.swap is not None
        base, _, system = work
        searched, read = (base, clean) if cell.swap.noisy == "index" else (clean, base)
        label, names = f"{system.name} on {base.name} ({cell.swap.noisy} only)", tuple(self.made[base.name])
        batches = list(self.read_elsewhere(self.replied[searched.name, system.name], label, names, searched, read))
        if cell.stage != "retrieval":
            batches = add_given(self.graph, self.keys, (clean, None, system), self.made[clean.name], batches)
        self.cell(cell, batches)

    def generation(self, base: KnowledgeBase, documents: dict[str, str]) -> None:
        for generator in self.spec.generators:
            cell = Cell("generation", base, generator=generator)
            parts = []
            for places in self.batches():
                there = [name for q in self.asked(places) for name, _ in q.own_pages if name in documents]
                names = tuple(dict.fromkeys(there))
                made = tuple(documents[name] for name in names)
                step = self.prompts(cell, "generation", places, ["generation", *made], made)
                parts.append(self.scored(cell, Batch(places, prompts=step)))
            self.graph.parts.append(CellPart(cell, tuple(parts)))

    def references(self) -> None:
        """Add the cells that need no knowledge base: closed book, another page, the evidence alone."""
        truth = key("truth", *(self.inputs.leaf(document, images=False) for document in self.inputs.documents))
        for generator in self.spec.generators:
            for condition in self.spec.references:
                cell = Cell("reference", reference_base(condition), generator=generator)
                source = [condition, truth, self.spec.seed]
                parts = [
                    self.scored(cell, Batch(places, prompts=self.prompts(cell, condition, places, source, ())))
                    for places in self.batches()
                ]
                self.graph.parts.append(CellPart(cell, tuple(parts)))

    def prompts(
        self,
        cell: Cell,
        source: str,
        places: tuple[int, ...],
        made_from: list[object],
        inputs: tuple[str, ...],
        hits: str = "",
    ) -> Step:
        assert cell.generator is not None
        generator: Named[Generator] = cell.generator
        images = self.keys.images(cell.read) if generator.stage.reads_images else None
        shown = [list(images.identity)] if images else []
        work = PreparePrompts(
            source,
            cell.label.removesuffix(f" / {generator.name}"),
            self.keys.prompt(generator.stage),
            generator,
            places,
            (self.keys.identity(generator.stage), self.keys.files, *again(cell.base)),
            self.spec.seed,
            images,
            hits,
        )
        name = self.keys.prompts([*made_from, *shown], generator.stage, self.asked(places))
        return self.graph.add(Step(work, (name,), inputs))

    def batches(self) -> Iterator[tuple[int, ...]]:
        return Scope("", (), self.inputs.asked).batches()

    def retrieval_scores(self, cell: Cell, batch: Batch) -> str:
        """Add the scores of the hits of some questions; returns their key."""
        searching: Any = cell.retriever or cell.agent
        assert searching is not None and batch.hits is not None
        top_k = searching.stage.top_k
        metrics = [self.keys.metrics[self.spec.benchmark.scoring.retrieval], *self.keys.ranking_metrics.values()]
        chunks = self.own_chunks(cell, batch) if self.keys.rules.facts and not cell.swap else ()
        source = ["retrieval", batch.hits, top_k, *([list(chunks)] if chunks else [])]
        name = self.keys.scores(source, self.asked(batch.questions), metrics)
        label = f"{searching.name} on {cell.base.name}"
        cuts = cell.chunker is not None
        work = ScoreRetrieval(label, batch.questions, batch.hits, top_k, self.keys.rules, cuts)
        return self.graph.add(Step(work, (name,), (batch.hits, *chunks))).key

    def own_chunks(self, cell: Cell, batch: Batch) -> tuple[str, ...]:
        """Return the keys of the chunks of the questions' documents; of the documents where pages are the chunks."""
        documents = self.made[cell.base.name]
        names = dict.fromkeys(q.document for q in self.asked(batch.questions) if q.document in documents)
        stage = cell.chunker.stage if cell.chunker else None
        return tuple(self.keys.chunks(documents[name], stage) if stage else documents[name] for name in names)

    def scored(self, cell: Cell, batch: Batch) -> Batch:
        """Add the steps that judge and score the answers to some questions; returns the batch with their keys."""
        metrics, asked = [*self.keys.answer_metrics.values()], self.asked(batch.questions)
        cases = any(isinstance(metric, CaseMetric | CaseJudgeMetric) for metric in metrics)
        noises = tuple(each for each in acting(cell.read.image_treatments) if each.purpose == "noise")
        source = (batch.prompts.key,) if batch.prompts else tuple(dict.fromkeys(batch.episodes.values()))
        places = {name: place for place, name in enumerate(source)}
        episodes = tuple(places[batch.episodes[q.id]] for q in asked) if batch.episodes else ()
        prompts = batch.asks if cases else None
        answers = (cell.label, batch.questions, episodes, prompts, noises)
        inputs = (*source, *(batch.prompts.inputs if prompts and batch.prompts else ()))
        if self.keys.judges:
            judged = self.keys.judging(source, asked, noises)
            self.graph.add(Step(PrepareJudging(*answers, self.keys.judges), (judged,), inputs))
            batch, inputs = replace(batch, judged=judged), (*inputs, judged)
        condition = cell.base.name if cell.stage == "reference" else ""
        name = self.keys.scores([cell.stage, condition, *source, batch.judged], asked, metrics, noises)
        work = ScoreAnswers(*answers, cell.stage, condition, self.keys.rules, cases)
        self.graph.add(Step(work, (name,), inputs))
        return replace(batch, scores=name)

    def shown_scores(self, cell: Cell, batch: Batch) -> str:
        """Add the scores of the pages that an agent looked at; returns their key."""
        assert cell.agent is not None
        asked = self.asked(batch.questions)
        episodes = [batch.episodes[question.id] for question in asked]
        places = {name: place for place, name in enumerate(dict.fromkeys(episodes))}
        key = self.keys.scores(["shown", list(SHOWN_METRICS), *episodes], asked, [])
        work = ScoreShown(cell.agent.name, batch.questions, tuple(places[name] for name in episodes))
        return self.graph.add(Step(work, (key,), tuple(places))).key

    def asked(self, places: Sequence[int]) -> list[Question]:
        """Return questions by their places."""
        return [self.inputs.questions[place] for place in places]


def reference_base(condition: str) -> KnowledgeBase:
    """Return the knowledge base of a reference condition: none, under the condition's name."""
    return KnowledgeBase(condition, condition, (GroundTruth(),))


def add_pages(
    graph: Graph, keys: Keys, base: KnowledgeBase, wanted: Mapping[str, Sequence[int]]
) -> dict[str, list[str]]:
    """Add the steps that read pages of some documents, in batches over documents as large as the engine takes.

    Args:
        wanted: places of pages in the order in which the engine gets them, by the name of their document.

    Returns:
        the keys of these pages, by document; none where the backend reads no images.
    """
    pages_of: dict[str, list[str]] = {name: [] for name in wanted}
    if not isinstance(base.ocr, OcrBackend):
        return pages_of
    recipe, pages = keys.images(base), dict[str, PageImage]()
    for name, indices in wanted.items():
        document = keys.inputs.by_name[name]
        leaf = keys.inputs.leaf(document, images=True)
        placed = keys.read_order(base, document)
        read = range(len(placed)) if base.ocr.reads_documents else indices
        own = {index: keys.page(base, document, index) for index in read}
        pages_of[name] = [own[index] for index in indices]
        new = {key: placed[index].place for index, key in own.items() if key not in graph.steps}
        images = {key: recipe.page(document, place, leaf) for key, place in new.items()}
        if not base.ocr.reads_documents:
            pages |= images
        elif images:
            work = ReadDocument(tuple(images.values()), base.ocr, base.name, keys.spec.benchmark)
            graph.add(Step(work, tuple(images)))
    names, size = list(pages), base.ocr.batch_size
    for batch in (tuple(names[start : start + size]) for start in range(0, len(names), size)):
        graph.add(Step(ReadPages(tuple(pages[name] for name in batch), base.ocr, base.name), batch))
    return pages_of
