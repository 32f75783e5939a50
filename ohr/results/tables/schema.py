"""The columns of every table of a run, in one place."""

from typing import TYPE_CHECKING

from ohr.metrics.blocks import COUNTS
from ohr.metrics.commands import KINDS
from ohr.metrics.trust import COUNTS as TRUST

if TYPE_CHECKING:
    import pyarrow

CELL = ("stage", "condition", "noise", "noise_type", "knob", "knob_value", "chunker", "retriever", "generator")
"""Columns that all scores of one cell share, whatever the replicate."""
CELL_NAME = ("stage", "condition", "chunker", "retriever", "generator")
"""Those of them that name a cell of a run."""

_QUESTION = "question_id document domain evidence_source answer_form task_type multi_page:bool"
_BASE = "kb condition noise noise_type knob knob_value replicate:int64"
_SCORES = f"{_QUESTION} {_BASE} chunker retriever generator stage status metric value:double"
_PAGES = f"{_BASE} document domain page:int64 sources empty:bool words:int64"
_DOSES = (
    "kb condition noise knob knob_value replicate:int64 "
    "r_noise:double r_noise_clean:double r_noise_at_90:double r_noise_at_98:double r_content:double "
    "evidence_loss:double term_survival:double answer_survival:double edit_distance:double "
    "edit_distance_content:double empty_pages:double "
    "questions:int64 excluded:int64 edits:int64 edits_aimed:int64 edits_per_100_words:double failed_pages:int64"
)
_INTERVAL = "low:double high:double se:double"

