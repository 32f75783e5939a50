"""Agents: the questions of a knowledge base in the hands of an agent, in rounds, each kept when it ends."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from ohr.contracts import Agent, Ask, Completion, Stage
from ohr.errors import InputsGone, StoreError
from ohr.steps.agents.calls import Call, Calls
from ohr.steps.agents.episode import MOST_STEPS, Done, Episode, trajectory
from ohr.steps.agents.scope_pages import ScopeDesk
from ohr.steps.agents.searches import Queries, Query, Source
from ohr.steps.documents.page_images import ImageRecipe
from ohr.steps.retrieval.indexing import Searched
from ohr.work.step import Context, Ready, Report, Work, missing

Places = tuple[int, ...]
"""Places of keys in the inputs of a step."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """One scope of a knowledge base for an agent.

    Args:
        documents: their names.
        texts: the documents' keys; empty where the agent reads no text.
        searched: the scope as each retriever searches it, by role; with the passages and images of its index, and
            passages that its hits alone depend on.
    """

    documents: tuple[str, ...]
    texts: Places
    searched: tuple[tuple[str, Searched, Places, Places], ...]


@dataclass(frozen=True, slots=True)
class RunAgent(Work):
    """Answer questions with an agent. Writes, for each question, its trajectory: outcome, steps and pages shown.

    Its inputs: the documents, passages and page images of its shelves.

    Args:
        condition: name of the knowledge base, for messages.
        questions: for each output, the place of its question in `Inputs.questions`, its id, and the place of its shelf.
        images: how page images are made; None where the agent looks at none.
        made_by: for each role of its models, the identity, then what else decides the replies.
        instruction: about the form of an answer.
    """

    kind: ClassVar[str] = "running agents"
    shape: ClassVar[str] = "answer"
    role: ClassVar[str] = "agent"
    one_by_one: ClassVar[bool] = True
    together: ClassVar[bool] = True
    agent: Agent
    name: str
    condition: str
    questions: tuple[tuple[int, str, int], ...]
    shelves: tuple[Shelf, ...]
    images: ImageRecipe | None
    made_by: tuple[tuple[str, tuple[Any, ...]], ...]
    instruction: str = ""

    @property
    def stage(self) -> Stage:
        """The agent, which opens its models and retrievers."""
        return self.agent

    @property
    def item(self) -> str:
        """Name of the agent and the knowledge base."""
        return f"{self.name} on {self.condition}"

    def label(self, place: int) -> str:
        """Name the agent, the knowledge base and the question."""
        return f"{self.item}: {self.questions[place][1]}"

    def parts(self, ready: Ready) -> int:
        """Return the most steps of its questions: each has the time limit of an item."""
        return len(ready.outputs) * MOST_STEPS

    def run(self, ready: Ready, context: Context) -> Report:
        """Answer the questions that are missing; one on which the agent raises or a call fails, fails alone."""
        report = Report()
        rounds = _Rounds(self, ready, context, report)
        waiting = deque(missing(ready.outputs, ready, context.store))
        places = {output: place for place, output in enumerate(ready.outputs)}
        active: list[Episode] = []
        most = 1 if ready.alone else self.agent.in_flight
        while waiting or active:
            while waiting and len(active) < most:
                episode = rounds.begun(places[waiting.popleft()])
                active += [episode] * rounds.continues(episode)
            active = rounds.next(active)
        return report


class _Rounds:
    """The rounds of a step: the wanted steps of all active questions are done, and then each continues."""

    def __init__(self, work: RunAgent, ready: Ready, context: Context, report: Report) -> None:
        self.work, self.ready, self.context, self.report = work, ready, context, report
        agent = work.agent
        self.calls = Calls(agent.models(), dict(work.made_by), context, report)
        self.queries = Queries(context, report)
        self.desks = [self._desk(shelf) for shelf in work.shelves]
        self.sources = [self._sources(shelf) for shelf in work.shelves]

    def _desk(self, shelf: Shelf) -> ScopeDesk:
        work, inputs = self.work, self.ready.inputs
        texts = dict(zip(shelf.documents, (inputs[place] for place in shelf.texts), strict=False))
        context = self.context
        return ScopeDesk(context.store, context.inputs, shelf.documents, texts, work.images, work.instruction)

    def _sources(self, shelf: Shelf) -> Mapping[str, Source]:
        inputs = self.ready.inputs
        return {
            role: Source(
                scope, tuple(inputs[p] for p in places), tuple(inputs[p] for p in texts), whole=self.ready.whole
            )
            for role, scope, places, texts in shelf.searched
        }

    def begun(self, place: int) -> Episode:
        """Begin a question."""
        question, _, shelf = self.work.questions[place]
        episode = Episode(self.work.agent, self.context.inputs.questions[question], self.desks[shelf], place)
        self._advance(episode, ())
        return episode

    def next(self, active: Sequence[Episode]) -> list[Episode]:
        """Do what the questions wait for, and continue each; returns those that have not ended."""
        results = self._done([(episode, step) for episode in active for step in episode.wanted])
        for episode in active:
            self._advance(episode, [next(results) for _ in episode.wanted])
        return [episode for episode in active if self.continues(episode)]

    def _done(self, wanted: Sequence[tuple[Episode, Any]]) -> Any:
        """Do steps, all searches and then all calls; yields a `Done`, or the reason of a failure, of each."""
        asks = [(episode, step) for episode, step in wanted if isinstance(step, Ask)]
        found = iter(
            self.queries.make(
                [
                    Query(step, self.sources[self._shelf(episode)][step.retriever], episode.question)
                    for episode, step in wanted
                    if not isinstance(step, Ask)
                ]
            )
        )
        made = iter(self.calls.make([Call(step, episode.desk, episode.question.id) for episode, step in asks]))
        for _, step in wanted:
            result, key, cached = next(made) if isinstance(step, Ask) else next(found)
            if isinstance(result, Completion) and result.error is not None:
                yield f"{step.model}: {result.error}"
            else:
                yield result if isinstance(result, str) else Done(step, result, key, cached)

    def _shelf(self, episode: Episode) -> int:
        return self.work.questions[episode.place][2]

    def continues(self, episode: Episode) -> bool:
        """Report whether a question has neither ended nor failed."""
        return episode.outcome is None and self.ready.outputs[episode.place] not in self.report.errors

    def _advance(self, episode: Episode, results: Sequence[Done | str]) -> None:
        """Continue a question; keep it if it ends, and note why if it fails."""
        output, number = self.ready.outputs[episode.place], len(episode.rows) + 1
        failed = [(number + place, result) for place, result in enumerate(results) if isinstance(result, str)]
        if failed:
            self.report.errors[output] = f"step {failed[0][0]}, {failed[0][1]}"
            episode.close(self.context.watch)
            return
        try:
            episode.advance([result for result in results if isinstance(result, Done)], self.context.watch)
        except (StoreError, InputsGone):
            raise  # of the engine, not of the agent
        except (Exception, SystemExit, GeneratorExit) as error:  # an agent may raise anything: its question fails alone
            self.report.errors[output] = f"after step {number - 1 + len(results)}: {type(error).__name__}: {error}"
            return
        if episode.outcome is not None:
            self.context.store.put(output, trajectory(episode))
            self.report.calls["agent questions"] += 1
