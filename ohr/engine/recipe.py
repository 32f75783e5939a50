"""Keys of a run's steps, all known before anything runs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import ohr
from ohr.contracts import Chunker, Document, Generator, Metric, Prompt, Question, Retriever, Stage
from ohr.engine.images import PageImage, PageImages, acting
from ohr.engine.inputs import Inputs
from ohr.engine.prompting import read_prompt
from ohr.keys import code, identity, key, packages
from ohr.registry import Registry
from ohr.spec.model import KnowledgeBase, Spec

_SEEDING = 2
"""Raised when a chain's noises are seeded otherwise, so that no store gives the pages of other draws."""


@dataclass(frozen=True)
class Recipe:
    """How the steps of a run depend on each other, as keys."""

    spec: Spec
    inputs: Inputs

    @cached_property
    def _identities(self) -> dict[tuple[Stage, tuple[str, ...]], list[Any]]:
        return {}

    def identity(self, stage: Stage, *without: str) -> list[Any]:
        """Give what decides a stage's results; asked once, as a stage may hash a whole folder for it."""
        known = self._identities
        place = (stage, without)
        if place not in known:
            known[place] = identity(stage, without)
        return known[place]

    @cached_property
    def _fingerprints(self) -> dict[tuple[str, bool], str]:
        return {}

    def leaf(self, document: Document, *, images: bool) -> str:
        """Hash what a document is made from."""
        known = self._fingerprints
        place = (document.name, images)
        if place not in known:
            benchmark = self.spec.benchmark
            made_with = [packages(benchmark), code(type(benchmark).__module__)]
            known[place] = key("leaf", benchmark.fingerprint(document, images=images), *made_with)
        return known[place]

    def image(self, base: KnowledgeBase, document: Document, index: int) -> PageImage:
        """Tell how a page's image is made, with its key."""
        noises = [self.identity(noise) for noise in acting(base.image_noise)]
        place = (self.leaf(document, images=True), document.name, index)
        name = key("image", *place, noises, self._draws(base, noises), self._files())
        seed = self.spec.seed + base.replicate
        return PageImage(self.spec.benchmark, base.image_noise, document, index, seed, name)

    def page(self, base: KnowledgeBase, document: Document, index: int) -> str:
        """Key of one recognised page."""
        # a distortion of severity 0 gives its input back, so that clean pages are read once
        noises = [self.identity(noise) for noise in acting(base.image_noise)]
        draws, leaf = self._draws(base, noises), self.leaf(document, images=True)
        return key("page", leaf, document.name, index, noises, draws, self.identity(base.ocr), self._files())

    def document(self, base: KnowledgeBase, document: Document) -> str:
        """Key of one document's text in a knowledge base."""
        noises = [self.identity(noise) for noise in (*base.text_noise, *base.dosed_as)]
        if base.ocr.reads_images:
            source: list[Any] = [self.page(base, document, index) for index in range(document.pages)]
        else:
            source = [self.identity(base.ocr), self.leaf(document, images=False)]
        asked = [[q.pages, q.evidence, q.text] for q in self.placing(base, document)]
        return key("document", source, document.name, noises, self._draws(base, noises), asked, self._files())

    def _draws(self, base: KnowledgeBase, noises: Sequence[Any]) -> list[int] | None:
        """Give what a knowledge base's draws follow from; a clean one has none."""
        return [_SEEDING, self.spec.seed + base.replicate] if noises else None

    def placing(self, base: KnowledgeBase, document: Document) -> tuple[Question, ...]:
        """Give the questions that say where a document's noise goes; none where it goes everywhere."""
        placed = any(noise.where != "everywhere" for noise in base.text_noise)
        return self.inputs.about.get(document.name, ()) if placed else ()

    def probe(
        self,
        base: KnowledgeBase,
        document: Document,
        pages: Sequence[int],
        asked: Sequence[Question],
        segment_chinese: bool,
    ) -> str:
        """Key of what a level leaves of the evidence of some questions, of the pages that are looked at."""
        wanted = [[question.id, question.pages, question.evidence] for question in asked]
        return key("probe", self.document(base, document), list(pages), wanted, segment_chinese)

    def chunks(self, document_key: str, chunker: Chunker) -> str:
        """Key of one document's chunks."""
        return key("chunks", document_key, self.identity(chunker), self._files())

    def index(self, texts: Sequence[str], images: Sequence[str], retriever: Retriever) -> str:
        """Key of an index, from those of what it is made of; the number of hits asked for is not part of it."""
        source = [list(texts), *([list(images)] if images else [])]
        return key("index", *source, self.identity(retriever, "top_k"), self._files())

    def hits(self, index_key: str, texts: Sequence[str], top_k: int, questions: Sequence[Question]) -> str:
        """Key of the ranked hits of some questions in one index.

        Args:
            texts: keys of the passages' texts, where the index was made without them.
        """
        asked = [[question.id, question.text, question.document, question.pages] for question in questions]
        return key("hits", index_key, list(texts), top_k, asked)

    def answer(self, generator: Generator, prompt: Prompt) -> str:
        """Key of one answer: equal prompts share it, whichever cell asks."""
        shown = prompt.images if generator.reads_images else ()
        images = [[page.key for page in shown.pages]] if isinstance(shown, PageImages) else []
        told = [prompt.system, prompt.user, prompt.opening]
        return key("answer", self.identity(generator), *told, *images, self._files())

    def prompt(self, generator: Generator) -> str | Path:
        """Give the name or file of the prompt that a generator is asked with."""
        protocols = self.spec.benchmark.scoring.prompt
        return generator.prompt or ("page_images" if generator.reads_images else protocols)

    def run(self) -> str:
        """Key of the whole run."""
        leaves = [self.leaf(d, images=images) for d in self.inputs.documents for images in (False, True)]
        asked = [asdict(question) for question in self.inputs.questions]
        scored = [ohr.__version__, *(identity(metric) for metric in self.metrics.values())]
        # what lies behind a path counts by its content; the same files may be called by another path tomorrow
        written = json.loads(json.dumps(self.spec.resolved, default=lambda _: "a path"))
        bases = self.spec.knowledge_bases
        made = [self.identity(stage) for b in bases for stage in (*b.image_noise, b.ocr, *b.text_noise)]
        made += [self.identity(named.stage) for named in self.spec.retrievers]
        made += [self.identity(named.stage) for named in self.spec.generators]
        return key("run", written, made, leaves, asked, scored, self.prompt_digests, self._files())

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        """The metrics of the benchmark's protocol, and the spec's own, by name."""
        registry, protocol = Registry(self.spec.plugin_files), self.spec.benchmark.scoring
        found: dict[str, Metric] = {}
        for name in (protocol.retrieval, *protocol.answer):
            plugin = registry.load("metric", name)
            metric = plugin.model_validate({"kind": name, **protocol.metric_fields.get(name, {})})
            if isinstance(metric, Metric):  # the registry has checked it; this tells the type checker
                found[name] = metric
        return found | {named.name: named.stage for named in self.spec.metrics}

    @cached_property
    def prompt_digests(self) -> dict[str, str]:
        """Hash each generator's prompt."""
        named = [(item.name, read_prompt(self.prompt(item.stage))) for item in self.spec.generators]
        return {name: key("prompt", template.model_dump()) for name, template in named}

    def _files(self) -> list[Any]:
        return [list(pair) for pair in self.spec.plugin_digests]
