"""The steps that judge and score what cells found and answered."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ohr.contracts import CaseJudgeMetric, CaseMetric, Question
from ohr.graph.cache_keys import Keys
from ohr.graph.cells import Cell
from ohr.graph.graph import Batch, Graph
from ohr.metrics.rankings import SHOWN_METRICS
from ohr.steps.answers.judging import PrepareJudging
from ohr.steps.answers.scoring import ScoreAnswers, ScoreRetrieval, ScoreShown
from ohr.steps.documents.page_images import acting
from ohr.work.step import Step


@dataclass
class ScoreSteps:
    """Adds the steps that score the batches of cells to a graph."""

    keys: Keys
    graph: Graph = field(default_factory=Graph)
    made: dict[str, dict[str, str]] = field(default_factory=dict)
    """The documents of each knowledge base."""

    def __post_init__(self) -> None:
        self.spec, self.inputs = self.keys.spec, self.keys.inputs

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
        made = self.made[cell.base.name]
        names = dict.fromkeys(q.document for q in self.asked(batch.questions) if q.document in made)
        stage = cell.chunker.stage if cell.chunker else None
        return tuple(self.keys.chunks(made[name], stage) if stage else made[name] for name in names)

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
