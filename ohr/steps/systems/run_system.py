"""Runs a system on the questions of a knowledge base: it ingests the documents once; each reply is stored at once."""

from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace
from math import inf
from multiprocessing import parent_process
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from threading import Thread
from time import perf_counter
from typing import Any, ClassVar

import psutil

from ohr.contracts import Document, GivenContexts, Page, PageId, Stage, System, SystemReply
from ohr.contracts.system import SPLIT
from ohr.dataset.inputs import Inputs
from ohr.errors import InputsGone, OhrError, StoreError
from ohr.keys import key
from ohr.messages.blame import fault_of
from ohr.models.reach import servers_of, without_connection
from ohr.models.resident import in_memory, release, resident
from ohr.models.tries import MOST_LOST_PROCESSES
from ohr.steps.documents.make_document import read_pages
from ohr.steps.documents.page_images import ImageRecipe
from ohr.steps.retrieval.retrieve import read_hits
from ohr.steps.systems.hand_over import condition_name, hand_over
from ohr.work.outside import ask_missing
from ohr.work.plugin_checks import checked_reply
from ohr.work.step import Context, Ready, Report, Work, missing

_POLL = 0.1
"""Seconds between two looks for questions that hang."""


@dataclass(frozen=True, slots=True)
class RunSystem(Work):
    """Ask a system some questions about a knowledge base. Writes, for each, a trajectory with its contexts.

    Its inputs: the documents, in their order.

    Args:
        condition: name of the knowledge base, for messages.
        questions: for each output, the place of its question in `Inputs.questions`.
        images: how page images are made; None where text is handed over.
        ingested: key of what `System.ingest` returned.
        given: keys of hits as they are without failures, from which the system answers without a search; they follow
            the documents in the inputs.
    """

    kind: ClassVar[str] = "asking systems"
    shape: ClassVar[str] = "answer"
    role: ClassVar[str] = "system"
    named: ClassVar[str] = "{0.name} on {0.condition}"
    one_by_one: ClassVar[bool] = True
    together: ClassVar[bool] = True
    system: System
    name: str
    condition: str
    questions: tuple[int, ...]
    labels: tuple[str, ...]
    documents: tuple[Document, ...]
    images: ImageRecipe | None
    ingested: str
    given: tuple[str, ...] = ()

    @property
    def stage(self) -> Stage:
        """The system."""
        return self.system

    def label(self, place: int) -> str:
        """Name the system, the knowledge base and the question."""
        return f"{self.item}: {self.labels[place]}"

    def run(self, ready: Ready, context: Context) -> Report:
        """Ask the questions that have no reply yet; one on which the system raises fails alone."""
        report = Report()
        if not (outputs := missing(ready.outputs, ready, context.store)):
            return report
        try:
            handle = self._ingested(ready, context, report)
        except (StoreError, InputsGone):
            raise  # of the engine, not of the system
        except (Exception, SystemExit) as error:  # a system may raise anything: its condition fails, others continue
            reason = f"the documents were not ingested: {fault_of(error, self.system)}"
            report.errors |= dict.fromkeys(outputs, reason)
            return report
        questions = zip(ready.outputs, self.questions, strict=True)
        texts = {output: context.inputs.questions[place].text for output, place in questions}
        asking = _Asking(self.system, handle, texts, context.watch.seconds, self._given(ready, context), report)
        ask_missing(asking, ready, context, report, self.system.in_flight)
        return report

    def _given(self, ready: Ready, context: Context) -> dict[str, list[str]] | None:
        """Return the contexts that are given, by key of the reply; None where the system is to search."""
        if not self.given:
            return None
        names = ready.inputs[len(ready.inputs) - len(self.given) :]
        hits: dict[str, list[str]] = {}
        for name, plain in zip(names, self.given, strict=True):
            found, _ = read_hits(context.store, name, plain)
            hits |= {question: [hit.chunk.text for hit in ranked] for question, ranked in found.items()}
        return {output: hits.get(label, []) for output, label in zip(ready.outputs, self.labels, strict=True)}

    def _ingested(self, ready: Ready, context: Context, report: Report) -> Any:
        """Return the handle of the condition; its documents are handed over where nobody has done it."""
        # documents that failed are not there: what was ingested without them must not be taken for the whole
        texts = list(ready.inputs[: len(ready.inputs) - len(self.given)])
        name = self.ingested if None not in texts else key("incomplete", self.ingested, texts)
        if not self.system.lasting:
            place = ("system", name)
            for other in in_memory():  # one condition of a system may fill the memory
                if isinstance(other, tuple) and other[0] == place[0] and other != place:
                    release(other)
            return resident(place, lambda: self._ingest_once(ready, context, report))
        stored = context.store.get(name)
        if stored is None:
            stored = {"handle": self._ingest_once(ready, context, report)}
            context.store.put(name, stored)
        return stored["handle"]

    def _ingest_once(self, ready: Ready, context: Context, report: Report) -> Any:
        """Ingest, unless this run has lost processes with it: each further question would lose one more."""
        parent = parent_process()
        run = psutil.Process(parent.pid if parent else None)
        tries = key("ingest tries", self.ingested, run.pid, run.create_time())
        lost = context.store.get(tries) or 0
        if lost >= MOST_LOST_PROCESSES:
            raise OhrError(f"the process ended {lost} times while they were handed over, or took longer than the limit")
        context.store.put(tries, lost + 1)
        try:
            if reasons := without_connection(servers_of([self.system])):  # before the work of handing over
                raise OhrError(reasons[0])
            return self._ingest(ready, context, report)
        finally:  # where the process is lost, nothing of this is done
            context.store.discard([tries])

    def _ingest(self, ready: Ready, context: Context, report: Report) -> Any:
        inputs = context.inputs
        texts: dict[str, list[Page] | None] = {}
        if self.images is None:
            names = (document.name for document in self.documents)
            texts = {name: read_pages(context.store, key) for name, key in zip(names, ready.inputs, strict=False)}
        with TemporaryDirectory(prefix="ohr-") as folder:

            def image(page: PageId) -> Any:
                context.watch.restart()
                return _image(page, inputs, self.images)

            dpi = getattr(inputs.benchmark, "dpi", None)
            hand_over(Path(folder), self.system, self.documents, texts, *(image, self.images, *([dpi] if dpi else [])))
            context.watch.restart(max(len(self.documents), 1))
            # a new name each time: a service may still have what a run that was killed has handed over
            name = f"{condition_name(self.condition)}-{token_hex(4)}"
            handle = self.system.ingest(Path(folder), name)
        report.calls["ingests"] += 1
        context.watch.restart()
        return handle


