"""Tables: writes the rows of a knowledge base or a cell when its steps are settled."""

from collections.abc import Mapping, Sequence
from typing import Any

from ohr.contracts import Completion
from ohr.contracts.system import SPLIT
from ohr.graph.cells import Cell
from ohr.graph.compile import reference_base
from ohr.graph.graph import BasePart, Batch, CellPart
from ohr.messages.wording import counted, named
from ohr.metrics.question_scores import constant_scores
from ohr.metrics.rankings import SHOWN_METRICS
from ohr.metrics.scores import Scores, with_failures
from ohr.noise_files.page_statistics import write_statistics
from ohr.results.derived import decomposition
from ohr.results.derived.derive import derive
from ohr.runner.attribution import costs
from ohr.runner.columns import (
    Judgement,
    answer_columns,
    failure_columns,
    hit_columns,
    joined_replies,
    judgement_columns,
    step_columns,
)
from ohr.runner.kb_tables import KnowledgeBaseTables
from ohr.runner.usage import note_answers
from ohr.spec.model import Named
from ohr.spec.payees import judging
from ohr.steps.answers.generate import Answered, as_answered
from ohr.steps.answers.judging import Judge
from ohr.steps.answers.scoring import read_scores
from ohr.steps.retrieval.retrieve import read_hits, read_value


