"""Predictions in the published layout: a Markdown file for each page, named as its image."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ohr.errors import DataError
from ohr.files.below import files_below
from ohr.files.documents import TEXT_SUFFIXES
from ohr.messages.wording import counted, named

from .annotations import Annotations, stem


def read_results(folder: Path, annotations: Annotations) -> Mapping[str, Sequence[str]] | None:
    """Return the text of each page that has a file, by document; None where the folder holds no such file.

    Raises:
        DataError: no file is of a page, two are of one page, or a file is not UTF-8 text.
    """
    files = files_below(folder, *TEXT_SUFFIXES)
    if not files:
        if files_below(folder, ".json") or not folder.is_dir():
            return None
        raise DataError(f"{folder}: holds no Markdown named as the pages' images, nor <domain>/<document>.json")
    pages = annotations.pages.values()
    by_path = {stem(page.image): page.name for page in pages if annotations.is_alone(page)}
    by_path |= {(Path(page.image).parent / stem(page.image)).as_posix(): page.name for page in pages}
    texts: dict[str, Sequence[str]] = {}
    for path in files:
        inside = path.relative_to(folder).with_suffix("")
        own = stem(inside.name)  # of `page.jpg.md`, too
        name = by_path.get((inside.parent / own).as_posix()) or by_path.get(own)
        if name is None:
            continue
        if name in texts:
            raise DataError(f"{path}: another file of {folder} is of the page {name}, too")
        try:
            texts[name] = [path.read_bytes().decode("utf-8-sig") or "\n"]  # an empty prediction is one
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: is not UTF-8 text (byte {error.start})") from None
    if not texts:
        image = next(iter(pages)).image
        several = f"{counted(len(files), 'file')} ({named([path.name for path in files])})"
        raise DataError(f"{folder}: none of its {several} is called as a page's image is, such as {image}")
    return texts
