"""Prompts that ask a vision-language model for the text of a page."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict

from ohr.files.prompts import read_prompt_file


class _Prompt(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")
    text: str


def read_prompt_text(prompt: str | Path, what: str) -> str:
    """Return the words of a prompt of this folder, by its name, or of a user's file; `what` names it in messages."""
    return read_prompt_file(prompt, _Prompt, __name__, what, {}).text
