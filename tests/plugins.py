"""Real tiny plugins: a benchmark whose page images hold their text as pixels, and what reads them, well or badly."""

import locale
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from time import sleep
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from ohr.contracts import (
    Benchmark,
    Block,
    Case,
    CaseMetric,
    Chunk,
    Chunker,
    Completion,
    Document,
    DocumentView,
    Edit,
    Ending,
    Generator,
    Hit,
    Image,
    ImageNoise,
    Index,
    NoisyImage,
    NoisyText,
    OcrBackend,
    Page,
    PageRetriever,
    Prompt,
    Question,
    Recognition,
    Retriever,
    Span,
    TextNoise,
    execution,
)
from ohr.errors import DataError
from ohr.keys import key
from ohr.ocr.structured import StructuredOcr
from ohr.text import edits

_PLACES = ("harbour", "mill", "tower", "chapel", "bakery", "foundry", "library", "quarry")


def note(log: Path | None, line: str) -> None:
    """Append a line to a log, whole also when several processes write."""
    if log:
        with log.open("ab", buffering=0) as opened:
            opened.write(f"{line}\n".encode())


class Tiny(Benchmark):
    """Documents of two pages in four domains, and a question on each page."""

    kind: Literal["tiny"] = "tiny"
    size: Annotated[int, Field(description="Documents.")] = 4
    blank: Annotated[str, Field(description="A page without text, as `law/0 page 1`.")] = ""
    language: Annotated[str, Field(description="What the documents are written in.")] = "en"
    stranger: Annotated[bool, Field(description="Ask about a document that is absent, too.")] = False

    def documents(self) -> Sequence[Document]:
        domains = ("law", "finance", "manual", "textbook")
        return [Document(f"{domains[n % 4]}/{n}", domains[n % 4], self.language, 2) for n in range(self.size)]

    def pages(self, document: Document) -> Sequence[Page]:
        return [Page(document.name, index, self._text(document, index)) for index in range(2)]

    def _text(self, document: Document, index: int) -> str:
        name = f"{document.name} page {index}"
        number = 10 * int(document.name.split("/")[1]) + index
        place = _PLACES[number % len(_PLACES)]
        sentence = f"The {place} of {document.name} was built in {1900 + number} by Ada Venn. It has {number} windows."
        return "" if name == self.blank else f"[{name}] {sentence}"

    def page_image(self, document: Document, index: int) -> Image:
        if not 0 <= index < 2:
            raise DataError(f"{document.name} has no page {index}")
        signs = np.frombuffer((self._text(document, index) or " ").encode(), dtype=np.uint8)  # no image is empty
        return np.repeat(signs.reshape(1, -1, 1), 3, axis=2)

    def questions(self) -> Sequence[Question]:
        sources = ("text", "table", "text", "formula", "text")
        found = []
        for document in self.documents():
            for index in range(2):
                number = 10 * int(document.name.split("/")[1]) + index
                place = _PLACES[number % len(_PLACES)]
                evidence = f"The {place} of {document.name} was built in {1900 + number} by Ada Venn."
                asked = f"In what year was the {place} of {document.name} built?"
                source = sources[number % len(sources)]
                found.append(
                    Question(
                        f"q{number}",
                        asked,
                        (str(1900 + number),),
                        document.name,
                        (index,),
                        (evidence,),
                        source,
                        document.domain,
                    )
                )
        if self.stranger:
            found.append(Question("lost", "Who knows?", ("x",), "law/lost", (0,), ("Nobody knows.",), "text", "law"))
        return found

    def fingerprint(self, document: Document, *, images: bool) -> str:
        return key("tiny", images, [page.text for page in self.pages(document)])


