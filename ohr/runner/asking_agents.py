"""The cells of agents: waits for the trajectories, has them judged, and scores answers and pages looked at."""

from collections.abc import Iterator, Sequence

from ohr.contracts import Agent
from ohr.engine.ledger import Ledger
from ohr.engine.scheduler import Scheduler
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.graph import CellPart, Graph
from ohr.messages.wording import counted, named
from ohr.runner.asking_judges import Judging
from ohr.runner.scoring_answers import score_answers
from ohr.runner.tabulate import Tabulator
from ohr.spec.model import Named, Spec


def agent_parts(parts: Sequence[object], agent: Named[Agent]) -> list[CellPart]:
    """List the cells of an agent."""
    return [part for part in parts if isinstance(part, CellPart) and part.cell.agent and part.cell.agent is agent]


def conduct(
    session: Session, scheduler: Scheduler, keys: Keys, parts: Sequence[CellPart], tabulator: Tabulator, *, again: bool
) -> None:
    """Answer, score and write the cells of one agent.

    Args:
        again: score all answers again, as some of them may have been made again.
    """
    judging = Judging(session, scheduler, keys)
    answering = [part for part in parts if part.cell.stage == "overall"]
    for part in parts:
        scheduler.settle(part.keys)
    for part in answering:
        judging.take(part, [(batch, batch.episodes) for batch in part.batches])
    judging.send()
    for part in parts:
        if part.cell.stage != "overall":
            tabulator.shown(part)
            continue
        for batch in part.batches:
            scheduler.settle(set(judging.replies(batch)))
            graph = Graph()
            step = graph.add(score_answers(keys, part.cell, batch, batch.episodes, judging.of(batch)))
            if again:
                session.store.discard([step.key])
            scheduler.add(graph, [step.key])
            scheduler.settle([step.key])
            tabulator.answers(part.cell, batch, batch.episodes, step.key, judging.of(batch))
    judging.close()
    for part in answering[:1]:
        _note_ends(session.ledger, part)


def _note_ends(ledger: Ledger, part: CellPart) -> None:
    """Warn of an agent's questions that ended without an answer: they score 0, and are no failures."""
    assert part.cell.agent is not None
    name = part.cell.agent.name
    others = {end: count for end, count in ledger.ends[name].items() if end != "answered"}
    if others:
        asked = counted(ledger.ends[name].total(), "question")
        listed = ", ".join(f"{end} {count:,}" for end, count in sorted(others.items()))
        ledger.warn(f"{name}: {sum(others.values()):,} of {asked} ended without an answer: {listed}")


def unreached(spec: Spec) -> Iterator[str]:
    """Yield a note for each agent that a noise reaches in part, or not at all: its scores there mean something else.

    Text noise, and the errors of an engine on clean images, leave the page images as they are: an agent that reads both
    can look past them.
    """
    texts = [base for base in spec.knowledge_bases if base.noise_type != "none" and not base.image_noise]
    names = list(dict.fromkeys(base.noise for base in texts))
    if not names:
        return
    listed = f"noise of text alone ({named(names)})"
    for agent in spec.agents:
        if "text" not in agent.stage.reads:
            yield f"{agent.name} reads page images only: {listed} cannot reach it, and its scores there are flat"
        elif "image" in agent.stage.reads:
            yield f"{agent.name} reads page images too, which {listed} leaves clean: it can look past that noise"
