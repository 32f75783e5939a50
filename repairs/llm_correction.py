"""A language model corrects what OCR misread, and is held to that."""

import re
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from rapidfuzz.distance import Levenshtein

from ohr.contracts import Completion, Correction, Generator, Page, Prompt, TreatedPage
from ohr.files.changes import kept_until_changed
from ohr.files.prompts import filled, read_prompt_file
from ohr.keys import identity
from ohr.markup.page import Markup, tidy
from ohr.parts import GeneratorPart
from ohr.text.language import OTHER, language
from ohr.text.thoughts import without_thoughts

_FAULTS = {
    "model_type": "must be a mapping with `user`, and perhaps `system`",
    "string_pattern_mismatch": "must have the placeholder {text}",
}
_REFUSAL = re.compile(
    r"i'm sorry|sorry,|i apologi[sz]e|unfortunately,? (?:i|the|this)\b|as an ai\b|i(?: am|'m) (?:un|not )able|"
    r"i (?:can(?:no|')t|won't|do not|don't) |(?:there is|i see|you have(?:n't)?) (?:no|not) .{0,20}text|"
    r"please (?:provide|share|send)|"
    r"抱歉|对不起|很遗憾|我无法|我不能|作为(?:一个)?(?:ai|人工智能)|无法(?:提供|处理|完成)",
    re.IGNORECASE,
)
"""Beginnings of replies that refuse, or ask for the text; with typewriter's apostrophes."""
_PREAMBLE = re.compile(
    r"\A[^\n]{0,100}(?:\b(?:correct|revis|clean|fix)|\bhere(?: is|'s|’s)\b|\bsure\b|\bcertainly\b|以下|修正|校正|更正)"
    r"[^\n]{0,100}[:：.!][*_ ]*(?:\n\s*|\Z)",
    re.IGNORECASE,
)
"""A line with which models introduce what was asked for."""
_FENCES = ("```", "~~~")
_SLACK = 20  # characters by which the length of any page may change
_SCRIPTS = ("zh", "ja", "ko", OTHER)


class CorrectionPrompt(BaseModel):
    """The content of a prompt file for corrections; `{text}` is the page's text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: Annotated[str, Field(description="The system's message.")] = ""
    user: Annotated[str, Field(pattern=r"\{text\}", description="The user's message.")]


@kept_until_changed(32)
def read_correction_prompt(prompt: str | Path) -> CorrectionPrompt:
    """Read one of ohr's prompts for corrections by its name, or a file by its path.

    Raises:
        SpecError: the prompt does not exist, or its file holds something else.
    """
    return read_prompt_file(prompt, CorrectionPrompt, "ohr.repairs.prompts", "prompt for corrections", _FAULTS)


class LlmCorrection(Correction, kind="llm_correction"):
    """Lets a generator correct the text of each page, and takes nothing but corrections from it.

    A reply's thoughts, instructions that it repeats, a fence around it and a line that introduces it are cut. A page
    stays as it is where the reply refuses, is empty, cut, much shorter or longer, in another language or script, or
    another text. Pages without text are not asked about. What the model thinks it knows of a page that nobody can read
    is not seen here: compare the scores.
    """

    version: ClassVar[int] = 2
    generator: Annotated[GeneratorPart, Field(description="The generator that corrects; its `prompt` is not used.")]
    prompt: Annotated[Path | str, Field(description="correct, or a file with system and user.")] = "correct"
    most_words: Annotated[int, Field(ge=1, description="Longer pages are not asked about, and stay.")] = 2000
    length: Annotated[
        float, Field(gt=0, le=1, description="Share by which the number of characters may fall or grow.")
    ] = 0.3
    similar: Annotated[
        float, Field(ge=0, le=1, description="Least similarity of page and reply, 1 - edits / longer length.")
    ] = 0.5

    @model_validator(mode="after")
    def _reads_text(self) -> Self:
        if self.generator.reads_images:
            raise ValueError(f"a correction reads text, and {self.generator.kind} reads page images")
        return self

    @property
    def model(self) -> Generator:
        """The generator."""
        return self.generator

    def check(self) -> None:
        """Check the prompt and the generator."""
        read_correction_prompt(self.prompt)
        self.generator.check()

    def identity(self) -> Mapping[str, object]:
        """Identify the generator as it identifies itself, and the prompt by its content."""
        content = read_correction_prompt(self.prompt).model_dump_json().encode("utf-8", "surrogatepass")
        made: list[Any] = identity(self.generator)
        return {**super().identity(), "generator": made, "prompt": sha256(content).hexdigest()}

    def prompt_for(self, page: Page) -> Prompt | None:
        """Fill in the prompt; its id is `DOCUMENT:INDEX`, pages counted from 0."""
        if len(page.text.split()) > self.most_words:
            return None
        template = read_correction_prompt(self.prompt)
        user = filled(template.user, text=page.text)
        return Prompt("", (page.text,), template.system, user, id=f"{page.document}:{page.index}")

    def corrected(self, page: Page, reply: Completion | None) -> TreatedPage:
        """Return the page as it is corrected. The record has `outcome`, `tokens_in` and `tokens_out`."""
        if len(page.text.split()) > self.most_words:
            return TreatedPage(page.text, {"outcome": "too_long"})
        if reply is None or reply.error is not None:
            return TreatedPage(page.text, {"outcome": "failed"})
        text = _bare(reply.text, page.text, read_correction_prompt(self.prompt))
        outcome = "shortened" if reply.finish == "length" or reply.truncated else self._outcome(page.text, text)
        record = {"outcome": outcome, "tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out}
        return TreatedPage(text if outcome == "corrected" else page.text, record)

    def _outcome(self, before: str, after: str) -> str:
        """Return what a reply is."""
        size, change = len(before.strip()), len(after) - len(before.strip())
        allowed = max(_SLACK, self.length * size)
        if not after:
            return "empty"
        if after == before.strip():
            return "unchanged"
        if _refuses(after) and not _refuses(before.strip()):
            return "refused"
        if _differ(language(before), language(after)):
            return "another_language"
        if abs(change) > allowed:
            return "shortened" if change < 0 else "lengthened"
        return "corrected" if _resemble(before, after, self.similar) else "rewritten"


def _bare(reply: str, page: str, prompt: CorrectionPrompt) -> str:
    """Return a reply without thoughts, and without instructions, fence and introduction that the page does not have."""
    text = without_thoughts(reply).strip()
    for instruction in f"{prompt.system}\n\n{prompt.user}".replace("{text}", "\n\n").split("\n\n"):
        # small models repeat their instructions before they follow them
        if not page.lstrip().startswith(instruction.strip()):
            text = text.removeprefix(instruction.strip()).lstrip()
    if (line := _PREAMBLE.match(text)) and not _resemble(line[0], page.lstrip()[: line.end()], 0.5):
        text = text[line.end() :]
    if text.startswith(_FENCES) and not page.lstrip().startswith(_FENCES):
        text = tidy(text, Markup(images="keep")).strip()
    return text


def _refuses(text: str) -> bool:
    return _REFUSAL.match(text.replace("’", "'")) is not None


def _resemble(one: str, other: str, least: float) -> bool:
    return Levenshtein.normalized_similarity(one, other, score_cutoff=least) >= least


def _differ(before: str | None, after: str | None) -> bool:
    """Report whether two texts are in two languages, as far as their words show, or in two scripts."""
    if before is None or after is None:
        return (before or after) in _SCRIPTS
    return before != after
