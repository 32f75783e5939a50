"""Settings of the verification by models."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

ModelRule = Literal[
    "judged_context_dependent",
    "answerable_without_documents",
    "unfaithful_to_task",
    "answerable_from_one_page",
    "answer_not_confirmed",
]
"""The rules that ask models, in the order in which they are run: what takes few prompts comes first."""


class Settings(BaseModel):
    """The part `verification` of a set's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    samples: Annotated[
        int,
        Field(ge=1, le=100, description="Answers to each question from its evidence, shared among the models."),
    ] = 5
    confirmed: Annotated[
        int, Field(ge=1, le=100, description="Of these, how many must agree with the written answer.")
    ] = 3
    closed_book: Annotated[
        int,
        Field(ge=2, le=100, description="Answers to each question without documents, shared among the models."),
    ] = 2
    off: Annotated[tuple[ModelRule, ...], Field(description="Rules that are not run.")] = ()

    @model_validator(mode="after")
    def _can_be_confirmed(self) -> Self:
        if self.confirmed > self.samples:
            raise ValueError(f"confirmed must be at most samples (got {self.confirmed} of {self.samples})")
        return self
