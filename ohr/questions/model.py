"""A model as writing and verification see it: prompts in, replies out."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from ohr.contracts import Completion, Prompt


class Ask(Protocol):
    """Asks a model some prompts."""

    def __call__(self, prompts: Sequence[Prompt], /) -> Sequence[Completion]:
        """Return the replies, in the order of the prompts; one that failed has an `error`.

        Prompts that differ in `attempt` alone are samples of the same prompt.
        """
        ...


class Model(NamedTuple):
    """A model by its name in the settings."""

    name: str
    ask: Ask
