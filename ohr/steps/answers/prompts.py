"""The prompts of a generator under each condition, floors and ceilings among them; each asks for its answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ohr import seeds
from ohr.contracts import Chunk, Generator, Page, PageId, Passage, Prompt, Question
from ohr.dataset.inputs import Inputs, TruthPages
from ohr.keys import key
from ohr.metrics.dose import by_page, own_passages
from ohr.spec.model import Named
from ohr.steps.answers.generate import Answer
from ohr.steps.answers.prompt_templates import make_prompt
from ohr.steps.documents.make_document import expected, read_pages
from ohr.steps.documents.page_images import ImageRecipe, PageImage
from ohr.steps.retrieval.retrieve import read_hits
from ohr.store import Store
from ohr.work.shapes import read_sound
from ohr.work.step import Context, Ready, Report, Step, Work

_CONTEXT = 2000  # characters of another page: about as much as two chunks of 256 tokens


def reference_texts(condition: str, question: Question, inputs: Inputs, seed: int) -> Sequence[str]:
    """Return the text that the generator may read under a condition.

    `closed_book`: nothing; `shuffled_context`: the beginning of a page of another document, of the same domain where
    there is one; `evidence_only`: the evidence.
    """
    if condition == "closed_book":
        return ()
    if condition == "evidence_only":
        return question.evidence
    other = _other_page(question, inputs, seed)
    return (other.text[:_CONTEXT] if other else "",)


def pages_shown(condition: str, question: Question, inputs: Inputs, seed: int) -> list[tuple[str, int]]:
    """Name the pages that a generator that reads images may look at under a condition, as in `reference_texts`."""
    if condition == "closed_book":
        return []
    if condition == "evidence_only":
        return list(question.own_pages)
    other = _other_page(question, inputs, seed)
    return [(other.document, other.index)] if other else []


def _other_page(question: Question, inputs: Inputs, seed: int) -> Page | None:
    """Draw a page of ground truth from another document of the question's domain, else of any domain."""
    for domain in (question.domain, None):
        pages = inputs.truth_pages.get(domain) or TruthPages({})
        own = pages.numbers(question.document)
        if others := len(pages) - len(own):
            number = int(seeds.generator(seed, "shuffled_context", question.id).integers(others))
            name, index = pages.page(number + len(own) if number >= own.start else number)
            return inputs.truth[name][index]
    return None


@dataclass(frozen=True, slots=True)
class Asked:
    """One question as it is put to a generator, and the pages that the prompt shows."""

    prompt: Prompt
    pages: tuple[PageImage, ...] = ()