_TABLES = {
    "questions": (
        "question_id text answers:texts evidence:texts pages:numbers relevant:judged document domain evidence_source "
        "answer_form task_type clean_text:bool groups:texts"
    ),
    "readings": (
        "kb condition replicate:int64 document page:int64 reader finish tokens_in:int64 tokens_out:int64 "
        "seconds:double confidence:double"
    ),
    "confidences": (
        "kb condition replicate:int64 document domain page:int64 confidence:double words:int64 wrong:int64"
    ),
    "treatments": (
        "kb condition replicate:int64 document page:int64 treatment changed:bool seconds:double tokens_in:int64 "
        "tokens_out:int64 outcome record"
    ),
    "texts": "kb condition replicate:int64 document page:int64 text error",
    "scores": _SCORES,
    "hits": (
        "question_id kb condition replicate:int64 chunker retriever rank:int64 score:double document page:int64 "
        "pages:numbers start:int64 end:int64 text"
    ),
    "answers": (
        "question_id stage kb condition replicate:int64 chunker retriever generator answer reply tokens_in:int64 "
        "tokens_out:int64 seconds:double finish truncated:bool error end calls:int64 searches:int64 turns:int64 "
        "images:int64 pages_shown:int64 shared_calls:int64 seconds_retrieval:double seconds_generation:double"
    ),
    "steps": (
        "question_id kb condition replicate:int64 chunker agent number:int64 kind role query pages:texts turns:int64 "
        "images:int64 attempt:int64 shared:bool cached:bool tokens_in:int64 tokens_out:int64 seconds:double finish "
        "reply"
    ),
    "judgements": (
        "question_id stage kb condition replicate:int64 chunker retriever generator metric judge prompt_sha256 reply "
        "error score:double"
    ),
    "pages": _PAGES,
    "page_statistics": " ".join(
        (
            "kb document page:int64 edit_distance:double edit_distance_content:double redundant:int64",
            *(f"{count}:int64" for count in (*(f"commands_{kind}" for kind in KINDS), *COUNTS, *TRUST)),
        )
    ),
    "edits": "kb condition noise knob_value replicate:int64 document page:int64 rule edits:int64",
    "failures": "stage item reason kind",
    "doses": _DOSES,
    "summary": (
        f"{' '.join(CELL)} metric by group evidence_source mean:double {_INTERVAL} df:double interval strata "
        "macro_mean:double macro_low:double macro_high:double domains:int64 n:int64 failed:int64 undefined:int64 "
        "documents:int64 effective_documents:double note replicates:int64 replicate_sd:double r_noise:double "
        "evidence_loss:double kb_r_noise:double kb_evidence_loss:double floor:double ceiling:double clean_mean:double "
        "lost:double lost_low:double lost_high:double lost_inner_low:double lost_inner_high:double lost_p:double "
        "lost_detectable:double lost_wide_low:double lost_wide_high:double comparisons:int64 verdict pairs:int64 "
        "pairs_failed:int64 changed_documents:int64 questions_lost:int64 questions_gained:int64"
    ),
    "aggregates": (
        f"{' '.join(CELL)} name unit value:double {_INTERVAL} df:double interval n:int64 failed:int64 documents:int64 "
        "note ratio:double ratio_low:double ratio_high:double ratio_n:int64 ratio_of source"
    ),
    "effort": (
        f"{' '.join(CELL)} n:int64 failed:int64 answered:double calls:double searches:double turns:double "
        "images:double pages_shown:double tokens_in:double tokens_out:double seconds:double "
        "seconds_retrieval:double seconds_generation:double shared_tokens:double shared_seconds:double metric "
        "score:double low:double high:double"
    ),
    "pipelines": (
        "stage condition noise noise_type knob_value pipeline chunker retriever generator first metric "
        "first_clean:double first_score:double clean:double score:double spared:double spared_low:double "
        "spared_high:double scored_more:double scored_more_low:double scored_more_high:double comparisons:int64 "
        "n:int64 documents:int64 verdict note"
    ),
    "repair": (
        "condition noise noise_type knob_value agent chunker retriever generator metric lost_agent:double "
        "lost_single:double retained_agent:double retained_single:double more_retained:double "
        "more_retained_low:double more_retained_high:double clean_gap:double clean_gap_low:double "
        "clean_gap_high:double gap:double gap_low:double gap_high:double n:int64 documents:int64 verdict note"
    ),
    "curves": (
        "stage noise noise_type chunker retriever generator metric group axis quantity other value:double "
        f"{_INTERVAL} df:double interval range_low:double range_high:double n:int64 documents:int64 from:double "
        "to:double levels:int64 note"
    ),
    "variance": (
        "stage condition chunker retriever generator metric of total:double from_documents:double "
        "from_questions:double from_draws:double from_question_draws:double shared:double shared_ratio:double "
        "shared_p:double draws:int64 documents:int64 effective_documents:double per_document:double cv:double "
        "df:double loss:double square:double size:double changed:double"
    ),
    "repeats": (
        "stage condition chunker retriever generator metric kind pairs:int64 missed:double largest:double "
        "scores_that_differ:int64"
    ),
    "hypotheses": (
        "name stage first second chunker retriever generator metric group n:int64 documents:int64 "
        "pairs_failed:int64 changed_documents:int64 difference:double low:double high:double inner_low:double "
        "inner_high:double p:double p_holm:double margin:double verdict expected held:bool"
    ),
    "hygiene": (
        "kb condition replicate:int64 document page:int64 kind count:int64 characters:int64 share:double excerpt "
        "kb_pages:int64 kb_characters:int64"
    ),
    "attribution": (
        f"condition method part stage chunker retriever generator metric evidence_source cost:double {_INTERVAL} "
        "n:int64 documents:int64 note"
    ),
    "decomposition": (
        "stage condition chunker retriever generator metric evidence_source quantity "
        f"value:double {_INTERVAL} df:double n:int64 failed:int64 documents:int64 note"
    ),
    "swap_scores": f"{_SCORES} noisy",
    "attribution_doses": _DOSES,
    "attribution_pages": _PAGES,
    "attribution_scores": _SCORES,
}
"""Columns of every table: `name` for text, `name:type` for anything else."""

TABLES = tuple(_TABLES)
"""The names of all tables, those first that every run has."""

STATISTICS = "page_statistics"
"""The table of what is measured of pages beyond the dose; it has the rows of `pages`, in their order."""
MEASURED = ("questions", "texts", "readings", "scores", "hits", "answers", "pages", "edits", "failures")
"""Tables of a run; every run has them, with or without rows."""
DERIVED = (
    "doses", "summary", "aggregates", "curves", "variance", "repeats", "hypotheses", "pipelines", "repair", "effort",
    "hygiene",
)  # fmt: skip
"""Tables that follow from the measured ones; each has a copy as CSV."""


def schema(table: str) -> "pyarrow.Schema":
    """Return the Arrow schema of a table."""
    import pyarrow

    page = pyarrow.struct([("document", pyarrow.string()), ("page", pyarrow.int64()), ("grade", pyarrow.float64())])
    items = {"texts": pyarrow.string(), "numbers": pyarrow.int64(), "judged": page}
    lists = {name: pyarrow.list_(item) for name, item in items.items()}
    return pyarrow.schema(
        [(name, lists.get(kind) or pyarrow.type_for_alias(kind)) for name, kind in column_kinds(table)]
    )


def column_kinds(table: str) -> list[tuple[str, str]]:
    """List the columns of a table with their types, `string` where the table above names none."""
    fields = (column.partition(":")[::2] for column in _TABLES[table].split())
    return [(name, kind or "string") for name, kind in fields]
