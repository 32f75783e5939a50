"""One question: its pages as each knowledge base holds them, what was retrieved and answered, and every score."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ohr.report.html.diff import Comparison, Side, Span, find, window
from ohr.report.html.questions import QuestionList
from ohr.results.lookup import Lookup

Row = dict[str, Any]
PageId = tuple[str, int]

_PASSAGE = 700
"""Characters of a retrieved chunk that are shown."""
_ANSWER = 600
_EVIDENCE = 4_000

_HIT = ("question_id", "condition", "chunker", "retriever", "rank", "score", "document", "page", "pages", "text")
_GIVEN = ("question_id", "stage", "condition", "chunker", "retriever", "generator", "answer", "error")


class Details:
    """Reads questions with everything that is known of them.

    Args:
        listed: the questions of a run.
        everything: all questions will be asked for.

    Raises:
        DataError: a table is missing or damaged.
    """

    def __init__(self, listed: QuestionList, *, everything: bool = False) -> None:
        self._list, folder, bases = listed, listed.folder, set(listed.bases.values())
        self._asked = Lookup(
            folder / "questions.parquet", "question_id", ["question_id", "text", "answers", "evidence", "pages"]
        )
        texts = ("condition", "document", "page", "text", "error")
        self._texts = Lookup(folder / "texts.parquet", "document", texts, bases, everything)
        self._hits = Lookup(folder / "hits.parquet", "question_id", _HIT, bases, everything)
        self._answers = Lookup(folder / "answers.parquet", "question_id", _GIVEN, bases, everything)

    def read(self, places: Sequence[int]) -> Row:
        """Return questions; pages that several of them share are there once.

        Returns:
            `questions`: by id. `pages`: by key, the truth and what each condition read. `passages`: texts of chunks.
        """
        names = [self._list.ids[place] for place in places]
        documents = {self._list.documents[place] for place in places}
        asked = {row["question_id"]: row for row in self._asked.rows(names)}
        pages = _Pages(self._list, self._texts.rows(documents))
        passages = _Passages()
        hits, answers = _by_question(self._hits.rows(names)), _by_question(self._answers.rows(names))
        questions = {}
        for place, name in zip(places, names, strict=True):
            row, document = asked[name], self._list.documents[place]
            questions[name] = {
                "id": name,
                "text": row["text"],
                "answers": row["answers"] or [],
                "evidence": [passage[:_EVIDENCE] for passage in row["evidence"] or []],
                "document": document,
                "domain": self._list.domains[place],
                "source": self._list.sources[place],
                "pages": pages.of(document, list(row["pages"] or []), [text for text in row["evidence"] or [] if text]),
                "hits": [passages.hit(hit, document, row["pages"] or []) for hit in hits[name]],
                "answered": [_answer(given) for given in answers[name]],
                "scores": self._scores(place),
            }
        return {"questions": questions, "pages": pages.shown, "passages": list(passages.numbers)}

    def _scores(self, place: int) -> list[list[Any]]:
        """Return the scores of a question: for each pipeline, a list over conditions; `failed` where it failed."""
        rows = []
        for pipeline in range(len(self._list.pipelines)):
            cells = [self._list.scores(pipeline, condition) for condition in range(len(self._list.conditions))]
            rows.append(["failed" if bad[place] else round(float(values[place]), 4) for values, bad in cells])
        return rows


def _by_question(rows: Iterable[Row]) -> Mapping[str, list[Row]]:
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        found[row["question_id"]].append(row)
    return found


class _Pages:
    """Pages of some documents, compared in every condition: what each condition read is there once for all questions.

    Args:
        texts: rows of their texts.
    """

    def __init__(self, listed: QuestionList, texts: Iterable[Row]) -> None:
        self._conditions = listed.conditions
        self._clean = None if listed.clean is None else listed.conditions[listed.clean]
        self._texts: dict[PageId, dict[str, Row]] = defaultdict(dict)
        for row in texts:
            self._texts[row["document"], row["page"]][row["condition"]] = row
        self._compared: dict[tuple[str, str], Comparison] = {}
        self.shown: dict[str, Row] = {}

    def of(self, document: str, indices: Sequence[int], passages: Sequence[str]) -> list[Row]:
        """Return the pages of a question: where its evidence is, and where that is in each condition."""
        paired = len(indices) == len(passages)
        return [
            self._page(document, index, [passages[number]] if paired else passages)
            for number, index in enumerate(dict.fromkeys(indices))
        ]

    def _page(self, document: str, index: int, passages: Sequence[str]) -> Row:
        texts = self._texts.get((document, index), {})
        whole = (texts[self._clean]["text"] or "") if self._clean in texts else ""
        start, end, marks = _framed(whole, passages)
        key, truth = f"{document}#{index}#{start}", whole[start:end]
        page = self.shown.setdefault(key, {"truth": truth, "document": document, "page": index, "reads": {}})
        kept: dict[str, Sequence[Span]] = {}
        for condition in (name for name in self._conditions if name in texts):
            read = texts[condition]["text"] or ""
            about = {"error": texts[condition]["error"]}
            if truth:
                part = _beside(read, start, len(truth), len(whole))
                made = self._compare(key, condition, truth, part)
                if condition not in page["reads"]:
                    page["reads"][condition] = {
                        "read": part,
                        "changes": made.changes(),
                        "cut": len(part) < len(read),
                    } | about
                kept[condition] = made.kept(marks)
            else:  # nobody has the truth: the evidence is marked where it is found
                first, last, kept[condition] = _framed(read, passages)
                cut: Row = {"read": read[first:last], "changes": [], "cut": last - first < len(read)}
                page["reads"].setdefault(condition, cut | about)
        return {"key": key, "evidence": marks, "kept": kept, "cut": len(truth) < len(whole)}

    def _compare(self, key: str, condition: str, truth: str, part: str) -> Comparison:
        if (key, condition) not in self._compared:
            side = next((made.truth for (other, _), made in self._compared.items() if other == key), None)
            self._compared[key, condition] = Comparison(side or Side(truth), Side(part))
        return self._compared[key, condition]


def _framed(text: str, passages: Sequence[str]) -> tuple[int, int, list[Span]]:
    """Return the part of a text that is shown, and where passages are in it."""
    spans = [span for passage in passages if (span := find(passage, text))]
    start, end = window(text, spans)
    return start, end, [(a - start, min(b, end) - start) for a, b in spans if start <= a < end]


def _beside(read: str, start: int, length: int, whole: int) -> str:
    """Cut the text of a long page to about the part whose truth is shown, with room for words that noise added."""
    if len(read) <= 2 * length:
        return read
    first = int(len(read) * start / whole)
    return read[first : first + 2 * length]


class _Passages:
    """Retrieved chunks, each text once: retrievers and conditions find the same ones."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def hit(self, row: Row, document: str, pages: Sequence[int]) -> Row:
        """Return a retrieved chunk; `own`: it is of the question's own pages."""
        text = _shortened(row["text"] or "", _PASSAGE)
        found = {name: row[name] or "" for name in ("condition", "chunker", "retriever")}
        return {
            **found,
            "rank": row["rank"],
            "score": row["score"],
            "document": row["document"],
            "page": row["page"],
            "own": row["document"] == document and bool(set(row["pages"] or [row["page"]]) & set(pages)),
            "passage": self.numbers.setdefault(text, len(self.numbers)),
        }


def _answer(row: Row) -> Row:
    parts = {name: row[name] or "" for name in ("stage", "condition", "chunker", "retriever", "generator", "error")}
    return {**parts, "answer": _shortened(row["answer"] or "", _ANSWER)}


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}…"
