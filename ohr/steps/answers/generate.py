"""Answers: a generator's replies to prompts, kept one by one as they come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

from ohr.contracts import Completion, Generator, Image, Prompt, ScoringProtocol, Stage
from ohr.contracts.system import SPLIT
from ohr.errors import StoreError
from ohr.files.lazy import Made
from ohr.isolated import in_order
from ohr.messages.blame import fault_of
from ohr.steps.answers.prompt_templates import answer_of
from ohr.steps.documents.page_images import PageImage, rendered
from ohr.store import Store
from ohr.text.thoughts import without_thoughts
from ohr.work.plugin_checks import checked_completion
from ohr.work.step import Context, Ready, Report, Work

_WINDOW = 1024
"""Prompts that a generator with a model gets in one call: enough for its batches to need little padding."""
_SMALL = 64
"""Prompts that a generator without a model gets in one call: few enough that every worker gets some."""
_SHOWN = 60
"""Characters of a question in a message."""


@dataclass(frozen=True, slots=True)
class Answer(Work):
    """Ask a generator. Writes its completion of a prompt.

    Args:
        pages: the page images that the prompt shows.
        condition: name of the condition that asks it first, for messages.
    """

    kind: ClassVar[str] = "answering"
    shape: ClassVar[str] = "answer"
    role: ClassVar[str] = "generator"
    generator: Generator
    name: str
    prompt: Prompt
    pages: tuple[PageImage, ...]
    condition: str

    @property
    def stage(self) -> Stage:
        """The generator."""
        return self.generator

    @property
    def item(self) -> str:
        """Name the generator, the condition and the question."""
        question = self.prompt.question or self.prompt.id
        shown = question if len(question) <= _SHOWN else f"{question[: _SHOWN - 1]}…"
        return f"{self.name} on {self.condition}: {shown}"

    @property
    def window(self) -> int:
        """Return the most prompts of one call."""
        if self.posted:
            return self.generator.posts
        return _WINDOW if self.generator.resources().alone else _SMALL

    @property
    def posted(self) -> bool:
        """Whether prompts are sent in files."""
        return self.generator.posts > 0

    @property
    def length(self) -> int:
        """Return the characters of the prompt."""
        return len(self.prompt.user)

    def run(self, ready: Ready, context: Context) -> Report:
        """Ask for one answer."""
        return self.run_together([(self, ready)], context)[0]

    @classmethod
    def run_together(cls, jobs: Sequence[tuple[Self, Ready]], context: Context) -> list[Report]:
        """Ask the prompts that have no answer yet; a prompt on which the generator raises fails alone."""
        reports = [Report() for _ in jobs]
        there = context.store.has_many([ready.outputs[0] for _, ready in jobs])
        left = [(*job, report) for job, report in zip(jobs, reports, strict=True) if job[1].outputs[0] not in there]
        if jobs[0][0].posted:
            cls._post(context, left)
            return reports
        for place, reason in in_order(left, partial(cls._ask, context)).items():
            _, ready, report = left[place]
            report.errors[ready.outputs[0]] = reason
        return reports

    @classmethod
    def _post(cls, context: Context, jobs: Sequence[tuple[Self, Ready, Report]]) -> None:
        """Send the prompts in files, and keep the replies as they come: each once, also those of other prompts."""
        generator, store = jobs[0][0].generator, context.store
        reports = {ready.outputs[0]: report for _, ready, report in jobs}
        prompts = {ready.outputs[0]: with_images(work.prompt, work.pages, store) for work, ready, _ in jobs}
        left = set(reports)
        for completions in generator.post(prompts, store, context.say, again=context.asks_again):
            checked = {name: checked_completion(completion) for name, completion in completions.items()}
            whole = {name: completion for name, completion in checked.items() if completion.error is None}
            there = store.has_many(whole)
            store.put_many({name: completion for name, completion in whole.items() if name not in there})
            for name in left.intersection(checked):
                _count(name, checked[name], reports[name])
            left -= checked.keys()
        for name in left:
            reports[name].errors[name] = "the generator stopped early"

    @classmethod
    def _ask(cls, context: Context, jobs: Sequence[tuple[Self, Ready, Report]]) -> tuple[int, str, int]:
        """Ask until the generator is done or raises; returns what `in_order` needs."""
        done, generator = 0, jobs[0][0].generator
        try:
            for completion in generator.answer(
                [with_images(work.prompt, work.pages, context.store) for work, _, _ in jobs]
            ):
                _, ready, report = jobs[done]
                _keep(ready.outputs[0], checked_completion(completion), context.store, report)
                context.watch.restart()
                done += 1
                if done == len(jobs):
                    break
        except StoreError:
            raise  # nothing that is asked now could be kept
        except (Exception, SystemExit) as error:  # a generator may raise anything: its prompt fails, others continue
            return done, fault_of(error, generator), 0
        return done, "the generator stopped early", 0


def _keep(output: str, completion: Completion, store: Store, report: Report) -> None:
    _count(output, completion, report)
    if completion.error is None:
        store.put(output, completion)


def _count(output: str, completion: Completion, report: Report) -> None:
    report.calls["answers"] += completion.error is None
    report.tokens["in"] += completion.tokens_in
    report.tokens["out"] += completion.tokens_out
    report.calls["truncated prompts"] += completion.truncated
    report.calls["empty replies"] += completion.error is None and not without_thoughts(completion.text).strip()
    if completion.error is not None:
        report.errors[output] = completion.error


def with_images(prompt: Prompt, pages: Sequence[PageImage], store: Store) -> Prompt:
    """Return a prompt with the page images that it shows."""
    return replace(prompt, images=Made([partial(_image, page, store) for page in pages])) if pages else prompt


def _image(page: PageImage, store: Store) -> Image:
    """Read an image from the store, or make it, each time that it is looked at."""
    image = rendered(store, page.key)
    return page.make() if image is None else image


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply, and what the protocol takes as its answer; of an agent also its effort."""

    completion: Completion
    answer: str
    effort: "Effort | None" = None


