"""OCR results that exist already, in OHRBench's layout or in a system's own files."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import Field, ValidationInfo, model_validator

from ohr.contracts import ABSENT, Document, Page, RecordedOcr, Word
from ohr.errors import PluginError
from ohr.files.below import files_below
from ohr.files.digests import folder_digest
from ohr.files.names import UNWRITABLE, by_form, other_form, printable
from ohr.files.ohrbench_json import document_facts, document_files, read_document, read_words, unwritable_files
from ohr.markup.page import Markup, MarkupField, tidy
from ohr.messages.faults import Fault, sentences
from ohr.messages.wording import named
from ohr.registry import Registry

from .formats.choice import FormatField, formats_shown, reader_identity
from .formats.find import Index, index_of, shortest_endings
from .formats.ohrbench import OhrBench
from .formats.result_folder import (
    SCORED_0,
    Files,
    artifact_faults,
    faults_of,
    files_in,
    files_of,
    folder_faults,
    page_artifacts,
    page_faults,
    pages_of,
    result_of,
)


@lru_cache
def _name_of(folder: Path) -> str:
    """Name a folder by its own name, links followed; asked for each document."""
    return folder.resolve().name


class Converted(NamedTuple):
    """A document as it was read, its words that have a confidence, by page, and what is wrong with it.

    Args:
        artifacts: of how many pages the text has artifacts, by kind.
    """

    document: Document
    pages: Sequence[Page]
    words: Mapping[int, Sequence[Word]]
    artifacts: Mapping[str, int]
    faults: Sequence[Fault]


class Precomputed(RecordedOcr, kind="precomputed"):
    """Takes each page's text from `<root>/<domain>/<document>.json`, or from the files of another system.

    A page that is not there is missing. A damaged file costs its own pages only: each carries an error, scores 0 and
    is counted. A file whose name differs from the document's only in its Unicode form is read, and a note says so.
    """

    version: ClassVar[int] = 2
    root: Annotated[Path, Field(description="Folder with one folder per domain, or with a system's results.")]
    format: Annotated[
        FormatField,
        Field(
            description="The system whose files these are; by default the one that they show.",
            json_schema_extra={"default": None},
        ),
    ] = OhrBench()
    markup: Annotated[
        MarkupField | None,
        Field(description="As of engines with markup; by default texts of `ohrbench` stay unchanged."),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _as_the_files_show(cls, keys: Any, info: ValidationInfo) -> Any:
        """Take the format that the files show where none is named."""
        if not isinstance(keys, dict) or "format" in keys or not isinstance(keys.get("root"), str | Path):
            return keys
        registry = (info.context or {}).get("registry") or Registry()
        shown, _ = formats_shown(Path(keys["root"]), registry)
        if len(shown) > 1:
            fits = ", ".join(f"{format.kind} ({file})" for format, file in shown.items())
            choice = f"read the folder of each system by itself, or choose a `format`, such as {next(iter(shown)).kind}"
            raise ValueError(f"{keys['root']} holds results that fit several formats: {fits}; {choice}")
        return {**keys, "format": next(iter(shown))} if shown else keys

    def check(self) -> None:
        """Refuse a folder that does not exist or holds no results."""
        if not self.root.is_dir():
            raise PluginError(f"ocr precomputed: no such folder: {self.root}")
        if "format" not in self.model_fields_set:
            self._refuse_unknown()
        elif self._is_own_layout:
            if not files_below(self.root, ".json"):
                shown = [format.kind for format in formats_shown(self.root, Registry())[0] if format.kind != "ohrbench"]
                texts = f", but results that `format: {shown[0]}` reads" if shown else ""
                raise PluginError(f"ocr precomputed: {self.root} holds no <domain>/<document>.json{texts}")
        elif not index_of(self.root, self.format).whole:
            raise PluginError(f"ocr precomputed: {self.root} holds no file that ends in {' or '.join(self._endings)}")

    def _refuse_unknown(self) -> None:
        """Refuse a folder whose files did not show their format; if they are only damaged, their documents fail."""
        shown, unfit = formats_shown(self.root, Registry())
        damaged = bool(unfit) and all(reason and "/" in name for name, reason in unfit.items())
        if OhrBench() in shown or (damaged and not shown):
            return
        known = ", ".join(Registry().names("ocr_format"))
        there = [printable(path.name) for path in sorted(self.root.iterdir())]
        reasons = [f"{name} is {reason}" if reason else f"{name} fits none of them" for name, reason in unfit.items()]
        seen = named(reasons) or (f"it has {named(there)}" if there else "it is empty")
        raise PluginError(f"ocr precomputed: {self.root} holds no results of a known format ({known}): {seen}")

    def identity(self) -> Mapping[str, object]:
        """Identify the folder by its content."""
        if self._is_own_layout:
            content: object = folder_digest(self.root)
        else:
            content = {ending: folder_digest(self.root, f"*{ending}") for ending in self._endings}
        changed = (
            {} if self._is_own_layout else {"format": self.format.kind, "reading": 2, **reader_identity(self.format)}
        )
        markup = {"markup": self.markup.model_dump(), **self.markup.identity()} if self.markup is not None else {}
        return {"kind": self.kind, "content": content, **changed, **markup}

    def recorded(self, document: Document) -> Sequence[Page]:
        """Read a document's pages; each page without a result carries an error."""
        if not self._is_own_layout:
            files = files_of(index_of(self.root, self.format), document)
            return pages_of(*result_of(files), self.markup or Markup())
        path = self._file(document)
        if path is None:
            return [Page(document.name, index, "", ABSENT) for index in range(document.pages)]
        reading = read_document(path, document.name)
        found = {page.index: self._finished(page) for page in reading.pages}
        absent = reading.error or ABSENT
        return [found.get(index, Page(document.name, index, "", absent)) for index in range(document.pages)]

    def documents(self) -> list[Document]:
        """List the documents that the folder holds, as far as names and files show them."""
        return [result_of(files)[0] for files in self.files()]

    def notes(self, documents: Sequence[Document]) -> Sequence[str]:
        """Count and name the domains, documents and pages that the folder lacks, and the faults of its files."""
        if not self.root.is_dir():
            return ()
        files = self.files(documents)
        return sentences(self.faults(files, (fault for each in files for fault in self._faults(each))))

    def files(self, documents: Sequence[Document] | None = None) -> list[Files]:
        """List the files of some documents, by default of all that the folder holds; none is read."""
        if documents is None:
            return files_in(self.root, self.format)
        index = Index() if self._is_own_layout else index_of(self.root, self.format)
        return [files_of(index, document) for document in documents]

    def converted(self, files: Files) -> Converted:
        """Read a document, with what is wrong with its files and its text."""
        base = self._folder_name
        document, result = result_of(files)
        if self._is_own_layout:
            pages, faults, words = self.recorded(document), [*self._own_faults(document)], self.words(document)
        else:
            pages = pages_of(document, result, self.markup or Markup())
            faults, words = [*faults_of(document, result, base)], result.words if result else {}
        kinds = page_artifacts(pages)
        counts = Counter(kind for _, kind in kinds)
        return Converted(document, pages, words, counts, (*faults, *artifact_faults(kinds, base)))

    def words(self, document: Document) -> Mapping[int, Sequence[Word]]:
        """Read the words that have a confidence; none of a document whose confidences cannot be read."""
        if not self._is_own_layout:
            _, result = result_of(files_of(index_of(self.root, self.format), document))
            return result.words if result else {}
        path = self._file(document)
        return {} if path is None else read_words(path)

    def faults(self, files: Sequence[Files], own: Iterable[Fault]) -> Iterator[Fault]:
        """List what is wrong with the folder, and with its documents, as `own` has it."""
        if not self._is_own_layout:
            yield from folder_faults(self.root, self.format, files, own)
            return
        for domain in sorted({each.document.domain for each in files}):
            if not (self.root / domain).is_dir():
                yield Fault("domain", f"missing from {self._folder_name}, {SCORED_0}", domain)
        for name in unwritable_files(self.root):
            yield Fault("file", f"whose {UNWRITABLE}, left out", name)
        yield from own

    @property
    def _folder_name(self) -> str:
        return _name_of(self.root.absolute())

    @property
    def _is_own_layout(self) -> bool:
        return self.format.kind == "ohrbench"

    @property
    def _endings(self) -> list[str]:
        return shortest_endings(self.format)

    def _finished(self, page: Page) -> Page:
        return page if self.markup is None or page.error else replace(page, text=tidy(page.text, self.markup))

    def _faults(self, files: Files) -> Iterator[Fault]:
        if self._is_own_layout:
            return self._own_faults(files.document)
        return faults_of(*result_of(files), self._folder_name)

    def _own_faults(self, document: Document) -> Iterator[Fault]:
        base, path = self._folder_name, self._file(document)
        if path is None:
            if (self.root / document.domain).is_dir():
                yield Fault("document", f"missing from {base}, {SCORED_0}", document.name)
            return
        if path != self.root / f"{document.name}.json":
            yield Fault("document", f"named in another Unicode form in {base}, matched", document.name)
        numbers, faults = document_facts(path, document.name)
        yield from faults
        if numbers:
            yield from page_faults(document, numbers, base)

    def _file(self, document: Document) -> Path | None:
        path = self.root / f"{document.name}.json"
        if path.is_file():
            return path
        folder = self.root / document.domain
        if not folder.is_dir():
            return None
        files = document_files(self.root) if document.name.isascii() is False else {}
        other = other_form(document.name, by_form(files))
        return files[other] if other is not None else None
