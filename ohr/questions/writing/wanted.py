"""The key `questions` of the settings: which questions a user wants, and how many."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ohr.contracts import EvidenceSource

Form = Literal["String", "Numeric", "Yes/No", "List"]
FORMS: tuple[Form, ...] = ("String", "Numeric", "Yes/No", "List")
"""Forms of answers (OHRBench, Table 1)."""

ONE_PAGE: tuple[EvidenceSource, ...] = ("text", "table", "formula", "chart", "reading_order")
"""The sources of questions on one page."""

Weight = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Shares(_Keys):
    """How many of the single-page questions are about each source, one in relation to the others.

    The defaults are those of OHRBench (Table 1), rounded.
    """

    text: Annotated[Weight, Field(description="Plain text.")] = 0.41
    table: Annotated[Weight, Field(description="Tables.")] = 0.27
    formula: Annotated[Weight, Field(description="Formulas.")] = 0.15
    chart: Annotated[Weight, Field(description="Charts whose values the ground truth has.")] = 0.09
    reading_order: Annotated[Weight, Field(description="Two paragraphs that something else parts.")] = 0.08

    @model_validator(mode="after")
    def _asks_for_something(self) -> "Shares":
        if not any(self.of(source) for source in ONE_PAGE):
            raise ValueError("all shares are 0: nothing is asked for")
        return self

    def of(self, source: EvidenceSource) -> float:
        """Return the share of a source."""
        return float(getattr(self, source))


class Wanted(_Keys):
    """The questions to be written."""

    total: Annotated[int, Field(strict=True, gt=0, le=1_000_000, description="Questions that are to be left.")] = 200
    shares: Annotated[Shares, Field(description="Of the sources; one that is left out keeps its default.")] = Shares()
    reasoning: Annotated[
        float, Field(ge=0, le=1, description="Share of questions that take reasoning (OHRBench: 0.28).")
    ] = 0.28
    multi_page: Annotated[float, Field(ge=0, le=1, description="Share of questions on two pages (OHRBench: 0.1).")] = (
        0.1
    )
    answer_forms: Annotated[
        Mapping[Form, Weight],
        Field(description="Shares of the forms of answers; a form that is left out is not asked for."),
    ] = {"String": 0.5, "Numeric": 0.35, "Yes/No": 0.08, "List": 0.07}
    per_page: Annotated[
        int, Field(strict=True, gt=0, le=1000, description="Most questions that are asked for on one page.")
    ] = 8
    per_prompt: Annotated[
        int, Field(strict=True, ge=1, le=3, description="Questions of one prompt; 1 or 2 for small models.")
    ] = 2
    asked_per_question: Annotated[
        float,
        Field(ge=1, le=100, description="Questions asked for, for each of `total`: verification removes many."),
    ] = 1.8  # OHRBench kept 8,498 of 15,317 (section II.5)
    most_words: Annotated[
        int,
        Field(strict=True, ge=50, le=20_000, description="Longest passage of a prompt; a Chinese sign is a word."),
    ] = 300
    entities: Annotated[
        str | None,
        Field(description="A spaCy model, by name or folder, that finds names for questions on two pages."),
    ] = None

    @field_validator("answer_forms")
    @classmethod
    def _has_a_form(cls, forms: Mapping[Form, float]) -> Mapping[Form, float]:
        if not any(forms.values()):
            raise ValueError("all shares are 0: name at least one form of answers")
        return forms
