"""Runs an agent on the questions of a knowledge base: each continues by itself, and is stored when it ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar

from ohr.contracts import Agent, Ask, Stage
from ohr.errors import InputsGone, StoreError
from ohr.steps.agents.calls import Call, Calls, Reply
from ohr.steps.agents.episode import MOST_STEPS, Done, Episode, trajectory
from ohr.steps.agents.scope_pages import ScopeDesk
from ohr.steps.agents.searches import Queries, Query, Source
from ohr.steps.documents.page_images import ImageRecipe
from ohr.steps.retrieval.indexing import Searched
from ohr.work.outside import ask_missing
from ohr.work.step import Context, Ready, Report, Work

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
    named: ClassVar[str] = "{0.name} on {0.condition}"
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

    def label(self, place: int) -> str:
        """Name the agent, the knowledge base and the question."""
        return f"{self.item}: {self.questions[place][1]}"

    def parts(self, ready: Ready) -> int:
        """Return the most steps of its questions: each has the time limit of an item."""
        return len(ready.outputs) * MOST_STEPS

    def run(self, ready: Ready, context: Context) -> Report:
        """Answer the questions that are missing; one on which the agent raises or a call fails, fails alone."""
        report = Report()
        with Calls(self.agent.models(), dict(self.made_by), context, report) as calls:
            ask_missing(_Questions(self, ready, context, report, calls), ready, context, report, self.agent.in_flight)
        return report


class _Questions:
    """The questions of a step: each continues as soon as the results that it waits for are there."""

    def __init__(self, work: RunAgent, ready: Ready, context: Context, report: Report, calls: Calls) -> None:
        self.work, self.ready, self.context, self.report, self.calls = work, ready, context, report, calls
        self.queries = Queries(context, report)
        self.desks = [self._desk(shelf) for shelf in work.shelves]
        self.sources = [self._sources(shelf) for shelf in work.shelves]
        self.places = {output: place for place, output in enumerate(ready.outputs)}
        self.begun: list[Episode] = []
        self.going: list[Episode] = []
        """Questions that have new steps."""

    def begin(self, output: str) -> None:
        """Begin a question."""
        question, _, shelf = self.work.questions[place := self.places[output]]
        self.begun.append(Episode(self.work.agent, self.context.inputs.questions[question], self.desks[shelf], place))

    def ended(self) -> Mapping[str, Any]:
        """Continue all questions as far as they come; returns the trajectories of those that end, or why they fail."""
        complete = [*self._continued(self.going), *self.begun] or self._received(self.calls.wait())
        self.begun, self.going = [], []
        results = dict[str, Any]()
        for episode in complete:
            if (result := self._advanced(episode)) is None:
                self.going.append(episode)
            else:
                results[self.ready.outputs[episode.place]] = result
        return results

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

    def _continued(self, episodes: Sequence[Episode]) -> list[Episode]:
        """Begin the wanted calls of questions, and make their searches; returns those whose results are all there."""
        calls, searches = list[Call](), list[tuple[Episode, int, Query]]()
        for episode in episodes:
            for place, step in enumerate(episode.wanted):
                if isinstance(step, Ask):
                    calls.append(Call(step, episode.desk, episode.question.id, episode, place))
                else:
                    source = self.sources[self.work.questions[episode.place][2]][step.retriever]
                    searches.append((episode, place, Query(step, source, episode.question)))
        complete = self._received(self.calls.begin(calls))
        hits = self.queries.make([query for _, _, query in searches]) if searches else ()
        for (episode, place, query), (result, name, cached) in zip(searches, hits, strict=True):
            done = result if isinstance(result, str) else Done(query.search, result, name, cached)
            if episode.receive(place, done):
                complete.append(episode)
        return complete

    def _received(self, replies: Sequence[Reply]) -> list[Episode]:
        """Pass replies to the questions that wait for them; returns those whose results are all there."""
        complete = []
        for reply in replies:
            ask, completion, episode = reply.call.ask, reply.completion, reply.call.waiting
            error = completion.error
            done = type(error)(f"{ask.model}: {error}") if error else Done(ask, completion, reply.key, reply.cached)
            if episode.receive(reply.call.place, done):
                complete.append(episode)
        return complete

    def _advanced(self, episode: Episode) -> Mapping[str, Any] | str | None:
        """Continue a question; returns its trajectory where it ends, why it fails, or None where it has new steps."""
        number = len(episode.rows) + 1
        results = [result for _, result in sorted(episode.results.items(), key=itemgetter(0))]
        episode.results = {}
        failed = [(number + place, result) for place, result in enumerate(results) if isinstance(result, str)]
        if failed:
            step, reason = failed[0]
            episode.close(self.context.watch)
            return type(reason)(f"step {step}, {reason}")  # as permanent as it was
        try:
            episode.advance([result for result in results if isinstance(result, Done)], self.context.watch)
        except (StoreError, InputsGone):
            raise  # of the engine, not of the agent
        except (Exception, SystemExit, GeneratorExit) as error:  # an agent may raise anything: its question fails alone
            return f"after step {number - 1 + len(results)}: {type(error).__name__}: {error}"
        if episode.outcome is None:
            return None
        self.report.calls["agent questions"] += 1
        return trajectory(episode)
