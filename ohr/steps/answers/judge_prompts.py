"""The answers to a batch of questions, and the prompts of judges about them and about pages, which ask for replies."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

from ohr.contracts import (
    Case,
    CaseJudgeMetric,
    Completion,
    Document,
    ImageTreatment,
    PageJudgeMetric,
    Prompt,
    Question,
)
from ohr.errors import PromptError
from ohr.metrics.cases import case_of
from ohr.metrics.dose import by_page, own_text
from ohr.metrics.question_scores import about_same_pages
from ohr.steps.answers.asked_judges import Judge, questioned
from ohr.steps.answers.generate import Answer, as_answered
from ohr.steps.answers.prompt_templates import cut_passages
from ohr.steps.answers.prompts import PreparePrompts, answer_key, read_answer_keys
from ohr.steps.documents.make_document import expected, read_pages
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Ready, Report, Step, Work


@dataclass(frozen=True, slots=True)
class Replied:
    """The answers to some questions.

    Args:
        questions: as they are asked of the images that were read; None where a question cannot be asked of them.
        answers: by question id; None where there is no answer.
        cases: of the questions with an answer, by id.
    """

    questions: Sequence[Question | None]
    answers: Mapping[str, str | None]
    cases: Mapping[str, Case]


@dataclass(frozen=True, slots=True)
class OfAnswers(Work):
    """Work on the answers to some questions of a cell.

    Its inputs: the prompts of a generator, or the trajectories of an agent; then what `prompts` reads.

    Args:
        label: name of the cell, for messages.
        questions: places in `Inputs.questions`.
        episodes: of an agent, for each question the place of its trajectory in the inputs; else empty.
        prompts: how the prompts were made, where their passages are looked at.
        noises: the distortions of the images that are read, under which the benchmark may accept other answers.
    """

    label_: str
    questions: tuple[int, ...]
    episodes: tuple[int, ...]
    prompts: PreparePrompts | None
    noises: tuple[ImageTreatment, ...]

    def answer_keys(self, ready: Ready, store: Store) -> dict[str, str]:
        """Return the keys of a generator's answers by question id; none for an agent, whose answers are inputs."""
        return {} if self.episodes else read_answer_keys(store, ready.inputs[0])

    def replied(self, ready: Ready, context: Context, settled: Mapping[str, str | None], *, cases: bool) -> Replied:
        """Read the answers.

        Args:
            settled: the keys of a generator's answers as they are in the store; None where one failed.
            cases: whether cases are needed.
        """
        inputs = context.inputs
        asked = [inputs.questions[place] for place in self.questions]
        if self.episodes:
            places = zip(asked, self.episodes, strict=True)
            names = {question.id: ready.inputs[place] for question, place in places}
        else:
            names = {q: settled.get(name) for q, name in self.answer_keys(ready, context.store).items()}
        there = [name for name in names.values() if name is not None]
        completions = expected(context.store, list(dict.fromkeys(there)), self.item, "answer")
        answers = {
            q.id: None
            if (name := names.get(q.id)) is None
            else as_answered(completions[name], inputs.benchmark.scoring).answer
            for q in asked
        }
        now = [questioned(inputs.benchmark, question, self.noises) for question in asked]
        read = self._read(ready, context) if cases else {}
        return Replied(
            now,
            answers,
            {
                q.id: case_of(q, read[q.id], answer)
                for q in now
                if q is not None and q.id in read and (answer := answers[q.id]) is not None
            },
        )

    def _read(self, ready: Ready, context: Context) -> dict[str, tuple[str, ...]]:
        """Return the passages of each question's prompt; none for an agent, which has several prompts."""
        if self.prompts is None:
            return {context.inputs.questions[place].id: () for place in self.questions}
        scoring = context.inputs.benchmark.scoring
        read = self.prompts.passages(replace(ready, inputs=ready.inputs[1:]), context)
        return {
            question: tuple(passage.text for passage in cut_passages(scoring, passages))
            for question, passages in read.items()
        }


T = TypeVar("T")

Judged = Mapping[str, Mapping[str, Sequence[str]]]
"""By judge, the keys of its replies about each question; a question whose score is undefined is absent."""


class AsksJudges(Work):
    """Makes the prompts of judges, and asks for their replies. Writes `Judged`."""

    __slots__ = ()
    kind: ClassVar[str] = "preparing prompts of judges"
    shape: ClassVar[str] = "judged"
    role: ClassVar[str] = "prompt"
    grows: ClassVar[bool] = True

    def grown(self, output: Judged) -> set[str]:
        """Return the keys of the replies."""
        return set(reply_keys(output))


