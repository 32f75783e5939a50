"""Conformance of treatments: repairs and orders of pages, and whatever else is no noise of images or texts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ohr.contracts import (
    Completion,
    Correction,
    ImageTreatment,
    Page,
    PageOrder,
    TextTreatment,
    TreatedImage,
    TreatedPage,
    Treatment,
)
from ohr.testing.noise import odd_images
from ohr.testing.stage import TEXTS, as_json, check_stage, require, suite

DOCUMENTS: tuple[tuple[Page, ...], ...] = (
    (Page("law/lease", 0, ""),),
    (Page("law/lease", 0, "", "the page could not be read"),),
    tuple(Page("law/lease", index, text) for index, text in enumerate(TEXTS)),
    tuple(Page("law/lease", 2 * index, f"Lease {index}\nIt be-\ngan in 1964.\n\n{index}") for index in range(12)),
)
"""Documents that any treatment of text must accept: empty, failed, odd, and with what each page has."""

_REPLIES = (
    None,
    Completion("", finish="error", error="the server is gone"),
    *(Completion(text) for text in ("", " \n", "I'm sorry, I can't do that.", "```\ntext\n```", "x " * 5000)),
)
"""Replies that any correction must accept."""


@suite
def check_treatment(treatment: Treatment) -> None:
    """Check a treatment of images, of texts, of the order of pages, or a correction by a model.

    One seed must give one result, the input must stay as it is, and what comes back must be what the contract says.
    """
    check_stage(treatment)
    known = isinstance(treatment, ImageTreatment | TextTreatment | PageOrder | Correction)
    require(treatment, known, "it must be an ImageTreatment, a TextTreatment, a PageOrder or a Correction")
    if isinstance(treatment, ImageTreatment):
        _check_images(treatment)
    elif isinstance(treatment, PageOrder):
        _check_order(treatment)
    elif isinstance(treatment, TextTreatment):
        for pages in DOCUMENTS:
            results = [treatment.treat(given, np.random.default_rng(7)) for given in (pages, list(pages))]
            require(treatment, list(results[0]) == list(results[1]), "one seed must give one result")
            require(treatment, len(results[0]) == len(pages), f"{len(results[0])} pages came back of {len(pages)}")
            _check_pages(treatment, results[0])
    elif isinstance(treatment, Correction):
        _check_pages(treatment, list(_corrected(treatment)))


def _check_images(treatment: ImageTreatment) -> None:
    images = odd_images()  # which cannot be written to
    for image in images:
        first, again = (treatment.treat(image, images[-2:], np.random.default_rng(7)) for _ in range(2))
        made = first.image
        fits = made.ndim == 3 and made.shape[2] == 3 and made.size > 0 and made.dtype == np.uint8
        sentence = f"an image of shape {image.shape} became {made.shape} of {made.dtype}, not (H, W, 3) of uint8"
        require(treatment, isinstance(first, TreatedImage) and fits, sentence)
        require(treatment, np.array_equal(made, again.image), "one seed must give one result")
        matrix = first.homography
        is_sound = matrix is None or (matrix.shape == (3, 3) and bool(np.isfinite(matrix).all()))
        require(treatment, is_sound, "its homography must be (3, 3) and finite")
        require(treatment, as_json(dict(first.record)) == as_json(dict(again.record)), "one seed must give one record")


def _check_order(treatment: PageOrder) -> None:
    knob = treatment.knob
    for strength in (0.0, 0.3, 1.0) if knob else (None,):
        order = treatment if strength is None else treatment.model_copy(update={knob: strength})
        for numbers in ((), (0,), (0, 1, 2, 5, 5, 9)):
            first, again = (order.arrange(numbers, np.random.default_rng(7)) for _ in range(2))
            require(treatment, list(first) == list(again), "one seed must give one result")
            sound = all(0 <= page.place < len(numbers) and page.number >= 0 for page in first)
            require(treatment, sound, f"it names a page that is not there: {list(first)}")
            still = [(place, number) for place, number in enumerate(numbers)]
            require(treatment, strength != 0 or [tuple(page) for page in first] == still, "0 must change nothing")


def _check_pages(treatment: Treatment, pages: Sequence[TreatedPage]) -> None:
    for page in pages:
        fits = isinstance(page, TreatedPage) and isinstance(page.text, str)
        require(treatment, fits, "a page must be a TreatedPage with text")
        as_json(dict(page.record))


def _corrected(treatment: Correction) -> Iterator[TreatedPage]:
    """Yield what comes of many replies; a page without a reply must stay as it is."""
    for page in (page for pages in DOCUMENTS for page in pages if page.text.strip() and page.error is None):
        asked = treatment.prompt_for(page)
        require(treatment, asked == treatment.prompt_for(replace(page)), "one page must give one prompt")
        for reply in (*_REPLIES, Completion(page.text)):
            made = treatment.corrected(page, reply)
            require(treatment, made == treatment.corrected(page, reply), "one reply must give one page")
            failed = reply is None or reply.error is not None
            require(treatment, not failed or made.text == page.text, "a page without a reply must stay as it is")
            yield made
