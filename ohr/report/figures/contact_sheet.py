"""Contact sheets: one page under many distortions, as one picture or one page of HTML that needs nothing else."""

import base64
import io
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from ohr import extras
from ohr.contracts import Image

_GAP, _TEXT, _LINES, _NARROWEST = 14, 15, 5, 200
_INK, _PALE, _PAPER = "#1c1c1c", "#666666", "#f4f3f0"


@dataclass(frozen=True, slots=True)
class Tile:
    """One picture of a sheet: the page, a part of it at full size, a line about it, and the text that was read."""

    title: str
    whole: Image
    detail: Image
    note: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """The levels of one distortion."""

    title: str
    about: str
    tiles: tuple[Tile, ...]


def sheet(suffix: str, title: str, rows: Sequence[Row]) -> bytes:
    """Return a sheet in the form of a file's suffix: `.html`, or a picture."""
    if suffix.lower() == ".html":
        return page(title, rows).encode("utf-8", "replace")
    kept = io.BytesIO()
    Pillow.fromarray(picture(rows)).save(kept, Pillow.registered_extensions()[suffix.lower()])
    return kept.getvalue()


# --- a picture --------------------------------------------------------------------------------------------


def picture(rows: Sequence[Row]) -> Image:
    """Draw a sheet as one picture, a row of tiles for each distortion."""
    widths = [max(tile.whole.shape[1], tile.detail.shape[1]) for row in rows for tile in row.tiles]
    width = max([_NARROWEST, *widths])  # so that the words about a small picture are not cut off
    columns = max((len(row.tiles) for row in rows), default=1)
    bands = [_band(row, width) for row in rows]
    sheet = Pillow.new("RGB", (_GAP + columns * (width + _GAP), sum(band.height for band in bands) + _GAP), _PAPER)
    top = _GAP
    for band in bands:
        sheet.paste(band, (0, top))
        top += band.height
    return np.asarray(sheet)


def _band(row: Row, width: int) -> Pillow.Image:
    tall = max((tile.whole.shape[0] for tile in row.tiles), default=1)
    low = max((tile.detail.shape[0] for tile in row.tiles), default=1)
    lines = _LINES if any(tile.text for tile in row.tiles) else 0
    height = 2 * _TEXT + 8 + tall + 6 + low + 6 + (1 + lines) * (_TEXT + 2) + 2 * _GAP
    band = Pillow.new("RGB", (_GAP + len(row.tiles) * (width + _GAP), height), _PAPER)
    pen, font, bold = ImageDraw.Draw(band), ImageFont.load_default(_TEXT - 3), ImageFont.load_default(_TEXT + 2)
    pen.text((_GAP, 0), row.title, fill=_INK, font=bold)
    pen.text((_GAP + pen.textlength(row.title + "   ", font=bold), 3), row.about, fill=_PALE, font=font)
    for place, tile in enumerate(row.tiles):
        left, top = _GAP + place * (width + _GAP), _TEXT + 8
        pen.text((left, top), f"{tile.title}   {tile.note}", fill=_INK, font=font)
        top += _TEXT + 4
        band.paste(Pillow.fromarray(tile.whole), (left, top))
        band.paste(Pillow.fromarray(tile.detail), (left, top + tall + 6))
        top += tall + low + 12
        for line in textwrap.wrap(" ".join(tile.text.split()), max(10, width // 6))[:lines]:
            printable = line.encode("latin-1", "replace").decode("latin-1")  # the built-in font has no other letters
            pen.text((left, top), printable, fill=_PALE, font=font)
            top += _TEXT + 2
    return band


# --- a page -----------------------------------------------------------------------------------------------

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title><style>
body { font: 14px/1.4 system-ui, sans-serif; color: #1c1c1c; background: #f4f3f0; margin: 2em; }
h2 { margin: 1.6em 0 0; font-size: 1.15em; } h2 small { font-weight: normal; color: #666; margin-left: .8em; }
.row { display: flex; gap: 14px; align-items: flex-start; overflow-x: auto; padding: .4em 0; }
figure { margin: 0; }
figcaption { font-variant-numeric: tabular-nums; margin-bottom: 4px; }
figcaption b { margin-right: .8em; }
img { display: block; margin-bottom: 6px; box-shadow: 0 0 3px #0003; }
pre { font-size: 11px; white-space: pre-wrap; margin: 0;
  width: {{ width }}px; max-height: 14em; overflow-y: auto; color: #444; }
</style></head><body><h1>{{ title }}</h1>
{% for row in rows %}<h2>{{ row.title }}<small>{{ row.about }}</small></h2><div class="row">
{% for tile in row.tiles %}<figure><figcaption><b>{{ tile.title }}</b>{{ tile.note }}</figcaption>
<img alt="the page, {{ row.title }} {{ tile.title }}" src="{{ tile.whole | embedded }}">
<img alt="a part of it at full size" src="{{ tile.detail | embedded }}">
{% if tile.text %}<pre>{{ tile.text }}</pre>{% endif %}</figure>
{% endfor %}</div>
{% endfor %}</body></html>
"""


def page(title: str, rows: Sequence[Row]) -> str:
    """Write a sheet as HTML with its pictures inside."""
    jinja2 = extras.load("jinja2", "report")
    scene = jinja2.Environment(autoescape=True)
    scene.filters["embedded"] = _embedded
    width = max([_NARROWEST, *(tile.whole.shape[1] for row in rows for tile in row.tiles)])
    return str(scene.from_string(_PAGE).render(title=title, rows=rows, width=width))


def _embedded(image: Image) -> str:
    kept = io.BytesIO()
    Pillow.fromarray(image).save(kept, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(kept.getvalue()).decode()
