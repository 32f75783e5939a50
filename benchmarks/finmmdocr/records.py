"""The records of FinMMDocR: one question each, with its document, evidence, program and gold."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Protocol = Literal["clean", "reference"]
"""`reference` scores as the published code does, faults included; `clean` repairs the faults."""

TEXTS = ("plain_text", "generalized_text (layout)", "generalized_text")
TABLES = ("table",)
CHARTS = ("image", "pie_chart", "bar_chart", "scatter_chart", "line_chart")
"""Kinds of evidence. The paper does not assign `image` and `generalized_text (layout)` to its types: this is ours."""

DOC_TYPES = {
    "MI": "Market Interpretation",
    "MR": "Macro Research",
    "CR": "Company Research",
    "SR": "Strategy Research",
    "IR": "Industry Research",
    "FE": "Financial Engineering",
    "FO": "Futures & Options",
    "10-Q": "Financial Report (10-Q)",
    "10-K": "Financial Report (10-K)",
}
"""Types of documents as the records name them, by the paper's abbreviation."""

SCENARIOS = {
    "FSA": "Financial Statement Analysis",
    "PM": "Portfolio Management",
    "A&EV": "Asset & Equity Valuation",
    "CF&CM": "Corporate Finance & Capital Management",
    "M&IA": "Market & Industry Analysis",
    "M&FI": "Macroeconomics & Fixed Income",
    "IA&RM": "Investment Analysis & Risk Management",
    "CE&RA": "Commodities, Energy & Real Assets",
    "FM&P": "Financial Modeling & Projections",
    "CS&O": "Corporate Strategy & Operations",
    "CA&M": "Cost Accounting & Management",
    "T&A": "Taxation & Accounting",
}
"""Scenarios by the paper's abbreviation (Figure 3)."""


@dataclass(frozen=True, slots=True)
class Record:
    """One question.

    Args:
        evidence: page numbers from 1 by kind of evidence, each repeated once per value that is used.
        python_solution: the gold program, which defines `solution()`.
        ground_truth: a number, or whatever else the file has, which no answer meets.
        pages_num: pages of the document.
        images: paths of the page images as in the file.
        texts: path of the page texts as in the file: a JSON list with one string per page.
        scenarios: labels; None where the record has none, as in the published data.
        extract_steps: the same, of extracted values.
        calc_steps: the same, of calculations.
        where: file and record, or line.
    """

    question_id: str
    doc_id: str
    doc_type: str
    question: str
    evidence: Mapping[str, tuple[int, ...]]
    python_solution: str
    ground_truth: object
    pages_num: int
    images: tuple[str, ...]
    texts: str
    source_id: str = ""
    scenarios: tuple[str, ...] | None = None
    extract_steps: int | None = None
    calc_steps: int | None = None
    where: str = field(default="", compare=False)

    @property
    def gold_pages(self) -> tuple[int, ...]:
        """Pages of all evidence, ascending, each once."""
        return tuple(sorted({page for pages in self.evidence.values() for page in pages}))

    @property
    def language(self) -> str:
        """`en` for documents of DocMath-Eval, whose ids begin with complong, else `zh`."""
        return "en" if self.doc_id.startswith("complong") else "zh"
