"""Noise on files, without a run: the same texts and images that a knowledge base of the same documents would get."""

import codecs
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ohr.contracts import Image, ImageTreatment, Medium, Question, Treatment
from ohr.engine.executors.base import Executor, run_each
from ohr.engine.progress import Progress, counting
from ohr.engine.worker import Setup
from ohr.errors import DataError, SpecError
from ohr.files import documents, images, ohrbench_json, pdf
from ohr.files.lazy import page_images
from ohr.messages.wording import counted, named
from ohr.results.folder.replace import filled
from ohr.spec.read import NoiseChain
from ohr.steps.documents.page_images import OtherPages, distort
from ohr.steps.documents.treat import TreatedPages, treat
from ohr.text.words import words

FORMS: Mapping[Medium, tuple[str, ...]] = {
    "text": documents.SUFFIXES,
    "image": (".pdf", *images.SUFFIXES),
}
"""Suffixes of the files that noise of texts and of images can be applied to."""


@dataclass(frozen=True, slots=True)
class FileTask:
    """Lay noise on one file; its ledger is written beside the result, to be gathered afterwards."""

    source: Path
    target: Path
    document: str
    noises: Sequence[Treatment]
    questions: tuple[Question, ...]
    seed: int
    dpi: int

    @property
    def item(self) -> str:
        """Name of the work, for messages."""
        return str(self.source)

    @property
    def ledger(self) -> Path:
        """The file's own part of the ledger."""
        return self.target.with_name(f".{self.target.name}.jsonl")


@dataclass(slots=True)
class Applied:
    """The files that were written, and counts.

    Args:
        left_alone: files that the noise cannot be applied to.
        failures: what went wrong, by file.
        unasked: questions whose document is none of the files.
        blank: pages that could not be read, and are blank so that the others keep their numbers.
    """

    files: int = 0
    pages: int = 0
    edits: int = 0
    aimed: int = 0
    words: int = 0
    unasked: int = 0
    blank: list[str] = field(default_factory=list)
    left_alone: list[str] = field(default_factory=list)
    failures: dict[str, str] = field(default_factory=dict)


def apply(
    source: Path,
    target: Path,
    chain: NoiseChain,
    *,
    executor: Executor,
    progress: Progress,
    questions: Sequence[Question] = (),
    seed: int = 0,
    dpi: int = 200,
    plugin_files: Sequence[Path] = (),
    force: bool = False,
) -> Applied:
    """Apply noise to a file or a folder of files; writes the same layout, and a ledger of all edits.

    `documents.names` names the documents as a benchmark of OHRBench's layout does.

    Args:
        source: JSON in OHRBench's layout, text or Markdown for text noise; PDFs or images for image noise.
        target: a folder that is not there yet, is empty, or was left unfinished.
        questions: what placed noise goes by.
        seed: as a spec's.
        dpi: resolution at which PDFs are rendered.
        force: keep a `target` with files as `<name>.bak-<time>`.

    Raises:
        SpecError: there is nothing to do, or placed noise has no question about any file.
        DataError: `target` has files.
    """
    _refuse(source, target, chain, questions)
    files = documents.files(source) if source.is_dir() else [Path(source.name)]
    root = source if source.is_dir() else source.parent
    done = Applied()
    written = (Path(documents.LEDGER), Path(documents.SUMMARY))  # of noise that was applied before: ours replace them
    fitting = [path for path in files if path.suffix.lower() in FORMS[chain.medium] and path not in written]
    done.left_alone = [str(path) for path in files if path not in set(fitting)]
    if not fitting:
        wanted = ", ".join(FORMS[chain.medium])
        raise SpecError(f"{source}: nothing that {chain.medium} noise can be applied to ({wanted})")
    about: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        about[question.document].append(question)
    names = documents.names(fitting)
    tasks = [
        FileTask(root / path, target / path, name, chain.noises, tuple(about[name]), seed, dpi)
        for path, name in names.items()
    ]
    known = set(names.values())
    done.unasked = sum(question.document not in known for question in questions)
    if _placed(chain) and done.unasked == len(questions):
        asked = f"{source}: none of {counted(len(questions), 'question')} is about a file of it"
        raise SpecError(f"{asked}: its documents are {named(sorted(known))}, and not {questions[0].document}")
    did = {"noise": [noise.model_dump(mode="json") for noise in chain.noises], "seed": seed}
    with filled(target, "OUT", {"command": "noise apply", "source": str(source.resolve()), **did}, force=force):
        executor.start(Setup(plugin_files=tuple(plugin_files)))
        with counting(progress, "noise", len(tasks)) as advance:
            for task, result, error in run_each(executor, lay, tasks):
                advance(1)
                if error:
                    done.failures[task.item] = error
                    continue
                done.files += 1
                for name, value in result.items():
                    setattr(done, name, getattr(done, name) + value)
        _gather(target / documents.LEDGER, tasks)
        written_down = json.dumps({**did, **asdict(done)}, indent=1, ensure_ascii=False)
        (target / documents.SUMMARY).write_text(written_down + "\n", encoding="utf-8")
    return done


