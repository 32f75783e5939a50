"""Plans: the work of a run, from the same graph that a run executes."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ohr.contracts import Stage
from ohr.dataset.inputs import limited, read_inputs
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.cells import count, drawn_once, not_swapped, undosed, unreached
from ohr.graph.compile import compile_graph
from ohr.graph.graph import BasePart, Batch, CellPart, Graph
from ohr.prices import Payee
from ohr.runner.attribution import with_trials
from ohr.runner.calibration.calibrate import NotCalibrated, calibrate
from ohr.runner.comparisons import uncompared
from ohr.runner.pace import recall
from ohr.runner.plan_costs import Bill, PlannedCost
from ohr.runner.power import Design, design
from ohr.runner.preflight import check_stages
from ohr.runner.prompt_sizes import Estimate, Sizes
from ohr.runner.text_growth import Growth
from ohr.spec.model import Named, Spec
from ohr.spec.servers import answering, correcting, judging, models_of, reading, serving
from ohr.steps.agents.run_agent import RunAgent
from ohr.steps.answers.correcting import PrepareCorrection
from ohr.steps.documents.damage import MeasureDamage
from ohr.steps.documents.make_document import CorrectDocument, CutChunks, MakeDocument
from ohr.steps.documents.page_images import RenderPage
from ohr.steps.documents.read_pages import ReadDocument, ReadPages
from ohr.steps.retrieval.retrieve import Retrieve
from ohr.steps.retrieval.swapped_texts import SwapHits
from ohr.steps.systems.run_system import RunSystem
from ohr.store import Store, open_store
from ohr.text.tokens import count_tokens
from ohr.work.shapes import read_sound


@dataclass(frozen=True, slots=True)
class Count:
    """Items of one step: how many there are, and how many are left to do; what several cells share counts once."""

    total: int
    left: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The work that a run would do.

    Args:
        documents_asked: documents that a question is about; the others are searched too.
        cells: number of cells by stage.
        steps: pages, documents, searches and answers. Answers are counted exactly once their prompts are known;
            before that, all of them count as left.
        tokens: estimated prompt tokens of the answers that are left, and of the judges of their replies.
        agent_calls: the most calls of the agents' questions that are left.
        agent_tokens: the most prompt tokens of those calls, without images.
        design: size of the study, on which depends what it can detect.
        costs: what is left to pay for, and all, by who is paid.
        minutes: estimated time left on this machine, not less than `waits`; None when nothing like it ran here before.
        waits: minutes that the limits per minute of servers take at least, without calls of agents.
    """

    documents: int
    documents_asked: int
    questions: int
    warnings: tuple[str, ...]
    design: Design
    cells: Mapping[str, int]
    steps: Mapping[str, Count]
    tokens: int
    minutes: float | None
    waits: float = 0.0
    agent_calls: int = 0
    agent_tokens: int = 0
    costs: tuple[PlannedCost, ...] = ()


def plan(spec: Spec, store: Path | str = ".ohr", workers: int = 1, limit: int | None = None) -> Plan:
    """Compile the graph of a run and count its results in the store; runs nothing."""
    keyless = check_stages(spec, asks=False)
    spec = limited(spec, limit)
    session = Session(read_inputs(spec), open_store(store), None)
    spec, uncalibrated = _calibrated(spec, session)
    spec, _ = with_trials(spec)
    keys = Keys(spec, session.inputs)
    graph = compile_graph(keys)
    there = session.store.has_many(graph.steps.keys())
    needed = {step.key for step in graph.needed(graph.goals, there)}
    bill = Bill(spec, session)
    read = {"pages to read": _pages(spec, graph, needed, set(there), bill)}
    steps = read | {name: _count(graph, kind, needed) for name, kind in _KINDS.items()}
    for name in ("page images to render", "texts to swap"):
        if not steps[name].total:
            del steps[name]
    growth = Growth(session, keys, [part for part in graph.parts if isinstance(part, BasePart)])
    estimates = Sizes(session, keys, growth)
    steps["prompts to answer"], tokens = _answers(session, graph, estimates, bill)
    corrections, correction_tokens = _corrections(spec, session, graph, needed, bill)
    steps |= {"pages to correct": corrections} if corrections.total else {}
    tokens += correction_tokens
    agents, calls, agent_tokens = _agents(graph, set(there), estimates, bill)
    steps |= {"agent questions": agents} if agents.total else {}
    steps |= _systems(graph, set(there), session.store, bill)
    if uncalibrated:
        levels = sum(base.target is not None for base in spec.knowledge_bases)
        steps["levels to calibrate"] = Count(levels, uncalibrated)
    inputs = session.inputs
    counts = len(inputs.documents), inputs.documents_asked, len(inputs.questions)
    notes = (*uncompared(spec), *not_swapped(spec), *unreached(spec), *undosed(spec), *drawn_once(spec))
    warnings = (*keyless, *session.inputs.warnings, *notes)
    timed, waits = _minutes(spec, session.store, steps, workers), bill.waits.minutes
    minutes = None if timed is None else max(timed, waits)
    size, cells = design(spec, session.inputs), count(spec)
    costs = tuple(bill.costs())
    return Plan(*counts, warnings, size, cells, steps, tokens, minutes, waits, calls, agent_tokens, costs)


