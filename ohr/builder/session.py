"""The engine of a build: reads pages and asks models through the store, with the retries and limits of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from ohr.contracts import Completion, Generator, OcrBackend, Page, Prompt
from ohr.engine.ledger import Failure
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.graph import Graph
from ohr.graph.page_steps import add_pages
from ohr.questions.model import Model
from ohr.spec.model import Named, Spec
from ohr.steps.answers.generate import Answer
from ohr.steps.answers.prompts import answer_key
from ohr.steps.documents.make_document import recognised_pages, recorded_pages
from ohr.work.step import Step

_UNKNOWN = "no reply came"


@dataclass
class Usage:
    """Use of a model in one build.

    Args:
        replies: different prompts; `asked` of them are new, the others were in the store.
        tokens_in: of all prompts that were answered, as the generator counts them; 0 where it cannot.
        new_in, new_out: tokens of the new ones.
    """

    replies: int = 0
    asked: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    new_in: int = 0
    new_out: int = 0


class BuildSession:
    """Reads pages and asks models; what the store has is neither read nor asked again.

    Args:
        spec: of the build, as `Settings.spec` makes it.
        session: started.
    """

    def __init__(self, spec: Spec, session: Session) -> None:
        self.spec, self.session = spec, session
        self.usage: dict[str, Usage] = {}
        self._keys = Keys(spec, session.inputs)
        self._scheduler = session.scheduler(spec)
        self._reasons: dict[str, str] = {}
        session.ledger.listen(self._note)

    def _note(self, failure: Failure) -> None:
        self._reasons[failure.item] = failure.reason

    def model(self, generator: Named[Generator], role: str, temperature: float | None = None) -> Model:
        """Return a generator as what writes or judges questions.

        Args:
            role: what it does, for messages.
            temperature: at which it is asked where its own is 0, so that its samples differ; None leaves it.
        """
        stage = generator.stage
        if temperature and getattr(stage, "temperature", None) == 0:
            stage = stage.model_copy(update={"temperature": temperature})
        return Model(generator.name, partial(self._ask, Named(generator.name, stage), role))

    def _ask(self, generator: Named[Generator], role: str, prompts: Sequence[Prompt]) -> Sequence[Completion]:
        made_by = (self._keys.identity(generator.stage), self._keys.files)
        names = [answer_key(made_by, prompt) for prompt in prompts]
        graph, before = Graph(), self.session.store.has_many(set(names))
        for name, prompt in zip(names, prompts, strict=True):
            graph.add(Step(Answer(generator.stage, generator.name, prompt, (), role), (name,)))
        self._scheduler.add(graph, graph.steps)
        self._scheduler.settle(graph.steps)
        replies = {name: Completion(**reply) for name, reply in self._scheduler.read(graph.steps).items()}
        usage = self.usage.setdefault(generator.name, Usage())
        for name, step in graph.steps.items():
            if name not in replies:
                reason = self._reasons.get(step.work.item, _UNKNOWN)
                replies[name] = Completion("", finish="error", error=reason)
            self._count(usage, replies[name], new=name not in before)
        return [replies[name] for name in names]

    def _count(self, usage: Usage, reply: Completion, *, new: bool) -> None:
        usage.replies += 1
        usage.asked += new
        usage.failed += reply.error is not None
        usage.tokens_in += reply.tokens_in
        usage.tokens_out += reply.tokens_out
        usage.new_in += new * reply.tokens_in
        usage.new_out += new * reply.tokens_out

    def read_pages(self, wanted: Mapping[str, Sequence[int]]) -> dict[str, dict[int, Page]]:
        """Read pages with the engine of the build; one that failed has no text and an error.

        Args:
            wanted: indices of pages by document.
        """
        (base,) = self.spec.knowledge_bases
        known, store = self.session.inputs.by_name, self.session.store
        if not isinstance(base.ocr, OcrBackend):
            pages = {name: recorded_pages(self.spec.benchmark, base.ocr, known[name]) for name in wanted}
            return {name: {page.index: page for page in pages[name] if page.index in wanted[name]} for name in wanted}
        graph = Graph()
        names = add_pages(graph, self._keys, base, wanted)
        self._scheduler.add(graph, graph.steps)
        self._scheduler.settle(graph.steps)
        self._scheduler.read(graph.steps)
        return {
            name: {
                page.index: page
                for page in recognised_pages(
                    store, base.ocr, known[name], indices, [self._scheduler.effective(key) for key in names[name]], name
                )
            }
            for name, indices in wanted.items()
        }
