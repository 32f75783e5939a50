"""GOCR and GNU Ocrad, two programs from before neural networks, as Debian packages have them."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, ClassVar

from pydantic import Field

from ohr.child import call
from ohr.contracts import Image, OcrBackend, Recognition, execution
from ohr.errors import PluginError
from ohr.models.model_files import content_digest

_LATIN = ("en", "de", "fr", "es", "it", "nl", "pt")
"""Languages whose letters are among those of ISO 8859-1."""

Scale = Annotated[
    int,
    Field(ge=1, le=4, description="Times that a page is enlarged: small letters are read better, large ones worse."),
]
_SHORTEST = 3
"""Pixels a side that Ocrad wants at least."""


class PnmProgram(OcrBackend):
    """A program that reads a grey PNM image, and writes text without boxes and confidences."""

    words: ClassVar[tuple[str, ...]]
    """The program and its options; it is in the Debian package of its name."""
    scale: Scale = 1
    timeout: Annotated[float, execution("Seconds for a page.", gt=0)] = 60.0

    def check(self) -> None:
        """Raise when the program is missing."""
        if shutil.which(self.words[0]) is None:
            raise PluginError(f"ocr {self.kind}: no program {self.words[0]!r}. Debian: apt-get install {self.words[0]}")

    def identity(self) -> Mapping[str, object]:
        """Identify the program by its file."""
        place = shutil.which(self.words[0])
        return {**super().identity(), "program": content_digest(Path(place)) if place else ""}

    def reads(self, language: str) -> bool:
        """Report whether the program knows the letters of `language`."""
        return language in _LATIN

    def recognise(self, images: Sequence[Image]) -> Iterator[Recognition]:
        """Read each image."""
        return map(self._read, images)

    def _read(self, image: Image) -> Recognition:
        from PIL import Image as Pillow

        size = [max(self.scale * side, _SHORTEST) for side in (image.shape[1], image.shape[0])]
        grey = Pillow.fromarray(image).convert("L").resize(size, Pillow.Resampling.BICUBIC)
        with TemporaryDirectory(prefix="ohr-", ignore_cleanup_errors=True) as home:
            path = Path(home, "page.pgm")
            grey.save(path)
            try:
                ended = call((*self.words, str(path)), self.timeout, {}, Path(home))
            except OSError as error:
                return Recognition("", f"{self.words[0]} does not start: {error.strerror}")
        if fault := ended.fault(self.timeout):
            return Recognition("", f"{self.words[0]} {fault}")
        return Recognition(ended.output.decode("utf-8", "replace").strip())


class Gocr(PnmProgram, kind="gocr"):
    """Reads pages with GOCR, which compares shapes by rules; `_` marks letters that it does not know."""

    words: ClassVar[tuple[str, ...]] = ("gocr", "-m", "4", "-f", "UTF8", "-i")  # 4: look for columns


class Ocrad(PnmProgram, kind="ocrad"):
    """Reads pages with GNU Ocrad, which looks at features of shapes; `_` marks letters that it does not know."""

    words: ClassVar[tuple[str, ...]] = ("ocrad", "--layout", "--format=utf8")
    scale: Scale = 2
