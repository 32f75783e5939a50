"""Page images as an engine saw them, made again from a run's manifest: they are not kept, but can be repeated."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from io import BytesIO
from typing import Any

from ohr.contracts import Document, ImageTreatment, PageOrder
from ohr.errors import DataError, OhrError
from ohr.results.folder.run_folder import MANIFEST
from ohr.results.run import Run
from ohr.spec.read import RecordedSpec
from ohr.steps.documents.page_images import ImageRecipe
from ohr.treatments import Recorded, recorded_treatments

WIDTH = 720
"""Pixels: text of a page can be read, and a page takes some 50 KB."""
_QUALITY = 40


class PageImages:
    """Makes the page images of a run again.

    Args:
        run: to read.
        trust_plugins: run the plugin files that its spec names.
    """

    def __init__(self, run: Run, *, trust_plugins: bool = False) -> None:
        manifest = run.manifest
        self._spec = RecordedSpec(manifest, run.folder / MANIFEST, trust_plugins=trust_plugins)
        bases = {base["condition"]: recorded_treatments(base) for base in manifest["spec"].get("knowledge_bases", ())}
        self._treated = {name for name, every in bases.items() if _others(every)}

    def source(self, condition: str) -> str:
        """Name the condition whose page images a condition has: all that distort none have the same."""
        return condition if condition in self._treated else ""

    def make(self, condition: str, document: str, index: int) -> bytes:
        """Make a page image of a condition's first draw as WebP, WIDTH pixels wide at most.

        Raises:
            DataError: it cannot be made here, with the reason: the data, a plugin or a library is missing.
        """
        with _explained():
            every, seed = self._spec.treatments(condition), self._spec.seed(condition)
            orders = tuple(each for each in every if isinstance(each, PageOrder))
            images = tuple(each for each in every if isinstance(each, ImageTreatment))
            recipe = ImageRecipe(self._spec.benchmark, images, seed, (), orders)
            page = recipe.numbered_page(self._document(document), index, "")
            if page is None:
                raise DataError("noise has left the page out")
            image = page.make()
        return webp(image)

    def count(self, document: str) -> int:
        """Return how many pages a document has.

        Raises:
            DataError: it is not in the benchmark's data, or these are not there.
        """
        with _explained():
            return self._document(document).pages

    def _document(self, name: str) -> Document:
        if name not in self._documents:
            raise DataError(f"{name} is not in the benchmark's data")
        return self._documents[name]

    @cached_property
    def _documents(self) -> Mapping[str, Document]:
        self._spec.benchmark.check()
        return {document.name: document for document in self._spec.benchmark.documents()}


def _others(treatments: Sequence[Recorded]) -> bool:
    """Report whether anything but an engine changes the images, or which of them there are."""
    return any(each.takes != "text" and each.family != "ocr" for each in treatments)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OhrError as error:
        raise DataError(f"no page image: {str(error).splitlines()[0]}") from None
    except Exception as error:  # a benchmark or a noise of somebody else
        raise DataError(f"no page image: {type(error).__name__}: {error}") from error


def webp(image: Any, width: int = WIDTH) -> bytes:
    """Encode a page image, (height, width, 3) of 8 bits, as WebP, `width` pixels wide at most."""
    from PIL import Image

    picture = Image.fromarray(image)
    if picture.width > width:
        picture = picture.resize((width, round(picture.height * width / picture.width)), Image.Resampling.LANCZOS)
    made = BytesIO()
    picture.save(made, "WEBP", quality=_QUALITY, method=2)
    return made.getvalue()
