"""Asking models about candidates: all prompts of a rule in one call for each model, several samples of each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ohr.contracts import Completion, Prompt
from ohr.messages.wording import quoted, shortened
from ohr.questions.model import Model
from ohr.text.thoughts import without_thoughts


class Reply(NamedTuple):
    """A model's reply without its thoughts; a `fault` says why it cannot be used."""

    text: str
    fault: str = ""


class Question(NamedTuple):
    """A prompt, and what makes a reply to it right."""

    prompt: Prompt
    is_right: Callable[[str], bool]


Sample = tuple[Reply, ...]
"""A model's replies to the prompts about a candidate."""


def shared(total: int, models: int) -> tuple[int, ...]:
    """Divide samples among models, each of which gives at least one."""
    return tuple(max(1, (total + place) // models) for place in range(models))


def ask(models: Sequence[Model], prompts: Sequence[Sequence[Prompt]], samples: int = 1) -> list[list[Sample]]:
    """Ask models about candidates.

    Args:
        models: each is asked once, for all its replies; without a prompt none is.
        prompts: of each candidate.
        samples: of each prompt, divided among the models.

    Returns:
        The samples of each candidate, model by model.
    """
    replies: list[list[Sample]] = [[] for _ in prompts]
    if not any(prompts):
        return replies
    for model, count in zip(models, shared(samples, len(models)), strict=True):
        tries = [(place, number) for place, own in enumerate(prompts) if own for number in range(count)]
        asked = [replace(prompt, attempt=number) for place, number in tries for prompt in prompts[place]]
        completions = iter(model.ask(asked))
        for place, _ in tries:
            replies[place].append(tuple(reply_of(next(completions)) for _ in prompts[place]))
    return replies


def reply_of(completion: Completion) -> Reply:
    """Read a completion: of a reply that was cut, the lines before the cut count."""
    if completion.error is not None or completion.finish == "error":
        return Reply("", f"the model failed: {shortened(completion.error or 'without a reason')}")
    if completion.truncated:
        return Reply("", "the prompt was cut to fit the model")
    text = without_thoughts(completion.text).strip()
    if completion.finish == "length":
        text = text.rpartition("\n")[0].strip()
        return Reply(text, "" if text else "the reply was cut")
    return Reply(text, "" if text else "the reply is empty")


def usable(samples: Sequence[Sample]) -> list[Sample]:
    """Return the samples of which all replies can be used."""
    return [sample for sample in samples if not any(reply.fault for reply in sample)]


def faults(samples: Sequence[Sample]) -> str:
    """Return why no reply can be used: the first fault, or else what the first reply says."""
    replies: Iterator[Reply] = (reply for sample in samples for reply in sample)
    first = next(iter(sorted(replies, key=lambda reply: not reply.fault)), Reply("", "no model was asked"))
    return first.fault or f"the reply has no verdict: {quoted(first.text)}"
