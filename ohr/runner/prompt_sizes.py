"""Sizes of prompts before they are made: estimated from the spec, the clean texts, and the questions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import sqrt
from typing import Any

from ohr.contracts import Agent, CaseJudgeMetric, Chunker, Generator, Page, PageRetriever, Passage, Prompt, Question
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.cells import Cell
from ohr.graph.graph import Batch
from ohr.graph.indexes import scopes
from ohr.metrics.cases import case_of
from ohr.metrics.dose import by_page, own_passages
from ohr.runner.text_growth import Growth, Size
from ohr.steps.answers.asked_judges import Judge
from ohr.steps.answers.prompt_templates import make_prompt
from ohr.steps.answers.prompts import PreparePrompts
from ohr.text.tokens import count_tokens
from ohr.work.step import Ready

_MESSAGE, _REPLY = 4, 3
"""Tokens of a chat's form: of each message, and of the reply's beginning.

Source: OpenAI Cookbook, How to count tokens with tiktoken. Templates of other models have about as many.
"""


def size_of(generator: Generator, prompts: Iterable[Prompt]) -> int:
    """Return the tokens of prompts as a generator counts them; where only its model can, as chats in cl100k_base."""
    known = ((prompt, generator.size_of(prompt)) for prompt in prompts)
    return sum(_as_chat(prompt) if size is None else size for prompt, size in known)


def _as_chat(prompt: Prompt) -> int:
    messages = [text for text in (prompt.system, prompt.user) if text]
    return sum(map(count_tokens, messages)) + _MESSAGE * len(messages) + _REPLY


@dataclass(frozen=True, slots=True)
class Estimate:
    """Different prompts of a batch, their tokens, and the same of the judges of the replies by the judge's name."""

    prompts: int
    tokens: int
    judged: Mapping[str, tuple[int, int]]


