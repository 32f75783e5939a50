"""How prompts are sent in files."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_DAY = 86400.0
"""Seconds."""


class Batch(BaseModel):
    """The fields of `batch`, where it is more than `true`.

    The limits of a file are those of OpenAI: https://platform.openai.com/docs/api-reference/batch/create
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    poll_seconds: Annotated[float, Field(gt=0, le=_DAY, description="Seconds between two looks at the server.")] = 30.0
    window: Annotated[str, Field(min_length=1, description="The time in which the server is to answer.")] = "24h"
    largest_requests: Annotated[int, Field(gt=0, description="Most prompts of a file.")] = 50_000
    largest_bytes: Annotated[int, Field(gt=0, description="Most bytes of a file.")] = 200_000_000
