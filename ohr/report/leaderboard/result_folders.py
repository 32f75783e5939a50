"""The spec that scores folders of OCR results, which may be copies of results in a benchmark's own layout."""

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ohr.contracts import ABSENT, Benchmark, Page, PublishedBenchmark, RecordedOcr
from ohr.engine.ledger import Failure
from ohr.errors import DataError
from ohr.files.below import files_below
from ohr.files.documents import TEXT_SUFFIXES
from ohr.files.names import composed
from ohr.files.ohrbench_json import write_pages
from ohr.messages.wording import counted, named
from ohr.results.run import Run
from ohr.runner.plain_search import plain_search
from ohr.spec.model import Spec
from ohr.spec.read import make_benchmark, make_spec

_LONGEST_NAME = 80
"""Characters of a run's name, which is that of its folder."""
LAYOUT = "ohrbench"
"""The format of `<domain>/<document>.json`."""


@contextmanager
def as_base(
    folder: Path, benchmark: Mapping[str, Any], label: str = "ohr score", format: str = LAYOUT
) -> Iterator[Path]:
    """Provide the folder of a knowledge base: the folder itself, or a copy of results in the benchmark's own layout.

    Raises:
        DataError: the results cannot be read.
        SpecError: the benchmark's keys are wrong.
    """
    own = make_benchmark(dict(benchmark), label)
    may_be_own = format == LAYOUT and folder.is_dir()
    results = own.results(folder) if may_be_own and isinstance(own, PublishedBenchmark) else None
    if results is None:
        yield folder
        return
    with TemporaryDirectory() as copy:
        base = Path(copy) / folder.resolve().name
        for document, texts in results.items():
            if not (base / f"{document}.json").resolve().is_relative_to(base.resolve()):
                raise DataError(f"benchmark {own.kind}: {document!r} is no name of a document")
            pages = [Page(document, index, text) for index, text in enumerate(texts) if text is not None]
            write_pages(base / f"{document}.json", pages)
        yield base


def unread(folder: Path, benchmark: Benchmark) -> list[str]:
    """Return what of results in a benchmark's own layout was not read: files of no document, and JSON beside them."""
    documents = [document.name for document in benchmark.documents()]
    held = [name.rpartition("/")[2].split("__") for name in documents]
    names = {"__".join(parts[start:]) for parts in held for start in range(len(parts))}  # `__` may join folders
    files = (path.name for path in files_below(folder, *TEXT_SUFFIXES))
    strange = sorted(name for name in files if not _begins_with_one(name, names))
    others = [f"{name}.json" for name in documents if (folder / f"{name}.json").is_file()]
    return [
        *([f"{counted(len(strange), 'file')} of no document of the benchmark: {named(strange)}"] if strange else []),
        *([f"{counted(len(others), 'JSON file')} beside those of the benchmark's layout, not read"] if others else []),
    ]


def _begins_with_one(file: str, names: Collection[str]) -> bool:
    """Report whether a file's name is one of some names, or one with an ending such as `_pg1` or `.md`."""
    return any(not sign.isalnum() and file[:place] in names for place, sign in enumerate(file))


def ocr_spec(
    folders: Mapping[str, Path],
    benchmark: Mapping[str, Any],
    label: str = "ohr score",
    format: str = LAYOUT,
    *,
    pages_only: bool = False,
    given: Mapping[str, Path] | None = None,
) -> Spec:
    """Make the spec that scores folders: with the ground truth, BM25, top 2, retrieval only.

    Args:
        folders: by the name of the OCR system.
        benchmark: its keys in a spec.
        label: the beginning of messages about the keys.
        format: that of `precomputed`; by default `<domain>/<document>.json`, as every knowledge base of OHRBench.
        pages_only: score only the text of pages, as where the benchmark has no ground truth.
        given: the folders that the manifest names, by the same names, where those that are read are copies of them.

    Raises:
        PluginError: there is no such folder, or nothing in it that could be a page.
        SpecError: the benchmark's keys or the format are wrong.
    """
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", "-".join(folders))[:_LONGEST_NAME].strip("-.") or "ocr"
    results = [
        {"name": system, "ocr": {"kind": "precomputed", "root": str(folder.resolve()), "format": format}}
        for system, folder in folders.items()
    ]
    # the reference protocol's chunks depend on the knowledge base's name, and `gt` is the published one's
    truth = {"name": "gt" if "gt" not in folders else "ground_truth"}
    if pages_only:
        compared: dict[str, Any] = {"knowledge_bases": results, "evaluate": ["page"]}
    else:
        bases = [truth, *results]
        compared = {"knowledge_bases": bases, "measure": ["dose", "pages"], **plain_search(benchmark, label)}
    spec = make_spec({"name": f"score-{name}", "replicates": 1, "benchmark": dict(benchmark), **compared}, label)
    for recorded in _results(spec):
        recorded.check()
    return _naming(spec, given or {})


