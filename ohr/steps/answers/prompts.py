"""The prompts of a generator under each condition, and the keys of its answers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ohr.contracts import Chunk, PageId, Passage, Prompt, Question
from ohr.dataset.inputs import Inputs
from ohr.keys import key
from ohr.metrics.dose import by_page, own_passages
from ohr.steps.answers.floors_and_ceilings import pages_shown, passages
from ohr.steps.answers.prompt_templates import make_prompt
from ohr.steps.documents.make_document import expected, read_pages
from ohr.steps.documents.page_images import ImageRecipe, PageImage
from ohr.steps.retrieval.retrieve import read_hits
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Ready, Report, Work


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as it is put to a generator, and the pages that the prompt shows."""

    prompt: Prompt
    pages: tuple[PageImage, ...] = ()


@dataclass(frozen=True, slots=True)
class PreparePrompts(Work):
    """Make the prompts of some questions. Writes {question: key of its answer}.

    Its inputs: `overall`, the batch's hits; `generation`, the documents of their own pages; `reference`, none.

    Args:
        source: `overall`, `generation`, or a reference condition such as `closed_book`.
        condition: its name, for messages.
        questions: places in `Inputs.questions`.
        images: how page images are made, where the generator reads images; else None.
        identity: of the generator, then the plugin files' digests: part of every answer's key.
        hits: key of the batch's hits as it is without failures.
    """

    kind: ClassVar[str] = "preparing prompts"
    shape: ClassVar[str] = "prompts"
    role: ClassVar[str] = "prompt"
    reports: ClassVar[bool] = True
    source: str
    condition: str
    prompt: str | Path
    questions: tuple[int, ...]
    identity: tuple[Any, ...]
    seed: int
    images: ImageRecipe | None = None
    hits: str = ""

    @property
    def item(self) -> str:
        """Name of the condition."""
        return self.condition

    def run(self, ready: Ready, context: Context) -> Report:
        """Write the keys of the answers, and report the prompts that have none yet."""
        prompts = self.prompts(ready, context)
        keys = {question: self.answer_key(asked) for question, asked in prompts.items()}
        context.store.put(ready.outputs[0], keys)
        there = read_sound(context.store, set(keys.values()), "answer")
        return Report(asked={keys[name]: asked for name, asked in prompts.items() if keys[name] not in there})

    def prompts(self, ready: Ready, context: Context) -> dict[str, Asked]:
        """Make the prompts by question; a question without hits, as its search failed, has none."""
        asked = [context.inputs.questions[place] for place in self.questions]
        if self.source == "overall":
            hits, _ = read_hits(context.store, ready.inputs[0], self.hits)
            return {
                q.id: self._asked(
                    q,
                    [_passage(hit.chunk) for hit in hits[q.id]],
                    dict.fromkeys((hit.chunk.document, page) for hit in hits[q.id] for page in hit.chunk.pages),
                    context.inputs,
                )
                for q in asked
                if q.id in hits
            }
        if self.source == "generation":
            return self._of_own_pages(asked, ready, context)
        return {
            q.id: self._asked(
                q,
                [Passage(text) for text in passages(self.source, q, context.inputs, self.seed)],
                pages_shown(self.source, q, context.inputs, self.seed) if self.images else (),
                context.inputs,
            )
            for q in asked
        }

    def _of_own_pages(self, asked: Sequence[Question], ready: Ready, context: Context) -> dict[str, Asked]:
        pages = (page for document in ready.inputs for page in read_pages(context.store, document) or ())
        held = by_page(pages)
        return {q.id: self._asked(q, own_passages(q, held), q.own_pages, context.inputs) for q in asked}

    def _asked(self, question: Question, read: Sequence[Passage], pages: Iterable[PageId], inputs: Inputs) -> Asked:
        shown: list[PageImage] = []
        for name, index in pages if self.images else ():
            document = inputs.by_name.get(name)
            if document and self.images and index < document.pages:  # a question may name a page that is not there
                shown.append(self.images.page(document, index, inputs.leaf(document, images=True)))
        sees = self.images is not None
        return Asked(make_prompt(inputs.benchmark, question, read, prompt=self.prompt, images=sees), tuple(shown))

    def answer_key(self, asked: Asked) -> str:
        """Key of one answer: equal prompts share it, whichever condition asks."""
        shown = [[page.key for page in asked.pages]] if self.images else []
        return answer_key(self.identity, asked.prompt, *shown)


def _passage(chunk: Chunk) -> Passage:
    return Passage(chunk.text, tuple((chunk.document, page) for page in chunk.pages))


def answer_key(made_by: Sequence[Any], prompt: Prompt, *shown: Any) -> str:
    """Key of a generator's reply to a prompt.

    Args:
        made_by: identity of the generator, then the plugin files' digests.
        shown: keys of the pages that the prompt shows.
    """
    identity, *files = made_by
    return key("answer", identity, prompt.system, prompt.user, prompt.opening, *shown, *files)


def read_answer_keys(store: Store, name: str | None) -> dict[str, str]:
    """Read the keys of answers by question; nothing where the prompts failed."""
    found: dict[str, str] = expected(store, [name], "prompts", "prompts")[name] if name is not None else {}
    return found
