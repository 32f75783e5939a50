"""OmniDocBench's end-to-end evaluation, versions 1.0 and 1.5, without its scores of rendered formulas."""

from ..versions import VERSIONS, Version
from .page_records import PageRecord, Region, read_record
from .page_scores import Match, PageScores, PartScore, TableScore, score_markdown, score_page

__all__ = [
    "VERSIONS",
    "Match",
    "PageRecord",
    "PageScores",
    "PartScore",
    "Region",
    "TableScore",
    "Version",
    "read_record",
    "score_markdown",
    "score_page",
]