@dataclass(frozen=True, slots=True)
class Effort:
    """How an agent ended, and the work that it took.

    Args:
        turns: messages of the longest conversation.
        images: pictures in its calls; one that is sent again counts again.
        pages_shown: different pages that it has looked at.
        shared_calls: calls that do not depend on the question, in no other count.
        seconds_retrieval: those that a system says its search took; `seconds_generation` its model.
    """

    end: str
    calls: int
    searches: int
    turns: int
    images: int
    pages_shown: int
    shared_calls: int
    seconds_retrieval: float | None = None
    seconds_generation: float | None = None


def _effort(found: Mapping[str, Any]) -> Effort:
    asks = [step for step in found["steps"] if step["kind"] == "ask"]
    own = [step for step in asks if not step["shared"]]
    turns, images = max((step["turns"] for step in own), default=0), sum(step["images"] for step in own)
    searches, shared = len(found["steps"]) - len(asks), len(asks) - len(own)
    split = {name: step[name] for step in own for name in SPLIT if name in step}  # a system makes one call
    return Effort(found["end"], len(own), searches, turns, images, len(found["shown"]), shared, **split)


def total(found: Mapping[str, Any]) -> Completion:
    """Return the reply of a trajectory with the sums of its calls, without shared ones such as page summaries."""
    own = [step for step in found["steps"] if step["kind"] == "ask" and not step["shared"]]
    tokens_in, tokens_out, seconds = (sum(s[name] for s in own) for name in ("tokens_in", "tokens_out", "seconds"))
    return Completion(found["reply"], tokens_in, tokens_out, round(seconds, 4))


def as_answered(found: dict[str, Any], protocol: ScoringProtocol) -> Answered:
    """Read a completion, or the trajectory of an agent or a system: its tokens and seconds are those of all its calls.

    An answer is without the thoughts of the model that wrote it.
    """
    if "end" in found:
        return Answered(total(found), without_thoughts(found["answer"]), _effort(found))
    completion = Completion(**found)
    return Answered(completion, answer_of(completion.text, protocol))
