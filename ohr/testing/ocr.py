"""What an OCR backend owes."""

import numpy as np

from ohr.contracts import (
    Image,
    OcrBackend,
    Recognition,
)  # fmt: skip
from ohr.messages.wording import counted
from ohr.testing.noise import odd_images
from ohr.testing.stage import check_stage, owe


def check_ocr(ocr: OcrBackend, *, line: Image | None = None, reads: str = "") -> None:
    """Check an OCR backend.

    Args:
        ocr: the backend.
        line: a page image with text on it.
        reads: what must be among what is read on `line`.
    """
    check_stage(ocr)
    owe(ocr, ocr.recognise([]) == [], "no image must give no result")
    owe(ocr, isinstance(ocr.reads("en"), bool) and isinstance(ocr.reads("xx"), bool), "`reads` gives True or False")
    odd = odd_images()
    images = [odd[0], odd[2], odd[-1], *([line] if line is not None else [])]
    before = [image.copy() for image in images]
    found = ocr.recognise(images)
    owe(ocr, len(found) == len(images), f"{counted(len(images), 'image')} gave {counted(len(found), 'result')}")
    for result in found:
        owe(ocr, isinstance(result, Recognition) and isinstance(result.text, str), f"{result!r} is no Recognition")
        owe(ocr, result.error is None or result.text == "", "a page that failed has an error and no text")
    owe(ocr, all(map(np.array_equal, images, before)), "it must not change its input")
    owe(
        ocr,
        ocr.recognise(images[::-1]) == found[::-1],
        "results must be repeatable, in the order of the images",
    )
    if not ocr.reads_images:
        owe(ocr, all(result.error for result in found), "it must refuse each image with an error")
        return
    owe(ocr, all(result.error is None for result in found), f"it must read odd images too: {found}")
    if line is not None:
        owe(ocr, reads in found[-1].text, f"it read {found[-1].text!r} where {reads!r} is written")


# --- passages ---------------------------------------------------------------------------------------------
