"""A generator as judge of replies, with a prompt of ohr or of your own."""

import re
from functools import lru_cache
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ohr.contracts import Case, JudgeMetric, Prompt
from ohr.files.prompts import read_prompt_file
from ohr.models.asking import AskingMetric

_PLACEHOLDER = re.compile(r"\{(question|answers|passages|reply)\}")
_NUMBER = r"[-+]?\d+(?:[.,]\d+)?"
_SCORE = re.compile(rf"\bscore\b[\s*_`\"]*[:=][\s*_`\"<\[]*({_NUMBER})", re.IGNORECASE)
_BARE = re.compile(rf"\s*({_NUMBER})\s*")
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


@lru_cache(maxsize=32)
def read_judge_prompt(prompt: str | Path) -> JudgePrompt:
    """Read one of ohr's prompts for judges by its name, or a file by its path.

    Raises:
        SpecError: the prompt does not exist, or its file holds something else.
    """
    return read_prompt_file(prompt, JudgePrompt, "ohr.metrics.prompts", "judge's prompt", _FAULTS)


class Judge(AskingMetric, JudgeMetric):
    """Lets a generator grade each reply; every prompt and reply is kept in `judgements.parquet`.

    The grade is the number after the last `Score:` of the judge's reply, or the whole reply where that is a number. It
    must be on the prompt's scale, and is brought to [0, 1]. A reply without a grade is a failed score.
    """

    kind: Literal["judge"] = "judge"
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
        # one pass, so that a reply that contains a placeholder is left alone
        filled = _PLACEHOLDER.sub(lambda match: values[match[1]], template.user)
        return Prompt(case.question, case.passages, template.system, filled)

    def score_reply(self, reply: str) -> float:
        """Return the grade as a share of the scale."""
        marked = _SCORE.findall(reply)
        bare = _BARE.fullmatch(reply)
        found = marked[-1] if marked else bare[1] if bare else None
        if found is None:
            raise ValueError(f"no `Score:` in the judge's reply: {reply[:_SHOWN]!r}")
        worst, best = read_judge_prompt(self.prompt).scale
        share = (float(found.replace(",", ".")) - worst) / (best - worst)
        if not 0 <= share <= 1:
            raise ValueError(f"the judge's grade {found} is not on the scale from {worst:g} to {best:g}")
        return share
