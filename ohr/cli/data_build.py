"""`ohr data build`: questions from a folder of documents, verified, as a benchmark of its own."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ohr.cli.display.console import report, say, say_first, say_json, say_table, say_views
from ohr.cli.display.progress import bars
from ohr.cli.options import STORE, AllowEnv, AsJson, Force, Overrides, StoreFolder, Trust, Workers
from ohr.messages.wording import counted, named

if TYPE_CHECKING:
    from ohr.builder.build_session import Cost
    from ohr.builder.build_set import Estimate
    from ohr.builder.write_files import Built


def build(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="PDFs, or folders of images.", show_default=False)],
    to: Annotated[Path, typer.Option(metavar="OUT", help="Folder of the set.", show_default=False)],
    spec: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="YAML file with the models that write and verify.", show_default=False),
    ] = None,
    questions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Verify these, a file of RAGAS, SQuAD, ... or a table; none is written."),
    ] = None,
    overrides: Overrides = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Say what it would ask, and the most that costs; ask nothing.")
    ] = False,
    workers: Workers = None,
    force: Force = False,
    trust_plugins: Trust = False,
    allow_env: AllowEnv = None,
    store: StoreFolder = STORE,
    as_json: AsJson = False,
) -> None:
    """Make a set of questions from your own documents, which `benchmark: {kind: ohrbench, root: OUT}` reads.

    Models write questions from the pages, and rules and models verify them. What was asked is kept: a build that was
    killed, or that is run again after a review, asks nothing twice.
    """
    from ohr.builder.build_set import build as build_set
    from ohr.builder.build_set import estimate
    from ohr.builder.build_settings import Job, read_settings
    from ohr.engine.executors.local import Local

    settings = read_settings(spec, overrides or (), trust_plugins=trust_plugins, allow_env=allow_env or ())
    job = Job(settings, folder, to, questions, force)
    if plan:
        with bars() as progress:
            made = estimate(job, progress=progress)
        _print_estimate(made, as_json=as_json)
        return
    with bars() as progress:
        built = build_set(job, store=store, executor=Local(workers), progress=progress, complete=_complete)
    _print(built, as_json=as_json)
    if not built.questions:
        report(f"no question is left: {built.out / 'candidates.jsonl'} has all of them, with what removed each")
        raise typer.Exit(1)


def _complete(built: "Built", folder: Path) -> None:
    """Add the list of repairs, if there is one, and the figure of the funnel."""
    from ohr import extras
    from ohr.errors import MissingExtra
    from ohr.report.question_sets import draw_funnel, write_repairs

    if faults := built.repairs:
        write_repairs(faults, folder / "repairs.csv")
    try:
        extras.require("matplotlib", "report")
    except MissingExtra as error:
        report(f"no figure of the funnel: {error}")
        return
    draw_funnel(built.funnel.rows, folder)


def _print_estimate(made: "Estimate", *, as_json: bool) -> None:
    if as_json:
        say_json({"documents": len(made.survey.documents), "usable_pages": made.pages, "at_most": made.costs})
        return
    say(f"{counted(len(made.survey.documents), 'document')}, {counted(made.pages, 'page')} to ask about")
    say("at most, if no rule removes a question before the next, replies have `max_tokens`, and none is tried again:")
    _costs(made.costs, "task")
    say_first("notes:", made.notes)


def _print(built: "Built", *, as_json: bool) -> None:
    from ohr.report.question_sets import funnel, repair_counts

    if as_json:
        say_json(_summary(built))
        return
    say_first("notes:", built.notes)
    say(_pages(built))
    if built.sources.asked:
        say(_written(built))
    if faults := built.repairs:
        say_views([repair_counts(faults)])
        say(f"what to repair, question by question: {built.out / 'repairs.csv'}")
    say_views(funnel(built.funnel.rows))
    say(_questions(built))
    _power(built)
    if built.costs:
        say("replies of models, with those that were in the store:")
        _costs(built.costs)
        say(f"of these asked now: {_sum(built.costs_now)}")
    for sentence in built.file_notes:
        report(sentence)
    if built.questions:
        say(f"next: ohr data review {built.out}")
        say(f"      ohr run {built.out / 'study.yaml'}")


def _pages(built: "Built") -> str:
    truth = built.truth
    origins = named([f"{count} {name.replace('_', ' ')}" for name, count in truth.origins.most_common()])
    silver = f", read by {truth.engine} and not corrected" if truth.engine else ""
    left = named([f"{count} {name.replace('_', ' ')}" for name, count in truth.removed.most_common()])
    pages = (
        f"{counted(truth.origins.total(), 'page')} of {counted(len(truth.documents), 'document')}: {origins}{silver}"
    )
    return f"{pages}; not asked about: {left}" if left else pages


def _written(built: "Built") -> str:
    made = built.sources
    faults = named([f"{count} {name}" for name, count in made.faults])
    lacking = f"; what is wrong with other replies: {faults}" if faults else ""
    return f"{counted(len(made.candidates), 'question')} written of {made.asked:,} asked for{lacking}"


def _questions(built: "Built") -> str:
    from collections import Counter

    questions = built.questions
    sources = Counter(each.source for each in questions)
    kinds = f" ({named([f'{count} {name}' for name, count in sources.most_common()])})" if questions else ""
    about = counted(len({each.document for each in questions}), "document")
    dropped = len(built.reviewed.removals)
    decided = len(questions) - len(built.reviewed.undecided)
    review = f"{decided:,} kept in review" + (f", {dropped:,} dropped" if dropped else "")
    lines = [f"{counted(len(questions), 'question')} about {about}{kinds} in {built.out}; {review}"]
    if built.sources.asked and len(questions) < built.wanted:
        lines.append(f"{built.wanted:,} were wanted (`total`): {built.too_weak or _ASK_MORE}")
    return "\n".join(lines)


_ASK_MORE = "raise `questions.asked_per_question`, or add documents; what was asked already is not asked again"


def _power(built: "Built") -> None:
    from ohr.builder.write_files import DRAWS
    from ohr.cli.display.plans import print_design, read_design
    from ohr.runner.power import design_of

    if built.questions:
        size = design_of([question.document for question in built.questions], DRAWS)
        print_design(read_design(size, None, None, None))


def _costs(costs: "Sequence[Cost]", *more: str) -> None:
    priced = ["money"] if any(each.money is not None for each in costs) else []
    say_table(
        ("model", *more, "calls", "tokens in", "tokens out", *priced),
        [
            (
                each.model,
                *(str(getattr(each, name)) for name in more),
                f"{each.calls:,}",
                f"{each.tokens_in:,}",
                f"{each.tokens_out:,}",
                *("" if each.money is None else f"{each.money:,.4f}" for _ in priced),
            )
            for each in costs
        ],
    )


def _sum(costs: "Sequence[Cost]") -> str:
    calls, tokens = sum(each.calls for each in costs), sum(each.tokens_in + each.tokens_out for each in costs)
    prices = [each.money for each in costs if each.money is not None]
    money = f", {sum(prices):,.4f} in money" if prices else ""
    return f"{counted(calls, 'reply', 'replies')}, {tokens:,} tokens{money}"


def _summary(built: "Built") -> dict[str, Any]:
    return {
        "out": built.out,
        "pages": built.truth.origins,
        "silver_engine": built.truth.engine,
        "not_asked_about": built.truth.removed,
        "asked_for": built.sources.asked,
        "candidates": len(built.sources.candidates),
        "unusable_replies": dict(built.sources.faults),
        "funnel": [{**asdict(row), "left": row.left} for row in built.funnel.rows],
        "questions": len(built.questions),
        "dropped_in_review": len(built.reviewed.removals),
        "not_reviewed": len(built.reviewed.undecided),
        "costs": built.costs,
        "costs_now": built.costs_now,
        "repairs": [each._asdict() for each in built.repairs],
        "notes": built.notes,
    }