_KINDS: Mapping[str, type[object] | tuple[type[object], ...]] = {
    "page images to render": RenderPage,
    "documents to build": (MakeDocument, CorrectDocument),
    "documents to cut": CutChunks,
    "damage to measure": MeasureDamage,
    "searches": Retrieve,
    "texts to swap": SwapHits,
}


def _calibrated(spec: Spec, session: Session) -> tuple[Spec, int]:
    """Calibrate from the store alone; else count the levels that are left, whose steps count at any strength."""
    try:
        return calibrate(spec, session), 0
    except NotCalibrated:
        return spec, sum(base.target is not None for base in spec.knowledge_bases)


def _count(graph: Graph, kind: type[object] | tuple[type[object], ...], needed: set[str]) -> Count:
    """Count the steps of a kind; a missing step whose output nothing needs is not left to do."""
    found = {step.key: step for step in graph.steps.values() if isinstance(step.work, kind)}
    return Count(len(found), sum(key in needed for key in found))


def _answers(session: Session, graph: Graph, sizes: Sizes, bill: Bill) -> tuple[Count, int]:
    """Count answers, and estimate the tokens of the prompts that are left and of the judges of their replies.

    They are counted exactly where their prompts are known; elsewhere all of them are left.
    """
    total, known, tokens = 0, set[str](), 0.0
    batches = {
        batch.prompts.key: (part.cell, batch)
        for part in graph.parts
        if isinstance(part, CellPart)
        for batch in part.batches
        if batch.prompts is not None
    }
    for name, (cell, batch) in batches.items():
        answers: dict[str, str] = read_sound(session.store, [name], "prompts").get(name, {})
        new = set(answers.values()) - known
        left = new - set(session.store.has_many(new))
        known |= new
        total += 0 if answers else len(batch.questions)
        size = sizes.prompts(cell, batch)
        count = len(new) if answers else size.prompts
        share = len(left) / len(answers) if answers else 1.0
        assert cell.generator is not None
        asked = len(left) if answers else count, share * size.tokens
        whole = size.tokens * (len(new) / len(answers) if answers else 1.0)
        bill.ask([answering(cell.generator, cell.stage)], [cell.generator.stage], asked, (count, whole))
        tokens += asked[1] + _judges(session, batch, sizes, bill, size)
    left_known = len(known) - len(session.store.has_many(known))
    return Count(len(known) + total, left_known + total), round(tokens)


def _judges(session: Session, batch: Batch, sizes: Sizes, bill: Bill, estimate: Estimate) -> float:
    """Add what judges of a batch's replies are asked; returns the prompt tokens that are left."""
    tokens = 0.0
    stored = read_sound(session.store, [batch.judged], "judged") if batch.judged else {}
    judged = stored.get(batch.judged or "", {})
    for judge in sizes.keys.judges if estimate.judged else ():
        count, size = estimate.judged[judge.name]
        names = {name for about in judged.get(judge.name, {}).values() for name in about}
        share = 1 - len(session.store.has_many(names)) / len(names) if names else 1.0
        bill.ask(
            [judging(Named(judge.name, judge.metric))],
            [judge.metric.judge],
            (share * count, share * size),
            (count, size),
        )
        tokens += share * size
    return tokens