def _image(page: PageId, inputs: Inputs, images: ImageRecipe | None) -> Any:
    assert images is not None
    name, index = page
    document = inputs.by_name[name]
    return images.page(document, index, inputs.leaf(document, images=True)).make()


@dataclass
class _Asking:
    """Asks a system in threads.

    Args:
        texts: of the questions, by key of the reply.
        seconds: limit of a question, which is then left alone; None for no limit.
        given: contexts by key of the reply, where the system is not to search.
    """

    system: System
    handle: Any
    texts: Mapping[str, str]
    seconds: float | None
    given: Mapping[str, Sequence[str]] | None
    report: Report
    _began: dict[Future[SystemReply], tuple[str, float]] = field(default_factory=dict)

    def begin(self, output: str) -> None:
        """Begin a question."""
        future = Future[SystemReply]()

        def ask() -> None:
            try:
                future.set_result(checked_reply(self._ask(output)))
            except BaseException as error:  # the main thread says whose fault it is
                future.set_exception(error)

        self._began[future] = output, perf_counter()
        Thread(target=ask, daemon=True).start()

    def ended(self) -> Mapping[str, Any]:
        """Wait for replies; returns their trajectories by key, or why there is none."""
        # a little less than the limit of an item, after which the process ends with all its questions
        limit = 0.9 * (self.seconds or inf)
        results = dict[str, Any]()
        while not results:
            done, _ = wait(self._began, None if self.seconds is None else _POLL, FIRST_COMPLETED)
            now = perf_counter()
            for future in done:
                output, began = self._began.pop(future)
                reply = _result(future, now - began, self.system)
                results[output] = reply if isinstance(reply, str) else self._kept(output, reply)
            for future in [future for future, (_, began) in self._began.items() if now - began > limit]:
                results[self._began.pop(future)[0]] = f"no reply within {limit:g} seconds"
        return results

    def _ask(self, output: str) -> SystemReply:
        if self.given is None:
            return self.system.ask(self.texts[output], self.handle)
        assert isinstance(self.system, GivenContexts)
        return self.system.answer(self.texts[output], self.given[output], self.handle)

    def _kept(self, output: str, reply: SystemReply) -> Mapping[str, Any]:
        """Count a reply, and return it as it is kept."""
        self.report.tokens["in"] += reply.tokens_in
        self.report.tokens["out"] += reply.tokens_out
        self.report.calls["system questions"] += 1
        return _trajectory(output, self.texts[output], reply)


def _result(future: "Future[SystemReply]", seconds: float, system: System) -> SystemReply | str:
    error = future.exception()
    if isinstance(error, StoreError):
        raise error
    if error is not None:
        return fault_of(error, system)
    reply = future.result()
    return reply if reply.seconds is not None else replace(reply, seconds=seconds)


def _trajectory(name: str, question: str, reply: SystemReply) -> dict[str, Any]:
    """Return a reply, by its key, as the trajectory of one call, as agents' are kept, with its contexts."""
    split = {name: getattr(reply, name) for name in SPLIT}
    call = {
        "number": 1,
        "key": name,
        "cached": False,
        "kind": "ask",
        "role": "system",
        "query": question,
        "pages": [],
        "turns": 1,
        "images": 0,
        "attempt": 0,
        "shared": False,
        "tokens_in": reply.tokens_in,
        "tokens_out": reply.tokens_out,
        "seconds": round(reply.seconds or 0.0, 4),
        "finish": "stop",
        "reply": reply.answer,
        **{name: round(seconds, 4) for name, seconds in split.items() if seconds is not None},
    }
    contexts = None
    if reply.contexts is not None:
        contexts = [[each.text, each.document, each.page, each.score] for each in reply.contexts]
    end = "answered" if reply.answer.strip() else "not_answerable"
    return {
        "answer": reply.answer,
        "end": end,
        "reply": reply.answer,
        "steps": [call],
        "shown": [],
        "contexts": contexts,
        "version": reply.version,
    }
