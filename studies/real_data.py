"""The copy of OHRBench that the studies of real documents measure: its texts, changed bases, and the kept tables."""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple

import pyarrow
from pyarrow import parquet

from ohr.contracts import Question
from ohr.errors import OhrError
from ohr.files.digests import input_digest
from ohr.files.ohrbench_json import read_document
from ohr.report.html.report_file import write_report
from ohr.results.folder.replace import record_folder, set_aside, written
from ohr.results.run import Run
from ohr.spec.read import make_benchmark

KEPT = Path(__file__).parent / "kept" / "real"
DOMAINS = ("law", "manual", "textbook")
SCORES = ["question_id", "document", "domain", "evidence_source", "condition", "retriever", "value"]
"""Columns of kept scores."""
COPY = b"copy"
"""Name of the hash of the copy of the data, in a table's metadata."""
Place = tuple[str, int]
Texts = Mapping[Place, str]


class Size(NamedTuple):
    """Files and pages of the ground truth, and questions, of a copy."""

    documents: int
    pages: int
    questions: int

    def __str__(self) -> str:
        return f"{self.documents:,} documents, {self.pages:,} pages and {self.questions:,} questions"


OURS, OUR_COPY = Size(687, 3_590, 2_883), "c4b59073e9120bdf1f0a472f20d841962b0b5cde577ff4a6857fc7399394bce3"
"""Size and hash of the copy that was measured."""


def study(main: Callable[[], None]) -> None:
    """Do a study, and say in a sentence what ends it."""
    try:
        main()
    except (OhrError, OSError) as error:
        sys.exit(str(error))


def root() -> Path:
    """Return the copy of the data; ends where none is named."""
    if not os.environ.get("OHRBENCH_DATA"):
        sys.exit("OHRBENCH_DATA must name a copy of OHRBench: `ohr data get ohrbench` says how to have one")
    return Path(os.environ["OHRBENCH_DATA"])


def documents(base: str) -> dict[str, list[Path]]:
    """Return the files of a knowledge base by domain; ends where the copy of the data lacks one."""
    folder = root() / "retrieval_base" / base
    files = {
        domain: sorted(path for path in (folder / domain).glob("*.json") if not path.name.startswith("."))
        for domain in DOMAINS
    }
    for domain, listed in files.items():
        if not listed:
            sys.exit(f"{folder / domain} has no documents: OHRBENCH_DATA must hold the domains {', '.join(DOMAINS)}")
    return files


def read(base: str) -> Texts:
    """Return the text of each page of a knowledge base, by document and number; ends where a file is damaged."""
    texts = {}
    for domain, files in documents(base).items():
        for file in files:
            name = f"{domain}/{file.stem}"
            reading = read_document(file, name)
            if reading.error is not None:
                sys.exit(f"{file}: {reading.error}{reading.detail}")
            texts.update({(name, page.index): "" if page.error else page.text for page in reading.pages})
    return texts


def write_base(folder: Path, texts: Texts) -> None:
    """Write a knowledge base in place of an earlier one; what ohr did not write is kept beside it, as `.bak`.

    Chunks depend on the folder's name.
    """
    held: dict[str, list[dict[str, object]]] = {}
    for (document, page), text in sorted(texts.items()):
        held.setdefault(document, []).append({"page_idx": page, "text": text})
    set_aside(folder)
    shutil.rmtree(folder, ignore_errors=True)
    for document, pages in held.items():
        file = folder / f"{document}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(pages), encoding="utf-8")
    record_folder(folder)


def keep(table: pyarrow.Table, out: Path, name: str) -> None:
    """Write a table, whole or not at all, with the hash of the copy of the data that it is of."""
    with written(out / name, "--out", force=True) as new:
        parquet.write_table(table.replace_schema_metadata({COPY: _copy()}), new, compression="zstd")
    print(f"{out / name}: beside ours with `python -m studies.real_documents {out}`")


def copies_of(folder: Path) -> set[str]:
    """Return the hashes of the copies of the data that the tables of a folder are of, of those that say so."""
    copies = set()
    for path in folder.glob("*.parquet"):
        with suppress(pyarrow.ArrowException, OSError):  # who reads the table says that it is damaged
            copies.add((parquet.read_schema(path).metadata or {}).get(COPY, b"").decode())
    return copies - {""}


@cache
def _copy() -> str:
    """Hash what is measured of the copy: texts of both bases, and questions, of DOMAINS."""
    digest = sha256()
    for base in ("gt", "MinerU"):
        for domain, files in documents(base).items():
            for file in files:
                digest.update(f"{base}/{domain}/{file.name}\0{input_digest(file)}\n".encode())
    for question in sorted(_questions(), key=lambda question: question.id):
        digest.update(repr((question.id, question.text, question.answers, question.evidence, question.pages)).encode())
    return digest.hexdigest()


def scores_of(of: Run) -> pyarrow.Table:
    """Return the scores of retrieval of each question, without texts."""
    table = of.table("scores", [*SCORES, "stage", "metric"], stage="retrieval", metric="lcs")
    return table.select(SCORES)


def keep_run(of: Run, out: Path, name: str, scores: Callable[[Run], pyarrow.Table] = scores_of) -> None:
    """Keep the scores of a run, and beside them its report, which has numbers, ids and names alone."""
    keep(scores(of), out, name)
    write_report([of], (out / name).with_suffix(".html"), texts=False, force=True)


def given(about: str) -> tuple[Path, Path]:
    """Read the folders of the command: of the store and the runs, and of the tables; say where the copy is another."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("work", type=Path, help="a folder for the store and the runs")
    parser.add_argument(
        "--out", type=Path, required=True, help="a folder for the tables; ours are in studies/kept/real"
    )
    named = parser.parse_args()
    os.environ["OHRBENCH_DATA"] = str(root().absolute())  # as relative paths of a spec begin at its folder
    size = _size()
    if size != OURS:
        print(f"this copy has {size}, ours had {OURS}: the numbers will differ")
    elif _copy() != OUR_COPY:
        print("this copy has as many documents and questions as ours, but not the same: the numbers will differ")
    for folder in (named.work, named.out):
        if folder.is_file():
            parser.error(f"{folder} is a file: name a folder")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=folder).close()
        except OSError as error:
            parser.error(f"{folder}: {error.strerror}")
    return named.work.resolve(), named.out


def _size() -> Size:
    documents("MinerU")
    truth = read("gt")
    return Size(len({document for document, _ in truth}), len(truth), len(_questions()))


def _questions() -> Sequence[Question]:
    benchmark = make_benchmark({"kind": "ohrbench", "root": str(root()), "domains": list(DOMAINS)}, "studies")
    return benchmark.questions()