class Tabulator(KnowledgeBaseTables):
    """Writes the tables of a run into its folder; attribution's levels and swapped texts have tables of their own."""

    def in_order(self, parts: Sequence[BasePart | CellPart]) -> list[BasePart | CellPart]:
        """Sort parts as the tables list them: knowledge bases and searches, then each generator, then each agent."""
        spec = self.keys.spec
        names = ["", *(item.name for item in spec.generators), *(item.name for item in spec.whole)]

        def place(part: BasePart | CellPart) -> int:
            if isinstance(part, BasePart):
                return 0
            answering = part.cell.generator.name if part.cell.generator else part.cell.agent and part.cell.agent.name
            return names.index(answering or "")

        return sorted(parts, key=place)

    def write(self, part: BasePart | CellPart) -> None:
        """Write the rows of a part, which must be settled."""
        if isinstance(part, BasePart):
            self.base(part)
        elif part.cell.generator or (part.cell.agent and part.cell.stage == "overall"):
            self.answers(part)
        elif part.cell.agent and not part.batches[0].hits:
            self.shown(part)
        else:
            self.retrieval(part)

    def retrieval(self, part: CellPart) -> None:
        """Write the hits and retrieval scores of a cell."""
        cell = part.cell
        searching: Any = cell.retriever or cell.agent
        headline, *ranks = self.keys.spec.benchmark.scoring.retrieval_metrics(searching.stage.top_k)
        # which pages were found does not depend on the text that is read at them
        names = (headline,) if cell.swap else tuple(dict.fromkeys((headline, *ranks, *self.keys.ranking_metrics)))
        for batch in part.batches:
            if not cell.swap:
                self.hits(cell, batch)
            assert batch.scores is not None
            self._batch(cell, batch, batch.scores, names)

    def hits(self, cell: Cell, batch: Batch) -> None:
        """Write the hits of a batch, and its warnings."""
        searching = cell.retriever or cell.agent
        assert batch.hits is not None and searching is not None
        kept = self.scheduler.read([batch.hits])
        hits, warnings = read_value(kept[batch.hits]) if kept else read_hits(self.store, None, batch.hits)
        for warning in warnings:
            self.ledger.warn(f"{searching.name} on {cell.base.name}{batch.scope and f', {batch.scope}'}: {warning}")
        if cell.base.name not in self.trials:
            self.tables.append("hits", hit_columns(cell, hits))

    def answers(self, part: CellPart) -> None:
        """Write the answers of a cell, their scores, and what judges replied."""
        for batch in part.batches:
            self._answers(part.cell, batch)

    def _answers(self, cell: Cell, batch: Batch) -> None:
        assert batch.scores is not None
        answers = batch.episodes
        if batch.prompts:
            answers = self.scheduler.read([batch.prompts.key]).get(batch.prompts.key, {})
        found = self.scheduler.read(answers.values())
        note_answers(self.ledger.usage, cell, found)
        if shown := cell.base.name not in self.trials and not cell.swap:
            protocol = self.keys.spec.benchmark.scoring
            given = {q: as_answered(found[name], protocol) if name in found else _FAILED for q, name in answers.items()}
            self.tables.append("answers", answer_columns(cell, given))
            if cell.agent is not None:
                self._steps(cell, {q: found[name] for q, name in answers.items() if name in found})
            elif cell.generator:
                self.ledger.replied(cell.generator.name, {name: each["finish"] for name, each in found.items()})
        scored = self._batch(cell, batch, batch.scores, (*self.keys.answer_metrics, *self.keys.rules.facts))
        judged = self.scheduler.read([batch.judged]).get(batch.judged, {}) if batch.judged else {}
        for judge in self.keys.judges if judged else ():
            self._judgements(cell, batch, judge, judged.get(judge.name, {}), scored, shown=shown)

    def _note_ends(self, agent: str) -> None:
        """Warn of an agent's questions that ended without an answer: they score 0, and are no failures."""
        if len(versions := sorted(self.versions[agent])) > 1:
            self.ledger.warn(f"{agent} changed its version while it was asked: {named(versions)}")
        stated, took = (sum(self.stated[agent, name] for name in names) for names in (SPLIT, ("seconds",)))
        if stated > _MOST_STATED * took + 1:
            what = f"{stated:,.0f} s of search and model for questions that took {took:,.0f} s"
            self.ledger.warn(f"{agent} states {what}: are they in another unit?")
        ends = self.ledger.ends[agent]
        others = {end: count for end, count in ends.items() if end != "answered"}
        if others:
            listed = ", ".join(f"{end} {count:,}" for end, count in sorted(others.items()))
            asked = counted(ends.total(), "question")
            self.ledger.warn(f"{agent}: {sum(others.values()):,} of {asked} ended without an answer: {listed}")

    def _steps(self, cell: Cell, trajectories: Mapping[str, Mapping[str, Any]]) -> None:
        """Write the steps of an agent, and count how its questions ended."""
        assert cell.agent is not None
        self.tables.append("steps", step_columns(cell, trajectories))
        self.versions[cell.agent.name].update(filter(None, (each.get("version") for each in trajectories.values())))
        self.ledger.ends[cell.agent.name].update(each["end"] for each in trajectories.values())
        asks = [step for each in trajectories.values() for step in each["steps"] if step["kind"] == "ask"]
        for name in ("seconds", *SPLIT):
            self.stated[cell.agent.name, name] += sum(step.get(name) or 0 for step in asks)
        self.ledger.replied(cell.agent.name, {step["key"]: step["finish"] for step in asks})

    def shown(self, part: CellPart) -> None:
        """Write the scores of the pages that an agent has looked at."""
        for batch in part.batches:
            assert batch.scores is not None
            self._batch(part.cell, batch, batch.scores, SHOWN_METRICS)

    def _judgements(
        self,
        cell: Cell,
        batch: Batch,
        judge: Judge,
        keys: Mapping[str, Sequence[str]],
        scores: Scores,
        *,
        shown: bool,
    ) -> None:
        """Count a judge's replies about a batch, and write those of a cell that is shown."""
        name, found = judge.name, self.scheduler.read({key for names in keys.values() for key in names})
        self.ledger.usage.add(judging(Named(name, judge.metric)), found)
        if not shown:
            return
        self.ledger.replied(f"{name} (judge)", {key: reply["finish"] for key, reply in found.items()})
        replies = {question: joined_replies([found.get(name) for name in names]) for question, names in keys.items()}
        reasons = {each.question: each.reason for each in scores.failures if each.metric == name}
        questions = [self.inputs.questions[place].id for place in batch.questions]
        given = [
            Judgement(question, replies[question], reasons.get(question), score)
            for question, score in zip(questions, scores.values[name], strict=True)
            if question in replies
        ]
        self.tables.append("judgements", judgement_columns(cell, name, judge.metric, given))

    def constant(self) -> None:
        """Write the scores of the best constant answer, a floor of every generator."""
        cell = Cell("reference", reference_base("constant"))
        scores = constant_scores(self.inputs.questions, self.keys.rules)
        self.fail(cell, scores)
        self.add_scores(cell, range(len(self.inputs.questions)), scores)

    def _batch(self, cell: Cell, batch: Batch, scores: str, metrics: Sequence[str]) -> Scores:
        kept = self.scheduler.read([scores]).get(scores)
        found = read_scores(kept, metrics, len(batch.questions))
        questions = [self.inputs.questions[place] for place in batch.questions]
        bases = (cell.base, cell.swap.clean) if cell.swap else (cell.base,)
        failed = {question for base in bases for question in self.failed.get(base.name, ())}
        found = with_failures(found.only(metrics), questions, failed)
        self.fail(cell, found)
        self.add_scores(cell, batch.questions, found)
        return found

    def close(self) -> None:
        """Finish the tables, and make those that follow from them: doses, means, costs, losses by stage."""
        spec = self.keys.spec
        if spec.whole or (spec.generators and {"generation", "overall"} & set(spec.evaluate)):
            self.constant()
        for agent in spec.whole:
            self._note_ends(agent.name)
        self.tables.append("failures", failure_columns([*self.ledger.failures, *self.ledger.absent]))
        self.tables.close()
        if "pages" in self.keys.spec.measure:
            self.ledger.calls["page statistics"] += write_statistics(self.folder, self.inputs.truth, self.store)
        for fault in derive(self.folder, self.counts, self.keys.spec.benchmark.aggregates()):
            self.ledger.fail("aggregate", *fault.split(": ", 1))
        if self.trials:
            levels = {base.condition: base for base in self.keys.spec.knowledge_bases}
            costs.derive(self.folder, self.keys.spec, levels, self.trials, self.counts)
        if self.keys.spec.decompose:
            decomposition.derive(self.folder)


_MOST_STATED = 1.5
"""Seconds that a system states, of those that its questions took: parts that run side by side may be more than all."""
_FAILED = Answered(Completion("", finish="error", error="failed: see the table of failures"), "")
