"""How results are divided: by stage of evaluation, by group of questions, and by pipeline."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

STAGES = ("retrieval", "generation", "overall")
"""The stages that a spec evaluates; tables have two more, `page` (the knowledge base itself) and `reference`."""
PAGE = "page"
"""The stage of the text of the pages."""
ALL_STAGES = (PAGE, *STAGES)
"""The stages that conditions are compared at."""

ALL = "all"
GROUPS: Mapping[str, Callable[[str], bool]] = {
    ALL: lambda _: True,
    "text": lambda source: source == "text",
    "multimodal": lambda source: source in ("table", "formula", "chart"),
    "table": lambda source: source == "table",
    "formula": lambda source: source == "formula",
    "chart": lambda source: source == "chart",
    "reading_order": lambda source: source == "reading_order",
}
"""Evidence sources, and the groups of the paper's Fig. 3."""

ATTRIBUTES = ("evidence_source", "domain", "answer_form", "task_type")
TRAITS = (*ATTRIBUTES, "pages")
"""Attributes that questions are grouped by; `pages` is single-page or multi-page."""


def pipeline_names(rows: Iterable[Mapping[str, Any]]) -> Callable[[Mapping[str, Any]], str]:
    """Return what names the pipeline of such rows: retriever and generator, after the chunker if there are several."""
    several = len({row.get("chunker") for row in rows} - {None, ""}) > 1
    parts = (*(("chunker",) if several else ()), "retriever", "generator")
    return lambda row: " + ".join(filter(None, (row[part] for part in parts)))
