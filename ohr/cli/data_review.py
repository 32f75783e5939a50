"""`ohr data review`: people decide about the questions of a set, in a browser on this machine."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ohr.cli.display.console import report, say, say_json
from ohr.cli.options import AsJson
from ohr.messages.wording import counted

if TYPE_CHECKING:
    from ohr.questions.candidate import Candidate, Record
    from ohr.questions.human_review import Decision
    from ohr.report.html.review_pages import PageSource

PORT = 8573


def review(
    folder: Annotated[
        Path, typer.Argument(metavar="OUT", help="The folder that `ohr data build` wrote.", show_default=False)
    ],
    reviewer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Whose decisions they are; your user name. With --summary, of everybody.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on this machine; 0 takes a free one.")] = PORT,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that a rule removed, to see whether it was right.")
    ] = False,
    sample: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Only N of them, the same for every reviewer.")
    ] = None,
    summary: Annotated[bool, typer.Option("--summary", help="Print what is decided, and stop.")] = False,
    browse: Annotated[bool, typer.Option("--open", help="Open a browser.")] = False,
    as_json: AsJson = False,
) -> None:
    """Keep, drop or edit the questions of a set in a browser; the pages are for this machine only.

    Each decision is added to OUT/decisions.jsonl at once, so that the review can be left and taken up again, and a new
    build keeps it. Ctrl-C ends the review.
    """
    from ohr.errors import DataError
    from ohr.questions.candidate import FILE, read_records

    if not (folder / FILE).exists():
        raise DataError(f"{folder}: has no {FILE}, which `ohr data build ... --to {folder}` writes")
    records = [_undropped(record) for record in read_records(folder / FILE)]
    shown = _sampled([record for record in records if everything or not record.removal], sample)
    if not (summary or as_json):
        _serve(folder, shown, reviewer, port, browse=browse)
        reviewer = None  # what all have decided is of interest now
    _print_summary(folder, records, shown if sample else None, reviewer, as_json=as_json)


def _undropped(record: "Record") -> "Record":
    """Return a record without the removal by a reviewer, who may change the verdict."""
    from ohr.questions.human_review import RULE

    return record._replace(removal=None) if record.removal and record.removal.rule == RULE else record


def _serve(folder: Path, shown: "Sequence[Record]", reviewer: str | None, port: int, *, browse: bool) -> None:
    from ohr import extras
    from ohr.errors import DataError
    from ohr.questions.human_review import FILE
    from ohr.questions.verification import rule_name
    from ohr.report.html.review import serve_review
    from ohr.serving.http import serve_until_interrupted

    extras.require("jinja2", "report")
    if not shown:
        raise DataError(f"{folder}: no question is left to review; --all shows those that the rules removed")
    name = reviewer or _user()
    server = serve_review(
        [record.candidate for record in shown],
        _pages(folder),
        folder / FILE,
        reviewer=name,
        port=port,
        removed={r.candidate.id: f"{rule_name(r.removal.rule)}: {r.removal.reason}" for r in shown if r.removal},
    )
    address = f"http://127.0.0.1:{server.server_port}/"
    say(address)
    report(f"{counted(len(shown), 'question')} for {name}, decisions in {folder / FILE}. Press Ctrl-C to end.")
    if browse:
        import webbrowser

        webbrowser.open(address)
    serve_until_interrupted(server)


def _sampled(records: "Sequence[Record]", size: int | None) -> "Sequence[Record]":
    """Choose by the hash of the id, so that a larger sample holds a smaller one; in the order of the file."""
    from ohr.keys import key

    chosen = sorted(records, key=lambda record: key("review sample", record.candidate.id))[:size]
    ids = {record.candidate.id for record in chosen}
    return [record for record in records if record.candidate.id in ids]


def _pages(folder: Path) -> "PageSource":
    """Show pages from the set's own files: its ground truth, and its PDFs where they are."""
    from ohr.errors import DataError
    from ohr.files import pdf
    from ohr.files.built_set import page_digest, read_set
    from ohr.files.ohrbench_json import read_document
    from ohr.report.html.review_pages import PageSource

    names, built = _set_names(folder), read_set(folder)

    def pdf_of(document: str) -> Path:
        return folder / "pdfs" / f"{names.get(document, document)}.pdf"

    def text(document: str, page: int) -> str:
        path = folder / "retrieval_base" / "gt" / f"{names.get(document, document)}.json"
        texts = {each.index: each.text for each in read_document(path, document).pages if not each.error}
        if page not in texts:
            raise DataError(f"{folder}: has no text of page {page + 1} of {document}")
        return texts[page]

    def silver_engine(document: str, page: int) -> str:
        about = built.pages.get(names.get(document, document), {}).get(page) if built else None
        is_silver = about and about.origin == "silver" and about.digest == page_digest(text(document, page))
        return built.engine if built and is_silver else ""

    return PageSource(
        text,
        lambda name, page: pdf.render(pdf_of(name), page, _DPI),
        lambda name: pdf_of(name).is_file(),
        silver_engine,
    )


