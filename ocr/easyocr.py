"""EasyOCR: CRAFT finds the lines, a CRNN reads them; English weights come in a package."""

import warnings
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr import extras
from ohr.contracts import Image, OcrBackend, Recognition, Resources, execution
from ohr.errors import PluginError
from ohr.models.model_files import check_device, content_digest, model_resources
from ohr.models.resident import resident

from .reading_order import Line, as_read

_DETECTOR = "craft_mlt_25k.pth"
_RECOGNISERS = {"en": "english_g2.pth", "ch_sim": "zh_sim_g2.pth", "ja": "japanese_g2.pth", "ko": "korean_g2.pth"}
_LATIN = "latin_g2.pth"
_CODES = {"zh": "ch_sim"}
"""ISO 639-1 to EasyOCR's names of languages, where they differ."""
_SHORTEST = 32
"""Pixels a side: the detector scales by powers of two, and a smaller page disappears."""


class EasyOcr(OcrBackend, kind="easyocr"):
    """Reads pages with EasyOCR: CRAFT (Baek et al., CVPR 2019) and a CRNN (Shi et al., arXiv:1507.05717).

    The engine returns lines without an order: they are sorted into columns, which white gaps separate, top to bottom.
    """

    version: ClassVar[int] = 2  # the confidence has four digits
    extra: ClassVar[str | None] = "easyocr"
    packages: ClassVar[tuple[str, ...]] = ("easyocr", "torch", "torchvision", "opencv-python", "opencv-python-headless")
    languages: Annotated[
        tuple[Literal["en", "ch_sim", "ja", "ko", "de", "es", "fr", "it", "nl", "pt"], ...],
        Field(min_length=1, description="Languages by EasyOCR's names; ch_sim, ja and ko go with en alone."),
    ] = ("en",)
    weights: Annotated[
        Path | None, Field(description="Folder with CRAFT's and a recogniser's weights; by default, the packaged.")
    ] = None
    min_confidence: Annotated[float, Field(ge=0, le=1, description="Lines below this score are dropped.")] = 0.0
    device: Annotated[str, execution("cpu, cuda, cuda:1, mps.")] = "cpu"

    def check(self) -> None:
        """Raise when a library, a file of weights or the device is missing."""
        for library in ("easyocr", "torch", "torchvision"):
            extras.require(library, "easyocr")
        folder = self._folder()
        if folder is None:
            raise extras.missing("easyocr_en_models", "easyocr")
        for name in self._files():
            if not (folder / name).is_file():
                raise PluginError(
                    f"ocr easyocr: no weights {name} in {folder}. Put {name} there, from "
                    "https://www.jaided.ai/easyocr/modelhub, and name the folder in `weights`"
                )
        check_device("ocr easyocr", self.device, "easyocr")

    def identity(self) -> Mapping[str, object]:
        """Identify the weights by their content."""
        folder = self._folder()
        found = {name: content_digest(folder / name) for name in self._files()} if folder else {}
        return {**super().identity(), "weights": found}

    def resources(self) -> Resources:
        """Return the resources of the loaded networks."""
        return model_resources(self.device)

    def reads(self, language: str) -> bool:
        """Report whether `language` is among `languages`."""
        return _CODES.get(language, language) in self.languages

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        """Read each image."""
        if not images:
            return []
        key = (self.kind, self.languages, str(self._folder()), self.device)
        reader = resident(key, self._load)
        return [_read(reader, image, self.min_confidence) for image in images]

    def _folder(self) -> Path | None:
        if self.weights is not None:
            return self.weights
        found = find_spec("easyocr_en_models")
        return Path(found.origin).parent / "models" if found and found.origin else None

    def _files(self) -> tuple[str, str]:
        others = [language for language in self.languages if language != "en"]
        return _DETECTOR, _RECOGNISERS.get(others[0], _LATIN) if others else _RECOGNISERS["en"]

    def _load(self) -> Any:
        library, folder = extras.load("easyocr", "easyocr"), str(self._folder())
        with extras.loading("ocr easyocr", folder):
            return library.Reader(
                list(self.languages),
                gpu=False if self.device == "cpu" else self.device,
                model_storage_directory=folder,
                user_network_directory=folder,  # else it makes a folder in the user's home
                download_enabled=False,
                verbose=False,
                quantize=False,  # else a CPU reads otherwise than a GPU
            )


def _padded(image: Image) -> Image:
    """Widen a tiny page with white on its right and lower side."""
    missing = ((0, max(_SHORTEST - image.shape[0], 0)), (0, max(_SHORTEST - image.shape[1], 0)), (0, 0))
    return np.pad(image, missing, constant_values=255)


def _read(reader: Any, image: Image, least: float) -> Recognition:
    cv2 = extras.load("cv2", "easyocr")
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*pin_memory.*", UserWarning)  # its way to load lines expects a GPU
            page = _padded(image)
            upright, tilted = reader.detect(page, reformat=False)
            grey = cv2.cvtColor(page, cv2.COLOR_RGB2GRAY)
            found = reader.recognize(grey, upright[0], tilted[0], reformat=False)
    except Exception as error:  # torch, OpenCV and the engine's own code raise many kinds
        return Recognition("", f"{type(error).__name__}: {error}")
    lines = [Line.around(*line) for line in found if line[2] >= least and line[1].strip()]
    return as_read(lines, image.shape[1])
