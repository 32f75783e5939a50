"""The engine of a build: reads pages and asks models through the store, with the limits of a run, and what it costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import isnan

from ohr.contracts import Completion, Generator, OcrBackend, Page, Prompt
from ohr.engine.ledger import Failure
from ohr.engine.session import Session
from ohr.errors import PluginError
from ohr.graph.cache_keys import Keys
from ohr.graph.compile import add_pages
from ohr.graph.graph import Graph
from ohr.messages.wording import counted
from ohr.prices import Payee, Price, is_counted
from ohr.questions.candidate import Model
from ohr.spec.model import Named, Spec
from ohr.spec.servers import answering
from ohr.steps.answers.generate import Answer
from ohr.steps.answers.prompts import answer_key
from ohr.steps.documents.make_document import recognised_pages, recorded_pages
from ohr.work.step import Step

_UNKNOWN = "no reply came"
_MOST_FAILED = 0.5
"""Share of a model's prompts that may fail: beyond it a server was away, and the rules would remove good questions."""


class Writing(Answer):
    """Have questions written."""

    kind = "writing questions"


class Judging(Answer):
    """Have questions judged."""

    kind = "judging questions"


class Answering(Answer):
    """Have questions answered, to see whether they can be."""

    kind = "answering questions"


@dataclass
class Usage:
    """Use of a model in one build.

    Args:
        payee: the model, as somebody who is paid.
        replies: different prompts; `asked` of them are new, the others were in the store.
        uncounted: replies of which it did not say the tokens.
        tokens_in: of all prompts that were answered, as the generator counts them; 0 where it cannot.
        new_in, new_out: tokens of the new ones.
        reason: why the last one that failed did.
    """

    payee: Payee
    replies: int = 0
    asked: int = 0
    failed: int = 0
    uncounted: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    new_in: int = 0
    new_out: int = 0
    reason: str = ""


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

    def model(self, generator: Named[Generator], role: type[Answer], temperature: float | None = None) -> Model:
        """Return a generator as what writes, judges or answers questions.

        Args:
            role: the work of its replies.
            temperature: at which it is asked where its own is 0, so that its samples differ; None leaves it.
        """
        stage = generator.stage
        if temperature and getattr(stage, "temperature", None) == 0:
            stage = stage.model_copy(update={"temperature": temperature})
        return Model(generator.name, partial(self._ask, Named(generator.name, stage), role))

    def _ask(self, generator: Named[Generator], role: type[Answer], prompts: Sequence[Prompt]) -> Sequence[Completion]:
        made_by = (self._keys.identity(generator.stage), self._keys.files)
        names = [answer_key(made_by, prompt) for prompt in prompts]
        graph, before = Graph(), self.session.store.has_many(set(names))
        for name, prompt in zip(names, prompts, strict=True):
            graph.add(Step(role(generator.stage, generator.name, prompt, (), role.kind), (name,)))
        self._scheduler.add(graph, graph.steps)
        self._scheduler.settle(graph.steps)
        replies = {name: Completion(**reply) for name, reply in self._scheduler.read(graph.steps).items()}
        usage = self.usage.setdefault(generator.name, Usage(answering(generator)))
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
        usage.uncounted += reply.error is None and not is_counted(reply.text, reply.tokens_in, reply.tokens_out)
        usage.reason = reply.error or usage.reason
        usage.tokens_in += reply.tokens_in
        usage.tokens_out += reply.tokens_out
        usage.new_in += new * reply.tokens_in
        usage.new_out += new * reply.tokens_out

    def refuse_failing(self) -> None:
        """Refuse models that fail, so that no set is written that lacks what they would have kept.

        Raises:
            PluginError: more than half of a model's prompts failed.
        """
        for name, usage in self.usage.items():
            if usage.failed > _MOST_FAILED * usage.replies:
                raise PluginError(
                    f"generator {name}: {usage.failed:,} of {counted(usage.replies, 'prompt')} failed, the last since "
                    f"{usage.reason}. Nothing was written; what was answered is kept: run the same command again"
                )

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


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls and tokens of a model.

    Args:
        task: what it is asked for; "" for everything.
        tokens_out: of replies; before a build the most that they may have.
        money: None where the model has no price, or did not count its tokens.
    """

    model: str
    task: str
    calls: int
    tokens_in: int
    tokens_out: int
    money: float | None


def spent(usage: Mapping[str, Usage], prices: Mapping[str, Price], *, now: bool = False) -> list[Cost]:
    """Return the cost of all replies of a build, by model; of those from the store, too: so much costs the set.

    Args:
        now: of the replies that were not in the store alone.
    """
    costs = []
    for _, used in sorted(usage.items()):
        counts = (used.asked, used.new_in, used.new_out) if now else (used.replies, used.tokens_in, used.tokens_out)
        costs.append(_cost(used.payee, "", counts, prices, counted=not used.uncounted))
    return costs


def cost_of(generator: Named[Generator], task: str, calls: int, tokens_in: int, prices: Mapping[str, Price]) -> Cost:
    """Bound the cost of some calls: every reply may be as long as the model's `max_tokens`."""
    longest = getattr(generator.stage, "max_tokens", None) or 0
    return _cost(answering(generator), task, (calls, tokens_in, longest * calls), prices)


def _cost(
    payee: Payee, task: str, counts: tuple[int, int, int], prices: Mapping[str, Price], *, counted: bool = True
) -> Cost:
    money = payee.money(prices, *counts, counted=counted)
    return Cost(payee.name, task, *counts, None if isnan(money) else money)