def _set_names(folder: Path) -> dict[str, str]:
    """Return the names of documents in the set by their names in the folder that it was built from, if it says them."""
    from ohr.files.json_input import mapping_in

    documents = mapping_in(folder / "set.json").get("documents")
    about = documents.items() if isinstance(documents, dict) else ()
    return {each["source"]: name for name, each in about if isinstance(each, dict) and "source" in each}


_DPI = 175
"""About the 1,440 pixels at which page images are sent, on A4 and letter paper."""


def _user() -> str:
    from getpass import getuser

    from ohr.errors import DataError

    try:
        return getuser()
    except (KeyError, OSError, ImportError):  # a container's user may have no name
        raise DataError("this system has no name of its user: name the reviewer with --reviewer") from None


def _print_summary(
    folder: Path,
    records: "Sequence[Record]",
    sample: "Sequence[Record] | None",
    reviewer: str | None,
    *,
    as_json: bool,
) -> None:
    """Print what is decided, of a sample of the records or of all, by one reviewer or by everybody."""
    from ohr.cli.display.review import print_summary, summarize
    from ohr.questions.human_review import FILE, read_decisions

    path = folder / FILE
    decisions = read_decisions(path) if path.exists() else []
    summary = summarize(records, _by(reviewer, decisions, path), sample)
    if as_json:
        say_json(summary)
        return
    if not path.exists():
        say(f"nothing is decided yet: {path} is not there")
        return
    if reviewer:
        say(f"the decisions of {reviewer} alone:")
    print_summary(summary, {record.candidate.id: record.candidate.question for record in records})
    if _holds_verdicts(folder, [record.candidate for record in records if not record.removal]):
        say(f"{folder} has all verdicts already.")
    else:
        say("The same `ohr data build` command again writes the reviewed set; it asks no model twice.")


def _by(reviewer: str | None, decisions: "list[Decision]", path: Path) -> "list[Decision]":
    """Return the decisions of one reviewer, or all.

    Raises:
        DataError: there are decisions, and none is of this reviewer.
    """
    from ohr.errors import DataError
    from ohr.registry import choices

    if reviewer is None or not decisions:
        return decisions
    own = [decision for decision in decisions if decision.reviewer == reviewer.strip()]
    if not own:
        reviewers = sorted({decision.reviewer for decision in decisions})
        raise DataError(f"{path}: has no decision of {reviewer}. {choices(reviewer, reviewers)}")
    return own


def _holds_verdicts(folder: Path, survivors: "Sequence[Candidate]") -> bool:
    """Report whether the questions of the set are those that all decisions leave."""
    from ohr.files.ohrbench_questions import survey_questions
    from ohr.questions.human_review import FILE, reviewed_by

    path = folder / "qas_v2.json"
    if not path.is_file():
        return False
    written, _ = survey_questions(path)
    after, _ = reviewed_by(folder / FILE, survivors)
    return [(each.id, each.text, each.answers) for each in written] == [
        (each.id, each.question, each.answers) for each in after.candidates
    ]
