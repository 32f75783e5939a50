"""The prompts of a correction: what a model is asked about the pages of a document."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from ohr.contracts import Correction, Document, Generator, Prompt
from ohr.errors import StageError
from ohr.steps.answers.generate import Answer
from ohr.steps.answers.prompts import answer_key
from ohr.steps.documents.make_document import read_pages
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Ready, Report, Step, Work


@dataclass(frozen=True, slots=True)
class PrepareCorrection(Work):
    """Make the prompts about the pages of a document, and ask. Writes the replies' keys by the place of the page.

    Args:
        made_by: identity of the generator, then the plugin files' digests: part of every reply's key.
    """

    kind: ClassVar[str] = "preparing corrections"
    shape: ClassVar[str] = "prompts"
    role: ClassVar[str] = "prompt"
    named: ClassVar[str] = "prompts of {0.correction.kind} on {0.base}: {0.document.name}"
    grows: ClassVar[bool] = True
    base: str
    document: Document
    correction: Correction
    made_by: tuple[Any, ...]

    def grown(self, output: Mapping[str, str]) -> set[str]:
        """Return the keys of the replies."""
        return set(output.values())

    def run(self, ready: Ready, context: Context) -> Report:
        """Write the keys of the replies, and ask for those that are not there."""
        names: dict[str, str] = {}
        steps: dict[str, Step] = {}
        for place, page in enumerate(read_pages(context.store, ready.inputs[0]) or ()):
            if page.error is None and page.text.strip() and (prompt := self._prompt(page)) is not None:
                name = answer_key(self.made_by, prompt)
                generator = self.correction.model
                assert isinstance(generator, Generator)
                work = Answer(generator, self.correction.kind, prompt, (), self.base)
                steps.setdefault(name, Step(work, (name,)))
                names[str(place)] = name
        context.store.put(ready.outputs[0], names)
        there = read_sound(context.store, set(steps), "answer")
        return Report(steps=[step for name, step in steps.items() if name not in there])

    def _prompt(self, page: Any) -> Prompt | None:
        try:
            return self.correction.prompt_for(page)
        except (Exception, SystemExit) as error:  # somebody else's plugin may raise anything
            reason = f"the prompt raised {type(error).__name__}: {error}"
            raise StageError(f"treatment {self.correction.kind}", f"page {page.index + 1}", reason) from error
