"""A generator as judge of replies, with a prompt of ohr or of your own."""

import re
import unicodedata
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ohr.contracts import Case, JudgeMetric, Prompt
from ohr.files.changes import kept_until_changed
from ohr.files.prompts import filled, read_prompt_file
from ohr.models.asking import AskingMetric

_NUMBER = r"[-+]?\d+(?:[.,]\d+)?(?:[eE][-+]?\d{1,2})?"
_MARKS = r"[\s*_`\"'<>\[\](){}#$]*"
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{([^{}]*)\}")
"""A final answer, as models that were trained on mathematics write it."""
_SCORE = re.compile(
    rf"(?:^|(?<=[.!?。！？])[ \t]){_MARKS}-?{_MARKS}(?:(?:final|overall) )?score\b{_MARKS}"
    rf"(?:\([^()\n]{{1,40}}\)|out of {_NUMBER})?{_MARKS}[:=]|[{{,]\s*\"score\"\s*:",
    re.IGNORECASE | re.MULTILINE,
)
"""The place of a grade, which begins a line or a sentence: within one, as in `if wrong, score: 1`, judges explain."""
_GRADE = re.compile(rf"{_MARKS}(?P<grade>{_NUMBER})(?:\s*(?:/|out of)\s*(?P<best>{_NUMBER}))?(?P<rest>.*)")
_REST = re.compile(rf"{_MARKS}[.,;]?{_MARKS}|{_MARKS}(?:[.;,]\s|[(–—-])\D*", re.DOTALL)
"""Text that may follow a grade in its line: decoration, or words without another number."""
_FAULTS = {
    "model_type": "must be a mapping with `user`, and perhaps `system` and `scale`",
    "string_pattern_mismatch": "must have the placeholder {reply}",
}
_SHOWN = 80  # characters of a reply in a message


class JudgePrompt(BaseModel):
    """The content of a judge's prompt file.

    Placeholders: `{question}`, `{answers}` (one a line), `{passages}` (between blank lines), `{reply}`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    scale: Annotated[tuple[float, float], Field(description="Worst and best grade.")] = (0.0, 1.0)
    system: Annotated[str, Field(description="The system's message.")] = ""
    user: Annotated[str, Field(pattern=r"\{reply\}", description="The user's message.")]

    @field_validator("scale")
    @classmethod
    def _spans(cls, scale: tuple[float, float]) -> tuple[float, float]:
        if not all(map(isfinite, scale)) or scale[0] == scale[1]:
            raise ValueError("must be two different numbers: the worst and the best grade")
        return scale


@kept_until_changed(32)
def read_judge_prompt(prompt: str | Path) -> JudgePrompt:
    """Read one of ohr's prompts for judges by its name, or a file by its path.

    Raises:
        SpecError: the prompt does not exist, or its file holds something else.
    """
    return read_prompt_file(prompt, JudgePrompt, "ohr.metrics.prompts", "judge's prompt", _FAULTS)


class Judge(AskingMetric, JudgeMetric, kind="judge"):
    """Lets a generator grade each reply; every prompt and reply is kept in `judgements.parquet`.

    The grade is the number after `Score:` at the start of a line or sentence, perhaps as `4/5`, or the whole reply
    where that is a number, or the one in a box as models of mathematics write it. It must be on the prompt's scale, and
    is brought to [0, 1]. A reply without a grade, with several, with another scale (`8/10`, `80%`), or that was cut, is
    a failed score.
    """

    version: ClassVar[int] = 2  # grades as `4e0`, `Score (1-5): 5` and in boxes
    prompt: Annotated[
        Path | str, Field(description="correctness, faithfulness, or a file with scale, system and user.")
    ] = "correctness"

    def check(self) -> None:
        """Check the prompt and the generator."""
        read_judge_prompt(self.prompt)
        super().check()

    @property
    def prompt_sha256(self) -> str:
        """Hash of the prompt's scale and messages."""
        return sha256(read_judge_prompt(self.prompt).model_dump_json().encode("utf-8", "surrogatepass")).hexdigest()

    def prompt_for(self, case: Case) -> Prompt | None:
        """Fill in the prompt; None where it needs an accepted answer and the question has none."""
        template = read_judge_prompt(self.prompt)
        if "{answers}" in template.user and not case.answers:
            return None
        values = {
            "question": case.question,
            "answers": "\n".join(case.answers),
            "passages": "\n\n".join(case.passages) or "(none)",
            "reply": case.reply or "(no reply)",
        }
        return Prompt(case.question, case.passages, template.system, filled(template.user, **values))

    def score_reply(self, reply: str) -> float:
        """Return the grade as a share of the scale."""
        worst, best = read_judge_prompt(self.prompt).scale
        text = unicodedata.normalize("NFKC", reply)
        boxed = _BOXED.findall(text)
        text = _BOXED.sub(r"\1", text)
        marked = [text[match.end() :] for match in _SCORE.finditer(text)] or boxed
        is_bare = _GRADE.fullmatch(text) and not re.search("[^\\W\\d]", re.sub(f"{_NUMBER}|out of", "", text))
        if not marked and not is_bare:
            raise ValueError(f"no `Score:` in the judge's reply: {reply[:_SHOWN]!r}")
        grades = {_grade(words, max(worst, best)): None for words in marked or [text]}
        if len(grades) > 1:
            raise ValueError(f"several grades in the judge's reply: {', '.join(f'{grade:g}' for grade in grades)}")
        (grade,) = grades
        share = (grade - worst) / (best - worst)
        if not 0 <= share <= 1:
            raise ValueError(f"the judge's grade {grade:g} is not on the scale from {worst:g} to {best:g}")
        return share


def _grade(words: str, highest: float) -> float:
    """Return the grade at the start of some words; raise ValueError where it is not one number on the scale."""
    found = _GRADE.match(words)
    if not found or not _REST.fullmatch(found["rest"]):
        raise ValueError(f"no single grade after `Score:` in the judge's reply: {words[:_SHOWN]!r}")
    if found["best"] and float(found["best"].replace(",", ".")) != highest:
        raise ValueError(f"the judge's grade is on a scale to {found['best']}, not to {highest:g}: {words[:_SHOWN]!r}")
    return float(found["grade"].replace(",", "."))
