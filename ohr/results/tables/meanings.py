"""The meaning of every table of a run and of every column, in words; `schema` has their types."""

from dataclasses import dataclass

from ohr.metrics.commands import KINDS
from ohr.results.tables.column_words import COLUMNS, MEASURED_TABLES
from ohr.results.tables.derived_column_words import DERIVED_TABLES
from ohr.results.tables.schema import column_kinds

ROWS = {
    "questions": "a question: its text, accepted answers, evidence and pages",
    "readings": "a page that an OCR engine read; pages of the ground truth and of recorded results are not here",
    "treatments": "a page that a repair treated: what it did, and what that took. Only where the spec has repairs",
    "texts": "a page of a knowledge base: its text",
    "scores": "a question, cell and metric: its score",
    "hits": "a retrieved chunk, or a context of a system",
    "answers": "an answer of a generator, an agent or a system",
    "steps": "a call or search of an agent; a question that failed has none. Only where the spec has agents",
    "judgements": "a reply of a judge. Only where the spec names a judge",
    "pages": "a page of a knowledge base: the questions about it and its words",
    "page_statistics": (
        "a page of a knowledge base, in the order of `pages`: what was measured of it. "
        "Only where the spec has `measure: [dose, pages]`"
    ),
    "edits": "a page and a rule of text noise: how often the rule changed it",
    "failures": "a failed item",
    "doses": "a knowledge base, one for each draw of its noise: how noisy it is",
    "summary": "a stage, condition, pipeline, metric and group of questions: the mean score and the loss to noise",
    "aggregates": "a number of the benchmark's protocol that is more than a mean of scores, of a cell",
    "effort": "a cell of the stages `generation` and `overall`: what a question took, beside its score",
    "repair": "a noisy condition, an agent and a single search: which of the two loses less to noise",
    "curves": "a number that sums up a curve, of a noise, pipeline, group of questions and axis",
    "variance": "a headline score or loss: the parts of its squared standard error",
    "repeats": "a cell that was evaluated twice. Only where the spec has `aa: true`",
    "hypotheses": "a hypothesis of the spec",
    "attribution": "a part of a noise: the score that it costs. Only where attribution was asked for",
    "decomposition": "a quantity of a decomposition. Only where the spec has `decompose`",
    "swap_scores": "a question, a cell with one noisy stage, and a metric. Only where the spec has `decompose`",
    "attribution_doses": "a knowledge base of an attribution; the columns are those of `doses`",
    "attribution_pages": "a page of a knowledge base of an attribution; the columns are those of `pages`",
    "attribution_scores": "a question, cell and metric of an attribution; the columns are those of `scores`",
}
"""A row of each table, and when the table exists; without a condition, every run has it."""

TYPES = {
    "string": "text",
    "int64": "whole number",
    "double": "number",
    "bool": "true or false",
    "texts": "list of texts",
    "numbers": "list of whole numbers",
    "judged": "list of `document`, `page`, `grade`",
}
"""Types of columns, in words."""

_PAGE_COUNTS = {
    **{f"commands_{kind}": f"formatting commands of the kind {kind}" for kind in KINDS},
    **{f"blocks_{kind}": f"{kind} blocks of the ground truth's page" for kind in ("text", "formula", "table")},
    **{f"matched_{kind}": f"those {kind} blocks that have a match here" for kind in ("text", "formula", "table")},
    **{f"text_errors_{kind}": f"matched {kind} blocks with an error of text" for kind in ("text", "formula", "table")},
    **{
        f"structure_errors_{kind}": f"matched {kind} blocks with an error of structure" for kind in ("formula", "table")
    },
}
_SAME = {
    "attribution_doses": "doses",
    "attribution_pages": "pages",
    "attribution_scores": "scores",
    "swap_scores": "scores",
}
"""Tables with the columns of another, and perhaps more."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name, its type in words, and what it holds."""

    name: str
    type: str
    meaning: str


def columns(table: str) -> list[Column]:
    """List the columns of a table in their order.

    Raises:
        KeyError: a column without a meaning.
    """
    tables = MEASURED_TABLES | DERIVED_TABLES
    meanings = COLUMNS | _PAGE_COUNTS | tables.get(_SAME.get(table, table), {}) | tables.get(table, {})
    return [Column(name, TYPES[kind], meanings[name]) for name, kind in column_kinds(table)]
