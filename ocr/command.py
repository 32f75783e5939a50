"""Any OCR system with a command line, in its own environment."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from ohr.contracts import DocumentView, Image, Recognition, execution
from ohr.errors import PluginError
from ohr.files import images as image_files
from ohr.files import pdf

from .formats.catalog import FormatName, read_content
from .formats.folder import ResultsFolder
from .formats.values import FormatError, Pages
from .process import Failed, run
from .structured import StructuredOcr

_NAME = "document"


def _words(value: Any) -> Any:
    return shlex.split(value) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], BeforeValidator(_words)]


class Command(StructuredOcr):
    """Runs a command for each page or document and reads what it has written, such as MinerU's or Marker's.

    `{input}` is the page's image or the document's PDF, `{output}` an empty folder for the results; without
    `{output}` the command's standard output is the text. A command that fails, takes too long, writes nothing or
    another number of pages fails its own pages, with the end of what it wrote to standard error.
    """

    kind: Literal["command"] = "command"
    run: Annotated[Words, Field(min_length=1, description="The command, as text or as a list of words.")]
    input: Annotated[
        Literal["image", "images", "pdf"],
        Field(description="A PNG per page, a folder with the PNGs of a document, or a document's PDF."),
    ] = "image"
    source: Annotated[
        Literal["rendered", "original"],
        Field(description="For `pdf`: the page images with their noise, or the benchmark's own file."),
    ] = "rendered"
    format: Annotated[FormatName, Field(description="How the command writes its results.")] = "markdown"
    version_command: Annotated[
        Words, Field(description="A command that prints the system's version, which becomes part of every key.")
    ] = ()
    dpi: Annotated[int, Field(gt=0, le=1200, description="Resolution that the pages of a rendered PDF claim.")] = 150
    timeout: Annotated[float, execution("Seconds for one page.", gt=0)] = 300.0
    environment: Annotated[
        dict[str, str],
        execution("Settings for the command's environment; keys belong into your own.", default_factory=dict),
    ]

    @field_validator("run")
    @classmethod
    def _allowed(cls, words: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        registry = (info.context or {}).get("registry")
        if registry is not None and not registry.trusted:
            raise ValueError("runs a program on this machine; allow it with --trust-plugins")
        return words

    @model_validator(mode="after")
    def _one_source(self) -> "Command":
        if self.source == "original" and self.input != "pdf":
            raise ValueError("source: original needs input: pdf")
        if not any("{input}" in word for word in self.run):
            raise ValueError("run must have {input}, the page or document to read")
        return self

    def __hash__(self) -> int:  # a mapping has none
        return hash((self.kind, self.run, self.input, self.source, self.format, self.version_command, self.markup))

    @property
    def reads_original(self) -> bool:  # type: ignore[override] # depends on a field
        """Whether the benchmark's own files are read."""
        return self.source == "original"

    @property
    def reads_documents(self) -> bool:  # type: ignore[override] # depends on a field
        """Whether a call reads a whole document."""
        return self.input != "image"

    def check(self) -> None:
        """Raise when the executable is missing, or does not print its version."""
        for words in filter(None, (self.run, self.version_command)):
            if shutil.which(words[0]) is None:
                raise PluginError(f"ocr command: no executable {words[0]!r}: install it, or give its whole path")
        self._version()

    def identity(self) -> Mapping[str, object]:
        """Identify the command by its words and version; a version that cannot be asked for is none."""
        return {**super().identity(), "version": self._version()}

    def _version(self) -> str:
        return _version(self.version_command, tuple(sorted(self.environment.items())))

    def recognise(self, images: Sequence[Image]) -> Iterator[Recognition]:
        """Read each image by itself."""
        for image in images:
            with TemporaryDirectory(prefix="ohr-") as folder:
                path = Path(folder) / f"{_NAME}.png"
                if self.input == "pdf":
                    path = path.with_suffix(".pdf")
                    pdf.write(path, [image], self.dpi)
                else:
                    image_files.write_image(path, image)
                yield self._results(path, 1)[0]

    def recognise_document(self, view: DocumentView) -> Sequence[Recognition]:
        """Read a document with one call."""
        count = len(view.images)
        with TemporaryDirectory(prefix="ohr-") as folder:
            path = Path(folder) / f"{_NAME}.pdf"
            if self.source == "original":
                if view.pdf is None:
                    return [Recognition(error="the benchmark has no PDF of this document")] * count
                shutil.copyfile(view.pdf, path)
            elif self.input == "pdf":
                pdf.write(path, view.images, self.dpi)
            else:
                path = path.with_suffix("")
                path.mkdir()
                for place, image in enumerate(view.images):
                    image_files.write_image(path / f"{_NAME}_{place}.png", image)
            return self._results(path, count)

    def _results(self, given: Path, count: int) -> list[Recognition]:
        out = given.parent / "output"
        out.mkdir()
        words = [word.replace("{input}", str(given)).replace("{output}", str(out)) for word in self.run]
        try:
            printed = run(words, self.timeout * count, self.environment, given.parent)
            pages = self._pages(out, printed)
        except (Failed, FormatError) as error:
            return [Recognition(error=str(error))] * count
        if not pages or max(pages) >= count:
            wrote = f"{len(pages)} pages, the last of them {max(pages) + 1}," if pages else "no page"
            return [Recognition(error=f"the command wrote {wrote} of a document with {count}")] * count
        lost = Recognition(error="the command wrote no such page")
        return [Recognition(blocks=pages[place]) if place in pages else lost for place in range(count)]

    def _pages(self, out: Path, printed: bytes) -> Pages:
        if not any("{output}" in word for word in self.run):
            return read_content(printed, self.format).popitem()[1]
        if not any(out.rglob("*")):
            raise FormatError("the command wrote nothing")
        results = ResultsFolder(out, self.format)
        found = results.read(_NAME)
        if found.error is not None and not found.files:
            wrote = ", ".join(sorted(path.name for path in out.rglob("*") if path.is_file())[:5])
            raise FormatError(f"the command wrote no file as {self.format} writes them, but {wrote}")
        if found.error is not None:
            raise FormatError(found.error)
        return found.pages


@cache  # once per process
def _version(words: Sequence[str], environment: Sequence[tuple[str, str]]) -> str:
    if not words or shutil.which(words[0]) is None:
        return ""
    try:
        return run(words, 60, dict(environment), Path(os.curdir)).decode(errors="replace").strip()[:200]
    except (Failed, subprocess.SubprocessError) as error:
        raise PluginError(f"ocr command: {shlex.join(words)} does not print a version: {error}") from None
