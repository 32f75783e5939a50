"""TableQuest (Pan et al., 2024, arXiv:2412.09884): questions about tables of annual reports, in three levels.

The paper says that its data are public, but no copy was found: bring your own, in the schema of `reading`. The
benchmark of the same name in finqa-tablequest-bench has other pages, questions and measures: see
`ohr.benchmarks.finqa_tablequest`. Numbers of the two are not comparable.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field

from ohr.contracts import Aggregate, Document, Image, Page, Published, ScoringProtocol, Tally
from ohr.errors import DataError
from ohr.files.digests import input_digest
from ohr.files.images import read_image
from ohr.files.names import is_file
from ohr.keys import key

from ..copies import CopyBenchmark
from . import ratings
from .context_questions import Context, Contexts, Level, load, shown

Protocol = Literal["clean", "reference"]


class TableQuest(CopyBenchmark, kind="tablequest"):
    """Questions about excerpts of annual reports in HTML: a cell (easy), a calculation (medium), an analysis (hard).

    A context is a document of one page. `clean` searches all contexts in one index, and its opponent has the rating
    1000; `reference` gives each question its own context, as published, and puts ratings on the paper's scale.
    """

    root: Annotated[
        Path | Literal["sample"],
        Field(description="Folder with questions.jsonl or questions.json, or the file; or `sample`, which is shipped."),
    ]
    protocol: Annotated[
        Protocol, Field(description="`reference`: each question reads its own context; ratings on the paper's scale.")
    ] = "clean"

    @property
    def scoring(self) -> ScoringProtocol:
        """Rules decide on answers; a judge, and the comparison with an opponent, are metrics of the spec."""
        return ScoringProtocol(
            name=self.protocol,
            answer=("table_accuracy", "table_decided"),
            facts="figures_kept",
            index_scope="document" if self.protocol == "reference" else "corpus",
            prompt=f"{__name__}:answer",
            image_prompt=f"{__name__}:page_image",
            reply="whole",
        )

    def pages(self, document: Document) -> Sequence[Page]:
        """Return the context as the ground truth."""
        return [Page(document.name, 0, self._context(document).text)]

    def page_image(self, document: Document, index: int) -> Image:
        """Read the context's page image."""
        image = self._context(document).image
        if image is None:
            raise DataError(f"{document.name}: has no page image: name one in its questions as `image`")
        if index:
            raise DataError(f"{document.name}: no page {index}: a context is one page")
        if not is_file(image):
            raise DataError(f"{shown(image)}: no such file")
        return read_image(image)

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the page image, or the context; an image that is absent counts by the document's name."""
        context = self._context(document)
        if images:
            found = context.image is not None and is_file(context.image) and input_digest(context.image)
            return key("images", document.name, found or None)
        return key("truth", document.name, context.text)

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the accuracy over easy and medium, and the ratings by level and overall."""
        return ratings.aggregates(on_the_papers_scale=self.protocol == "reference")

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:  # noqa: ARG003 # one data set
        """Refuse: nothing was released."""
        raise DataError(
            "benchmark tablequest: it cannot be fetched, since no public release of its data was found; put questions "
            f"of your own, or those of its authors, into {folder}/questions.jsonl"
        )

    def verify(self) -> Sequence[Tally]:
        """Count the questions by level beside the paper's 80 each."""
        found = Counter(one.difficulty for one in self._copy().read)
        levels = get_args(Level)
        by_level = [Tally(f"questions: {level}", found[level], ratings.QUESTIONS) for level in levels]
        return [*by_level, Tally("questions", found.total(), ratings.QUESTIONS * len(levels))]

    def published(self) -> Sequence[Published]:
        """Return the ratings of Tables 2 and 3 and the accuracies of Table 3."""
        return ratings.published(on_the_papers_scale=self.protocol == "reference")

    def _copy(self) -> Contexts:
        return load(self.root)

    def _context(self, document: Document) -> Context:
        found = self._copy().contexts.get(document.name)
        if found is None:
            raise DataError(f"{self.root}: there is no context {document.name}")
        return found
