"""Asks generators, and keeps every answer as soon as it exists."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from ohr.contracts import Completion, Generator, Prompt
from ohr.engine.checks import checked_completion
from ohr.engine.progress import Progress
from ohr.engine.prompting import parse_answer
from ohr.engine.recipe import Recipe
from ohr.engine.work import Work
from ohr.spec.model import Named
from ohr.store import Store


@dataclass(frozen=True, slots=True)
class Answered:
    """A generator's reply to one prompt; `answer` is the reply without tags."""

    prompt: Prompt
    completion: Completion
    answer: str


def ask(
    recipe: Recipe,
    store: Store,
    generator: Named[Generator],
    prompts: Mapping[str, Prompt],
    label: str,
    progress: Progress,
    work: Work,
) -> dict[str, Answered]:
    """Answer prompts by question id; equal prompts are asked once, known ones not at all."""
    keys = {question: recipe.answer(generator.stage, prompt) for question, prompt in prompts.items()}
    known = {name: found for name in set(keys.values()) if (found := store.get(name)) is not None}
    missing = {keys[question]: prompt for question, prompt in prompts.items() if keys[question] not in known}
    if missing:
        known |= _generate(store, generator, missing, label, progress, work)
    answered = {}
    for question, prompt in prompts.items():
        completion = Completion(**known[keys[question]])
        answered[question] = Answered(prompt, completion, parse_answer(completion.text))
    return answered


def _generate(
    store: Store,
    generator: Named[Generator],
    missing: Mapping[str, Prompt],
    label: str,
    progress: Progress,
    work: Work,
) -> dict[str, dict[str, Any]]:
    """Ask in order of length, so that prompts of one batch need little padding."""
    names = sorted(missing, key=lambda name: len(missing[name].user))
    asked = [missing[name] for name in names]
    if not generator.stage.reads_images:
        asked = [replace(prompt, images=()) for prompt in asked]
    made: dict[str, dict[str, Any]] = {}
    with work.timed("generation"), progress.step(f"{generator.name} on {label}", len(names)) as advance:
        for name, completion in zip(names, _replies(generator.stage, asked), strict=True):
            made[name] = asdict(completion)
            advance(1)
            work.calls["answers"] += 1
            work.tokens["in"] += completion.tokens_in
            work.tokens["out"] += completion.tokens_out
            work.calls["truncated prompts"] += completion.truncated
            work.calls["empty replies"] += completion.error is None and not completion.text.strip()
            if completion.error is None:
                store.put(name, made[name])
            else:
                question = missing[name].question
                shown = question if len(question) <= 60 else f"{question[:59]}…"
                work.fail("generator", f"{generator.name} on {label}: {shown}", completion.error)
    return made


def _replies(generator: Generator, prompts: Sequence[Prompt]) -> Any:
    """Give one completion per prompt, also when the generator raises on the way or stops early."""
    given = 0
    reason = "the generator stopped early"
    try:
        for completion in generator.answer(prompts):
            given += 1
            yield checked_completion(completion)
            if given == len(prompts):
                return
    except (Exception, SystemExit) as error:  # a generator may raise anything: the rest fails, the run goes on
        reason = f"{type(error).__name__}: {error}"
    for _ in range(len(prompts) - given):
        yield Completion("", finish="error", error=reason)
