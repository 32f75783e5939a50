"""The OCR engine of each condition of a run, read from its manifest."""

from collections.abc import Mapping
from pathlib import Path

from ohr.results.folder.run_folder import read_manifest


def read_engines(folder: Path) -> Mapping[str, str]:
    """Map each condition to the kind of its OCR engine; a condition that a manifest does not describe has none.

    Raises:
        DataError: there is no run in the folder.
    """
    bases = read_manifest(folder)["spec"].get("knowledge_bases", ())
    return {base["condition"]: base["ocr"]["kind"] for base in bases if "condition" in base and "ocr" in base}
