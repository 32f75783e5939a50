"""PDFs of the kinds that users have: written by a program, scanned, scanned and read by an earlier OCR, damaged."""

import pypdfium2
import pypdfium2.raw as pdfium

from ohr.files import pdf

LINES = 30
STANDARD_TEXT = (
    "The harbor office of Marren keeps the tide tables for the whole of the northern coast and prints them in spring.",
    "Each of the eleven stations sends its readings by post, and the clerk enters them in the ledger on the same day.",
)


def prose(topic: str, lines: int = 8) -> list[str]:
    """Lines of English prose; each topic has its own."""
    return [STANDARD_TEXT[at % 2].replace("harbor", topic).replace("day", f"day {at}") for at in range(lines)]


class Paper:
    """A PDF that is written page by page; A4, with Helvetica of 9 points."""

    def __init__(self):
        self.document = pypdfium2.PdfDocument.new()

    def page(self, lines=(), *, hidden=False, picture=None, over=False):
        """Write lines and draw a picture: one of the whole page (H, W, 3), under the lines or over them."""
        page = self.document.new_page(595, 842)
        if not over:
            self._draw(page, picture)
        for row, line in enumerate(lines):
            text = pdfium.FPDFPageObj_NewTextObj(self.document, b"Helvetica", 9)
            encoded = (line + "\0").encode("utf-16-le")
            wide = (pdfium.FPDF_WCHAR * (len(encoded) // 2)).from_buffer_copy(encoded)
            pdfium.FPDFText_SetText(text, wide)
            if hidden:
                pdfium.FPDFTextObj_SetTextRenderMode(text, pdfium.FPDF_TEXTRENDERMODE_INVISIBLE)
            pdfium.FPDFPageObj_Transform(text, 1, 0, 0, 1, 40, 800 - 12 * row)
            pdfium.FPDFPage_InsertObject(page, text)
        if over:
            self._draw(page, picture)
        page.gen_content()
        page.close()
        return self

    def _draw(self, page, picture):
        if picture is None:
            return
        from PIL import Image

        placed = pypdfium2.PdfImage.new(self.document)
        placed.set_bitmap(pypdfium2.PdfBitmap.from_pil(Image.fromarray(picture)))
        placed.set_matrix(pypdfium2.PdfMatrix().scale(595, 842))
        page.insert_obj(placed)

    def save(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.document.save(path)
        self.document.close()
        return path


def photographed(lines, tmp_path):
    """The image of a page with these lines, as a scanner has it."""
    return pdf.render(Paper().page(lines).save(tmp_path / "of-a-scan.pdf"), 0, 100)