@dataclass
class Sizes:
    """Estimates of a run's prompts; a text that an engine has yet to read is taken to be as long as the clean one."""

    session: Session
    keys: Keys
    growth: Growth
    _found: dict[Any, list[str]] = field(default_factory=dict)
    _known: set[tuple[Any, ...]] = field(default_factory=set)
    """Prompts that are counted: a page that is found alone is read as the question's own page is, and asked once."""

    def prompts(self, cell: Cell, batch: Batch) -> Estimate:
        """Estimate the prompts of a batch and of the judges of its replies; images are not counted."""
        assert cell.generator is not None and batch.asks is not None
        work, generator = batch.asks, cell.generator.stage
        questions = [self.keys.inputs.questions[place] for place in batch.questions]
        passages = self._passages(cell, batch.scope) if work.source == "overall" and not work.images else []
        few = len(passages) < 2  # then the prompts are as they will be, and may be those of the question's own page
        prompts = self._prompts(work, questions, passages if few else ())
        if few:
            place = cell.base.name if work.source in ("overall", "generation") else ""
            shown = bool(work.images) and work.source
            made = {name: (cell.generator.name, place, shown, prompt.user) for name, prompt in prompts.items()}
            prompts = {name: prompt for name, prompt in prompts.items() if made[name] not in self._known}
            self._known.update(made.values())
        asked = [question for question in questions if question.id in prompts]
        ratio = self._ratio(cell, work)
        total = size_of(generator, prompts.values()) if few else 0
        if not few or ratio != 1:
            empty = size_of(generator, [self._prompt(work, question, ()) for question in asked])
            if few:
                total = round(empty + ratio * (total - empty))
            else:
                first = [self._prompt(work, questions[0], given) for given in ((), passages)]
                without, whole = (size_of(generator, [prompt]) for prompt in first)
                total = round(empty + ratio * (whole - without) * len(prompts))
        read = tuple(passage.text for passage in passages)
        judged = self._judged(asked, lambda question: read or prompts[question.id].passages, ratio)
        return Estimate(len(prompts), total, judged)

    def _ratio(self, cell: Cell, work: PreparePrompts) -> float:
        """Return how many times as long as on the clean text the passages of a cell's prompts are."""
        if work.images or work.source not in ("overall", "generation"):
            return 1.0
        whole = cell.retriever is None or isinstance(cell.retriever.stage, PageRetriever)
        assert cell.generator is not None
        return self.growth.ratio(cell.read, None if whole else cell.chunker, Size(cell.generator.stage))

    def agent(self, agent: Agent, questions: int) -> int:
        """Return a bound of an agent's text: every call with all that the calls before it may have shown."""
        hits, calls = getattr(agent, "top_k", 1), agent.max_calls
        pages = [page.text for pages in self.keys.inputs.truth.values() for page in pages]
        page = sum(map(count_tokens, pages)) // max(len(pages), 1)
        return questions * calls * (calls + 1) // 2 * page * hits

    def _prompts(
        self, work: PreparePrompts, questions: Sequence[Question], passages: Sequence[Passage]
    ) -> dict[str, Prompt]:
        """Return the prompts by question, those of a search with the given passages."""
        if work.source not in ("overall", "generation"):
            return {name: one.prompt for name, one in work.prompts(Ready((), ()), self.session.context).items()}
        truth = self.keys.inputs.truth
        if work.source == "overall":
            return {question.id: self._prompt(work, question, passages) for question in questions}
        pages = {name: by_page(truth.get(name, ())) for name in {question.document for question in questions}}
        return {q.id: self._prompt(work, q, own_passages(q, pages[q.document])) for q in questions}

    def _prompt(self, work: PreparePrompts, question: Question, passages: Sequence[Passage]) -> Prompt:
        images = work.images is not None
        return make_prompt(self.keys.inputs.benchmark, question, passages, prompt=work.prompt, images=images)

    def _passages(self, cell: Cell, scope: str) -> list[Passage]:
        """Return as many passages of a scope as are found, of a typical length of those that words are found in."""
        retriever, chunker = cell.retriever, cell.chunker
        assert retriever is not None
        top_k = retriever.stage.top_k
        whole = chunker is None or isinstance(retriever.stage, PageRetriever)
        place = (chunker and chunker.name, whole, scope)
        if place not in self._found:
            pages = [page for name in self._scopes[scope] for page in self.keys.inputs.truth.get(name, ())]
            texts = [page.text for page in pages] if whole or chunker is None else _cut(chunker.stage, pages)
            self._found[place] = sorted(filter(str.strip, texts), key=len)
        texts = self._found[place]
        if len(texts) <= top_k:
            return [Passage(text) for text in texts]
        # a longer passage is found more often, but searches discount length: places at equal steps of the sum of roots
        ends = [sqrt(len(text)) for text in texts]
        total, place_of, chosen, passed = sum(ends), 0, list[Passage](), 0.0
        for number in range(top_k):
            while passed + ends[place_of] < total * (number + 0.5) / top_k:
                passed += ends[place_of]
                place_of += 1
            chosen.append(Passage(texts[place_of]))
        return chosen

    @cached_property
    def _scopes(self) -> dict[str, tuple[str, ...]]:
        return {scope.name: scope.names for scope in scopes(self.keys)}

    def _judged(
        self, questions: Sequence[Question], passages: Callable[[Question], tuple[str, ...]], ratio: float
    ) -> dict[str, tuple[int, int]]:
        """Estimate the prompts of each judge about the replies, taken to be the accepted answers.

        Args:
            ratio: how many times as long as `passages` those are that the run reads.
        """
        found = {}
        for judge in self.keys.judges:
            full = self._judge_prompts(judge, questions, passages)
            size = size_of(judge.metric.judge, full)
            if ratio != 1:
                empty = size_of(judge.metric.judge, self._judge_prompts(judge, questions, lambda _: ()))
                size = round(empty + ratio * (size - empty))
            found[judge.name] = len(full), size
        return found

    def _judge_prompts(
        self, judge: Judge, questions: Sequence[Question], passages: Callable[[Question], tuple[str, ...]]
    ) -> list[Prompt]:
        assert isinstance(judge.metric, CaseJudgeMetric)
        prompts: list[Prompt] = []
        for question in questions:
            case = case_of(question, passages(question), question.answers[0] if question.answers else "")
            with suppress(Exception):  # a foreign judge may raise anything, which the run reports
                prompts += judge.metric.prompts_for(case) or ()
        return prompts


def _cut(chunker: Chunker, pages: Sequence[Page]) -> Iterable[str]:
    """Cut pages into chunks; whole pages where a chunker needs a model, which a plan does not load."""
    if chunker.resources().alone:
        return [page.text for page in pages]
    return [chunk.text for chunk in chunker.split(pages)]