class TwoPartError(Exception):
    """An error that pickle cannot make again, as those of many libraries."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"{code}: {reason}")


class PixelReader(OcrBackend):
    """Reads the text out of the pixels; on one page it does something bad."""

    kind: Literal["pixels"] = "pixels"
    log: Annotated[Path | None, execution("Where each page read is noted.")] = None
    bad: Annotated[str, execution("How it fails: raise, two_part, few, many, value, or as `misbehave`.")] = ""
    page: Annotated[str, execution("Text of the page on which it fails.")] = "[law/0 page 1]"
    seconds: Annotated[float, execution("How long a page takes.")] = 0.0

    def recognise(self, images: Sequence[Image]) -> list[Recognition]:
        return [found for image in images for found in self._read(image)]

    def _read(self, image: Image) -> list[Recognition]:
        text = image[0, :, 0].tobytes().decode("utf-8", "replace")
        sleep(self.seconds)
        note(self.log, text.partition("]")[0] + "]")
        if not (self.bad and self.page in text):
            return [Recognition(text)]
        misbehave(self.bad)
        if self.bad == "two_part":
            raise TwoPartError(3, "paper jam")
        results = {"few": [], "many": [Recognition("a"), Recognition("b")], "value": [Recognition("", "paper jam")]}
        if self.bad in {"move", "print", "left", "left apart"}:
            return [Recognition(text)]
        if self.bad not in results:
            raise RuntimeError("paper jam")
        return results[self.bad]


class Whole(PixelReader):
    """Reads whole documents and numbers their pages: a page's text depends on the document."""

    kind: Literal["whole"] = "whole"
    reads_documents: ClassVar[bool] = True
    pages: Annotated[int | None, Field(description="Results that it returns; by default one per page.")] = None

    def recognise_document(self, view: DocumentView) -> Iterator[Recognition]:
        note(self.log, f"{view.document.name}: {len(view.images)} pages")
        for number, image in enumerate([*view.images, view.images[0]][: self.pages or len(view.images)]):
            (read,) = self._read(image)
            yield replace(read, text=read.text and f"{read.text} {number + 1} of {len(view.images)}", seconds=1.5)


class Marked(StructuredOcr):
    """Reads pages into blocks, several at once, one after the other."""

    kind: Literal["marked"] = "marked"
    batch_size: Annotated[int, execution("Pages given to the engine at once.", gt=0)] = 3
    log: Annotated[Path | None, execution("Where each batch is noted.")] = None
    stops_after: Annotated[int | None, execution("Results after which it ends.")] = None
    finish: Annotated[Ending, Field(description="How each reading ends.")] = "stop"

    def recognise(self, images: Sequence[Image]) -> Iterator[Recognition]:
        note(self.log, str(len(images)))
        for place, image in enumerate(images):
            if place == self.stops_after:
                return
            text = image[0, :, 0].tobytes().decode("utf-8", "replace")
            table = Block("table", "<table><tr><td>1900</td><td>Ada</td></tr></table>")
            page = (Block("header", "Annals"), Block("heading", "Title", 2), Block("text", text), table)
            yield Recognition(blocks=page, finish=self.finish, tokens_out=7, reader=text[1:4])


def misbehave(how: str) -> None:
    """Do what only a process boundary contains."""
    if how in {"exit", "leave"}:
        os._exit(9 if how == "exit" else 0)
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "hang":
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        while True:
            pass
    if how == "swell":
        held = []
        while True:
            held.append(bytearray(1 << 26))
    if how == "move":
        os.chdir("/")
        locale.setlocale(locale.LC_ALL, "C")
    if how == "print":
        print("printed by an engine", flush=True)
        os.write(1, b"written by an engine\n")
    if how in {"stopped", "left", "left apart", "child"}:
        trouble_the_system(how)


def trouble_the_system(how: str) -> None:
    """Be stopped, or leave a process behind that continues when the page is read, or when this process has crashed."""
    if how == "stopped":
        os.kill(os.getpid(), signal.SIGSTOP)
    elif how == "child":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        os._exit(1)
    else:
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(61)"], start_new_session=how == "left apart")


class Parrot(Generator):
    """Answers with the number after `built in`; on one question it does something bad."""

    kind: Literal["parrot"] = "parrot"
    log: Annotated[Path | None, execution("Where each answer is noted.")] = None
    bad: Annotated[str, execution("How it fails: raise, stop, value, surrogate, or as `misbehave`.")] = ""
    question: Annotated[str, execution("Part of the question on which it fails.")] = "harbour"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        for prompt in prompts:
            note(self.log, prompt.question)
            text = " ".join(prompt.passages)
            if self.bad and self.question in prompt.question:
                misbehave(self.bad)
                if self.bad == "raise":
                    raise RuntimeError("out of memory")
                if self.bad == "stop":
                    return
                yield (
                    Completion("\ud83d") if self.bad == "surrogate" else Completion("", finish="error", error="refused")
                )
                continue
            yield Completion(text.partition("built in ")[2][:4], len(prompt.user.split()), 1)


class Fickle(Parrot):
    """Says something wrong the first time that it is asked, and the truth from then on."""

    kind: Literal["fickle"] = "fickle"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        known = set(self.log.read_text().splitlines()) if self.log and self.log.exists() else set()
        for prompt, true in zip(prompts, super().answer(prompts), strict=True):
            yield true if prompt.question in known else Completion("never")


