"""Documents of FCMBench: one for each applicant, whose pages are pictures of certificates; and prompts."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ohr.contracts import Document, Page, Passage, Question
from ohr.errors import DataError
from ohr.files.changes import kept_until_changed
from ohr.files.json_input import parse_json
from ohr.messages.wording import counted, quoted

from ..copies import Copy
from .capture_items import NORMAL, PLACEHOLDER, Item, robustness_label
from .item_files import TEXTS, read_items

APPLICANTS, FORMS = "applicants", "forms"
"""Domains: pictures of certificates, and blank forms, which items show as examples."""
_OF_A_CERTIFICATE = 3  # parts of a picture's path: person, certificate, file


@dataclass(frozen=True, slots=True)
class Dossiers(Copy):
    """The content of a copy: a document for each applicant and each folder of blank forms, by name.

    Args:
        items: those that are kept, by id, in the order of their file.
        pictures: paths of each document's pictures, in order: page k is the k-th.
        shown: document and page of each picture.
    """

    items: Mapping[str, Item]
    pictures: Mapping[str, tuple[str, ...]]
    shown: Mapping[str, tuple[str, int]]

    def joined_types(self, item: Item, count: int) -> tuple[str, ...] | None:
        """Return the types of the certificates that are put into an item's pictures when `count` sheets join each.

        These are the first other pages of the picture's document. None where one of them is no whole certificate.
        """
        types: dict[str, None] = {}
        for picture in dict.fromkeys(item.images):
            others = [other for other in self.pictures[self.shown[picture][0]] if other != picture]
            for other in others[:count]:
                if _certificate(other) is None or robustness_label(other) != NORMAL:
                    return None
                types[PurePosixPath(other).parent.name] = None
        return tuple(types)


@kept_until_changed()
def read_dossiers(path: Path, labels: frozenset[str], languages: frozenset[str]) -> Dossiers:
    """Read the items of some capture conditions and languages; a file that changed is read again.

    Raises:
        DataError: the file is missing or wrong, or no item is left.
    """
    read = read_items(path)
    kept = [item for item in read if item.robustness in labels and item.language in languages]
    if not kept:
        raise DataError(f"{path}: has no item of these captures and languages")
    spoken: dict[str, set[str]] = defaultdict(set)
    pictures: dict[str, set[str]] = defaultdict(set)
    for item in kept:
        for picture in item.images:
            name = document_name(picture)
            pictures[name].add(picture)
            spoken[name].add(item.language)
    ordered = {name: tuple(sorted(pictures[name])) for name in sorted(pictures)}
    shown = {picture: (name, index) for name, pages in ordered.items() for index, picture in enumerate(pages)}
    notes = []
    if left_out := len(read) - len(kept):
        notes.append(f"left out {counted(left_out, 'question')} of other captures or languages")
    if unknown := sum(item.gold is None for item in kept):
        notes.append(f"{counted(unknown, 'question')} without a published answer: not scored")
    return Dossiers(
        # an engine that reads Chinese reads English, too
        documents=tuple(
            Document(name, name.partition("/")[0], "zh" if "zh" in spoken[name] else "en", len(pages))
            for name, pages in ordered.items()
        ),
        questions=tuple(_question(item, shown) for item in kept),
        places={item.id: f"{path}:{item.line}" for item in kept},
        notes=tuple(notes),
        items={item.id: item for item in kept},
        pictures=ordered,
        shown=shown,
    )


def _question(item: Item, places: Mapping[str, tuple[str, int]]) -> Question:
    """Return an item as a question about the document of its first picture."""
    shown = tuple(places[picture] for picture in item.images)
    document = shown[0][0]
    groups = {
        "task": item.task,
        "subtask": item.subtask,
        "robustness": item.robustness,
        "language": item.language,
    }
    return Question(
        id=item.id,
        text=item.question,
        answers=() if item.gold is None else (item.gold,),
        document=document,
        pages=tuple(sorted({index for name, index in shown if name == document})),
        evidence=(),
        evidence_source="multi" if len(set(shown)) > 1 else "text",
        domain=document.partition("/")[0],
        answer_form="JSON",
        places=shown,
        groups=tuple(groups.items()),
    )


def document_name(picture: str) -> str:
    """Return the document of a picture: its applicant, its folder of forms, or itself where it is in no folder."""
    parts = PurePosixPath(picture).parts
    if len(parts) >= _OF_A_CERTIFICATE:
        return f"{APPLICANTS}/{parts[0]}"
    return f"{FORMS}/{parts[0] if len(parts) > 1 else PurePosixPath(picture).stem}"


def _certificate(picture: str) -> str | None:
    """Return the folder of the certificate that a picture shows; None for a blank form."""
    path = PurePosixPath(picture)
    return str(path.parent) if len(path.parts) >= _OF_A_CERTIFICATE else None


def read_texts(path: Path) -> Mapping[str, str]:
    """Read what certificates say, by their folder or by picture, from the file `texts.json` beside the items.

    The published data have no such file, and so no ground truth.

    Raises:
        DataError: the file is no mapping of texts.
    """
    source = path.with_name(TEXTS)
    return _texts(source) if source.exists() else {}


@kept_until_changed()
def _texts(source: Path) -> Mapping[str, str]:
    try:
        found = parse_json(source.read_bytes())
    except (OSError, ValueError) as error:
        raise DataError(f"{source}: not readable as JSON: {error}") from None
    if not isinstance(found, dict):
        raise DataError(f"{source}: must be a mapping of folders or pictures to their text (got {quoted(found)})")
    for name, text in found.items():
        if not isinstance(text, str):
            raise DataError(f"{source}: {name}: must be a text (got {quoted(text)})")
    return found


def truth(document: str, pictures: Sequence[str], texts: Mapping[str, str]) -> list[Page]:
    """Return the pages of a document, none where no text is known; a certificate's is the same under all conditions.

    A picture whose text is not known has an empty one, which ohr counts as unknown.
    """
    known = (texts.get(picture, texts.get(_certificate(picture) or "", "")) for picture in pictures if texts)
    return [Page(document, index, text) for index, text in enumerate(known)]


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
