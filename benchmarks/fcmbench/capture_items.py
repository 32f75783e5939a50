"""The items of FCMBench (V1.1, vision-language track), their capture conditions, and what noise does to a gold."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

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


NORMAL = "Normal Captures"
MULTI_DOC = "Multi-doc Images"


class Capture(NamedTuple):
    """A condition under which certificates are photographed.

    Attributes:
        label: as in the field `robustness`.
        word: at the end of a file's name, and the Chinese option of image quality; "" where there is none.
        option: the English option of image quality; "" where there is none.
    """

    label: str
    word: str
    option: str


CAPTURES: dict[str, Capture] = {
    "off_axis": Capture("Off-axis Viewpoints", "斜拍", "Oblique Angle"),
    "uneven_illumination": Capture("Uneven Illumination", "阴影", "Shadow"),
    "specular": Capture("Specular Reflections", "反光", "Reflection/Glare"),
    "defocus": Capture("Out-of-focus", "模糊", "Blurry"),
    "small_roi": Capture("Small ROIs", "占比小", "Small Proportion"),
    "secondary_capture": Capture("Secondary Captures", "拍电脑屏", "Screen Capture (Moire)"),
    "cluttered_background": Capture("Cluttered Background", "背景干扰", "Background Clutter"),
    "watermark": Capture("Overlaid Watermarks", "水印", "Watermark"),
    "cropped": Capture("Cropped Captures", "拍摄不完整", "Incomplete Capture"),
    "multi_doc": Capture(MULTI_DOC, "", ""),
}
"""Conditions by the kind of ohr's image noise that imitates them."""

AS_NORMAL = Capture(NORMAL, "正常", "Normal")
LABELS: tuple[str, ...] = (NORMAL, *(capture.label for capture in CAPTURES.values()))

_BY_WORD = {each.word: each.label for each in (AS_NORMAL, *CAPTURES.values()) if each.word}
_TOGETHER = re.compile(r"组合\d+")  # folders of pictures with several certificates
_PICTURES_IN_ORDER = frozenset(("inf_ext_001", "inf_ext_003"))  # they ask which pictures have something, or none
_NOTHING: dict[str, dict[str, Any]] = {"doc_cla_001": {"answer": [""]}, "doc_cla_002": {"answer": ""}}


def robustness_label(image: str) -> str | None:
    """Return the label of one image by its path; None where the path does not show it, as with blank forms.

    Only the word counts: the number before it means another condition in the folders of multi-document pictures.
    """
    path = PurePosixPath(image)
    if _TOGETHER.fullmatch(path.parent.name):
        return MULTI_DOC
    return _BY_WORD.get(path.stem.rpartition("_")[2])


def label_effect(item: Item, kinds: Collection[str], joined: Sequence[str] | None = None) -> str | None:
    """Return the gold of an item, as JSON text, after image noise; None where the item then has no sure answer.

    - Image quality: the gold is the option of the noise. It has no answer under several kinds, under kinds that
      are no option, and on pictures that had another fault before.
    - `cropped`: document types count only where the document is whole, so none is left. In a picture of several
      documents nobody knows which ones were cut. Elsewhere the gold remains, as in the benchmark, though the
      values may be gone from the picture.
    - `multi_doc`: the joined types that a question offers are added to the document types. Other questions need the
      right sheet: they have no answer where a joined sheet has the type of one of their own, or where they ask which
      pictures have a field.

    Args:
        item: its gold is that of the pictures without this noise.
        kinds: of the image noise on each of its pictures, except for the example pictures of `doc_cla_002`; only
            those with a severity above 0.
        joined: types of the sheets that `multi_doc` adds; None where they are not known.
    """
    if item.gold is None:
        return None
    if item.task == "IQE":
        return _quality(item, frozenset(kinds))
    if "multi_doc" in kinds and joined is None:
        return None
    added = tuple(joined or ()) if "multi_doc" in kinds else ()
    if item.task == "DTR":
        return _types(item, "cropped" in kinds, added)
    name = item.subtask.removeprefix("en.")
    own = {PurePosixPath(image).parent.name for image in item.images}
    if added and (name in _PICTURES_IN_ORDER or not own.isdisjoint(added)):
        return None
    return item.gold


def _quality(item: Item, kinds: frozenset[str]) -> str | None:
    if not kinds:
        return item.gold
    (kind, *more) = kinds
    capture = CAPTURES.get(kind)
    if more or capture is None or not capture.word or item.robustness not in (NORMAL, capture.label):
        return None
    return _written({"answer": [capture.option if item.language == "en" else capture.word]})


def _types(item: Item, is_cut: bool, added: Sequence[str]) -> str | None:
    name = item.subtask.removeprefix("en.")
    if is_cut:
        return None if added or item.robustness == MULTI_DOC else _written(_none_whole(item, name))
    if not added:
        return item.gold
    if name == "doc_cla_002":
        return None  # the letters of the joined types are not known
    gold = unwrap(json.loads(item.gold or "{}"))
    if name == "doc_cla_001":
        return _written({"answer": _union(gold, [each for each in added if each in item.question])})
    missing = _listed(gold.get("missing_categories"))
    present = _union(gold.get("present_categories"), [each for each in added if each in missing])
    left = [each for each in missing if each not in added]
    return _written({"present_categories": present, "missing_categories": left})


def _none_whole(item: Item, name: str) -> dict[str, Any]:
    if name in _NOTHING:
        return _NOTHING[name]
    gold = unwrap(json.loads(item.gold or "{}"))
    asked = _union(gold.get("present_categories"), _listed(gold.get("missing_categories")))
    return {"present_categories": "", "missing_categories": asked}


def _union(first: Any, second: Sequence[str]) -> list[str]:
    return list(dict.fromkeys((*_listed(first), *second)))


def unwrap(value: Any) -> Any:
    """Return the value of the key `answer` where there is one, else the value itself."""
    return value["answer"] if isinstance(value, dict) and "answer" in value else value


def _listed(value: Any) -> list[str]:
    """Return the categories of a gold, which may be a list, one text, or the empty text for none."""
    return [str(each) for each in (value if isinstance(value, list) else [value]) if each]


def _written(gold: dict[str, Any]) -> str:
    return json.dumps(gold, ensure_ascii=False)