class Grader(Generator):
    """Grades a reply 5 where it is among the words of the prompt's reference answers, else 1; on one it fails."""

    kind: Literal["grader"] = "grader"
    log: Annotated[Path | None, execution("Where each prompt is noted.")] = None
    bad: Annotated[Literal["", "error", "mute", "high"], Field(description="How it fails.")] = ""
    question: Annotated[str, execution("Part of the question on which it fails.")] = "harbour"

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        for prompt in prompts:
            note(self.log, prompt.question)
            wanted = prompt.user.partition("is right):\n")[2].partition("\n\n")[0].splitlines()
            given = prompt.user.partition("to be graded:\n")[2].partition("\n\n")[0]
            if self.bad and self.question in prompt.question:
                yield {
                    "error": Completion("", finish="error", error="refused"),
                    "mute": Completion("I would rather not say."),
                    "high": Completion("Score: 7"),
                }[self.bad]
            else:
                yield Completion(f"It fits or not. Score: {5 if given in wanted else 1}")


class Grounded(CaseMetric):
    """1 where a passage contains the reply."""

    kind: Literal["grounded"] = "grounded"

    def score_case(self, case: Case) -> float:
        return float(any(case.reply and case.reply in passage for passage in case.passages))


class Eye(PageRetriever):
    """Reads the text in the pixels and ranks pages by the words of the query on them; looks at one page at a time."""

    kind: Literal["eye"] = "eye"
    log: Annotated[Path | None, execution("Where each page seen is noted.")] = None

    def index_images(self, images: Iterable[Image]) -> Index:
        texts = []
        for image in images:
            texts.append(image[0, :, 0].tobytes().decode("utf-8", "replace"))
            note(self.log, texts[-1].partition("]")[0] + "]")
        return Index({"texts": texts})

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        return [self._ranked(index["texts"], set(query.split()), k) for query in queries]

    def _ranked(self, texts: Sequence[str], asked: set[str], k: int) -> list[Hit]:
        hits = [Hit(place, float(len(asked & set(text.split())))) for place, text in enumerate(texts)]
        return sorted(hits, key=lambda hit: (-hit.score, hit.place))[:k]


class Gazer(Generator):
    """Answers with the number after `built in` in the pixels of its pages; passages are left unread."""

    kind: Literal["gazer"] = "gazer"
    reads_images: ClassVar[bool] = True
    log: Annotated[Path | None, execution("Where each answer is noted.")] = None

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        for prompt in prompts:
            note(self.log, f"{prompt.question} {len(prompt.images)}")
            text = " ".join(image[0, :, 0].tobytes().decode("utf-8", "replace") for image in prompt.images)
            yield Completion(text.partition("built in ")[2][:4], 1, 1)


class Smudge(ImageNoise):
    """Paints over the last `severity` of a page; on one page it does something bad."""

    kind: Literal["smudge"] = "smudge"
    jams: Annotated[str, execution("Text of the page on which it fails.")] = "[none]"

    def perturb(self, image: Image, others: Sequence[Image], rng: np.random.Generator) -> NoisyImage:
        if self.jams in image[0, :, 0].tobytes().decode("utf-8", "replace"):
            raise RuntimeError("ink spilt")
        painted = image.copy()
        width = image.shape[1]
        painted[:, width - round(self.severity * width) :] = ord("#")
        return NoisyImage(painted)


class Shared(TextNoise):
    """Cuts words off the end of pages; the more pages a document has, the fewer of each."""

    kind: Literal["shared"] = "shared"
    pages: Annotated[int, Field(description="Pages of the document.")] = 1

    def for_document(self, pages: Sequence[Page], rng: np.random.Generator) -> "Shared":
        return self.model_copy(update={"pages": len(pages)})

    def perturb(self, text: str, eligible: Sequence[Span], rng: np.random.Generator) -> NoisyText:
        words = [match.span() for match in re.finditer(r"\S+", text)]
        cut = words[len(words) - round(self.rate * len(words) / self.pages) :]
        return edits.apply(text, [Edit("cut", start, end, "", text[start:end]) for start, end in cut])


class Dashes(Chunker):
    """Returns passages without a word, or none."""

    kind: Literal["dashes"] = "dashes"
    none: Annotated[bool, Field(description="Give no passage at all.")] = False

    def split(self, pages: Sequence[Page]) -> list[Chunk]:
        kept = () if self.none else pages
        return [Chunk(f"{p.document}:{p.index}", p.document, (p.index,), 0, 3, "---") for p in kept]


class Broken(Retriever):
    """Fails on every corpus."""

    kind: Literal["broken"] = "broken"
    bad: Annotated[str, execution("How it fails: raise, or as `misbehave`.")] = "raise"

    def index(self, chunks: Sequence[Chunk]) -> Index:
        misbehave(self.bad)
        raise RuntimeError("no index today")

    def search(self, index: Index, queries: Sequence[str], k: int) -> list[list[Hit]]:
        raise RuntimeError("no index today")