def _refuse(source: Path, target: Path, chain: NoiseChain, questions: Sequence[Question]) -> None:
    if not source.exists():
        raise SpecError(f"{source}: no such file or folder")
    if source.is_dir() and target.resolve().is_relative_to(source.resolve()):
        raise SpecError(f"{target}: is inside {source}; give a folder beside it")
    placed = _placed(chain)
    if placed and not questions:
        raise SpecError(f"where: {placed[0]} depends on questions: name their file with --questions")


def _placed(chain: NoiseChain) -> list[str]:
    places = (getattr(noise, "where", "everywhere") for noise in chain.noises)
    return [place for place in places if place != "everywhere"]


def lay(task: FileTask) -> dict[str, Any]:
    """Do a FileTask; gives what to count."""
    task.target.parent.mkdir(parents=True, exist_ok=True)
    distortions = [noise for noise in task.noises if isinstance(noise, ImageTreatment)]
    return _lay_image(task, distortions) if distortions else _lay_text(task)


def _lay_text(task: FileTask) -> dict[str, int]:
    pages = documents.read(task.source, task.document)
    made = treat(TreatedPages.of(pages), task.noises, task.questions, task.seed)
    texts = {page.index: page.text for page in made.pages}
    structured = documents.is_structured(task.source)
    content = ohrbench_json.with_texts(task.source, texts) if structured else texts[0]
    marked = not structured and task.source.read_bytes().startswith(codecs.BOM_UTF8)
    task.target.write_bytes((codecs.BOM_UTF8 if marked else b"") + content.encode("utf-8", "replace"))
    with task.ledger.open("w", encoding="utf-8") as opened:
        for page, edits in zip(made.pages, made.ledgers, strict=True):
            for edit in edits:
                opened.write(json.dumps({"document": task.document, "page": page.index, **edit}) + "\n")
    length = sum(len(words(page.text)) for page in pages)
    return {"pages": len(pages), "edits": sum(map(len, made.ledgers)), "aimed": made.aimed, "words": length}


def _lay_image(task: FileTask, noises: Sequence[ImageTreatment]) -> dict[str, Any]:
    lost: list[str] = []
    pages = page_images(task.source, task.dpi)

    with task.ledger.open("w", encoding="utf-8") as opened:

        def noisy() -> Iterator[Image]:
            for index in range(len(pages)):
                try:
                    image = pages.image(index)
                except DataError as error:
                    if len(pages) == 1:
                        raise
                    lost.append(str(error))
                    yield np.full((task.dpi * 11, task.dpi * 17 // 2, 3), 255, dtype=np.uint8)  # a US letter page
                    continue
                others = OtherPages(pages.image, len(pages), index)
                for step, made in enumerate(distort(image, others, noises, (task.document, index), task.seed)):
                    image = made.image
                    moved = None if made.homography is None else made.homography.tolist()
                    record = {"document": task.document, "page": index, "step": step, "homography": moved}
                    opened.write(json.dumps(record | {"label_effect": made.label_effect}) + "\n")
                yield image

        if task.source.suffix.lower() == ".pdf":
            pdf.write(task.target, noisy(), task.dpi)
        else:
            images.write_image(task.target, *noisy())
    return {"pages": len(pages) - len(lost), "blank": lost}


def _gather(path: Path, tasks: Sequence[FileTask]) -> None:
    """Join the files' ledgers in the order of the files."""
    with path.open("wb") as opened:
        for task in tasks:
            if task.ledger.exists():
                opened.write(task.ledger.read_bytes())
                task.ledger.unlink()


def summary(done: Applied) -> dict[str, Any]:
    """Return the counts, for a script."""
    density = 100 * done.edits / done.words if done.words else 0.0
    return asdict(done) | {"edits_per_100_words": density}
