"""Engines inside engines: read from YAML like any other, and run on the pages that they are wanted for."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field, SerializeAsAny, WithJsonSchema

from ohr.contracts import AnyOcr, Document, DocumentView, Image, OcrBackend, Recognition, RecordedOcr, Resources
from ohr.errors import PluginError
from ohr.files.lazy import Made
from ohr.keys import identity
from ohr.registry import Nested

Part = Annotated[
    SerializeAsAny[AnyOcr],
    BeforeValidator(Nested("ocr")),
    WithJsonSchema({"type": "object", "required": ["kind"]}),
]
"""A field that holds any OCR engine, by its mapping in YAML."""


class Parts(OcrBackend):
    """An engine of several engines. It reads documents, or original files, if one of them does."""

    parts: Annotated[tuple[Part, ...], Field(min_length=2, description="The engines, in order.")]

    @property
    def reads_documents(self) -> bool:  # type: ignore[override] # depends on the parts
        """Whether a part wants whole documents; recorded results are found by their document."""
        return any(part.reads_documents or not part.reads_images for part in self.parts)

    @property
    def reads_original(self) -> bool:  # type: ignore[override] # depends on the parts
        """Whether a part reads the benchmark's own files, or results that exist already."""
        return any(part.reads_original or not part.reads_images for part in self.parts)

    @property
    def counts_tokens(self) -> bool:  # type: ignore[override] # depends on the parts
        """Whether a part counts tokens."""
        return any(part.counts_tokens for part in self.parts)

    def check(self) -> None:
        """Check every part."""
        for part in self.parts:
            if part.kind == "ground_truth":
                raise PluginError(f"ocr {self.kind}: ground_truth cannot be a part: it is no engine")
            part.check()

    def resources(self) -> Resources:
        """Return the resources of the parts together."""
        return Resources.together(*(part.resources() for part in self.parts))

    def identity(self) -> Mapping[str, object]:
        """Identify the parts as they identify themselves."""
        return {**super().identity(), "parts": [identity(part) for part in self.parts]}

    def reads(self, language: str) -> bool:
        """Report whether a part reads `language`."""
        return any(part.reads(language) for part in self.parts)

    def notes(self, documents: Sequence[Document]) -> Sequence[str]:
        """Gather the warnings of the parts."""
        return tuple(dict.fromkeys(note for part in self.parts for note in part.notes(documents)))

    def recognise(self, images: Sequence[Image]) -> Iterable[Recognition]:
        """Read images as a document without a name."""
        return self.recognise_document(DocumentView(Document("", "", "", 0), images))

    @property
    def names(self) -> tuple[str, ...]:
        """The parts' kinds, numbered where several have one."""
        kinds = [part.kind for part in self.parts]
        return tuple(f"{kind} {place + 1}" if kinds.count(kind) > 1 else kind for place, kind in enumerate(kinds))

    def by_part(self, place: int, view: DocumentView, pages: Sequence[int]) -> dict[int, Recognition]:
        """Read some pages of a document with one part; a page that it fails on has an error."""
        part, name = self.parts[place], self.names[place]
        try:
            found = dict(_read(part, view, pages))
        except Exception as error:  # any engine may raise anything: the other parts are still asked
            found = {page: Recognition(error=f"{type(error).__name__}: {error}") for page in pages}
        return {page: self._named(part, name, found.get(page, _NOTHING)) for page in pages}

    def _named(self, part: AnyOcr, name: str, read: Recognition) -> Recognition:
        if read.error is not None:
            return replace(read, error=f"{name}: {read.error}")
        reader = f"{name}: {read.reader}" if read.reader else name
        return replace(read, text=part.written(read), blocks=(), reader=reader)


_NOTHING = Recognition(error="the engine returned no result")


def _read(part: AnyOcr, view: DocumentView, pages: Sequence[int]) -> Iterator[tuple[int, Recognition]]:
    if isinstance(part, RecordedOcr):
        recorded = {page.index: page for page in part.recorded(view.document)}
        yield from ((i, Recognition(page.text, page.error)) for i in pages if (page := recorded.get(i)))
        return
    assert isinstance(part, OcrBackend)  # ground truth is no part
    if part.reads_documents:
        found = list(part.recognise_document(view))
        if len(found) != len(view.images):
            raise ValueError(f"{len(found)} results for {len(view.images)} pages")
        yield from ((page, found[page]) for page in pages)
    else:
        for start in range(0, len(pages), part.batch_size):
            some = pages[start : start + part.batch_size]
            images = Made([partial(view.images.__getitem__, page) for page in some])
            yield from zip(some, part.recognise(images), strict=False)
