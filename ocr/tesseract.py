"""Tesseract 5 in this process, through tesserocr; nothing but pip packages is needed.

Leptonica, its image library, reports faults from which Tesseract recovers, such as "Error in boxClipToRectangle: box
outside rectangle" where the search for lines looks beside the page
(https://github.com/tesseract-ocr/tesseract/issues/427): they are kept for the case of an error, and not written.
"""

import ctypes
import sys
import sysconfig
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from ohr import extras
from ohr.contracts import Image, OcrBackend, Recognition, Word
from ohr.errors import PluginError
from ohr.models.model_files import content_digest
from ohr.models.resident import resident

_CODES = {"en": "eng", "zh": "chi_sim", "de": "deu", "fr": "fra", "es": "spa", "it": "ita", "ja": "jpn", "ko": "kor"}
"""ISO 639-1 to Tesseract's language packs, where the names differ."""
_WITH_OSD = (0, 1, 12)
"""Page segmentation modes that look for orientation and script first, with the pack `osd`."""
_SIDE = 32_767
"""Its coordinates have 16 bits; for a larger image its error says only that there is no image."""


class Tesseract(OcrBackend, kind="tesseract"):
    """Reads pages with Tesseract's LSTM engine (Smith, ICDAR 2007); plain text, in the engine's own reading order."""

    extra: ClassVar[str | None] = "tesseract"
    packages: ClassVar[tuple[str, ...]] = ("tesserocr",)  # language packs are known by content
    languages: Annotated[tuple[str, ...], Field(min_length=1, description="Language packs.")] = ("eng",)
    psm: Annotated[int, Field(ge=0, le=13, description="Page segmentation mode; 3 finds columns by itself.")] = 3
    dpi: Annotated[int, Field(ge=70, le=1200, description="Resolution that the engine assumes.")] = 150
    tessdata: Annotated[Path | None, Field(description="Folder of language packs; by default, the packaged.")] = None

    def check(self) -> None:
        """Raise when tesserocr or a language pack is missing."""
        extras.require("tesserocr", "tesseract")
        folder = self._folder()
        absent = [name for name in self._packs() if not (folder / f"{name}.traineddata").is_file()]
        if absent:
            debian = absent[0].replace("_", "-")
            raise PluginError(
                f"ocr tesseract: no language pack {absent[0]!r} in {folder}. Put {absent[0]}.traineddata there, from "
                f"https://github.com/tesseract-ocr/tessdata_fast (or, Debian: apt-get install tesseract-ocr-{debian}, "
                "and `tessdata: /usr/share/tesseract-ocr/5/tessdata`)"
            )

    def identity(self) -> Mapping[str, object]:
        """Identify language packs by content: there are several of one name, and they read differently."""
        packs = {name: content_digest(self._folder() / f"{name}.traineddata") for name in self._packs()}
        return {**super().identity(), "tessdata": packs}

    def reads(self, language: str) -> bool:
        """Report whether the pack for `language` is among `languages`."""
        return _CODES.get(language, language) in self.languages

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Read each image."""
        engine = _engine("+".join(self.languages), self.psm, self._folder())
        return [_read(engine, image, self.dpi) for image in images]

    def _packs(self) -> tuple[str, ...]:
        return (*self.languages, "osd") if self.psm in _WITH_OSD else self.languages

    def _folder(self) -> Path:
        return self.tessdata or Path(sysconfig.get_paths()["data"]) / "share" / "tessdata"


def _engine(languages: str, psm: int, folder: Path) -> Any:
    """Return the engine, which is started if it is not in memory: that takes longer than reading a short page."""
    settings = (languages, psm, folder)
    return resident(("tesseract", *settings), lambda: _started(*settings), lambda engine: engine.End())


def _started(languages: str, psm: int, folder: Path) -> Any:
    tesserocr = extras.load("tesserocr", "tesseract")
    keep_messages()
    return tesserocr.PyTessBaseAPI(path=str(folder), lang=languages, psm=psm, oem=tesserocr.OEM.LSTM_ONLY)


def _read(engine: Any, image: Image, dpi: int) -> Recognition:
    height, width, channels = image.shape
    if max(height, width) > _SIDE:
        return Recognition("", f"{width} x {height} pixels: Tesseract reads at most {_SIDE:,} pixels a side")
    messages()
    try:
        # the plain bytes, instead of a Pillow image that tesserocr would encode and Tesseract decode again
        engine.SetImageBytes(image.tobytes(), width, height, channels, width * channels)
        engine.SetSourceResolution(dpi)
        text = engine.GetUTF8Text()
        confidence = engine.MeanTextConf() / 100
        words = tuple(_words(engine))
        engine.Clear()
    except RuntimeError as error:
        return Recognition("", "; ".join(filter(None, (str(error), messages()))))
    return Recognition(text.strip(), words=words, confidence=confidence if text.strip() else None)


def _words(engine: Any) -> Iterator[Word]:
    """List the words of the page that was read last, in the engine's order."""
    tesserocr = extras.load("tesserocr", "tesseract")
    level = tesserocr.RIL.WORD
    for word in tesserocr.iterate_level(engine.GetIterator() or (), level):
        if not word.Empty(level) and (text := word.GetUTF8Text(level).strip()):
            yield Word(text, word.BoundingBox(level), word.Confidence(level) / 100)


_kept: deque[str] = deque(maxlen=3)


def _keep(message: bytes) -> None:
    _kept.append(message.decode(errors="replace").strip())


_handler = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(_keep)


@lru_cache(maxsize=1)
def keep_messages() -> bool:
    """Keep messages from now on; a Leptonica that is linked in so that it cannot be reached writes them to stderr."""
    module = sys.modules.get("tesserocr.tesserocr") or sys.modules["tesserocr"]
    try:
        # a name that the extension module does not have is looked up in the libraries that it brought along
        ctypes.CDLL(str(module.__file__)).leptSetStderrHandler(_handler)
    except (AttributeError, OSError):
        return False
    return True


def messages() -> str:
    """Return the last messages since the last call, as one line, and forget them."""
    joined = "; ".join(_kept)
    _kept.clear()
    return joined
