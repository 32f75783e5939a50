"""The parts of an FCMBench item, and the names that its tasks have (V1.1, vision-language track)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Task = Literal["IQE", "DTR", "KIE", "CC", "VC", "NC", "RR"]
TASKS: tuple[Task, ...] = ("IQE", "DTR", "KIE", "CC", "VC", "NC", "RR")
"""Image quality, document types, key information, consistency, validity, calculation, plausibility."""

_CHINESE: Mapping[Task, tuple[str, ...]] = {
    "IQE": ("qua_eva_001",),
    "DTR": ("doc_cla_001", "doc_cla_002", "doc_cla_003"),
    "KIE": ("inf_ext_001", "inf_ext_002", "inf_ext_003", "inf_ext_004", "inf_ext_005"),
    "CC": ("con_cnk_001", "con_chk_004", "con_chk_005", "con_chk_006"),
    "VC": ("key_ver_001", "key_ver_002", "key_ver_003"),
    "NC": ("num_cal_001", "num_cal_002", "num_cal_003", "num_cal_004", "num_cal_005"),
    "RR": ("rea_chk_001", "rea_chk_003", "rea_chk_004"),
}
_ONLY_CHINESE = frozenset(("inf_ext_005", "con_chk_005", "con_chk_006", "num_cal_001", "num_cal_005", *_CHINESE["RR"]))
SUBTASKS: Mapping[str, Task] = {
    f"{prefix}{name}": task
    for prefix in ("", "en.")
    for task, names in _CHINESE.items()
    for name in names
    if not (prefix and name in _ONLY_CHINESE)
}
"""The task of each subtask: 24 in Chinese, and 16 in English whose names begin with `en.`."""

UNFINISHED = "num_cal_005"
"""A subtask that its authors still work on; it has items, but no part in any score."""

PLACEHOLDER = re.compile(r"<images?(?:_\d+)?>")
"""The place of an image in a question: `<image>`, `<image_001>` or `<images_001>`."""


@dataclass(frozen=True, slots=True)
class Item:
    """One question about one or more images.

    Args:
        id: unique within its file.
        images: paths below the folder of images, in the order of the question's placeholders.
        question: the prompt, with a placeholder for each image.
        gold: the answer as JSON text; None in the full set, whose answers are not published.
        robustness: the condition under which the images were captured.
        line: of its file, from 1; 0 where it comes from none.
    """

    id: str
    images: tuple[str, ...]
    question: str
    gold: str | None
    task: str
    subtask: str
    robustness: str
    line: int = 0

    @property
    def language(self) -> Literal["en", "zh"]:
        """Language of the question."""
        return "en" if self.subtask.startswith("en.") else "zh"
