"""Asking judges: prompts about the replies of all cells of a generator, each different prompt once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from ohr.contracts import Case, CaseJudgeMetric, PageJudgeMetric, Prompt
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.errors import PluginError
from ohr.graph.cache_keys import Keys
from ohr.graph.graph import Batch, CellPart
from ohr.runner.batches import Batches
from ohr.steps.answers.generate import as_answered
from ohr.steps.answers.prompts import Asked, answer_key
from ohr.steps.answers.scoring import case_of, questioned
from ohr.steps.documents.page_images import acting
from ohr.work.step import Ready

T = TypeVar("T")

Judged = Mapping[str, Mapping[str, tuple[str, ...]]]
"""By judge, the keys of its replies about each question; a question whose score is undefined is absent."""


@dataclass
class Judging:
    """Makes the prompts of every judge once the replies are there, and sends them off in batches over all cells."""

    session: Session
    scheduler: Scheduler
    keys: Keys
    batches: dict[str, Batches] = field(default_factory=dict)
    judged: dict[str, Judged] = field(default_factory=dict)

    def take(self, part: CellPart, answers: Sequence[tuple[Batch, Mapping[str, str]]]) -> None:
        """Take the replies of a cell; sends batches when there are enough prompts.

        Args:
            answers: the part's batches, each with the keys of its answers by question.
        """
        if not self.keys.judges:
            return
        for batch, names in answers:
            self.scheduler.settle(names.values())
            made: dict[str, dict[str, tuple[str, ...]]] = {name: {} for name in self.keys.judges}
            for question, case in self._cases(part, batch, names):
                for name, judge in self.keys.judges.items():
                    prompts = prompted(name, case.id, partial(judge.prompts_for, case))
                    if prompts is not None:
                        label = part.cell.label
                        made[name][question] = tuple(self.collect(name, judge, prompt, label) for prompt in prompts)
            self.judged[batch.name] = made

    def of(self, batch: Batch) -> Judged:
        """Return the keys of the judges' replies about a batch; empty where there is no judge."""
        return self.judged.get(batch.name, {})

    def replies(self, batch: Batch) -> Iterator[str]:
        """Yield the keys of all judges' replies about a batch."""
        return (name for keys in self.of(batch).values() for names in keys.values() for name in names)

    def close(self) -> None:
        """Free the prompts that were sent."""
        for batches in self.batches.values():
            batches.forget(batches.sent)

    def send(self) -> None:
        """Send the collected prompts, judge by judge."""
        for batches in self.batches.values():
            batches.send()

    def collect(self, name: str, judge: CaseJudgeMetric | PageJudgeMetric, prompt: Prompt, label: str) -> str:
        """Collect a prompt; returns the key of the judge's reply to it."""
        if name not in self.batches:
            self.batches[name] = Batches(self.session, self.scheduler, name, judge.judge)
        key = answer_key((self.keys.identity(judge.judge), self.keys.files), prompt)
        self.batches[name].collect(key, Asked(prompt), label)
        return key

    def _cases(self, part: CellPart, batch: Batch, names: Mapping[str, str]) -> Iterator[tuple[str, Case]]:
        """Yield the cases of a batch that have a reply, by question."""
        found, read = self.scheduler.read(names.values()), self._read(batch)
        benchmark, noises = self.keys.spec.benchmark, acting(part.cell.read.image_noise)
        for place in batch.questions:
            question = questioned(benchmark, self.keys.inputs.questions[place], noises)
            completion = found.get(names.get(question.id, "")) if question else None
            if question and completion is not None and question.id in read:
                answer = as_answered(completion, benchmark.scoring).answer
                yield question.id, case_of(question, read[question.id], answer)

    def _read(self, batch: Batch) -> Mapping[str, Sequence[str]]:
        """Return the passages of each question's prompt; none for an agent, which has several prompts."""
        work, step = batch.asks, batch.prompts
        if work is None or step is None:
            return dict.fromkeys(batch.episodes, ())
        ready = Ready(tuple(self.scheduler.effective(name) for name in step.inputs), step.outputs)
        asked = work.prompts(ready, self.session.context)
        return {question: one.prompt.passages for question, one in asked.items()}


def prompted(metric: str, question: str, make: Callable[[], T]) -> T:
    """Return what a judge asks about a question.

    Raises:
        PluginError: the judge raises: without a prompt there is nothing that could be asked again.
    """
    try:
        return make()
    except (Exception, SystemExit) as error:
        reason = f"the prompt raised {type(error).__name__}: {error}"
        raise PluginError(f"metric {metric}: question {question}: {reason}") from error
