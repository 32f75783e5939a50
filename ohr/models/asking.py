"""Base of the metrics that ask a generator of the spec."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from ohr.contracts import Generator, Judged
from ohr.keys import identity
from ohr.parts import GeneratorPart


class AskingMetric(Judged):
    """A metric that asks a generator of the spec: the first base of a judge, before its contract.

    A subclass is identified by its fields and its `prompt_sha256`.
    """

    role: ClassVar[str] = "a judge"
    """Who reads the prompts, as messages name it."""
    generator: Annotated[GeneratorPart, Field(description="The generator that judges; its own `prompt` is not used.")]

    @model_validator(mode="after")
    def _reads_text(self) -> Self:
        if self.generator.reads_images:
            raise ValueError(f"{self.role} reads text, and {self.generator.kind} reads page images")
        return self

    def check(self) -> None:
        """Check the generator."""
        self.generator.check()

    def identity(self) -> Mapping[str, object]:
        """Identify the generator as it identifies itself, and the prompt by its content."""
        made: list[Any] = identity(self.generator)
        return {**super().identity(), "generator": made, "prompt": self.prompt_sha256}

    @property
    def judge(self) -> Generator:
        """The generator."""
        return self.generator
