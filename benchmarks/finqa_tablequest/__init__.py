"""The TableQuest of finqa-tablequest-bench: 169 questions about single pages of FinanceBench's reports.

Its authors are not those of TableQuest (Pan et al., 2024, `ohr.benchmarks.tablequest`): pages, questions and measures
differ, so that numbers of the two are not comparable.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from ohr.benchmarks.tablequest.context_questions import Level, shown
from ohr.contracts import Aggregate, Document, Image, Mean, Page, Published, ScoringProtocol, Tally
from ohr.errors import DataError
from ohr.files.digests import input_digest
from ohr.files.images import read_image
from ohr.files.names import is_file
from ohr.keys import key
from ohr.messages.wording import counted, named

from ..copies import CopyBenchmark, only_mean
from ..published import published_numbers
from .metrics import MEASURES, Protocol
from .report_questions import PUBLISHED, SAMPLE, Report, Reports, load, merged, misplaced


class FinqaTableQuest(CopyBenchmark, kind="finqa_tablequest"):
    """Questions about single pages of 10-K, 10-Q and 8-K reports, each with its page image, searched in one index.

    There is no ground truth of the pages. `reference` merges questions of equal texts into one query, as the published
    code does; which verdicts of a judge count is a field of the metric `finqa_judge`.
    """

    root: Annotated[
        Path | Literal["sample"],
        Field(description="The folder `tablequest` of the repository, with qa_pairs and sampled_pages; or `sample`."),
    ]
    protocol: Annotated[Protocol, Field(description="`reference` measures retrieval as the published code does.")] = (
        "clean"
    )

    @property
    def scoring(self) -> ScoringProtocol:
        """Retrieval is measured over pages; without a judge, the rules of TableQuest decide on answers."""
        same = merged(self._copy().questions) if self.protocol == "reference" else ()
        return ScoringProtocol(
            name=self.protocol,
            retrieval="RR",
            ranking=tuple(name for name in MEASURES if name != "RR"),
            answer=("table_accuracy", "table_decided"),
            facts="figures_kept",
            index_scope="corpus",
            prompt=f"{__name__}:answer",
            image_prompt=f"{__name__}:page_image",
            reply="whole",
            metric_fields={name: {"kind": "trec", "measure": name, "merged": same} for name in MEASURES},
        )

    def pages(self, document: Document) -> Sequence[Page]:  # noqa: ARG002 # its contract
        """Return nothing: the pages are images."""
        return ()

    def page_image(self, document: Document, index: int) -> Image:
        """Read a page's image, of the first level that has it."""
        pages = self._report(document).pages
        if not 0 <= index < len(pages):
            raise DataError(f"{document.name}: no page {index}: {counted(len(pages), 'page')} were sampled")
        paths = self._images(pages[index][1])
        found = next(filter(is_file, paths), None)
        if found is None:
            raise DataError(f"{shown(paths[0])}: no such file")
        return read_image(found)

    def fingerprint(self, document: Document, *, images: bool) -> str:
        """Hash the page images; those that are absent count by their names."""
        if not images:
            return key("truth", document.name)
        found = [self._images(paths) for _, paths in self._report(document).pages]
        hashes = [[input_digest(path) for path in paths if is_file(path)][:1] for paths in found]
        return key("images", document.name, hashes)

    def notes(self) -> Sequence[str]:
        """List dates in the place of forms, gold answers without a word, and what `reference` does not repeat."""
        copy = self._copy()
        if self.protocol == "clean":
            return copy.notes
        shifted = misplaced(copy.read)
        if not shifted:
            return copy.notes
        what = "which in the published code read the pages that were found for another; here each reads its own"
        return [*copy.notes, f"{counted(len(shifted), 'question')} {what}: {named(shifted)}"]

    def aggregates(self) -> Sequence[Aggregate]:
        """Return the judged accuracy, in which a failed call counts as 0."""
        source = "share of CORRECT verdicts; failed calls of the judge stay in the denominator"
        return [Aggregate("accuracy", (Mean("finqa_judge"),), only_mean, ratio=True, source=source)]

    @classmethod
    def fetch(cls, folder: Path, revision: str | None = None, name: str = "") -> Sequence[str]:  # noqa: ARG003 # one data set
        """Refuse: the data have no licence."""
        raise DataError(
            "benchmark finqa_tablequest: it cannot be fetched, since its repository has no licence; if you may use it, "
            "clone github.com/OmarElbachyr/finqa-tablequest-bench at commit c628ea7; its folder tablequest is the root"
        )

    def verify(self) -> Sequence[Tally]:
        """Count the questions by level beside the published ones."""
        found = Counter(one.level for one in self._copy().read)
        by_level = [Tally(f"questions: {level}", found[level], PUBLISHED[level]) for level in get_args(Level)]
        return [*by_level, Tally("questions", found.total(), sum(PUBLISHED.values()))]

    def published(self) -> Sequence[Published]:
        """Return the accuracies of the repository's table."""
        return published_numbers(__package__, _about)

    def _copy(self) -> Reports:
        return load(self.root)

    def _report(self, document: Document) -> Report:
        found = self._copy().reports.get(document.name)
        if found is None:
            raise DataError(f"{self.root}: there is no report {document.name}")
        return found

    def _images(self, paths: Sequence[str]) -> list[Path]:
        folder = SAMPLE if self.root == "sample" else Path(self.root)
        return [folder / path for path in paths]


def _about(table: Mapping[str, Any], row: Mapping[str, str], column: str) -> Mapping[str, Any] | None:
    if column != "accuracy":
        return None
    setting = table["setting"].format(**row)
    return {
        "stage": "overall",
        "metric": table["metric"],
        "value": float(row[column]),
        "setting": setting,
        "main": True,
    }
