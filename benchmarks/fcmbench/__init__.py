"""FCMBench: questions on photographed certificates of loan applicants, in Chinese and English."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ohr.contracts import (
    Aggregate,
    Document,
    Image,
    ImageTreatment,
    Page,
    Passage,
    Published,
    Question,
    ScoringProtocol,
    Tally,
)
from ohr.errors import DataError
from ohr.files.digests import input_digest
from ohr.files.images import read_image
from ohr.keys import key
from ohr.messages.wording import counted, named, shortened

from ..copies import CopyBenchmark
from .capture_items import CAPTURES, NORMAL, label_effect
from .dossiers import Dossiers, dossier_prompt, read_dossiers, read_texts, truth
from .item_files import SAMPLE, Split, fetch, image_folder, question_file
from .macro_means import aggregates
from .published_tables import published, tallies
from .reply_metrics import F1, MODES, PARSED, REPAIRS, Mode

CaptureName = Literal[
    "normal", "off_axis", "uneven_illumination", "specular", "defocus", "small_roi", "secondary_capture",
    "cluttered_background", "watermark", "cropped", "multi_doc",
]  # fmt: skip
"""Capture conditions, by the image noise that imitates them."""
Language = Literal["zh", "en"]

_PROMPT = "ohr.benchmarks.fcmbench:question"


class FcmBench(CopyBenchmark, kind="fcmbench"):
    """FCMBench V1.1 (Yang et al., arXiv:2601.00150), vision-language track: its questions and, if any, its images.

    A document is an applicant, its pages are the pictures that the questions show. The published protocol shows a model
    the pictures of the question, which is ohr's stage `generation`; in the stage `overall` they are retrieved among
    all pictures of the applicant.
    """

    packages: ClassVar[tuple[str, ...]] = ("pillow",)
    root: Annotated[
        Path | Literal["sample"],
        Field(description="Folder with the questions, and the images if any; `sample` is the one that comes with ohr."),
    ]
    protocol: Annotated[Mode, Field(description="`reference` repeats the published scores, defects included.")] = (
        "clean"
    )
    split: Annotated[
        Split | None,
        Field(description="`full` has ten times as many questions as `small`, but no answers; `small` if it is there."),
    ] = None
    captures: Annotated[
        tuple[CaptureName, ...] | None, Field(min_length=1, description="Capture conditions to keep; all.")
    ] = None
    languages: Annotated[tuple[Language, ...], Field(min_length=1, description="Languages to keep.")] = ("zh", "en")

    @property
    def scoring(self) -> ScoringProtocol:
        """One index per applicant; a question is asked in its published words."""
        repairs = tuple(repair for repair in REPAIRS if repair in MODES[self.protocol])
        return ScoringProtocol(
            name=self.protocol,
            retrieval="ndcg",
            answer=(F1, PARSED),
            index_scope="document",
            prompt=_PROMPT,
            image_prompt=_PROMPT,
            reply="whole",
            metric_fields={F1: {"repairs": repairs}},
        )

    def pages(self, document: Document) -> Sequence[Page]:
        """Read what the certificates say, where the copy has texts; the published one has none."""
        return truth(document.name, self._copy().pictures[document.name], read_texts(self._file))

    def page_image(self, document: Document, index: int) -> Image:
        """Read a picture, upright as the camera was held."""
        pictures = self._copy().pictures[document.name]
        if not 0 <= index < len(pictures):
            raise DataError(
                f"{document.name}: no page {index}: it has {counted(len(pictures), 'page')}, counted from 0"
            )
        folder = self._images()
        if folder is None:
            picture = shortened(pictures[index])
            raise DataError(f"{self._root}: has no image {picture}; `ohr data get fcmbench` fetches the images")
        return read_image(folder / pictures[index])

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the pictures, or the text of the certificates; an absent picture counts by its name."""
        pictures = self._copy().pictures[document.name]
        if images:
            folder = self._images()
            paths = [folder / picture if folder else None for picture in pictures]
            hashes = [input_digest(path) if path and path.is_file() else None for path in paths]
            return key("images", document.name, pictures, hashes)
        return key("truth", document.name, pictures, [[page.index, page.text] for page in self.pages(document)])

    def under(self, question: Question, noises: Sequence[ImageTreatment]) -> Question | None:
        """Return a question with the gold that it has after image noise; None where it has no sure one.

        The example pictures of `doc_cla_002` must stay as they are, but noise acts on all pages: it is not asked.
        """
        item = self._copy().items[question.id]
        acting = [noise for noise in noises if getattr(noise, noise.knob)]
        if not acting or item.gold is None:
            return question
        if item.subtask.endswith("doc_cla_002"):
            return None
        sheets = max(noise.joined for noise in acting)
        joined = self._copy().joined_types(item, sheets) if sheets else ()
        gold = label_effect(item, [noise.kind for noise in acting], joined)
        return None if gold is None else replace(question, answers=(gold,))

    def prompt_values(self, question: Question, passages: Sequence[Passage], *, images: bool) -> Mapping[str, str]:
        """Put the texts in the places of their images; a model that sees the images gets the question as it is."""
        asked = question.text if images else dossier_prompt(question.text, question.places, passages)
        return {"question": asked, "retrieved_documents": ""}

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the scores by task, the overall ones, and ratios of capture conditions to normal captures."""
        return aggregates(self._copy().items.values())

    def notes(self) -> Sequence[str]:
        """Report what is left out, and which images are missing."""
        dossiers = self._copy()
        lines = [f"questions of {self._file.name}, protocol {self.protocol}", *dossiers.notes]
        folder = self._images()
        if folder is None:
            return [*lines, "no images: answers can be scored, but pages cannot be read"]
        missing = [picture for picture in dossiers.shown if not (folder / picture).is_file()]
        return [*lines, *([f"{counted(len(missing), 'missing image')}: {named(missing)}"] if missing else [])]

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:  # noqa: ARG003 # one data set
        """Download the images from the hub, and the small set of questions."""
        return fetch(folder, revision)

    def verify(self) -> Sequence[Tally]:
        """Count images, and the questions of each set, beside the published counts."""
        return list(tallies(self._root))

    def published(self) -> Sequence[Published]:
        """Return the paper's Tables 4, A5 and A6, and the leaderboard of V1.0."""
        return published()

    @property
    def _root(self) -> Path:
        return SAMPLE if self.root == "sample" else Path(self.root)

    @property
    def _file(self) -> Path:
        return question_file(self._root, self.split)

    def _copy(self) -> Dossiers:
        known = {"normal": NORMAL} | {kind: capture.label for kind, capture in CAPTURES.items()}
        labels = frozenset(known[name] for name in self.captures or known)
        return read_dossiers(self._file, labels, frozenset(self.languages))

    def _images(self) -> Path | None:
        return image_folder(self._root, self._copy().shown)
