"""Keys of a run's results: the hash of what decides each of them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import ohr
from ohr.contracts import (
    Agent,
    AnyMetric,
    AnyRetriever,
    Benchmark,
    CaseJudgeMetric,
    Chunker,
    Correction,
    Document,
    Generator,
    ImageTreatment,
    PageJudgeMetric,
    Placed,
    Question,
    Stage,
    Treatment,
)
from ohr.dataset.inputs import Inputs
from ohr.keys import identity, key
from ohr.metrics.scores import Rules
from ohr.spec.model import KnowledgeBase, Spec
from ohr.spec.protocol_metrics import protocol_metrics
from ohr.steps.answers.asked_judges import Judge, questioned
from ohr.steps.answers.prompt_templates import read_prompt
from ohr.steps.documents.page_images import ImageRecipe, acting, in_order

_SEEDING = 2
"""Raised when the seeding of a chain of noises changes, so that no store returns the pages of other draws."""
_PLACING = 2
"""Raised when noise is placed differently."""
DAMAGE_VERSION = 7
"""Raised when a dose is computed differently."""
_SWAP_VERSION = 1
"""Raised when the text of a hit is found in another way in another knowledge base."""
EPISODE_VERSION = 1
"""Raised when the trajectory of an agent is kept in another form, or its steps are carried out differently."""
SCORES_VERSION = 6
"""Raised when a score is computed differently."""


@dataclass(frozen=True)
class Keys:
    """Makes the keys of one spec on one set of inputs.

    A key holds the identity of the stage (kind, version, result-changing fields), the content or the keys of its
    inputs, and the seed where something is drawn; never a name of a knowledge base, a path or a worker count.
    """

    spec: Spec
    inputs: Inputs
    _identities: dict[tuple[Stage, tuple[str, ...]], list[Any]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @cached_property
    def metrics(self) -> dict[str, AnyMetric]:
        """The metrics of the benchmark's protocol, and the spec's own, by name."""
        return protocol_metrics(self.spec) | {named.name: named.stage for named in self.spec.metrics}

    @cached_property
    def answer_metrics(self) -> dict[str, AnyMetric]:
        """The metrics of answers: the protocol's, then the spec's own."""
        return {name: self.metrics[name] for name in self.rules.answer_metrics}

    @cached_property
    def page_metrics(self) -> dict[str, AnyMetric]:
        """The metrics of pages: the protocol's, then the spec's own."""
        return {name: self.metrics[name] for name in self.rules.page_metrics}

    @cached_property
    def ranking_metrics(self) -> dict[str, AnyMetric]:
        """The metrics of rankings beside the headline: the protocol's, then the spec's own."""
        return {name: self.metrics[name] for name in self.rules.ranking_metrics}

    @cached_property
    def rules(self) -> Rules:
        """The rules of scoring: with questions, texts and answers, they determine the scores."""
        further = tuple(named.name for named in self.spec.metrics)
        return Rules(self.spec.benchmark.scoring, self.metrics, further, self.spec.seed)

    def identity(self, stage: Stage, *without: str) -> list[Any]:
        """Return a stage's identity; computed once, as a stage may hash a whole folder for it."""
        known, place = self._identities, (stage, without)
        if place not in known:
            known[place] = identity(stage, without)
        return known[place]

    def images(self, base: KnowledgeBase) -> ImageRecipe:
        """Describe how a knowledge base's page images are made."""
        seed, identity = self.spec.seed + base.replicate, (*self._acting(base), self.files, *again(base))
        return ImageRecipe(self.spec.benchmark, base.image_treatments, seed, identity, base.orders)

    def _acting(self, base: KnowledgeBase) -> tuple[list[Any], list[int] | None]:
        """Identify what is done to page images, and its draws: without strength nothing is, so clean pages are one."""
        treatments = acting(base.image_treatments)
        return [self.identity(each) for each in treatments], self._draws(base, treatments)

    def page(self, base: KnowledgeBase, document: Document, index: int) -> str:
        """Key of one recognised page, by its place where pages are arranged before a whole document is read."""
        engine, leaf = self.identity(base.ocr, *base.ocr.finishing), self.inputs.leaf(document, images=True)
        orders = [self.identity(order) for order in base.orders_read]
        arranged = [["arranged", orders, self._draws(base, base.orders_read)]] if orders else []
        return key("page", leaf, document.name, index, *self._acting(base), engine, self.files, *again(base), *arranged)

    def read_order(self, base: KnowledgeBase, document: Document) -> list[Placed]:
        """Return the pages of a document as the engine gets them: the page of the source, and the number it has."""
        return in_order(document, base.orders_read, self.spec.seed + base.replicate)

    def placed(self, base: KnowledgeBase, document: Document) -> list[Placed]:
        """Return the pages of a document in a knowledge base: the page of the source, and the number it has."""
        return in_order(document, base.orders, self.spec.seed + base.replicate)

    def pages(self, base: KnowledgeBase, document: Document, indices: Sequence[int]) -> list[str]:
        """Keys of recognised pages; none where the backend reads no images."""
        return [self.page(base, document, index) for index in indices] if base.ocr.reads_images else []

    def document(self, base: KnowledgeBase, document: Document, pages: Sequence[str], stop: int | None = None) -> str:
        """Key of one document's text in a knowledge base.

        Args:
            pages: keys of all its recognised pages; empty where the OCR backend reads no images.
            stop: how many of the treatments of its text have acted; all.
        """
        treatments, engine = base.text_treatments[:stop], base.ocr
        identities = [self.identity(each) for each in (*treatments, *base.dosed_as)]
        source = (
            list(pages) if engine.reads_images else [self.identity(engine), self.inputs.leaf(document, images=False)]
        )
        finished = [self.identity(engine)] if engine.reads_images and engine.finishing else []
        asked = [[_PLACING, q.pages, q.evidence, q.text] for q in self.placing(base, document)]
        made = (identities, self._draws(base, (*treatments, *base.dosed_as)), asked, self.files)
        return key("document", source, document.name, *made, *finished, *again(base))

    def correction(self, base: KnowledgeBase, correction: Correction, document_key: str) -> str:
        """Key of the keys of a model's replies about the pages of a document."""
        return key("correction", document_key, self.identity(correction), self.files, *again(base))

    def _draws(self, base: KnowledgeBase, treatments: Sequence[Treatment]) -> list[int] | None:
        """Return what decides a knowledge base's draws; one without noise has none."""
        drawn = any(treatment.purpose == "noise" for treatment in treatments)
        return [_SEEDING, self.spec.seed + base.replicate] if drawn else None

    def placing(self, base: KnowledgeBase, document: Document) -> tuple[Question, ...]:
        """Return the questions that decide where a document's noise goes; none where it goes everywhere."""
        placed = any(getattr(noise, "where", "everywhere") != "everywhere" for noise in base.text_treatments)
        return self.inputs.about.get(document.name, ()) if placed else ()

    def measure(self, document_key: str, pages: Sequence[int], asked: Sequence[Question]) -> str:
        """Key of a calibration measurement: the evidence that survives one noise level on some pages."""
        wanted = [[question.id, question.pages, question.evidence] for question in asked]
        rules = [DAMAGE_VERSION, self.spec.benchmark.scoring.segment_chinese]
        return key("probe", document_key, list(pages), wanted, rules)

    def damage(self, document_key: str, document: Document) -> str:
        """Key of the damage to one document of a knowledge base."""
        asked = [[q.id, q.text, q.answers, q.pages, q.evidence] for q in self.inputs.about.get(document.name, ())]
        rules = [DAMAGE_VERSION, self.spec.benchmark.scoring.segment_chinese, self.inputs.is_bare]
        return key("damage", rules, document_key, self.inputs.leaf(document, images=False), asked)

    def chunks(self, document_key: str, chunker: Chunker) -> str:
        """Key of one document's chunks."""
        return key("chunks", document_key, self.identity(chunker), self.files)

    def index(self, texts: Sequence[str], images: Sequence[str], retriever: AnyRetriever) -> str:
        """Key of an index, from the keys of its inputs; `top_k` is not part of it."""
        source = [list(texts), *([list(images)] if images else [])]
        return key("index", *source, self.identity(retriever, "top_k"), self.files)

    def hits(self, index_key: str, texts: Sequence[str], top_k: int, questions: Sequence[Question]) -> str:
        """Key of the ranked hits of some questions in one index.

        Args:
            texts: hash of the keys of the documents' texts, where the index was made without them.
        """
        asked = [[q.id, q.text, q.document, q.pages, *filter(None, (q.relevant, q.hidden))] for q in questions]
        return key("hits", index_key, list(texts), top_k, asked)

    def swapped(self, hits: str, documents: str) -> str:
        """Key of hits with the text of another knowledge base.

        Args:
            hits: key of the hits.
            documents: hash of the keys of the documents that are searched, and of those that are read in their place.
        """
        return key("swapped", _SWAP_VERSION, hits, documents)

    def agent(self, agent: Agent) -> list[Any]:
        """Identify an agent with its models and retrievers."""
        models = {role: self.identity(model) for role, model in agent.models().items()}
        retrievers = {role: self.identity(retriever, "top_k") for role, retriever in agent.retrievers().items()}
        return [self.identity(agent), models, retrievers, self.instruction(agent)]

    def instruction(self, agent: Agent) -> str:
        """Return the benchmark's words about the form of an answer, where an agent is to follow them."""
        return self.spec.benchmark.scoring.instruction if agent.answer_form == "protocol" else ""

    def desk(self, texts: Sequence[str], images: Sequence[str], indexes: Mapping[str, str]) -> str:
        """Key of what an agent may look at: texts and images of a scope, and its indexes by role."""
        return key("desk", list(texts), list(images), dict(indexes))

    def episode(
        self, agent: Sequence[Any], desk: str, question: Question, *, truth: bool, repeat: Sequence[Any]
    ) -> str:
        """Key of the trajectory of one question.

        Args:
            agent: identity with its parts, as `desk` is the key of what it may look at.
            truth: one of its retrievers looks at the question's truth.
            repeat: what `again` returns for the knowledge base.
        """
        known = [question.id, question.document, question.pages, question.evidence, question.domain]
        asked = [question.text, *([*known, *question.relevant] if truth else [])]
        return key("episode", EPISODE_VERSION, list(agent), desk, asked, self.files, *repeat)

    def prompts(self, source: Sequence[Any], generator: Generator, questions: Sequence[Question]) -> str:
        """Key of the answers' keys of some questions of one condition."""
        asked: list[Any] = [[q.id, q.text, q.own_pages, q.evidence] for q in questions]
        benchmark = self.spec.benchmark
        if type(benchmark).prompt_values is not Benchmark.prompt_values:  # it may look at all that it knows
            asked += [self.identity(benchmark), [self.inputs.digests[q.id] for q in questions]]
        end = benchmark.scoring.passage_end
        template = read_prompt(self.prompt(generator)).model_dump()
        return key("prompts", list(source), self.identity(generator), template, end, asked, self.files)

    def scores(
        self,
        source: Sequence[Any],
        questions: Sequence[Question],
        metrics: Sequence[AnyMetric],
        noises: Sequence[ImageTreatment] = (),
    ) -> str:
        """Key of the scores of some questions, from the keys of the scored outputs.

        Args:
            noises: distortions under which the benchmark may accept other answers.
        """
        protocol, asked = self.spec.benchmark.scoring, self._asked(questions, noises)
        rules: list[Any] = [SCORES_VERSION, protocol.joined, protocol.segment_chinese, protocol.unanswered]
        rules += [self.spec.seed, protocol.reply, self._facts]
        return key("scores", list(source), asked, [self.identity(metric) for metric in metrics], rules, self.files)

    def _asked(self, questions: Sequence[Question], noises: Sequence[ImageTreatment]) -> list[Any]:
        asked: list[Any] = [self.inputs.digests[question.id] for question in questions]
        if noises:
            now = [questioned(self.spec.benchmark, question, noises) for question in questions]
            asked = [asked, [other and other.answers for other in now]]
        return asked

    def judging(
        self, source: Sequence[str], questions: Sequence[Question], noises: Sequence[ImageTreatment] = ()
    ) -> str:
        """Key of the keys of judges' replies about answers, from the keys of the prompts or trajectories."""
        judges = [[*judge.made_by, self.identity(judge.metric)] for judge in self.judges]
        return key("judging", list(source), self._asked(questions, noises), judges, self.spec.benchmark.scoring.reply)

    def page_judging(self, document_key: str, document: Document) -> str:
        """Key of the keys of judges' replies about the pages of a document."""
        asked = [self.inputs.digests[question.id] for question in self.inputs.about.get(document.name, ())]
        judges = [[*judge.made_by, self.identity(judge.metric)] for judge in self.page_judges]
        return key("page judging", document_key, self.inputs.leaf(document, images=False), asked, judges)

    def page_scores(self, document_key: str, document: Document) -> str:
        """Key of the scores of one document's pages in a knowledge base."""
        asked = [self.inputs.digests[question.id] for question in self.inputs.about.get(document.name, ())]
        metrics = [self.identity(metric) for metric in self.page_metrics.values()]
        truth = self.inputs.leaf(document, images=False)
        judged = [self.page_judging(document_key, document)] if self.page_judges else []
        return key("page scores", SCORES_VERSION, document_key, truth, asked, metrics, self._facts, self.files, *judged)

    @property
    def _facts(self) -> list[Any] | None:
        """Identity of the metric of facts, where the protocol has one."""
        name = self.spec.benchmark.scoring.facts
        return self.identity(self.metrics[name]) if name else None

    def prompt(self, generator: Generator) -> str | Path:
        """Return the name or file of a generator's prompt."""
        protocol = self.spec.benchmark.scoring
        return generator.prompt or (protocol.image_prompt if generator.reads_images else protocol.prompt)

    @cached_property
    def run(self) -> str:
        """Key of the whole run, before calibration, which depends on the same inputs."""
        leaves = [self.inputs.leaf(d, images=images) for d in self.inputs.documents for images in (False, True)]
        asked = list(self.inputs.digests.values())
        scored = [ohr.__version__, *(identity(metric) for metric in self.metrics.values())]
        # a path counts by its content: the same files may have another path tomorrow
        written = json.loads(json.dumps(self.spec.resolved, default=lambda _: "a path"))
        bases = self.spec.knowledge_bases
        made = [self.identity(stage) for base in bases for stage in base.treatments]
        made += [self.identity(named.stage) for some in (self.spec.retrievers, self.spec.generators) for named in some]
        made += [self.agent(named.stage) for named in self.spec.agents]
        made += [self.identity(named.stage) for named in self.spec.systems]
        return key("run", written, made, leaves, asked, scored, self.prompt_digests, self.files)

    @cached_property
    def page_judges(self) -> tuple[Judge, ...]:
        """The metrics of pages that ask a generator."""
        return self._judges(self.page_metrics)

    @cached_property
    def judges(self) -> tuple[Judge, ...]:
        """The metrics of answers that ask a generator."""
        return self._judges(self.answer_metrics)

    def _judges(self, metrics: Mapping[str, AnyMetric]) -> tuple[Judge, ...]:
        return tuple(
            Judge(name, metric, (self.identity(metric.judge), self.files))
            for name, metric in metrics.items()
            if isinstance(metric, CaseJudgeMetric | PageJudgeMetric)
        )

    @cached_property
    def prompt_digests(self) -> dict[str, str]:
        """Hash each generator's prompt, each judge's, and the prompts of each agent that has them in a file."""
        named = [(item.name, read_prompt(self.prompt(item.stage))) for item in self.spec.generators]
        asked = (*self.judges, *self.page_judges)
        judges = {f"{judge.name} (judge)": judge.metric.prompt_sha256 for judge in asked}
        texts = ((item.name, self.identity(item.stage)[2].get("prompt")) for item in self.spec.agents)
        agents = {f"{name} (agent)": key("prompt", prompt) for name, prompt in texts if prompt}
        return {name: key("prompt", template.model_dump()) for name, template in named} | judges | agents

    @cached_property
    def files(self) -> list[Any]:
        """Hashes of the plugin files that a spec names: part of every key."""
        return [list(pair) for pair in self.spec.plugin_digests]


def again(base: KnowledgeBase) -> list[str | int]:
    """Return what sets the results of a repeated condition apart from those that it repeats."""
    return [] if base.again_of is None else ["again", base.turn] if base.turn > 1 else ["again"]
