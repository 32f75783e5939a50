"""Sizes of prompts before they are made: estimated from the spec, the clean texts, and the questions."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ohr.contracts import Agent, Case, Chunker, Generator, Page, PageRetriever, Passage, Prompt, Question
from ohr.engine.session import Session
from ohr.graph.cells import Cell
from ohr.graph.graph import Batch
from ohr.graph.indexes import scopes
from ohr.graph.keys import Keys
from ohr.metrics.dose import by_page, own_passages
from ohr.steps.prompting import make_prompt
from ohr.steps.step import Ready


def size_of(generator: Generator, prompts: Iterable[Prompt]) -> int:
    """Return the tokens of prompts as a generator counts them; where only its model can, in those of cl100k_base."""
    known = ((prompt, generator.size_of(prompt)) for prompt in prompts)
    return sum(_tokens(prompt.system + prompt.user) if size is None else size for prompt, size in known)


@dataclass
class Sizes:
    """Estimates of a run's prompts; noise and OCR are taken to leave the lengths of texts as they are."""

    session: Session
    keys: Keys
    _found: dict[Any, list[str]] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)
    """Keys of the replies to prompts of references, of which several may have one."""

    def prompts(self, cell: Cell, batch: Batch) -> int:
        """Estimate the prompt tokens of a batch, with those of the judges of its replies; images are not counted."""
        assert cell.generator is not None and batch.asks is not None
        generator, questions = cell.generator.stage, [self.keys.inputs.questions[place] for place in batch.questions]
        prompts = self._prompts(batch, questions)
        total = size_of(generator, prompts.values())
        if cell.stage == "overall" and not generator.reads_images:
            passages = self._passages(cell, batch.scope)
            empty, full = (make_prompt(self.keys.inputs.benchmark, questions[0], some, prompt=generator.prompt)
                           for some in ((), passages))  # fmt: skip
            extra = size_of(generator, [full]) - size_of(generator, [empty])
            total += extra * len(prompts)
        return total + sum(
            self._judged(question, prompts[question.id]) for question in questions if question.id in prompts
        )

    def agent(self, agent: Agent, questions: int) -> int:
        """Return a bound of an agent's text: every call with all that the calls before it may have shown."""
        hits, calls = getattr(agent, "top_k", 1), agent.max_calls
        pages = [page.text for pages in self.keys.inputs.truth.values() for page in pages]
        page = sum(map(_tokens, pages)) // max(len(pages), 1)
        return questions * calls * (calls + 1) // 2 * page * hits

    def _prompts(self, batch: Batch, questions: Sequence[Question]) -> dict[str, Prompt]:
        """Return the prompts by question; those with passages that a search would find without passages."""
        work, inputs = batch.asks, self.keys.inputs
        assert work is not None
        if work.source not in ("overall", "generation"):
            asked = work.prompts(Ready((), ()), self.session.context)
            found = {name: one.prompt for name, one in asked.items() if work.answer_key(one) not in self._known}
            self._known.update(map(work.answer_key, asked.values()))
            return found
        shown = work.images is not None
        made = {}
        for question in questions:
            pages = by_page(inputs.truth.get(question.document, ()))
            read = own_passages(question, pages) if work.source == "generation" else ()
            made[question.id] = make_prompt(inputs.benchmark, question, read, prompt=work.prompt, images=shown)
        return made

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
        # a search finds words, and a longer passage has more of them: places at equal steps of the sum of lengths
        ends = [len(text) for text in texts]
        total, place_of, chosen, passed = sum(ends), 0, [], 0
        for number in range(top_k):
            while passed + ends[place_of] < total * (number + 0.5) / top_k:
                passed += ends[place_of]
                place_of += 1
            chosen.append(Passage(texts[place_of]))
        return chosen

    @cached_property
    def _scopes(self) -> dict[str, tuple[str, ...]]:
        return {scope.name: scope.names for scope in scopes(self.keys)}

    def _judged(self, question: Question, prompt: Prompt) -> int:
        """Estimate the prompts of all judges about a reply, taken to be the accepted answer."""
        total = 0
        answer = question.answers[0] if question.answers else ""
        case = Case(question.text, question.answers, prompt.passages, answer, question.id, dict(question.groups))
        for judge in self.keys.judges.values():
            with suppress(Exception):  # a foreign judge may raise anything; the run tells
                total += size_of(judge.judge, judge.prompts_for(case) or ())
        return total


def _cut(chunker: Chunker, pages: Sequence[Page]) -> Iterable[str]:
    """Cut pages into chunks; whole pages where a chunker needs a model, which a plan does not load."""
    if chunker.resources().alone:
        return [page.text for page in pages]
    return [chunk.text for chunk in chunker.split(pages)]


def _tokens(text: str) -> int:
    import quicktok

    return int(quicktok.get_encoding("cl100k_base").count(text))
