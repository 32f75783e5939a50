"""Conversations with models, and generators: prompts or conversations in, completions out.

A picture in a conversation is a recipe, made when it is sent and not kept.
"""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Protocol

from pydantic import Field

from ohr.contracts.stage import Stage
from ohr.contracts.values import Completion, Image, Prompt

PageId = tuple[str, int]
"""A page by its document's name and its index, from 0."""

Box = tuple[float, float, float, float]
"""A rectangle (left, top, right, bottom) in pixels."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture for a model: pages of the knowledge base, and the steps that are applied to their images.

    Args:
        pages: one page, or the pages of a grid.
        steps: name and numbers of each step, in order; `crop`, `fit` and `grid` add one.
    """

    pages: tuple[PageId, ...]
    steps: tuple[tuple[str, tuple[float, ...]], ...] = ()

    def crop(self, box: Box) -> "Picture":
        """Cut a box out, in pixels of the picture so far; its numbers are rounded, and clipped to the picture."""
        return replace(self, steps=(*self.steps, ("crop", box)))

    def fit(self, least: int, most: int) -> "Picture":
        """Scale to at least `least` and at most `most` pixels, width x height; the proportions stay."""
        return replace(self, steps=(*self.steps, ("fit", (least, most))))

    def grid(self, rows: int, columns: int, line: int = 0) -> "Picture":
        """Put the pages into the cells of a grid, row by row, with black lines of `line` pixels between them.

        Pages are resized to the size that most of them have; cells without a page are white.
        """
        return replace(self, steps=(*self.steps, ("grid", (rows, columns, line))))


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation: texts and pictures in the order in which they are sent."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | Picture, ...]

    @property
    def text(self) -> str:
        """Its texts, joined by blank lines."""
        return "\n\n".join(part for part in self.parts if isinstance(part, str))

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """Its pictures."""
        return tuple(part for part in self.parts if isinstance(part, Picture))


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation that a generator is to continue; its last turn is the user's.

    Args:
        images: of the pictures of all turns, in order. Each is made when it is accessed, and not kept: hold few at a
            time.
        id: of the question.
        attempt: number of the try: where replies are sampled, another try is another sample.
    """

    turns: tuple[Turn, ...]
    images: Sequence[Image] = field(default=(), compare=False, repr=False)
    id: str = field(default="", compare=False)
    attempt: int = 0

    @property
    def has_pictures(self) -> bool:
        """Whether any turn shows a picture."""
        return any(turn.pictures for turn in self.turns)

    def shown(self) -> Iterator[tuple[str, Iterator[str | Image]]]:
        """Yield the role and the parts of each turn, with images in the place of pictures, each made as it comes.

        All parts of a turn with pictures must be taken before those of the next.
        """
        places = count()
        for turn in self.turns:
            yield turn.role, (part if isinstance(part, str) else self.images[next(places)] for part in turn.parts)


_CUT = "cut the message, which is longer than its window"


class Notes(Protocol):
    """Keeps JSON values under keys, each whole or not at all; a kill after the return loses none."""

    def get_many(self, keys: Collection[str]) -> dict[str, Any]:
        """Read values; absent ones are left out."""
        ...

    def put_many(self, values: Mapping[str, Any]) -> None:
        """Write values."""
        ...

    def discard(self, keys: Collection[str]) -> None:
        """Remove values."""
        ...

    def pin(self, run: str, keys: Iterable[str]) -> None:
        """Keep values, those that are yet to be written too, from being pruned."""
        ...

    def unpin(self, run: str) -> int:
        """Drop what was pinned under a name; returns how many there were."""
        ...


class Generator(Stage):
    """Answers questions from retrieved text."""

    family = "generator"
    reads_images: ClassVar[bool] = False
    """True for those that look at page images: `Prompt.images` is filled, and part of the answer's key."""

    prompt: Annotated[
        Path | str | None, Field(description="A prompt's name (ohrbench, short) or file; by default the benchmark's.")
    ] = None

    def identity(self) -> Mapping[str, object]:
        """Leave the prompt out: its text is in the key of every answer."""
        return {name: value for name, value in super().identity().items() if name != "prompt"}

    def size_of(self, prompt: Prompt) -> int | None:  # noqa: ARG002 # for those that know it
        """Return the `tokens_in` of a prompt for a plan, without a model; None where it takes the model's tokenizer."""
        return None

    @abstractmethod
    def answer(self, prompts: Sequence[Prompt]) -> Iterable[Completion]:
        """Answer each prompt, in order, yielding as results come; a failed item is a Completion with an error."""

    @property
    def posts(self) -> int:
        """The most prompts of a file, where prompts are sent in files and replies come much later; 0 where not."""
        return 0

    def post(
        self,
        prompts: Mapping[str, Prompt],
        notes: Notes,
        say: Callable[[int, int, int], None],
        *,
        again: bool = False,
    ) -> Iterator[Mapping[str, Completion]]:
        """Answer prompts, by their names, in files; a run that ends on the way continues with what is under way.

        It runs beside everything else, in a thread of the run's own process, and may take days.

        Args:
            prompts: their names are keys of the store: equal ones are of equal prompts, in every run.
            notes: where it writes down what is under way.
            say: reports how many files are at the server, how many of their replies are there, and how many there will
                be.
            again: do not continue with what an earlier run has under way: its replies are not wanted any more.

        Yields:
            completions as they come, some perhaps twice, and those of other prompts that were in a file with these.
            Each is stored before the next is asked for.
        """
        raise NotImplementedError(f"generator {self.kind} sends no files")

    def chat(self, conversations: Sequence[Conversation]) -> Iterable[Completion]:
        """Continue each conversation, in order, as `answer` does; override where there may be more than one message.

        As it is here, one message of the user, perhaps after one of the system, is passed on to `answer`: its last text
        as the question, those before it as passages, and its images before all of them. Anything else is a completion
        with an error.
        """
        prompts = [self._prompt(one) for one in conversations]
        answers = iter(self.answer([prompt for prompt in prompts if isinstance(prompt, Prompt)]))
        for prompt in prompts:
            if isinstance(prompt, Prompt):
                if (completion := next(answers, None)) is None:
                    return  # it stopped early
                cut = completion.truncated and completion.error is None  # of a conversation nothing may be missing
                yield Completion("", finish="error", error=f"generator {self.kind} {_CUT}") if cut else completion
            else:
                yield Completion("", finish="error", error=f"generator {self.kind} {prompt}")

    def conversing(self) -> AbstractContextManager[Callable[[Conversation], Future[Completion]] | None]:
        """Open what continues one conversation, and returns at once; None where `chat` takes batches of them.

        Override where several are asked at once, so that none waits for the reply to another one.
        """
        return nullcontext()

    def _prompt(self, conversation: Conversation) -> Prompt | str:
        """Return a conversation of one message as a prompt, or why it is none."""
        turns = conversation.turns
        system, rest = (turns[0].text, turns[1:]) if turns and turns[0].role == "system" else ("", turns)
        if [turn.role for turn in rest] != ["user"]:
            return f"answers one message, and got a conversation of {len(turns)}"
        if conversation.has_pictures and not self.reads_images:
            return "reads text, and got an image"
        *passages, question = [part for part in rest[0].parts if isinstance(part, str)] or [""]
        return Prompt(
            question,
            tuple(passages),
            system,
            rest[0].text,
            conversation.images,
            "",
            conversation.id,
            conversation.attempt,
        )
