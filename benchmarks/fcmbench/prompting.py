"""Prompts of FCMBench: with the images, or with the text that OCR read on them."""

from collections.abc import Sequence

from ohr.contracts import Passage

from .items import PLACEHOLDER


def text_prompt(question: str, texts: Sequence[str]) -> str:
    """Replace the k-th placeholder of a question by `[Image k]`, a line break and the k-th text.

    What follows a placeholder on its line moves to a line of its own, so that it is not read as part of the text.

    Raises:
        ValueError: there are more or fewer texts than placeholders.
    """
    places = list(PLACEHOLDER.finditer(question))
    if len(places) != len(texts):
        raise ValueError(f"{len(places)} placeholders, but {len(texts)} texts")
    parts: list[str] = []
    end = 0
    for number, (place, text) in enumerate(zip(places, texts, strict=True), start=1):
        parts += [question[end : place.start()], f"[Image {number}]\n{text}"]
        end = place.end()
        if end < len(question) and question[end] != "\n":
            parts.append("\n")
    return "".join((*parts, question[end:]))


def dossier_prompt(question: str, places: Sequence[tuple[str, int]], passages: Sequence[Passage]) -> str:
    """Put passages into a question: under the placeholder of their page, and those of other pages after the question.

    A placeholder whose page was not read, or not retrieved, has an empty text.

    Args:
        question: with as many placeholders as `places`.
        places: document and page of each.
        passages: those of one page are joined in their order.
    """
    texts = ["\n".join(_of_page(place, passages)) for place in places]
    others = [passage.text for passage in passages if not set(passage.pages) & set(places)]
    return "\n\n".join((text_prompt(question, texts), *(f"[Other image]\n{text}" for text in others)))


def _of_page(place: tuple[str, int], passages: Sequence[Passage]) -> list[str]:
    """List the texts of a page once each: an item may show one picture twice."""
    return list(dict.fromkeys(passage.text for passage in passages if place in passage.pages))
