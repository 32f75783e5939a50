"""Any program that reads documents, in an environment of its own: MinerU, Marker, docling, Tesseract, a script."""

import shlex
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, SecretStr, ValidationInfo, field_validator, model_validator

from ohr.child import Ended, call
from ohr.contracts import DocumentView, Image, Recognition, execution
from ohr.errors import PluginError
from ohr.files import pdf
from ohr.messages.secrets import SHORTEST
from ohr.models.model_files import content_digest

from .formats.choice import FormatField, reader_identity
from .formats.markdown import Markdown
from .formats.result_folder import pages_written
from .structured import StructuredOcr, of_view

_VERSION_SECONDS = 120.0
"""Some programs import gigabytes before they print their version."""


def _split(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise ValueError(f"{error}: write a list of words") from None


Words = Annotated[tuple[str, ...], BeforeValidator(_split, json_schema_input_type=str | tuple[str, ...])]


class Command(StructuredOcr, kind="command"):
    """Runs a program for each page or document, and reads what it writes.

    `{input}` becomes the page image, the PDF, or the folder of images; `{output}` an empty folder. A program that does
    not take `{output}` writes Markdown or plain text to its standard output.
    """

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)  # every stage has a `version`
    run: Annotated[Words, Field(min_length=1, description="The program and its arguments: a list, or one line.")]
    input: Annotated[Literal["image", "pdf"], Field(description="Files that the program reads.")] = "image"
    source: Annotated[
        Literal["rendered", "original"],
        Field(description="`rendered`: a PDF of the page images, with noise; `original`: the benchmark's own PDF."),
    ] = "rendered"
    pages: Annotated[
        Literal["each", "all"] | None,
        Field(description="Pages of one call: by default `each` of images, `all` of a PDF."),
    ] = None
    format: Annotated[
        FormatField,
        Field(description="The system whose files the program writes.", json_schema_extra={"default": "markdown"}),
    ] = Markdown()
    dpi: Annotated[int, Field(ge=36, le=1200, description="Resolution that the page images are said to have.")] = 150
    timeout: Annotated[float, execution("Seconds for a page.", gt=0)] = 300.0
    version_command: Annotated[
        Words, Field(alias="version", description="A command that prints the program's version on its first line.")
    ] = ()
    environment: Annotated[
        dict[str, SecretStr], execution("Variables that are set for the program; values are not stored.")
    ] = Field(default_factory=dict)

    @field_validator("run")
    @classmethod
    def _allowed(cls, words: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        registry = (info.context or {}).get("registry")
        if registry is not None and not registry.trusted:
            raise ValueError("runs a program on this machine; allow it with --trust-plugins")
        return words

    @model_validator(mode="after")
    def _fits(self) -> Self:
        words = " ".join(self.run)
        if "{input}" not in words:
            raise ValueError("`run` must have `{input}`, which becomes the file to read")
        if "{output}" not in words and self.format.kind != "markdown":
            raise ValueError(
                f"`format: {self.format.kind}` needs `{{output}}` in `run`, a folder for the program's files"
            )
        if self.source == "original" and (self.input == "image" or self.pages == "each"):
            raise ValueError("`source: original` needs `input: pdf` and all pages of a document in one call")
        return self

    def __hash__(self) -> int:
        return hash((self.kind, self.run, self.format))

    @property
    def reads_original(self) -> bool:  # type: ignore[override] # it depends on a field
        """Report whether image noise cannot reach the program."""
        return self.source == "original"

    @property
    def reads_documents(self) -> bool:  # type: ignore[override] # it depends on fields
        """Report whether a call reads all pages of a document."""
        return (self.pages or ("each" if self.input == "image" else "all")) == "all"

    def check(self) -> None:
        """Raise when the program is missing, or does not print its version."""
        for words in (self.run, self.version_command):
            if words and shutil.which(words[0]) is None:
                raise PluginError(
                    f"ocr command: no program {words[0]!r}. Install it, or write its whole path: those of a virtual "
                    "environment are in its folder `bin`"
                )
        self._version()

    def identity(self) -> Mapping[str, object]:
        """Identify the program by its version, or its file, and arguments that are files by their content."""
        words: list[object] = [_content(word) or word for word in self.run[1:]]
        program = Path(self.run[0]).name if self.version_command else _content(shutil.which(self.run[0]) or self.run[0])
        known = {name: value for name, value in super().identity().items() if name != "version_command"}
        return {
            **known,
            "run": [program or self.run[0], *words],
            "pages": self.reads_documents,
            "version": self._version(),
            **reader_identity(self.format),
        }

    def recognise(self, images: Sequence[Image]) -> Iterator[Recognition]:
        """Run the program for each image, or once for all of them as a document."""
        if self.source == "original":
            yield from (Recognition("", "it reads the documents' own files, not images") for _ in images)
        elif not self.reads_documents:
            for place in range(len(images)):
                yield from self._read(1, partial(self._put, [images[place]], "page"))
        elif len(images):
            yield from self._read(len(images), partial(self._put, images, "document"))

    def recognise_document(self, view: DocumentView) -> Iterable[Recognition]:
        """Read a document: its page images, or the benchmark's own file."""
        if self.source == "rendered":
            return self.recognise(view.images)
        return of_view(
            view, lambda path, pages: self._read(pages, lambda home: Path(shutil.copy(path, home / "document.pdf")))
        )

    def _put(self, images: Sequence[Image], name: str, folder: Path) -> Path:
        """Write images as the program wants them; returns the file or folder."""
        if self.input == "pdf":
            pdf.write(folder / f"{name}.pdf", images, self.dpi)
            return folder / f"{name}.pdf"
        from PIL import Image as Pillow

        for number, image in enumerate(images):
            path = folder / (f"page_{number:04}.png" if self.reads_documents else f"{name}.png")
            Pillow.fromarray(image).save(path, dpi=(self.dpi, self.dpi), compress_level=1)
        return folder if self.reads_documents else path

    def _read(self, pages: int, put: Callable[[Path], Path]) -> list[Recognition]:
        """Run the program once; `put` writes its input into a folder."""
        with TemporaryDirectory(prefix="ohr-", ignore_cleanup_errors=True) as home:
            folders = given, written = Path(home, "input"), Path(home, "output")
            for folder in folders:
                folder.mkdir()
            path, seconds = put(given), self.timeout * pages
            words = [word.replace("{input}", str(path)).replace("{output}", str(written)) for word in self.run]
            try:
                ended = call(words, seconds, self._variables, Path(home))
            except OSError as error:
                return [Recognition("", f"{Path(words[0]).name} does not start: {error.strerror}")] * pages
            if fault := ended.fault(seconds):
                found: list[Recognition] | str = fault
            else:
                text = None if "{output}" in " ".join(self.run) else ended.output
                found = pages_written(written, text, self.format, path.stem, pages)
        if isinstance(found, str):
            return [Recognition("", self._hidden(f"{Path(self.run[0]).name} {found}"))] * pages
        return found

    @property
    def _variables(self) -> dict[str, str]:
        return {name: value.get_secret_value() for name, value in self.environment.items()}

    def _hidden(self, text: str) -> str:
        for value in sorted(self._variables.values(), key=len, reverse=True):
            text = text.replace(value, "***") if len(value) >= SHORTEST else text
        return text

    def _version(self) -> str:
        if not self.version_command:
            return ""
        ended = _asked(self.version_command, tuple(sorted(self._variables.items())))
        if fault := ended.fault(_VERSION_SECONDS):
            raise PluginError(
                f"ocr command: {shlex.join(self.version_command)} {self._hidden(fault)}. `version` must be a command "
                "that prints the program's version"
            )
        # the first line: some programs list features of the processor below it
        return next(iter(ended.output.decode("utf-8", "replace").strip().splitlines()), ended.message).strip()


@lru_cache(maxsize=16)
def _asked(words: tuple[str, ...], variables: tuple[tuple[str, str], ...]) -> Ended:
    with TemporaryDirectory(prefix="ohr-") as home:
        try:
            return call(words, _VERSION_SECONDS, dict(variables), Path(home))
        except OSError as error:
            return Ended(127, b"", str(error.strerror))


def _content(word: str) -> dict[str, str] | None:
    path = Path(word)
    try:
        return {"sha256": content_digest(path)} if path.is_file() else None
    except OSError:  # a word that is too long for a name, or a file that cannot be read
        return None
