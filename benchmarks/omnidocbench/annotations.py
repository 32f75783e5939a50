"""Annotated pages in OmniDocBench's form, and their images: a JSON list, JSON Lines, or a file for each page.

OmniDocBench 1.0 and 1.5, Real5 and MDPBench are lists; PureDocBench has a file for each page below `gt`, and tracks of
images whose names begin with that of the page.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ohr.errors import DataError
from ohr.files.below import files_below
from ohr.files.changes import State, state_of
from ohr.files.json_input import parse_json, read_records
from ohr.files.ohrbench_json import set_names
from ohr.messages.wording import counted, named, quoted
from ohr.parse_scores.omnidocbench import read_record

from ..copies import refuse_name

IMAGES = (".jpg", ".jpeg", ".png", ".webp", ".tif", ".tiff", ".bmp")
GT = "gt"
"""PureDocBench's folder of annotations."""
_UNUSED = ("line_with_spans", "poly", "bbox")
"""Most of a page's size, which no score uses."""
_LANGUAGES = {
    "arabic": "ar", "dutch": "nl", "english": "en", "french": "fr", "german": "de", "hindi": "hi", "indonesian": "id",
    "italian": "it", "japanese": "ja", "korean": "ko", "portuguese": "pt", "russian": "ru", "spanish": "es",
    "thai": "th", "vietnamese": "vi", "simplified_chinese": "zh", "traditional_chinese": "zh", "chinese": "zh",
    "en_ch_mixed": "zh",
}  # fmt: skip
"""Languages as the sets name them, with `-` for `_` and in any case, and their codes (ISO 639-1)."""


@dataclass(frozen=True, slots=True)
class AnnotatedPage:
    """A page of a copy.

    Args:
        name: of its document, `<domain>/<image without ending>`.
        record: `layout_dets`, `page_info` and `extra`, without what no score uses.
        where: file and entry.
    """

    name: str
    record: Mapping[str, Any]
    where: str

    @property
    def image(self) -> str:
        """Path of its image, as its annotations name it."""
        return str(self.record["page_info"]["image_path"])

    @property
    def domain(self) -> str:
        """The domain of its document."""
        return self.name.split("/")[0]

    @property
    def groups(self) -> tuple[tuple[str, str], ...]:
        """Attributes of the page that are texts, such as `layout`."""
        given = self.record["page_info"].get("page_attribute") or {}
        return tuple((name, value) for name, value in given.items() if isinstance(value, str) and value)

    @property
    def language(self) -> str:
        """Code of its language; English where the annotations name none that is known."""
        return _LANGUAGES.get(_plain_name(self.stated_language), "en")

    @property
    def stated_language(self) -> str:
        """The language as the annotations name it; "" where they name none."""
        return dict(self.groups).get("language", "")

    @property
    def has_unknown_language(self) -> bool:
        """Whether the annotations name a language that has no code here."""
        return bool(self.stated_language) and _plain_name(self.stated_language) not in _LANGUAGES

    @property
    def truth(self) -> str:
        """The record as JSON, which its question carries to the metrics."""
        return json.dumps(self.record, ensure_ascii=False, sort_keys=True)


def _plain_name(language: str) -> str:
    return language.lower().replace("-", "_")


@dataclass(frozen=True, eq=False)
class Annotations:
    """The pages of a copy, by name, and its files.

    Args:
        unknown: blocks by category that no version scores.
        not_html: tables whose HTML holds no table.
    """

    pages: Mapping[str, AnnotatedPage]
    files: tuple[Path, ...]
    unknown: Mapping[str, int] = field(default_factory=dict)
    not_html: int = 0

    def image(self, name: str, folder: Path) -> Path:
        """Return the image of a page below a folder.

        Raises:
            DataError: there is none, or several.
        """
        page = self.pages[name]
        return image_files(folder).of(page, is_alone=self.is_alone(page))

    def is_alone(self, page: AnnotatedPage) -> bool:
        """Report whether no other page has an image of the same name, in whichever folder."""
        return self._named[stem(page.image)] == 1

    @cached_property
    def _named(self) -> Counter[str]:
        return Counter(stem(page.image) for page in self.pages.values())


def annotation_files(root: Path) -> tuple[Path, ...]:
    """Return the files of annotations: the file itself, those below `gt`, or the JSON in a folder.

    Raises:
        DataError: there are none, or several lists that a folder leaves open.
    """
    if not root.exists():
        raise DataError(f"{root}: no such file or folder (`root: sample` is the shipped one)")
    if root.is_file():
        return (root,)
    if (root / GT).is_dir():
        files = files_below(root / GT, ".json")
    else:
        files = sorted(path for path in root.glob("*.json*") if path.suffix in (".json", ".jsonl"))
        if len(files) > 1:
            several = f"{counted(len(files), 'JSON file')} ({named([path.name for path in files])})"
            raise DataError(f"{root}: holds {several}: set `root` to one of them")
    if not files:
        raise DataError(
            f"{root}: holds no annotations: a JSON list of pages, or a folder {GT} with a JSON file for each"
        )
    return tuple(files)


