"""Data sets of the hub that are in this layout, by the names under which they are fetched."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from ohr.contracts import Tally
from ohr.files import hub
from ohr.files.json_input import mapping_in

from .layout import FOLDERS, open_parquet, parquet_files

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

_ROWS = {
    "vidore_v3_computer_science": (1_360, 1_290, 6_294, 2),
    "vidore_v3_energy": (2_225, 1_848, 6_618, 41),
    "vidore_v3_finance_en": (2_942, 1_854, 8_766, 6),
    "vidore_v3_finance_fr": (2_384, 1_920, 8_808, 5),
    "vidore_v3_hr": (1_110, 1_908, 10_386, 14),
    "vidore_v3_industrial": (5_244, 1_698, 9_684, 27),
    "vidore_v3_pharmaceuticals": (2_313, 2_184, 10_392, 52),
    "vidore_v3_physics": (1_674, 1_812, 13_068, 42),
}
"""Rows of the pages, queries (in six languages), judgments and documents, as the hub counted them in October 2026."""
_COUNTED = {"corpus": "pages", "queries": "queries", "qrels": "judgments", "documents": "documents"}


def tallies(root: Path, split: str | None) -> list[Tally]:
    """Count the rows of a copy beside the published ones; none where its set is not known.

    Args:
        root: a folder that was fetched, or has the name of the set.
    """
    name = Path(str(mapping_in(root / hub.RECORD).get("repository") or root.name)).name
    if name not in _ROWS:
        return []
    files = parquet_files(root, split)
    return [
        Tally(what, sum(open_parquet(path).metadata.num_rows for path in files[part]) if part in files else None, rows)
        for (part, what), rows in zip(_COUNTED.items(), _ROWS[name], strict=True)
    ]


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