@dataclass(frozen=True, slots=True)
class PreparePrompts(Work):
    """Make the prompts of some questions, and ask for their answers. Writes {question: key of its answer}.

    Its inputs: `overall`, the batch's hits; `generation`, the documents of their own pages; `reference`, none.

    Args:
        source: `overall`, `generation`, or a reference condition such as `closed_book`.
        condition: its name, for messages.
        questions: places in `Inputs.questions`.
        generator: which answers.
        images: how page images are made, where the generator reads images; else None.
        identity: of the generator, then the plugin files' digests: part of every answer's key.
        hits: key of the batch's hits as it is without failures.
    """

    kind: ClassVar[str] = "preparing prompts"
    shape: ClassVar[str] = "prompts"
    role: ClassVar[str] = "prompt"
    named: ClassVar[str] = "{0.condition}"
    grows: ClassVar[bool] = True
    source: str
    condition: str
    prompt: str | Path
    generator: Named[Generator]
    questions: tuple[int, ...]
    identity: tuple[Any, ...]
    seed: int
    images: ImageRecipe | None = None
    hits: str = ""

    def grown(self, output: Mapping[str, str]) -> set[str]:
        """Return the keys of the answers."""
        return set(output.values())

    def run(self, ready: Ready, context: Context) -> Report:
        """Write the keys of the answers, and ask for those that are not there."""
        prompts = self.prompts(ready, context)
        keys = {question: self.answer_key(asked) for question, asked in prompts.items()}
        context.store.put(ready.outputs[0], keys)
        there = read_sound(context.store, set(keys.values()), "answer")
        left = {keys[question]: asked for question, asked in prompts.items() if keys[question] not in there}
        return Report(steps=[self._asking(name, asked) for name, asked in left.items()])

    def _asking(self, name: str, asked: Asked) -> Step:
        """Return the step that makes an answer, after page images that others need too."""
        generator = self.generator
        work = Answer(generator.stage, generator.name, asked.prompt, asked.pages, self.condition)
        return Step(work, (name,), after=tuple(dict.fromkeys(page.key for page in asked.pages)))

    def prompts(self, ready: Ready, context: Context) -> dict[str, Asked]:
        """Make the prompts by question; a question without hits, as its search failed, has none."""
        inputs, asked = context.inputs, {context.inputs.questions[place].id: place for place in self.questions}
        return {
            question: self.asked(inputs.questions[asked[question]], passages, inputs)
            for question, passages in self.passages(ready, context).items()
        }

    def passages(self, ready: Ready, context: Context) -> dict[str, list[Passage]]:
        """Return what is read for each question; a question without hits, as its search failed, has no entry."""
        inputs = context.inputs
        asked = [inputs.questions[place] for place in self.questions]
        if self.source == "overall":
            hits, _ = read_hits(context.store, ready.inputs[0], self.hits)
            return {q.id: [as_passage(hit.chunk) for hit in hits[q.id]] for q in asked if q.id in hits}
        if self.source == "generation":
            pages = by_page(page for name in ready.inputs for page in read_pages(context.store, name) or ())
            return {q.id: own_passages(q, pages) for q in asked}
        return {q.id: [Passage(text) for text in reference_texts(self.source, q, inputs, self.seed)] for q in asked}

    def asked(self, question: Question, passages: Sequence[Passage], inputs: Inputs) -> Asked:
        """Put a question to the generator with what is read for it."""
        images, shown = self.images, list[PageImage]()
        for name, index in self._pages(question, passages, inputs) if images else ():
            document = inputs.by_name.get(name)
            if document and images and index < document.pages:  # a question may name a page that is not there
                image = images.numbered_page(document, index, inputs.leaf(document, images=True))
                shown += [image] if image else []  # noise may have left the page out
        sees = images is not None
        return Asked(make_prompt(inputs.benchmark, question, passages, prompt=self.prompt, images=sees), tuple(shown))

    def _pages(self, question: Question, passages: Sequence[Passage], inputs: Inputs) -> Iterable[PageId]:
        """Name the pages that a generator looks at for a question."""
        if self.source == "overall":
            return dict.fromkeys(page for passage in passages for page in passage.pages)
        if self.source == "generation":
            return question.own_pages
        return pages_shown(self.source, question, inputs, self.seed)

    def answer_key(self, asked: Asked) -> str:
        """Key of one answer: equal prompts share it, whichever condition asks."""
        shown = [[page.key for page in asked.pages]] if self.images else []
        return answer_key(self.identity, asked.prompt, *shown)


def as_passage(chunk: Chunk) -> Passage:
    """Return a chunk as a generator reads it."""
    return Passage(chunk.text, tuple((chunk.document, page) for page in chunk.pages))


def answer_key(made_by: Sequence[Any], prompt: Prompt, *shown: Any) -> str:
    """Key of a generator's reply to a prompt.

    Args:
        made_by: identity of the generator, then the plugin files' digests.
        shown: keys of the pages that the prompt shows.
    """
    identity, *files = made_by
    tries = [prompt.attempt] if prompt.attempt else []
    return key("answer", identity, prompt.system, prompt.user, prompt.opening, *tries, *shown, *files)


def read_answer_keys(store: Store, name: str | None) -> dict[str, str]:
    """Read the keys of answers by question; nothing where the prompts failed."""
    found: dict[str, str] = expected(store, [name], "prompts", "prompts")[name] if name is not None else {}
    return found
