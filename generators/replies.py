"""Common parts of local models: prompts that fit the window, replies that end, batches that fit into memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, TypeVar

from ohr import extras
from ohr.contracts import Completion, Prompt
from ohr.models.resident import fitting
from ohr.text.thoughts import is_mark, opened_thought

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt or a conversation as a model reads it; `cut` says that it lost a part to fit.

    `attempt` is the number of the try: another one is another sample.
    """

    inputs: Any
    cut: bool = False
    attempt: int = 0


class Unreadable(Exception):
    """A prompt or a conversation that a model cannot be given; the reason is for people."""


class Tokenizer(Protocol):
    """As much of a transformers tokenizer as is needed here."""

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        """Cut a text into tokens."""
        ...

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = False) -> str:
        """Join tokens to a text."""
        ...


def chat(tokenizer: Any, prompt: Prompt, user: str) -> list[int]:
    """Return the tokens of a chat with this user's message, up to where the reply continues."""
    messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": user}]
    return tokens_of(tokenizer, templated(tokenizer, messages) + prompt.opening)


def tokens_of(tokenizer: Tokenizer, text: str) -> list[int]:
    """Return the tokens of a text that has its special tokens written out."""
    return list(tokenizer.encode(text, add_special_tokens=False))


def templated(template: Any, messages: Sequence[Mapping[str, Any]]) -> str:
    """Return messages as one text, by the chat template of a tokenizer or a processor.

    Raises:
        Unreadable: the template refuses their roles, such as a system's or two of one role in a row.
    """
    try:
        return str(template.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))
    except extras.load("jinja2", "llm").TemplateError as error:
        roles = ", ".join(message["role"] for message in messages)
        raise Unreadable(f"the model's chat template refuses the roles {roles}: {error}") from error


def answered(
    items: Sequence[Item], read: Callable[[Item], Asked], run: Callable[[list[Asked]], list[Completion]]
) -> list[Completion]:
    """Run what could be read of a batch; an item that cannot be read is a completion with an error, in its place."""
    made: list[Asked | str] = []
    for item in items:
        try:
            made.append(read(item))
        except Unreadable as error:
            made.append(str(error))
    asked = [one for one in made if not isinstance(one, str)]
    done = iter(run(asked) if asked else ())
    return [Completion("", finish="error", error=one) if isinstance(one, str) else next(done) for one in made]


def fitted(
    prompt: Prompt, room: int, tokenizer: Tokenizer, tokens: Callable[[str], list[int]]
) -> tuple[list[int], bool]:
    """Return the prompt in at most `room` tokens, and whether its documents lost their end for that.

    Args:
        prompt: whose user's message holds its passages, joined by blank lines.
        room: the window less the longest reply.
        tokenizer: cuts the documents.
        tokens: returns the tokens of the whole prompt with this user's message.
    """
    ids = tokens(prompt.user)
    if len(ids) <= room:
        return ids, False
    documents = "\n\n".join(prompt.passages)
    if not documents or documents not in prompt.user:
        documents = prompt.user
    before, _, after = prompt.user.partition(documents)
    kept = tokenizer.encode(documents, add_special_tokens=False)
    while len(ids) > room and kept:
        kept = kept[: max(len(kept) - (len(ids) - room), 0)]
        ids = tokens(before + tokenizer.decode(kept) + after)
    return ids[-room:], True


def completion(
    reply: list[int], prompt: list[int], asked: Completion, stops: Sequence[str], ends: Any, tokenizer: Tokenizer
) -> Completion:
    """Read a reply up to its first end, which is a token in `ends` or a stop text; the rest is as `asked` has it."""
    closing = set(ends if isinstance(ends, list) else [ends])
    stop = next((place for place, token in enumerate(reply) if token in closing), None)
    kept = reply if stop is None else reply[:stop]
    text, cut = ended(thought_aloud(kept, prompt, tokenizer), stops)
    finish: Literal["stop", "length"] = "stop" if cut or stop is not None else "length"
    return Completion(text, asked.tokens_in, len(kept), asked.seconds, finish, truncated=asked.truncated)


def thought_aloud(reply: Sequence[int], prompt: Sequence[int], tokenizer: Tokenizer) -> str:
    """Return a reply's text with the marks of its thoughts, also those that are special tokens, or end the prompt."""
    special = frozenset(getattr(tokenizer, "all_special_ids", ())) & frozenset(reply)
    marks = {token for token in special if is_mark(tokenizer.decode([token]))}
    shown = [token for token in reply if token not in special or token in marks]
    opened = opened_thought(tokenizer.decode(prompt[-_TAIL:]))
    return opened + tokenizer.decode(shown, skip_special_tokens=not marks)


_TAIL = 16
"""Tokens at the end of a prompt in which a chat template may open a thought."""


def ended(text: str, stops: Sequence[str]) -> tuple[str, bool]:
    """Cut a reply before the first of its stop texts; also report whether there was one."""
    places = [place for stop in stops if (place := text.find(stop)) >= 0]
    return (text[: min(places)], True) if places else (text, False)


def in_batches(
    items: Sequence[Item], size: int, run: Callable[[Sequence[Item]], list[Completion]]
) -> Iterator[Completion]:
    """Answer items in batches, which shrink until they fit into memory; one that does not fit alone fails."""
    start = 0
    while start < len(items):
        batch = items[start : start + size]
        try:
            done, size = fitting(partial(_first, run, batch), len(batch))
        except MemoryError as error:
            done, size = [Completion("", finish="error", error=str(error))], 1
        yield from done
        start += len(done)


def _first(run: Callable[[Sequence[Item]], list[Completion]], batch: Sequence[Item], count: int) -> list[Completion]:
    return run(batch[:count])
