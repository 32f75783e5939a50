"""Presets: how a model is asked for a page, and how its reply is read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ohr.files.prompts import read_prompt_file

from ..prompts import read_prompt_text

_PRESETS = "ohr.ocr.servers.presets"


class Preset(BaseModel):
    """A request for one page, and the convention of its reply."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    text: Annotated[str, Field(description="What the model is asked, beside the image.")] = ""
    prompt: Annotated[str, Field(description="Name of a prompt of ohr, in place of `text`.")] = ""
    system: Annotated[str, Field(description="A message before it.")] = ""
    image_first: Annotated[bool, Field(description="Put the image before the text.")] = True
    longest_side: Annotated[int | None, Field(gt=0, description="Pixels; a larger image is made smaller.")] = None
    max_pixels: Annotated[int | None, Field(gt=783, description="A larger image is made smaller.")] = None
    multiple: Annotated[int, Field(gt=0, description="Sides are cut to a multiple of this.")] = 1
    encoding: Annotated[Literal["png", "jpeg"], Field(description="Of the image.")] = "png"
    temperatures: Annotated[tuple[float, ...], Field(min_length=1, description="One for each attempt.")] = (0.0,)
    top_p: Annotated[float | None, Field(gt=0, le=1)] = None
    max_tokens: Annotated[int, Field(gt=0, description="Longest reply.")] = 8192
    length_field: Annotated[Literal["max_tokens", "max_completion_tokens"], Field()] = "max_tokens"
    extra_body: Annotated[Mapping[str, Any], Field(description="Further fields of the request.")] = {}
    reply: Annotated[Literal["markdown", "olmocr", "nanonets", "deepseek", "dots"], Field()] = "markdown"

    @model_validator(mode="after")
    def _one_prompt(self) -> "Preset":
        if bool(self.text) == bool(self.prompt):
            raise ValueError("needs either `text` or `prompt`")
        return self

    @property
    def words(self) -> str:
        """The text that is sent with the image."""
        return self.text or read_prompt_text(self.prompt, "prompt")


def read_preset(name: str | Path) -> Preset:
    """Read a preset of ohr by its name, or a user's own file; raises PluginError."""
    return read_prompt_file(name, Preset, _PRESETS, "preset of vlm", {})
