"""The prompts of judges, about answers and about pages; each asks for the judge's reply."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

from ohr.contracts import CaseJudgeMetric, Completion, Document, PageJudgeMetric, Prompt
from ohr.errors import PromptError
from ohr.metrics.dose import by_page, own_text
from ohr.metrics.question_scores import about_same_pages
from ohr.steps.answers.generate import Answer
from ohr.steps.answers.prompts import answer_key
from ohr.steps.answers.replies import OfAnswers
from ohr.steps.documents.make_document import expected, read_pages
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Ready, Report, Step, Work

T = TypeVar("T")

Judged = Mapping[str, Mapping[str, Sequence[str]]]
"""By judge, the keys of its replies about each question; a question whose score is undefined is absent."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A metric that asks a generator.

    Args:
        made_by: identity of the generator, then the plugin files' digests: part of every reply's key.
    """

    name: str
    metric: CaseJudgeMetric | PageJudgeMetric
    made_by: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PrepareJudging(OfAnswers):
    """Make the prompts of judges about some answers, and ask for the replies. Writes `Judged`."""

    kind: ClassVar[str] = "preparing prompts of judges"
    shape: ClassVar[str] = "judged"
    role: ClassVar[str] = "prompt"
    grows: ClassVar[bool] = True
    judges: tuple[Judge, ...]

    @property
    def item(self) -> str:
        """Name of the cell."""
        return f"judges' prompts of {self.label_}"

    def grown(self, output: Judged) -> set[str]:
        """Return the keys of the replies."""
        return set(reply_keys(output))

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
class PreparePageJudging(Work):
    """Make the prompts of judges about the pages of a document, and ask for the replies.

    Writes `Judged`, of questions about the same pages only the first.
    """

    kind: ClassVar[str] = "preparing prompts of judges"
    shape: ClassVar[str] = "judged"
    role: ClassVar[str] = "prompt"
    grows: ClassVar[bool] = True
    base: str
    document: Document
    judges: tuple[Judge, ...]

    @property
    def item(self) -> str:
        """Name of the document."""
        return f"judges' prompts of {self.base}: {self.document.name}"

    def grown(self, output: Judged) -> set[str]:
        """Return the keys of the replies."""
        return set(reply_keys(output))

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