def _naming(spec: Spec, given: Mapping[str, Path]) -> Spec:
    """Return a spec whose manifest names the folders that were given: copies of them are gone after the run."""
    bases = [
        base | {"ocr": base["ocr"] | {"root": str(given[base["name"]].resolve())}} if base["name"] in given else base
        for base in spec.resolved["knowledge_bases"]
    ]
    return replace(spec, resolved=spec.resolved | {"knowledge_bases": bases})


def _results(spec: Spec) -> list[RecordedOcr]:
    return [base.ocr for base in spec.knowledge_bases if isinstance(base.ocr, RecordedOcr)]


def _files(results: Any) -> list[str]:  # whose fields are those of `precomputed`, which a plugin is
    if results.format.kind != LAYOUT:
        return sorted(document.name for document in results.documents())
    root = results.root
    return sorted(path.relative_to(root).as_posix().removesuffix(".json") for path in files_below(root, ".json"))


def refuse_another_benchmarks(spec: Spec) -> None:
    """Refuse folders of which no file is a document of the benchmark.

    Raises:
        DataError: there is such a folder.
    """
    spec.benchmark.check()
    documents = spec.benchmark.documents()
    known = [composed(document.name) for document in documents]
    for results in _results(spec):
        names = _files(results)
        # files of another format may lie and be named otherwise than their documents
        held = (page for document in documents for page in results.recorded(document) if page.error != ABSENT)
        if known and not set(map(composed, names)) & set(known) and not any(held):
            raise DataError(
                f"no file is a document of benchmark {spec.benchmark.kind} "
                f"(a file is {names[0]!r}, a document {known[0]!r}): "
                "name the benchmark with --benchmark and, where it needs one, --root"
            )


def failures_of(run: Run) -> list[Failure]:
    """Return what failed in a run, and the pages that results lack, as a vendor wants to know of both."""
    return [Failure(**row) for row in run.rows("failures")]


def is_searched(benchmark: Benchmark) -> bool:
    """Report whether a benchmark has a ground truth, and questions to ask; one that has not must score pages.

    Raises:
        DataError: it has no ground truth, and scores no pages.
    """
    truth = any(any(benchmark.pages(document)) for document in benchmark.documents())
    if benchmark.scoring.page:
        return truth and any(question.asked for question in benchmark.questions())
    if truth:
        return True
    raise DataError(
        f"benchmark {benchmark.kind} has no ground truth here, which OCR results are scored against: --set one of "
        f"its keys (`ohr plugins show benchmark {benchmark.kind}`)"
    )


def strangers(spec: Spec) -> list[str]:
    """Name the files that are no document of the benchmark: a misspelt name must not pass in silence."""
    known = {document.name for document in spec.benchmark.documents()}
    results: Any = _results(spec)[0]
    if results.format.kind != LAYOUT:  # warnings name the documents that are missing
        return []
    names = _files(results)
    domains = {name.split("/")[0] for name in known}
    strange = [name for name in names if name not in known and name.split("/")[0] in domains]
    others = sum(name.split("/")[0] not in domains for name in names)
    warnings = [f"{counted(others, 'file')} of domains that are not evaluated, left out"] if others else []
    if strange:
        warnings.append(f"{counted(len(strange), 'file')} of no document of the benchmark: {named(strange)}")
    return warnings
