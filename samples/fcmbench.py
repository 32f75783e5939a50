"""Builds the sample of FCMBench's layout from its sources: pictures of certificates, items and canned replies.

`python -m samples.fcmbench` draws `source/*.typ` with typst, photographs the certificates with ohr's own image noise,
and writes `sample/` after it has checked the items; with `--into FOLDER` it writes there. What a person edits:

- `source/facts.yaml`: what the certificates say; `source/*.typ`: what they look like;
- `source/items.yaml`: questions with their golds, what a made-up model replies, and where its reply is computed,
    what the generator `canned` replies.

The output is deterministic: same sources, same fonts, same versions of typst, Pillow, NumPy and OpenCV, same bytes.
Fonts come from packages of pip and, for Chinese, from Debian's `fonts-noto-cjk`.
"""

import io
import json
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ohr.benchmarks.fcmbench.conditions import CAPTURES
from ohr.benchmarks.fcmbench.items import SUBTASKS
from ohr.benchmarks.fcmbench.json_lines import read_items
from ohr.benchmarks.fcmbench.layout import CANNED, IMAGES, ITEMS, REPLIES, SAMPLE, TEXTS
from ohr.contracts import Image
from ohr.errors import DataError
from ohr.registry import Registry
from ohr.report.leaderboard.answers import read_answers
from ohr.seeds import generator

from . import BENCHMARKS, NOTO, as_json, as_lines, folder_to_write, put, read_yaml, small_png, texts_of_pages, typeset

SOURCE = BENCHMARKS / "fcmbench/source"

_FONTS = (NOTO, "font_source_serif_pro", "font_source_sans_pro")
_SEED, _SIDE, _QUALITY = 26, 820, 60  # seed of the noise, longer side in pixels, quality of the JPEGs
_SEVERITY = {"defocus": 0.85, "cropped": 2 / 3}  # chosen by eye: visible, and most of the text can still be read
_OTHER_SEVERITY = 1 / 3
_LETTER = re.compile(r"[ -~]?")  # of a list's entry, or a count: it is not read on a picture
_PART = re.compile(r"[^\n（）]+")

PHOTOGRAPHED = (
    "身份证（人像面）", "流水明细", "收入证明", "不动产权证书", "bank_statement", "property_owner_search_report",
)  # fmt: skip
"""The applicant's certificates that are there under every condition."""
_ONCE = (
    ("applicant", "不动产信息查询结果"),
    ("applicant", "个人所得税完税证明"),
    ("applicant", "warranty_deed"),
    ("intruder", "身份证（人像面）"),
    ("intruder", "收入证明"),
    ("intruder", "bank_statement"),
)
_FORMS = {
    "空模板": ("身份证（人像面）", "流水明细", "收入证明", "不动产权证书"),
    "空模板_eng": ("bank_statement", "property_owner_search_report", "warranty_deed"),
}


def build(into: Path) -> None:
    """Write a sample and check it.

    Raises:
        DataError: the items disagree with the pictures or among themselves.
    """
    if into != SAMPLE and (into / IMAGES).exists():
        raise DataError(f"{into / IMAGES}: is there already: name a new folder with --into")
    shutil.rmtree(into / IMAGES, ignore_errors=True)
    for path, picture in pictures():
        put(into / IMAGES / path, _encoded(picture, Path(path).suffix))
    written = read_yaml(SOURCE / "items.yaml")
    fields = ("id", "images", "question", "response", "task", "subtask", "robustness")
    put(into / ITEMS, as_lines({name: each[name] for name in fields} for each in map(_complete, written)))
    replied = (each for each in written if "reply" in each)
    put(into / REPLIES, as_lines({"id": each["id"], "response": each["reply"]} for each in replied))
    said = dict(texts())
    put(into / TEXTS, as_json(said))
    put(into / CANNED, as_lines({"id": each["id"], "reply": _canned(each, said)} for each in written))
    check(into)


def check(folder: Path) -> None:
    """Raise a DataError where an item is wrong, or a subtask has none."""
    items = read_items(folder / ITEMS, folder / IMAGES)
    replies = read_answers(folder / REPLIES)
    if lacking := SUBTASKS.keys() - {item.subtask for item in items}:
        raise DataError(f"{folder / ITEMS}: no item of {', '.join(sorted(lacking))}")
    if unknown := replies.keys() - {item.id for item in items}:
        raise DataError(f"{folder / REPLIES}: no item has the id {', '.join(sorted(unknown))}")


def _complete(written: Mapping[str, Any]) -> dict[str, Any]:
    """Add the task, and write the gold as the JSON text that the published files have."""
    gold = json.dumps(written["gold"], ensure_ascii=False)
    task = SUBTASKS.get(written["subtask"], "")
    return {**written, "response": gold, "task": task, "question": written["question"].strip("\n")}


