"""Prompts of an agent: one file with a text for each of its calls, which a user can replace."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ohr.contracts import Agent, AnyRetriever, Generator
from ohr.files.changes import kept_until_changed
from ohr.files.prompts import read_prompt_file

_FAULTS = {"string_pattern_mismatch": "lacks a placeholder that the text of ohr's own prompt has"}


Asking = Annotated[str, Field(pattern=r"\{question\}")]
"""A prompt with the question."""


class Templates(BaseModel):
    """The content of a file of prompts: one text field for each."""

    model_config = ConfigDict(extra="forbid")


class PromptedAgent(Agent):
    """An agent whose prompts are in a file; its texts are part of the agent's identity."""

    templates: ClassVar[type[Templates]]
    prompt: Annotated[Path | str, Field(description="Name or file of its prompts; by default its own.")]

    def models(self) -> Mapping[str, Generator]:
        """Return the generators among its fields, by name."""
        return {name: part for name, part in self if isinstance(part, Generator)}

    def retrievers(self) -> Mapping[str, AnyRetriever]:
        """Return the retrievers among its fields, by name."""
        return {name: part for name, part in self if isinstance(part, AnyRetriever)}

    def check(self) -> None:
        """Read the prompts, and check the parts."""
        self.texts()
        super().check()

    def identity(self) -> Mapping[str, object]:
        """Identify the prompts by their texts."""
        return {**super().identity(), "prompt": self.texts()}

    def texts(self) -> Mapping[str, str]:
        """Return the prompts by name.

        Raises:
            SpecError: the file does not exist, or has another content.
        """
        return _texts(self.prompt, self.templates)


@kept_until_changed(32)
def _texts(prompt: Path | str, templates: type[Templates]) -> Mapping[str, str]:
    return dict(read_prompt_file(prompt, templates, "ohr.agents.prompts", "prompt", _FAULTS).model_dump())
