"""Data sets of the hub that are in this layout, by the names under which they are fetched."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from ohr.files import hub

from .layout import FOLDERS

_V3 = ("computer_science", "energy", "finance_en", "finance_fr", "hr", "industrial", "pharmaceuticals", "physics")
_V2 = ("biomedical_lectures_v2", "economics_reports_v2", "esg_reports_human_labeled_v2", "esg_reports_v2")
_V1 = (
    "arxivqa_test_subsampled_beir", "docvqa_test_subsampled_beir", "infovqa_test_subsampled_beir",
    "shiftproject_test_beir", "syntheticDocQA_artificial_intelligence_test_beir", "syntheticDocQA_energy_test_beir",
    "syntheticDocQA_government_reports_test_beir", "syntheticDocQA_healthcare_industry_test_beir",
    "tabfquad_test_subsampled_beir", "tatdqa_test_beir",
)  # fmt: skip

REPOSITORIES = {name: f"vidore/{name}" for name in (*(f"vidore_v3_{name}" for name in _V3), *_V2, *_V1)}
"""Repositories of the hub by name: the public sets of ViDoRe V3, V2 and V1."""


def fetch(repository: str, folder: Path, revision: str | None = None, *, endpoint: str | None = None) -> Sequence[str]:
    """Download the Parquet files of a set as `ohr.files.hub.fetch` does, and return lines to print."""
    wanted = (*chain(*FOLDERS.values()),)
    found = hub.fetch(
        repository,
        folder,
        revision,
        wanted=lambda name: name == "README.md" or (name.endswith(".parquet") and name.partition("/")[0] in wanted),
        endpoint=endpoint,
    )
    return [found.line, f"root: {folder}"]