def _canned(written: Mapping[str, Any], said: Mapping[str, str]) -> str:
    """Return what a stand-in for a large model replies: the gold, with marks around what it reads on the pictures."""
    folders = [image if image in said else str(Path(image).parent) for image in written["images"]]
    text = "\n".join(said.get(folder, "") for folder in folders)
    return written.get("canned") or json.dumps(_marked(written["gold"], text), ensure_ascii=False)


def _marked(value: Any, text: str) -> Any:
    """Mark the values that a text has: in parts where they run on in the next line or have wide parentheses."""
    if isinstance(value, dict):
        return {key: _marked(inner, text) for key, inner in value.items()}
    if isinstance(value, list):
        return [_marked(inner, text) for inner in value]
    written = f"{value:,.2f}" if isinstance(value, float) else str(value)
    found = None if _LETTER.fullmatch(written) else re.search("\n?".join(map(re.escape, written)), text)
    return _PART.sub(r"{{\g<0>}}", found[0]).replace("\n", "") if found else value


def pictures() -> Iterator[tuple[str, Image]]:
    """Draw and photograph all certificates; yields paths below the folder of images, and the pictures."""
    person = _facts()["applicant"]["folder"]
    sheets = {name: drawn(name) for name in PHOTOGRAPHED}
    for order, (name, sheet) in enumerate(sheets.items(), start=1):
        yield f"{person}/{name}/001_正常.jpg", sheet
        others = [other for each, other in sheets.items() if each != name]
        for number, (kind, capture) in enumerate(CAPTURES.items(), start=2):
            photograph = photographed(kind, name, sheet, others)
            if capture.word:
                yield f"{person}/{name}/{number:03}_{capture.word}.jpg", photograph
            elif order == 2:  # numbers mean other conditions in these folders, as in the published files
                yield f"{person}/组合{order}/002_模糊.jpg", photographed("defocus", name, photograph, others)
            else:
                yield f"{person}/组合{order}/001_正常.jpg", photograph
    for holder, name in _ONCE:
        yield f"{_facts()[holder]['folder']}/{name}/001_正常.jpg", drawn(name, holder)
    for folder, names in _FORMS.items():
        for name in names:
            yield f"{folder}/{name}.png", drawn(name, is_blank=True)


def photographed(kind: str, name: str, sheet: Image, others: Sequence[Image]) -> Image:
    """Photograph a certificate under one condition."""
    severity = _SEVERITY.get(kind, _OTHER_SEVERITY)
    noise: Any = Registry().load("image_noise", kind)(severity=severity)  # type: ignore[call-arg]
    return np.asarray(noise.perturb(sheet, others, generator(_SEED, kind, name)).image)


def drawn(name: str, holder: str = "applicant", *, is_blank: bool = False) -> Image:
    """Draw a certificate, or its blank form: (H, W, 3), the longer side of _SIDE pixels."""
    from PIL import Image as Pillow

    page = Pillow.open(io.BytesIO(_compiled(name, holder, "png", is_blank))).convert("RGB")
    side = _SIDE // 2 if is_blank else _SIDE
    page.thumbnail((side, side), Pillow.Resampling.LANCZOS)
    return np.asarray(page)


def texts() -> Iterator[tuple[str, str]]:
    """Read what each certificate says from its PDF; yields its folder, or the path of a blank form, and the text."""
    shown = [("applicant", name) for name in PHOTOGRAPHED] + list(_ONCE)
    wanted = [(f"{_facts()[holder]['folder']}/{name}", name, holder, False) for holder, name in shown]
    wanted += [(f"{folder}/{name}.png", name, "applicant", True) for folder, each in _FORMS.items() for name in each]
    for path, name, holder, is_blank in wanted:
        lines = texts_of_pages(_compiled(name, holder, "pdf", is_blank))[0].splitlines()
        yield path, "\n".join(line.strip() for line in lines if line.strip())


def _compiled(name: str, holder: str, form: Literal["png", "pdf"], is_blank: bool) -> bytes:
    if not NOTO.is_dir():
        raise DataError(f"{NOTO}: no such folder; the certificates need Debian's fonts-noto-cjk")
    inputs = {"document": name, "holder": holder, "blank": "yes" if is_blank else "no"}
    return typeset(SOURCE / "main.typ", SOURCE, _FONTS, format=form, ppi=250, sys_inputs=inputs)


@lru_cache(maxsize=1)
def _facts() -> Any:
    return read_yaml(SOURCE / "facts.yaml")


def _encoded(picture: Image, suffix: str) -> bytes:
    from PIL import Image as Pillow

    made, content = Pillow.fromarray(picture), io.BytesIO()
    if suffix == ".png":
        return small_png(made, 32)
    made.save(content, "JPEG", quality=_QUALITY, optimize=True, progressive=True)
    return content.getvalue()


if __name__ == "__main__":
    build(folder_to_write(__doc__, sys.argv[1:], SAMPLE))
