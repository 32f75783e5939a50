"""Accuracy of answers in words: a generator reads the final number out of each."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from ohr.contracts import Case, CaseJudgeMetric, Prompt
from ohr.files.changes import kept_until_changed
from ohr.files.prompts import filled, read_prompt_file
from ohr.messages.wording import shortened
from ohr.models.asking import AskingMetric
from ohr.text.arithmetic import evaluate

from .answer_numbers import cot_accuracy, is_gold, normalized
from .metrics import Rules, gold_of


class ExtractionPrompt(BaseModel):
    """The content of a prompt file for the extraction; placeholders: `{question}` and `{solution}`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: Annotated[str, Field(description="The system's message.")] = ""
    user: Annotated[str, Field(pattern=r"\{solution\}", description="The user's message.")]


@kept_until_changed()
def read_extraction_prompt(prompt: str | Path) -> ExtractionPrompt:
    """Read the prompt `extract_number`, or a file by its path.

    Raises:
        SpecError: the prompt does not exist, or its file holds something else.
    """
    faults = {"string_pattern_mismatch": "must have the placeholder {solution}"}
    return read_prompt_file(prompt, ExtractionPrompt, __package__, "prompt of an extraction", faults)


class CotAccuracy(AskingMetric, CaseJudgeMetric, kind="cot_accuracy"):
    """1 where the number that a generator reads out of a written solution agrees with the gold within 0.2 %, else 0.

    The reply None is a wrong answer, and so is an empty solution, about which nothing is asked. An extraction that is
    no number is a failed score; in the reference protocol it counts as 0, which a gold of 0 agrees with.
    """

    role: ClassVar[str] = "the extraction"
    prompt: Annotated[Path | str, Field(description="extract_number, or a file with system and user.")] = (
        "extract_number"
    )
    protocol: Rules = "clean"

    def check(self) -> None:
        """Check the prompt and the generator."""
        read_extraction_prompt(self.prompt)
        super().check()

    @property
    def prompt_sha256(self) -> str:
        """Hash of the prompt's messages."""
        content = read_extraction_prompt(self.prompt).model_dump_json()
        return sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    def prompts_for(self, case: Case) -> Sequence[Prompt] | None:
        """Return the prompt; none for an empty solution, None where no answer could meet the gold."""
        if self.protocol == "clean" and not is_gold(gold_of(case.answers)):
            return None
        if not case.reply.strip():
            return ()
        template = read_extraction_prompt(self.prompt)
        user = filled(template.user, question=case.question, solution=case.reply)
        return (Prompt(case.question, (), template.system, user, id=case.id),)

    def score_judged(self, case: Case, replies: Sequence[str]) -> float:
        """Compare the extracted number with the gold."""
        if not replies or "none" in replies[0].lower():  # no answer, whatever the gold
            return 0.0
        if self.protocol == "clean":
            _refuse_words(replies[0])
        return cot_accuracy(replies[0], gold_of(case.answers), self.protocol)


def _refuse_words(extracted: str) -> None:
    try:
        evaluate(normalized(extracted, "clean"))
    except ValueError:
        raise ValueError(f"no number in the extraction: {shortened(extracted)!r}") from None
