"""A pipeline of a finished run that answers anybody's questions: its indexes, its prompt and its generator."""

from collections.abc import Callable, Sequence
from contextvars import copy_context
from dataclasses import replace
from threading import Lock
from typing import Any, TypeVar

from ohr.contracts import Completion, Question
from ohr.dataset.inputs import read_inputs
from ohr.errors import DataError, StageError, StoreError
from ohr.files import indexes
from ohr.graph.cache_keys import Keys
from ohr.graph.compile import compile_graph
from ohr.messages.blame import fault_of
from ohr.registry import choices
from ohr.spec.model import Named, Spec, names
from ohr.steps.answers.generate import with_images
from ohr.steps.answers.prompt_templates import answer_of
from ohr.steps.answers.prompts import PreparePrompts, as_passage
from ohr.steps.retrieval.indexing import Indexed
from ohr.steps.retrieval.retrieve import Found, Retrieve
from ohr.store import Store
from ohr.work.plugin_checks import checked_completion
from ohr.work.step import Report, Step

T = TypeVar("T")


def with_one_pipeline(spec: Spec, chosen: dict[str, str | None]) -> Spec:
    """Return a spec with one retriever, its chunker and at most one generator.

    Args:
        chosen: names of the `chunker`, `retriever` and `generator`; None where there is only one.

    Raises:
        DataError: nothing has the name, or there are several and none is named; or no retriever searches the condition.
    """
    base = spec.knowledge_bases[0]
    retrievers = _one("retriever", [named for named in spec.retrievers if base.uses(named.name)], chosen["retriever"])
    if not retrievers:
        raise DataError(f"no retriever of the run searches {base.name}, so that there is nothing to serve")
    looks = retrievers[0].stage.reads_images  # at pages, which no chunker has cut
    chunkers = () if looks else _one("chunker", spec.chunkers, chosen["chunker"])
    generators = _one("generator", spec.generators, chosen["generator"])
    return replace(spec, chunkers=chunkers, retrievers=retrievers, generators=generators)


def _one(family: str, listed: Sequence[Named[Any]], name: str | None) -> tuple[Named[Any], ...]:
    named = tuple(item for item in listed if name in (None, item.name))
    if len(named) > 1:
        raise DataError(f"the run has {len(named)} {family}s: name one with --{family}. {choices('', names(named))}")
    if name is not None and not named:
        there = f". {choices(name, names(listed))}" if listed else ", nor any other"
        raise DataError(f"--{family}: the run has no {family} {name!r} for this condition{there}")
    return named


class Pipeline:
    """Searches the indexes of one knowledge base, and answers from what it finds; one call at a time, from any thread.

    Models that it loads stay until the `holding()` ends in which it was made.

    Args:
        spec: of one pipeline.
        store: of the run.

    Raises:
        DataError: an index is not in the store.
        PluginError: the retriever or the generator cannot run here.
    """

    def __init__(self, spec: Spec, store: Store) -> None:
        self._store, self._inputs = store, read_inputs(spec)
        self._lock, self._context = Lock(), copy_context()
        self.run, self._base, self.retriever = spec.name, spec.knowledge_bases[0].name, spec.retrievers[0].stage
        self.generator = spec.generators[0].stage if spec.generators else None
        for stage in filter(None, (self.retriever, self.generator)):
            stage.check()
        steps = compile_graph(Keys(spec, self._inputs)).steps.values()
        searches = {step.work.scope.scope: step for step in steps if isinstance(step.work, Retrieve)}
        self._indexes = {self._name(scope): self._opened(step) for scope, step in searches.items()}
        self._prompts = next(
            (work for step in steps if isinstance(work := step.work, PreparePrompts) and work.source == "overall"), None
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the indexes: the condition, or CONDITION/DOMAIN where each domain or document has its own."""
        return tuple(self._indexes)

    def search(self, name: str, text: str, top_k: int) -> list[Found]:
        """Search one of `names` for a text; a question of the run is asked with all that the run knows of it.

        Raises:
            StageError: the retriever failed.
        """
        return self._alone(self._search, name, text, top_k)[1]

    def answer(self, name: str, text: str) -> tuple[Completion, str]:
        """Answer a text from what the retriever finds; returns the reply, and the answer in it. It needs a generator.

        Raises:
            StageError: the retriever or the generator failed.
        """
        return self._alone(self._answer, name, text)

    def _alone(self, call: Callable[..., T], *arguments: Any) -> T:
        with self._lock:  # neither retrievers nor generators need to bear two threads
            return self._context.run(call, *arguments)

    def _search(self, name: str, text: str, top_k: int) -> tuple[Question, list[Found]]:
        index, known = self._indexes[name]
        question = known.get(text) or Question("", text, (), "", (), (), "", "")
        count = min(top_k, len(index.passages.chunks))
        if not count:
            return question, []
        ranked, failed = index.search(self.retriever, [question], count)
        if failed:
            raise StageError("retriever", self.retriever.kind, failed[0])
        return question, [Found(index.passages.chunks[hit.place], hit.score) for hit in ranked[0]]

    def _answer(self, name: str, text: str) -> tuple[Completion, str]:
        assert self.generator is not None
        assert self._prompts is not None
        question, hits = self._search(name, text, self.retriever.top_k)
        asked = self._prompts.asked(question, [as_passage(hit.chunk) for hit in hits], self._inputs)
        try:
            replies = iter(self.generator.answer([with_images(asked.prompt, asked.pages, self._store)]))
            completion = checked_completion(next(replies))
        except (Exception, SystemExit) as error:  # a generator may raise anything
            raise StageError("generator", self.generator.kind, fault_of(error, self.generator)) from error
        if completion.error is not None:
            raise StageError("generator", self.generator.kind, completion.error)
        return completion, answer_of(completion.text, self._inputs.benchmark.scoring)

    def _name(self, scope: str) -> str:
        return self._base if scope == "corpus" else f"{self._base}/{scope}"

    def _opened(self, step: Step) -> tuple[Indexed, dict[str, Question]]:
        """Open an index; returns it with the run's questions that are asked in it."""
        work = step.work
        assert isinstance(work, Retrieve)
        folders = [self._store.folder(index) for index in work.scope.indexes]
        gone = (
            f"{self._store.url}: has no whole index of {work.item}, or not its passages: they were pruned, or data or "
            "versions have changed since; `ohr run SPEC --fresh retrieval` with the run's spec and store makes them"
        )
        if not all(folder and indexes.is_index(folder) for folder in folders):
            raise DataError(gone)
        try:
            index = Indexed.of(work.scope, step.inputs, self._store, Report())
        except StoreError as error:
            raise DataError(f"{gone} ({error})") from None
        asked = [self._inputs.questions[place] for batch in work.batches for place in batch]
        return index, {question.text: question for question in reversed(asked)}
