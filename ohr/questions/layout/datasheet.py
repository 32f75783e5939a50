"""The datasheet of a set: a README with its sources, ground truth, models, counts and limits.

Its parts follow T. Gebru et al., Datasheets for Datasets (2021), as far as a program can fill them in.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isnan
from typing import Any

from ohr.files.built_set import silver_sentence
from ohr.messages.wording import counted

from .about import About

FILL_IN = "## Licence and contact"
"""Heading of the last part, which people fill in, and which a new build leaves as it is."""

_PART = f"\n{FILL_IN}\n"
_TO_FILL_IN = """
- Licence of the documents: TODO
- Licence of the questions and answers: TODO
- Personal or confidential data in the documents: TODO
- Contact: TODO
- Version and date: TODO"""
_ORIGINS = {
    "text_layer": "the PDF's own text layer",
    "corrected": "corrected by people",
    "silver": "read by an OCR engine, not corrected",
}
_OF_MODELS = "Models wrote or judged questions: a model of the same family may find them easier than others do."
_OF_LAYERS = (
    "Text layers have no markup: tables and formulas are plain text, in the order in which the file draws them."
)


def datasheet(content: Mapping[str, Any], notes: Sequence[str], about: About, before: str = "") -> str:
    """Return the README of a set.

    Args:
        content: of `set.json`.
        notes: sentences about files and corrections that are left out.
        about: how the set was made.
        before: an earlier README of the set, whose filled-in part stays.
    """
    _, heading, filled_in = before.partition(_PART)
    parts = (
        (f"# {about.title}", _summary(content)),
        ("## Sources", _sources(content, notes)),
        ("## Ground truth", _truth(content)),
        ("## Questions", _questions(content)),
        ("## Verification", _verification(about)),
        ("## Models", _models(about)),
        ("## Known limits", _limits(content, about)),
    )
    body = "\n\n".join("\n\n".join((title, *paragraphs)) for title, paragraphs in parts)
    return f"{body}\n\n{FILL_IN}\n{filled_in.rstrip() if heading else _TO_FILL_IN}"


def _summary(content: Mapping[str, Any]) -> Iterator[str]:
    counts = content["counts"]
    yield (
        f"{counted(counts['questions'], 'question')} about {counted(counts['documents'], 'document')} with "
        f"{counted(counts['pages'], 'page')} of ground truth, built by {content['made_by']}."
    )
    yield "The files are in OHRBench's layout (arXiv:2412.02592). A study reads them so:"
    yield "```yaml\nbenchmark: {kind: ohrbench, root: .}\n```"
    yield "`set.json` has the origin of each page, the place of each question's evidence, and all counts below."


def _sources(content: Mapping[str, Any], notes: Sequence[str]) -> Iterator[str]:
    documents = content["documents"]
    rows = (
        (name, about["source"], about["language"], len(about["pages"]), f"`{about['pdf_sha256']}`")
        for name, about in documents.items()
    )
    yield _table(("document", "source", "language", "pages", "SHA-256 of the PDF"), rows)
    if notes:
        yield "Not used:"
        yield "\n".join(f"- {note}" for note in notes)


def _truth(content: Mapping[str, Any]) -> Iterator[str]:
    truth, pages = content["truth"], content["counts"]["pages"]
    yield _table(("ground truth", "pages"), ((_ORIGINS[name], count) for name, count in truth["pages"].items()))
    if silver := truth["pages"].get("silver", 0):
        yield f"The {silver_sentence(silver, pages, truth['engine'])}."
    if truth["left_out"]:
        yield "Pages without ground truth, and those that no question was written about, by the reason's name:"
        yield _table(("reason", "pages"), truth["left_out"].items())


def _questions(content: Mapping[str, Any]) -> Iterator[str]:
    for name, counts in content["counts"]["questions by"].items():
        if counts:
            yield _table((name, "questions"), counts.items())


def _verification(about: About) -> Iterator[str]:
    if about.funnel:
        yield "Each rule got what the rules above it let pass:"
        yield _table(
            ("rule", "entered", "removed", "undecided", "left"),
            (
                (row.rule if row.runs else f"{row.rule} (not run)", row.entered, row.removed, row.undecided, row.left)
                for row in about.funnel
            ),
        )
    else:
        yield "The questions were not verified."
    if about.agreements:
        yield "People reviewed the questions; Cohen's kappa of each two over the verdicts keep, drop and edit:"
        yield _table(
            ("reviewers", "questions", "equal", "kappa"),
            (
                (" and ".join(a.reviewers), a.candidates, a.equal, "" if isnan(a.kappa) else f"{a.kappa:.2f}")
                for a in about.agreements
            ),
        )
    else:
        yield "No two people reviewed the same questions."


def _models(about: About) -> Iterator[str]:
    if not about.models:
        yield "No model took part."
        return
    rows = (
        (model.name, model.role, model.version, ", ".join(f"{key}: {value}" for key, value in model.settings.items()))
        for model in about.models
    )
    yield _table(("model", "role", "version", "settings"), rows)


def _limits(content: Mapping[str, Any], about: About) -> Iterator[str]:
    silver = content["counts"]["questions on silver pages"]
    layers = content["truth"]["pages"].get("text_layer", 0)
    limits = [*[_OF_MODELS] * bool(about.models), *[_OF_LAYERS] * bool(layers), *about.limits]
    if silver:
        limits.append(f"{counted(silver, 'question')} with evidence on silver pages: the engine's errors are in them.")
    yield "\n".join(f"- {limit}" for limit in limits) or "None that a program knows of."


def _table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    written = ([str(cell).replace("|", r"\|") for cell in row] for row in (header, *rows))
    first, *others = (f"| {' | '.join(row)} |" for row in written)
    return "\n".join((first, f"|{' --- |' * len(header)}", *others))
