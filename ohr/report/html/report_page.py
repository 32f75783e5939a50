"""The page as HTML: templates, styles, scripts and packed data; nothing of a run is ever taken for markup."""

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import isfinite
from typing import Any

import ohr
from ohr import extras
from ohr.report.first_screen import ROWS
from ohr.report.headlines import VERDICTS
from ohr.report.html.findings import Findings
from ohr.report.views.view import View

_LEVEL = 6
_QUICK = 2  # compression of large parts: some 15% more bytes in a third of the time
_LARGE = 1 << 18


def packed(value: Any) -> str:
    """Write a value as JSON, deflate it, and encode that in base64, which holds none of HTML's signs."""
    text = as_json(value)
    level = _QUICK if len(text) > _LARGE else _LEVEL
    made = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.b64encode(made.compress(text) + made.flush()).decode("ascii")


def as_json(value: Any) -> bytes:
    """Write a value as JSON; an undefined number is null, and half a character is a question mark."""
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        text = json.dumps(_defined(value), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _defined(value: Any) -> Any:
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {name: _defined(part) for name, part in value.items()}
    return [_defined(part) for part in value] if isinstance(value, list | tuple) else value


HEADINGS: tuple[tuple[str, str, int, str], ...] = (
    ("hypotheses", "Hypotheses", 30, ""),
    ("cost", "What the noise costs", 12, "Each condition against clean text, or the plain scan where there is none, "
     "on the same questions. Lines are 95% intervals over documents, each alone: where one crosses 0, no loss is "
     "shown. The verdicts at the top judge all conditions of a pipeline together. Hollow: few documents."),
    ("repairs", "What repairs buy", 30, ""),
    ("curves", "Scores", 0, "Lines and bands are 95% intervals over documents. The floor is the score of a text that "
     "has nothing to do with the question; the ceiling is that of the clean text, or of the evidence alone. Both are "
     "references: a score may be beyond them."),
    ("protocol", "Numbers of the benchmark's protocol", 30, "Scores of the pages themselves, the facts that are left "
     "after each step, and numbers that are more than a mean."),
    ("effort", "Effort of agents and systems", 30, "What a question takes, beside its score."),
    ("money", "Money", 30,
     "By the prices of the spec; `ohr run` with other prices shows these, and asks nothing again."),
    ("robustness", "Robustness in one number", 8, ""),
    ("decomposition", "Index damage and reading damage", 12, "The loss that comes from searching a noisy "
     "index, and the loss that comes from reading noisy text."),
    ("leaderboard", "Leaderboard", 30, ""),
    ("groups", "By evidence source and domain", 12, ""),
    ("errors", "Error classes and other analyses", 0, "In the chart: was the OCR of the "
     "evidence right, and was the answer?"),
    ("words", "Most confused words", 30, "Which words of the clean text became which others."),
    ("attribution", "Cost of each part of a noise", 60, ""),
    ("doses", "How noisy the texts are", 12, ""),
    ("hygiene", "Artifacts in the texts of pages", 12, ""),
    ("failures", "Failures and warnings", 30, ""),
    ("provenance", "Provenance", 30, ""),
    ("questions", "Questions", 0, "Every question with its pages, as each condition has them."),
)  # fmt: skip
"""Sections of a run in their order: key, heading, rows up to which the first table is open at first, and a sentence."""
_OPEN = {key: most for key, _, most, _ in HEADINGS}

_OPEN_TABLES = {"failures": 1, "money": 2}
"""The number of the last table of a section that is open like the first one, where that is not 0."""
_VERDICTS = dict.fromkeys(VERDICTS.values(), "unclear") | {
    VERDICTS["worse"]: "lost", VERDICTS["small"]: "lost", VERDICTS["better"]: "gained",
}  # fmt: skip
_SCRIPTS = ("vendor/d3.min.js", "vendor/plot.min.js", "vendor/tabulator.min.js", "data.js", "charts.js", "questions.js",
            "question.js", "page.js")  # fmt: skip
_STYLES = ("vendor/tabulator.min.css", "report.css")


def html_answer(text: str) -> tuple[str, bytes]:
    """Return a page as a server sends it: type and body."""
    return "text/html; charset=utf-8", text.encode("utf-8", "replace")


def json_answer(value: Any) -> tuple[str, bytes]:
    """Return a value as a server sends it: type and body."""
    return "application/json", as_json(value)


def render(
    runs: Sequence[Findings], blobs: Mapping[str, str], *, title: str, mode: str = "file", parts: str = ""
) -> Iterator[str]:
    """Write the page of some runs, piece by piece: as one text each sign of its megabytes would take 2 or 4 bytes.

    Args:
        blobs: packed data that is embedded, by name.
        title: of the page.
        mode: `file`, or `served`: then it asks its server for questions and images.
        parts: name of the folder beside the page that has the rest of its data.

    Raises:
        MissingExtra: jinja2 is not installed.
    """
    digest = sha256()
    for blob in blobs.values():
        digest.update(blob.encode())
    nonce = digest.hexdigest()[:24]  # the same runs, the same bytes
    pieces: Iterator[str] = _template("report.html").generate(
        runs=runs,
        blobs=blobs.items(),
        title=title,
        mode=mode,
        parts=parts,
        nonce=nonce,
        policy=policy(nonce, served=mode == "served"),
        version=ohr.__version__,
        headings=_headings,
        folded=_folded,
        manifest=lambda shown: json.dumps(shown.run.manifest, indent=1, ensure_ascii=False),
        verdicts=_VERDICTS,
        first_rows=ROWS,
        css=_asset(*_STYLES),
        scripts=[_asset(name) for name in _SCRIPTS],
    )
    return pieces


def _headings(run: Findings) -> list[tuple[str, str, int, str]]:
    """Return the sections of a run that have something to show; without questions that were scored, pages first."""
    asked = bool(run.sections["curves"])

    def is_shown(key: str) -> bool:
        has_note = key == "words" and key in run.notes
        return asked if key == "questions" else bool(run.sections.get(key)) or has_note

    shown = [heading for heading in HEADINGS if is_shown(heading[0])]
    return shown if asked else sorted(shown, key=lambda heading: heading[0] != "protocol")


def render_index(runs: Sequence[Mapping[str, Any]], folder: str) -> str:
    """Write the list of runs that `ohr view` begins with."""
    text: str = _template("index.html").render(
        runs=runs,
        folder=folder,
        version=ohr.__version__,
        css=_asset("report.css"),
        script=_asset("index.js"),
        nonce="index",
        policy=policy("index", served=True),
    )
    return text


def render_review(token: str, reviewer: str, decisions: str) -> str:
    """Write the page on which a reviewer decides about candidates.

    Args:
        token: that it sends with each decision.
        reviewer: whose decisions they are.
        decisions: name of the file that they are written to.
    """
    text: str = _template("review.html").render(
        token=token,
        reviewer=reviewer,
        decisions=decisions,
        version=ohr.__version__,
        css=_asset("report.css", "review.css"),
        script=_asset("review.js"),
        nonce="review",
        policy=policy("review", served=True),
    )
    return text


def policy(nonce: str, *, served: bool) -> str:
    """Return the Content-Security-Policy of the page: its own scripts, and nothing from elsewhere."""
    own = " 'self'" if served else ""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data: blob:{own}; "
        f"connect-src {own.strip() or chr(39) + 'none' + chr(39)}; base-uri 'none'; form-action 'none'"
    )


def _folded(key: str, place: int, view: View) -> bool:
    return place > _OPEN_TABLES.get(key, 0) or len(view.rows) > _OPEN[key]


def _template(name: str) -> Any:
    extras.require("jinja2", "report")
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("ohr.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)


@cache
def _asset(*names: str) -> Any:
    """Read files of our own, which are markup, style and script."""
    from markupsafe import Markup

    texts = [
        files("ohr.report.html").joinpath("assets", *name.split("/")).read_text(encoding="utf-8") for name in names
    ]
    return Markup("\n".join(texts))  # shipped with ohr
