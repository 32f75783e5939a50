"""What plugins give back, checked where it comes in: a wrong value is a failed item, never a silent wrong number."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from ohr.contracts import Chunk, Completion, Hit, Image, Page
from ohr.errors import OhrError
from ohr.files import images


class BrokenContract(OhrError):
    """A plugin gave back something that its contract rules out."""


def checked_image(image: Any) -> Image:
    """Check a page image: (H, W, 3) uint8, not empty."""
    if not (isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3):
        raise BrokenContract(f"an image must be (H, W, 3) uint8, not {_shape(image)}")
    if not image.size:
        raise BrokenContract(f"an image must have pixels, not {_shape(image)}")
    images.refuse_large(image.shape[1], image.shape[0], "an image")
    return image


def checked_chunks(chunks: Any, pages: Sequence[Page]) -> list[Chunk]:
    """Check a document's chunks: each an id of its own, some text, and pages of this document."""
    known = {(page.document, page.index) for page in pages}
    found = list(chunks)
    for chunk in found:
        if not isinstance(chunk, Chunk):
            raise BrokenContract(f"a chunk must be a Chunk, not {type(chunk).__name__}")
        if not chunk.pages or any((chunk.document, page) not in known for page in chunk.pages):
            raise BrokenContract(
                f"chunk {chunk.id!r} is on pages {chunk.pages} of {chunk.document!r}, which are not there"
            )
        if not 0 <= chunk.start <= chunk.end:
            raise BrokenContract(f"chunk {chunk.id!r} spans [{chunk.start}, {chunk.end})")
    if len({chunk.id for chunk in found}) < len(found):
        raise BrokenContract("two chunks of a document have one id")
    return found


def checked_hits(hits: Any, size: int, top_k: int) -> list[Hit]:
    """Check one query's hits: at most `top_k` different places in the corpus, scores finite and falling."""
    found = [Hit(int(hit.place), float(hit.score)) for hit in hits]  # scores often come as numpy's floats
    places, scores = [hit.place for hit in found], [hit.score for hit in found]
    if len(found) > top_k:
        raise BrokenContract(f"{len(found)} hits where {top_k} were asked for")
    if any(not 0 <= place < size for place in places) or len(set(places)) < len(places):
        raise BrokenContract(f"hits at {places} in a corpus of {size} chunks")
    if not all(map(isfinite, scores)) or scores != sorted(scores, reverse=True):
        raise BrokenContract(f"scores must be finite and fall: {scores}")
    return found


def checked_completion(completion: Any) -> Completion:
    """Check a reply; a broken one becomes a completion with an error."""
    if not isinstance(completion, Completion) or not isinstance(completion.text, str):
        told = getattr(completion, "text", completion)
        return Completion("", finish="error", error=f"a reply must be a Completion with text, not {told!r:.60}")
    # half a character, where a reply was cut, cannot be written to a file
    text = completion.text.encode("utf-8", "replace").decode()
    try:
        tokens_in, tokens_out = int(completion.tokens_in), int(completion.tokens_out)
    except (TypeError, ValueError):
        return Completion("", finish="error", error="token counts must be whole numbers")
    return replace(completion, text=text, tokens_in=tokens_in, tokens_out=tokens_out)


def _shape(image: Any) -> str:
    return f"{image.shape} {image.dtype}" if isinstance(image, np.ndarray) else type(image).__name__
