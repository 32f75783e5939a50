"""Generators: prompts in, completions out."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from ohr.contracts.stage import Stage
from ohr.contracts.values import Completion, Prompt


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

    @abstractmethod
    def answer(self, prompts: Sequence[Prompt]) -> Iterable[Completion]:
        """Answer each prompt, in order, yielding as results come; a failed item is a Completion with an error."""
