"""InduOCRBench's files: `RAG_eval/QA_pairs.jsonl`, and the truth in `RAG_eval/doc_md` or `ocr_data/md`."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ohr.contracts import Document, Question
from ohr.errors import DataError
from ohr.files.below import files_below
from ohr.files.changes import State, state_of
from ohr.files.json_input import read_records, text_of
from ohr.files.ohrbench_json import set_names
from ohr.messages.wording import counted, named, quoted
from ohr.parse_scores.omnidocbench import VERSIONS, score_markdown
from ohr.registry import choices
from ohr.text.chinese import HAN

from ..copies import Copy, refuse_name
from ..omnidocbench.metrics import PAGE, TABLE

QUESTIONS = Path("RAG_eval") / "QA_pairs.jsonl"
TRUTHS = (Path("RAG_eval") / "doc_md", Path("ocr_data") / "md")
"""Folders of the truth; the first that is there counts, as the questions name it."""
_FIELDS = ("doc_type", "filename", "question", "answer", "evidence")
_CHINESE = 0.1
"""Share of Chinese characters from which a document is Chinese; tables of numbers have few letters of any script."""


@dataclass(frozen=True, slots=True)
class WholeDocuments(Copy):
    """The content of a copy.

    Args:
        texts: the truth, by document.
        files: name of the truth's file without its ending, of each document.
    """

    texts: Mapping[str, str]
    files: Mapping[str, str]


def load(root: Path, types: tuple[str, ...] | None) -> WholeDocuments:
    """Read a copy; what is read is kept until its files change.

    Raises:
        DataError: there is no truth, a question cannot be used, or no document is of one of the types.
    """
    folder = next((root / path for path in TRUTHS if (root / path).is_dir()), None)
    if folder is None:
        raise DataError(
            f"{root}: holds none of the folders of the truth, {' and '.join(map(str, TRUTHS))}: unpack them"
        )
    files = files_below(folder, ".md")
    if not files:
        raise DataError(f"{folder}: holds no truth: a Markdown file for each document")
    return _read(root, state_of(root / QUESTIONS, *files), types)


@lru_cache(maxsize=4)
def _read(root: Path, state: State, types: tuple[str, ...] | None) -> WholeDocuments:
    texts = {stem: _text(path) for stem, path in _by_stem(Path(name) for name, *_ in state[1:]).items()}
    asked = list(_asked(root / QUESTIONS))
    kinds = {_stem(entry["filename"]): entry["doc_type"] for _, entry in asked}
    kinds = {stem: kinds.get(stem) or stem.rstrip("0123456789").rstrip("_-") or "documents" for stem in texts}
    if absent := sorted(set(types or ()) - set(kinds.values())):
        raise DataError(
            f"{root}: no document is of the type {absent[0]!r}. {choices(absent[0], sorted(set(kinds.values())))}"
        )
    kept = {stem: kind for stem, kind in kinds.items() if types is None or kind in types}
    names = dict(zip(kept, set_names(f"{kind}/{stem}" for stem, kind in kept.items()).values(), strict=True))
    questions, places, lost, again = list[Question](), dict[str, str](), list[str](), list[str]()
    seen = set[tuple[str, str]]()
    for stem, name in names.items():
        for question in _of_document(name, texts[stem]):
            questions.append(question)
            places[question.id] = f"{root}: {stem}.md"
    for number, (where, entry) in enumerate(asked, start=1):
        stem = _stem(entry["filename"])
        if stem in names:
            again += [where] if (stem, entry["question"]) in seen else []
            seen.add((stem, entry["question"]))
            questions.append(_question(f"qa-{number}", names[stem], entry))
            places[f"qa-{number}"] = where
        elif stem not in texts:
            lost.append(where)
    return WholeDocuments(
        documents=tuple(Document(name, name.split("/")[0], _language(texts[stem]), 1) for stem, name in names.items()),
        questions=tuple(questions),
        places=places,
        notes=tuple(
            f"{counted(len(places), 'question')} {about}: {named(places)}"
            for about, places in (("of documents without a truth, left out", lost), ("asked again", again))
            if places
        ),
        texts={name: texts[stem] for stem, name in names.items()},
        files={name: stem for stem, name in names.items()},
    )


def _stem(name: str) -> str:
    return Path(name).name.removesuffix(".md")


def _by_stem(paths: Iterable[Path]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in paths:
        if found.setdefault(_stem(path.name), path) != path:
            raise DataError(f"{path}: {found[_stem(path.name)]} has the same name")
    return found


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: is not UTF-8 text (byte {error.start})") from None


def _asked(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the questions with their places; none where the copy has no file of them."""
    for where, record in read_records(path) if path.exists() else ():
        entry = {field: _word(record.get(field), f"{where}: `{field}`") for field in (*_FIELDS, "question_category")}
        if blank := [field for field in _FIELDS if not entry[field]]:
            raise DataError(f"{where}: has no `{blank[0]}`")
        refuse_name(entry["doc_type"], where, "`doc_type`")
        yield where, entry


def _word(value: object, what: str) -> str:
    if isinstance(value, bool | list | dict) or value != value:
        raise DataError(f"{what} must be a text or a number (got {quoted(value)})")
    return text_of(value).strip()


def _of_document(name: str, text: str) -> Iterator[Question]:
    """Yield what stands for a document and for its tables, which no retriever or generator gets."""
    try:
        tables = score_markdown(text, text, VERSIONS[-1]).tables
    except ValueError as error:
        raise DataError(f"{name}: {error}") from None
    stands_for = [
        (name, PAGE, ""),
        *((f"{name}-table-{number}", TABLE, str(number)) for number, _ in enumerate(tables)),
    ]
    for id, kind, answer in stands_for:
        yield Question(
            id=id,
            text=f"the {kind} itself",
            answers=(answer,),
            document=name,
            pages=(0,),
            evidence=(),
            evidence_source="table" if kind == TABLE else "text",
            domain=name.split("/")[0],
            task_type=kind,
            asked=False,
        )


def _question(id: str, document: str, entry: Mapping[str, Any]) -> Question:
    evidence = entry["evidence"]
    return Question(
        id=id,
        text=entry["question"],
        answers=(entry["answer"],),
        document=document,
        pages=(0,),
        evidence=(evidence,),
        evidence_source="table" if "<table" in evidence or evidence.startswith("|") else "text",
        domain=document.split("/")[0],
        groups=(("category", entry["question_category"]),) if entry["question_category"] else (),
    )


def _language(text: str) -> str:
    return "zh" if len(re.findall(f"[{HAN}]", text)) > _CHINESE * len(text) else "en"


def read_results(folder: Path, copy: WholeDocuments) -> Mapping[str, Sequence[str]] | None:
    """Return the text of each document that has a Markdown file of its name; None where the folder holds none.

    Raises:
        DataError: no file is of a document of this copy.
    """
    files = _by_stem(files_below(folder, ".md"))
    if not files:
        if files_below(folder, ".json") or not folder.is_dir():
            return None
        raise DataError(f"{folder}: holds no Markdown named as the documents, nor <domain>/<document>.json")
    texts = {name: [_text(files[stem]) or "\n"] for name, stem in copy.files.items() if stem in files}
    if not texts:
        raise DataError(
            f"{folder}: none of its {counted(len(files), 'file')} is of a document of this copy: {named(list(files))}"
        )
    return texts