@dataclass(frozen=True, slots=True)
class PrepareJudging(AsksJudges, OfAnswers):
    """Make the prompts of judges about some answers."""

    named: ClassVar[str] = "judges' prompts of {0.label_}"
    judges: tuple[Judge, ...]

    def run(self, ready: Ready, context: Context) -> Report:
        """Wait for the answers, then write the keys of the replies, and ask for those that are not there."""
        answers = tuple(dict.fromkeys(self.answer_keys(ready, context.store).values()))
        if answers and ready.needs is None:
            return Report(needs=answers)
        settled = dict(zip(answers, ready.needs or (), strict=True))
        asking = Asking(self.label_)
        for question, case in self.replied(ready, context, settled, cases=True).cases.items():
            for judge in self.judges:
                assert isinstance(judge.metric, CaseJudgeMetric)
                asking.take(judge, question, partial(judge.metric.prompts_for, case))
        return asking.report(ready.outputs[0], context.store)


@dataclass(frozen=True, slots=True)
class PreparePageJudging(AsksJudges):
    """Make the prompts of judges about the pages of a document; of questions about the same pages the first counts."""

    named: ClassVar[str] = "judges' prompts of {0.base}: {0.document.name}"
    base: str
    document: Document
    judges: tuple[Judge, ...]

    def run(self, ready: Ready, context: Context) -> Report:
        """Write the keys of the replies, and ask for those that are not there."""
        name, asking = self.document.name, Asking(self.base)
        here = by_page(read_pages(context.store, ready.inputs[0]) or ())
        truth = by_page(context.inputs.truth[name])
        for questions in about_same_pages(context.inputs.about.get(name, ())):
            texts = own_text(questions[0], here), own_text(questions[0], truth)
            for judge in self.judges:
                assert isinstance(judge.metric, PageJudgeMetric)
                asking.take(judge, questions[0].id, partial(_about_page, judge.metric, *texts, questions))
        return asking.report(ready.outputs[0], context.store)


def _about_page(metric: PageJudgeMetric, *given: Any) -> Sequence[Prompt] | None:
    prompt = metric.prompt_for_page(*given)
    return None if prompt is None else (prompt,)


class Asking:
    """Gathers the prompts of judges, each different one once.

    Args:
        condition: which asks, for messages.
    """

    def __init__(self, condition: str) -> None:
        self.condition = condition
        self.judged: dict[str, dict[str, tuple[str, ...]]] = {}
        self.steps: dict[str, Step] = {}

    def take(self, judge: Judge, question: str, make: Callable[[], Sequence[Prompt] | None]) -> None:
        """Take what a judge asks about a question.

        Raises:
            PromptError: the judge raises.
        """
        names = self.judged.setdefault(judge.name, {})
        try:
            prompts = make()
        except (Exception, SystemExit) as error:
            reason = f"the prompt raised {type(error).__name__}: {error}"
            raise PromptError(f"metric {judge.name}: question {question}: {reason}") from error
        if prompts is not None:
            names[question] = tuple(self._asked(judge, prompt) for prompt in prompts)

    def _asked(self, judge: Judge, prompt: Prompt) -> str:
        name = answer_key(judge.made_by, prompt)
        work = Answer(judge.metric.judge, judge.name, prompt, (), self.condition)
        self.steps.setdefault(name, Step(work, (name,)))
        return name

    def report(self, output: str, store: Store) -> Report:
        """Write the keys of the replies, and ask for those that are not there."""
        store.put(output, self.judged)
        there = read_sound(store, set(self.steps), "answer")
        return Report(steps=[step for name, step in self.steps.items() if name not in there])


def read_judged(store: Store, name: str | None) -> dict[str, dict[str, list[str]]] | None:
    """Read the keys of judges' replies; None where the prompts failed."""
    return None if name is None else expected(store, [name], "judges' prompts", "judged")[name]


def read_replies(store: Store, names: Iterable[str | None], item: str) -> dict[str | None, Completion]:
    """Read completions by key; keys of failed ones are None, and left out."""
    there = list(dict.fromkeys(name for name in names if name is not None))
    return {name: Completion(**reply) for name, reply in expected(store, there, item, "answer").items()}


def reply_keys(judged: Judged) -> Iterator[str]:
    """Yield the keys of all replies."""
    return (name for about in judged.values() for names in about.values() for name in names)
