import json
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image, ImageDraw, ImageFont

from ohr.benchmarks.folder import Folder
from tests.files.test_pdf_text import CATALOG, FONT, PAGES, page, shown, stream, written


def write_pdf(path: Path, *texts: str) -> Path:
    """Write a PDF with a text layer: a page for each text, in a standard font."""
    path.parent.mkdir(parents=True, exist_ok=True)
    objects = ["<</Type/Catalog/Pages 2 0 R>>", "", "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids = []
    for text in texts:
        shown = "".join(f"({line}) Tj 0 -20 Td " for line in text.split("\n"))
        stream = f"BT /F 14 Tf 40 160 Td {shown} ET"
        objects.append(f"<</Length {len(stream)}>>\nstream\n{stream}\nendstream")
        held = f"/Contents {len(objects)} 0 R/Resources<</Font<</F 3 0 R>>>>"
        objects.append(f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 460 200]{held}>>")
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>"
    made, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(made))
        made += f"{number} 0 obj\n{content}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer<</Size {len(objects) + 1}/Root 1 0 R>>\n"
    path.write_bytes(made + f"{end}startxref\n{len(made)}\n%%EOF\n".encode())
    return path


def write_incomplete(path):
    """Write a page of 39 glyphs, of which 5 have no Unicode."""
    content = f"{shown('The first line is known to readers')}BT /F 12 Tf 20 90 Td <0102030405> Tj ET"
    return written(path, CATALOG, PAGES.format("4 0 R", 1), FONT, page(5), stream(content))


def write_scan(path: Path, pages: int = 1) -> Path:
    """Write a PDF without a text layer."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = pypdfium2.PdfDocument.new()
    for _ in range(pages):
        made.new_page(72, 144)
    made.save(path)
    return path


def picture(text: str) -> Image.Image:
    image = Image.new("RGB", (60 + 22 * len(text), 140), "white")
    ImageDraw.Draw(image).text((30, 45), text, fill="black", font=ImageFont.load_default(40))
    return image


def write_image(path: Path, *texts: str) -> Path:
    """Write an image; several texts are the pages of a TIFF file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    first, *others = map(picture, texts)
    first.save(path, **({"save_all": True, "append_images": others} if others else {}))
    return path


class Own:
    """A folder that a test fills, and the benchmark over it; it has a question until others are asked."""

    def __init__(self, home: Path) -> None:
        self.home, self.root = home, home / "docs"
        self.root.mkdir()
        self.ask({"question": "?"})

    def ask(self, *records: object, name: str = "q.json") -> Path:
        path = self.home / name
        path.write_text(json.dumps(records), encoding="utf-8")
        return path

    def benchmark(self, name: str = "q.json", **keys: object) -> Folder:
        return Folder.model_validate({"root": self.root, "questions": self.home / name, **keys})


@pytest.fixture
def own(tmp_path) -> Own:
    return Own(tmp_path)


@pytest.fixture
def two(own) -> Own:
    """Two PDFs with text layers, and three questions."""
    write_pdf(own.root / "lease.pdf", "The lease began in 1964.\nRent is due in May.", "It ends in 2034.")
    write_pdf(own.root / "bylaws/noise.pdf", "Horns may sound at noon.")
    own.ask(
        {"question": "When did the lease begin?", "answers": "1964", "document": "lease.pdf", "page": 1,
         "evidence": "The lease began in 1964."},
        {"question": "When does it end?", "answers": ["2034", "in 2034"], "document": "lease", "page": 2,
         "evidence": "It ends in 2034."},
        {"question": "When may horns sound?", "answers": "noon", "document": "noise", "page": 1,
         "evidence": "Horns may sound at noon."},
    )  # fmt: skip
    return own
