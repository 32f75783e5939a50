"""Presets: how a model is asked for a page, and how its reply is read."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ohr.contracts import Block, BlockKind
from ohr.files.prompts import read_prompt_file

from ..formats.dots_ocr import blocks as blocks_of_dots
from ..prompts import read_prompt_text

_PRESETS = "ohr.ocr.servers.presets"


class Preset(BaseModel):
    """A request for one page, and the convention of its reply."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    text: Annotated[str, Field(description="What the model is asked, beside the image.")] = ""
    prompt: Annotated[str, Field(description="Name of a prompt of ohr, in place of `text`.")] = ""
    system: Annotated[str | None, Field(description="A message before it; null for one without words.")] = ""
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


_FRONT = re.compile(r"\A\s*---[ \t]*\n(.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_KEY = re.compile(r"^(\w+):[ \t]*(.*?)[ \t]*$", re.MULTILINE)
_TAGGED = re.compile(r"<(img|signature|watermark|page_number)>(.*?)</\1>", re.DOTALL)
_TAG_KINDS: Mapping[str, BlockKind] = {"img": "description", "signature": "description", "page_number": "page_number"}
_GROUNDED = re.compile(r"<\|ref\|>(.*?)<\|/ref\|>(?:<\|det\|>.*?<\|/det\|>)?", re.DOTALL)
_SPECIAL = re.compile(r"<\|[^|>\n]{1,40}\|>|<｜[^｜>\n]{1,40}｜>")
_OBJECT = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, read.

    Args:
        problem: why it should be asked again; empty where it is as it should be.
        turn: degrees by which the page must be turned clockwise to be upright, where the model says so.
    """

    blocks: tuple[Block, ...]
    problem: str = ""
    turn: int = 0


def markdown(text: str) -> Reply:
    """Read plain Markdown."""
    return Reply((Block("text", text.strip()),))


def olmocr(text: str) -> Reply:
    """Read Markdown under a front matter, as olmOCR writes it."""
    front = _FRONT.match(text)
    if front is None:
        return Reply((Block("text", text.strip()),), "the front matter is missing")
    keys = dict(_KEY.findall(front[1]))
    turn = 0
    if keys.get("is_rotation_valid", "").lower() == "false" and keys.get("rotation_correction") in ("90", "180", "270"):
        turn = int(keys["rotation_correction"])
    return Reply((Block("text", text[front.end() :].strip()),), turn=turn)


def nanonets(text: str) -> Reply:
    """Read Markdown with tags for what is no running text."""
    plain, *parts = _TAGGED.split(text)
    blocks = [Block("text", plain.strip())]
    for tag, inside, after in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        blocks += Block(_TAG_KINDS.get(tag, "text"), inside.strip()), Block("text", after.strip())
    return Reply(tuple(block for block in blocks if block.text))


def deepseek(text: str) -> Reply:
    """Read Markdown with grounding tokens."""
    plain = _GROUNDED.sub(lambda match: "![]()" if match[1].strip() == "image" else "", text)
    return markdown(_SPECIAL.sub("", plain))


def dots(text: str) -> Reply:
    """Read a JSON list of blocks; of a broken one, the objects that are whole."""
    try:
        found = json.loads(text.strip().removeprefix("```json").removesuffix("```"))
        entries = found if isinstance(found, list) else []
        problem = "" if entries else "not a list of blocks"
    except (ValueError, RecursionError):
        entries, problem = [*_whole_objects(text)], "the JSON is broken"
    found = blocks_of_dots(entry for entry in entries if isinstance(entry, dict))
    kept = tuple(block for block in found if block.text.strip())
    return Reply(kept or ((Block("text", text.strip()),) if problem else ()), problem)


def _whole_objects(text: str) -> Iterator[Any]:
    for match in _OBJECT.finditer(text):
        try:
            yield json.loads(match[0])
        except ValueError:
            continue


READERS: Mapping[str, Callable[[str], Reply]] = {
    "markdown": markdown,
    "olmocr": olmocr,
    "nanonets": nanonets,
    "deepseek": deepseek,
    "dots": dots,
}