def _corrections(spec: Spec, session: Session, graph: Graph, needed: set[str], bill: Bill) -> tuple[Count, int]:
    """Count the pages that models correct, and the prompt tokens of those that are left, on the clean text."""
    bases, truth = {base.name: base for base in spec.knowledge_bases}, session.inputs.truth
    total, left, tokens_left = 0, 0, 0
    for step in {each.key: each for each in graph.steps.values()}.values():
        if isinstance(step.work, PrepareCorrection):
            correction = step.work.correction
            asked = [correction.prompt_for(page) for page in truth.get(step.work.document.name, ())]
            prompts = [prompt for prompt in asked if prompt is not None]
            tokens = sum(count_tokens(prompt.system + prompt.user) for prompt in prompts)
            mine = (len(prompts), tokens) if step.key in needed else (0, 0)
            bill.ask([correcting(bases[step.work.base], correction)], [correction.model], mine, (len(prompts), tokens))
            total, left, tokens_left = total + len(prompts), left + mine[0], tokens_left + mine[1]
    return Count(total, left), tokens_left


def _agents(graph: Graph, there: set[str], sizes: Sizes, bill: Bill) -> tuple[Count, int, int]:
    """Count the questions of agents, and bound the calls and prompt tokens of those left, without shared ones."""
    found = {step.key: step for step in graph.steps.values() if isinstance(step.work, RunAgent)}.values()
    calls, tokens = 0, 0
    for step in found:
        assert isinstance(step.work, RunAgent)
        agent, name = step.work.agent, step.work.name
        left, whole = (
            (questions * agent.max_calls, sizes.agent(agent, questions))
            for questions in (len(set(step.outputs) - there), len(step.outputs))
        )
        bill.ask([*models_of(Named(name, agent)).values()], [*agent.models().values()], left, whole)
        calls, tokens = calls + left[0], tokens + left[1]
    questions = sum(len(set(step.outputs) - there) for step in found)
    return Count(sum(len(step.outputs) for step in found), questions), calls, tokens


def _systems(graph: Graph, there: set[str], store: Store, bill: Bill) -> dict[str, Count]:
    """Count what systems ingest, and their questions; what a system has lost with its process is ingested again."""
    works = [
        (step, step.work)
        for step in {each.key: each for each in graph.steps.values()}.values()
        if isinstance(step.work, RunSystem)
    ]
    if not works:
        return {}
    kept = store.has_many([work.ingested for _, work in works if work.system.lasting])
    left = [(work, len(set(step.outputs) - there)) for step, work in works]
    for (step, work), (_, questions) in zip(works, left, strict=True):
        bill.serve(serving(Named(work.name, work.system)), questions, len(step.outputs))
    ingests = sum(bool(questions) and work.ingested not in kept for work, questions in left)
    asked = Count(sum(len(step.outputs) for step, _ in works), sum(questions for _, questions in left))
    return {"sets of documents to ingest": Count(len(works), ingests), "system questions": asked}


def _pages(spec: Spec, graph: Graph, needed: set[str], there: set[str], bill: Bill) -> Count:
    """Count the pages that engines read; a page that nothing needs is not left to do."""
    bases = {base.name: base for base in spec.knowledge_bases}
    total, unread, engines = Counter[Payee](), Counter[Payee](), dict[Payee, Stage]()
    for name, step in graph.steps.items():
        if isinstance(step.work, ReadPages | ReadDocument):
            base = bases[step.work.base]
            payee = reading(base)
            total[payee] += 1
            unread[payee] += name not in there and step.key in needed
            engines[payee] = base.ocr
    for payee, pages in total.items():
        bill.read(payee, engines[payee], unread[payee], pages)
    return Count(total.total(), unread.total())


def _minutes(spec: Spec, store: Store, steps: Mapping[str, Count], workers: int) -> float | None:
    rates = [recall(store, base.ocr) for base in spec.knowledge_bases if base.ocr.reads_images]
    answers = [recall(store, generator.stage) for generator in spec.generators]
    pages, prompts = steps["pages to read"].left, steps["prompts to answer"].left
    episodes = steps["agent questions"].left if "agent questions" in steps else 0
    paces = [recall(store, agent.stage) for agent in spec.agents]
    asked = steps["system questions"].left if "system questions" in steps else 0
    replies = [recall(store, system.stage) for system in spec.systems]
    if asked and None in replies:
        return None
    if (pages and None in rates) or (prompts and None in answers) or (episodes and None in paces):
        return None
    seconds = pages * max((rate or 0.0 for rate in rates), default=0.0) / workers
    seconds += prompts * sum(rate or 0.0 for rate in answers) / max(len(answers), 1)
    seconds += episodes * sum(pace or 0.0 for pace in paces) / max(len(paces), 1)
    seconds += asked * sum(reply or 0.0 for reply in replies) / max(len(replies), 1)
    return seconds / 60
