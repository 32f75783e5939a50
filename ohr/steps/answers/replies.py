"""The answers to a batch of questions, as the steps read them that judge and score them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ohr.contracts import Benchmark, Case, ImageTreatment, Question
from ohr.errors import PluginError
from ohr.metrics.cases import case_of
from ohr.steps.answers.generate import as_answered
from ohr.steps.answers.prompt_templates import cut_passages
from ohr.steps.answers.prompts import PreparePrompts, read_answer_keys
from ohr.steps.documents.make_document import expected
from ohr.store import Store
from ohr.work.step import Context, Ready, Work


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


def questioned(benchmark: Benchmark, question: Question, noises: Sequence[ImageTreatment]) -> Question | None:
    """Return a question as it is about images with these distortions; None where it cannot be asked of them.

    Raises:
        PluginError: the benchmark raises, or returns another question.
    """
    if not noises:
        return question
    found: Any
    try:
        found = benchmark.under(question, noises)
    except (Exception, SystemExit) as error:
        reason = f"`under` raised {type(error).__name__}: {error}"
        raise PluginError(f"benchmark {benchmark.kind}: question {question.id}: {reason}") from error
    if found is not None and (not isinstance(found, Question) or found != replace(question, answers=found.answers)):
        raise PluginError(f"benchmark {benchmark.kind}: question {question.id}: `under` may change its answers only")
    return found