def read_annotations(root: Path) -> Annotations:
    """Read a copy; what is read is kept until its files change.

    Raises:
        DataError: a file is not in OmniDocBench's form, or two pages have one image.
    """
    files = annotation_files(root)
    return _read(root, files, state_of(*files))


@lru_cache(maxsize=2)
def _read(root: Path, files: tuple[Path, ...], state: State) -> Annotations:  # noqa: ARG001 # a key of the cache
    records: dict[str, tuple[str, Mapping[str, Any]]] = {}
    unknown: Counter[str] = Counter()
    not_html = 0
    for where, entry in _entries(root, files):
        try:
            read = read_record(entry)
        except ValueError as error:
            raise DataError(f"{where}: {error}") from None
        image = read.image_path
        refuse_name(image, where, "`image_path` of page_info, by which pages and results are named,")
        unknown.update(read.unknown)
        not_html += sum("<table" not in table.content.lower() for table in read.of("table") if table.content)
        record = _without_unused(entry)
        if image in records:
            raise DataError(f"{where}: the image {quoted(image)} is that of {records[image][0]}, too")
        records[image] = where, record
    if not records:
        raise DataError(f"{root}: holds no page")
    given = _names({image: record for image, (_, record) in records.items()})
    for image, name in given.items():
        refuse_name(name, records[image][0], "the name of the page, with its domain,")
    names = set_names(given.values())
    if len(names) < len(given):
        twice = next(name for name, times in Counter(given.values()).items() if times > 1)
        raise DataError(f"{root}: two images of {twice.split('/')[0]} are called {twice.partition('/')[2]}")
    pages = {
        names[given[image]]: AnnotatedPage(names[given[image]], record, where)
        for image, (where, record) in records.items()
    }
    return Annotations(pages, files, unknown, not_html)


def _entries(root: Path, files: tuple[Path, ...]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in files:
        if root.is_file() or not (root / GT).is_dir():
            yield from read_records(path, "pages")
            continue
        try:
            entry = parse_json(path.read_bytes())
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: cannot be read: {error}") from None
        yield str(path), entry


def _without_unused(record: Mapping[str, Any]) -> dict[str, Any]:
    kept = [{key: value for key, value in block.items() if key not in _UNUSED} for block in record["layout_dets"]]
    return {**record, "layout_dets": kept}


def _names(records: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the name of each image's document, whose domain is its folder, or what all pages have of two traits."""
    if all("/" in image for image in records):
        return {image: (Path(image).parent / stem(image)).as_posix() for image in records}
    attributes = {image: record["page_info"].get("page_attribute") or {} for image, record in records.items()}
    for trait in ("data_source", "language"):
        domains = {image: str(given.get(trait) or "").replace("/", "_") for image, given in attributes.items()}
        if all(domains.values()):
            return {image: f"{domain}/{stem(image)}" for image, domain in domains.items()}
    return {image: f"pages/{stem(image)}" for image in records}


def stem(image: str) -> str:
    """Return the name of an image without its ending."""
    path = Path(image)
    return path.stem if path.suffix.lower() in IMAGES else path.name


class ImageFiles:
    """The images below a folder, found by path, by name, or by how their name begins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._paths = {path.relative_to(folder).as_posix(): path for path in files_below(folder, *IMAGES)}
        self._by_stem: dict[str, list[Path]] = {}
        for path in self._paths.values():
            for stem in dict.fromkeys((path.stem, path.stem.partition("__real_")[0])):
                self._by_stem.setdefault(stem, []).append(path)

    def __len__(self) -> int:
        return len(self._paths)

    def of(self, page: AnnotatedPage, *, is_alone: bool) -> Path:
        """Return the image of a page.

        Args:
            is_alone: no other page of the set has an image of this name, so that one in any folder is that of the page.

        Raises:
            DataError: there is none, or several.
        """
        if page.image in self._paths:
            return self._paths[page.image]
        below = Path(page.image).parent.as_posix()
        named_so = self._by_stem.get(stem(page.image), [])
        fitting = [path for path in named_so if below == "." or f"/{path.absolute().parent}".endswith(f"/{below}")]
        if is_alone and not fitting:
            fitting = named_so
        if len(fitting) == 1:
            return fitting[0]
        if not fitting:
            raise DataError(
                f"{page.where}: there is no image {page.image} below {self.folder}: set `images` to its folder"
            )
        several = named([path.relative_to(self.folder).as_posix() for path in fitting])
        raise DataError(f"{page.where}: several images are called {page.image} ({several}): set `images` to one track")


@lru_cache(maxsize=4)
def image_files(folder: Path) -> ImageFiles:
    """Return the images below a folder; it is listed once."""
    return ImageFiles(folder)
