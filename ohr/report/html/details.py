"""One question: its pages as each knowledge base holds them, with what reading changed, and what was retrieved."""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np

from ohr.report.html.question_list import Pipeline, QuestionList, shown
from ohr.results.tables.row_lookup import Lookup

Span = tuple[int, int]

MOST = 12_000
"""Characters of a page that are shown: what a reader can look at; a longer page is cut around the evidence."""

_FAITHFUL = 60.0
"""Similarity in percent, by rapidfuzz's partial ratio, from which a place on a page is taken for the evidence's."""
_LONGEST = 200_000
"""Characters of a page that are searched for evidence that is not on it word by word; the search is quadratic."""
_WORDS = 24  # characters of a word that a passage is extended by at most

_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\s\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")
"""Words as they are written: a Chinese or Japanese character is one of its own."""
_GAP = re.compile(r"(\s+)")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SIGNS = re.compile(r"\W+")


class Side:
    """A text cut into words, each text once however often it is compared."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.words, self.starts, self.ends = (
            _by_space(text) if text.isascii() or not _UNSPACED.search(text) else _by_sign(text)
        )

    def range(self, first: int, last: int) -> Span:
        """Return the characters of words [first, last); an empty range is where a word would be."""
        if first < last:
            return self.starts[first], self.ends[last - 1]
        at = self.starts[first] if first < len(self.starts) else len(self.text)
        return at, at


def _by_space(text: str) -> tuple[list[str], list[int], list[int]]:
    """Return the words, and where each starts and ends; four times as fast as one match for each word."""
    pieces = _GAP.split(text)
    ends = list(accumulate(map(len, pieces)))
    words = pieces[::2], [0, *ends[1::2]], ends[::2]
    first, last = int(not pieces[0]), len(words[0]) - int(not pieces[-1])
    return words[0][first:last], words[1][first:last], words[2][first:last]


def _by_sign(text: str) -> tuple[list[str], list[int], list[int]]:
    matches = list(_WORD.finditer(text))
    return [match[0] for match in matches], [match.start() for match in matches], [match.end() for match in matches]


def find(evidence: str, text: str) -> Span | None:
    """Find a passage on a page: word by word or, where it is not there, at the place that resembles it most."""
    from rapidfuzz import fuzz

    passage = evidence.strip()
    if not passage or not text:
        return None
    if (at := text.find(passage)) >= 0:
        return at, at + len(passage)
    alignment = fuzz.partial_ratio_alignment(passage[:MOST], text[:_LONGEST], score_cutoff=_FAITHFUL)
    if alignment is None or alignment.dest_start == alignment.dest_end:
        return None
    return _whole_words(text, alignment.dest_start, alignment.dest_end)


def _whole_words(text: str, start: int, end: int) -> Span:
    """Extend a part of a text to whole words, where these are not long runs without a space."""
    before, after = text[max(start - _WORDS, 0) : start], text[end : end + _WORDS]
    head, tail = before.split()[-1:], after.split()[:1]
    if text[start : start + 1].strip() and before[-1:].strip() and head and len(head[0]) < _WORDS:
        start -= len(head[0])
    if text[end - 1 : end].strip() and after[:1].strip() and tail and len(tail[0]) < _WORDS:
        end += len(tail[0])
    return start, end


def window(text: str, about: Sequence[Span]) -> Span:
    """Choose the part of a long text that is shown: around the first passage, else from the beginning."""
    if len(text) <= MOST:
        return 0, len(text)
    start = max(0, min(min((span[0] for span in about), default=0) - MOST // 4, len(text) - MOST))
    return start, start + MOST


class Comparison:
    """Two texts of one page, compared once whatever is asked of them; offsets are characters (code points).

    Args:
        truth: the page without noise.
        read: as a knowledge base holds it.
    """

    def __init__(self, truth: Side, read: Side) -> None:
        from rapidfuzz.distance import Levenshtein

        self.truth, self.read = truth, read
        self._blocks: list[Any] = Levenshtein.opcodes(truth.words, read.words).as_list()
        self._starts, self._ends = [block[1] for block in self._blocks], [block[2] for block in self._blocks]

    def changes(self) -> list[int]:
        """List the changes, five numbers for each, as `changes_of` reads them."""
        truth, read, here, there = self.truth, self.read, 0, 0
        starts, firsts = [*truth.starts, len(truth.text)], [*read.starts, len(read.text)]
        numbers: list[int] = []
        for tag, a, b, c, d in self._blocks:
            if tag == "equal":
                continue
            start, first = starts[a], firsts[c]
            end, last = truth.ends[b - 1] if a < b else start, read.ends[d - 1] if c < d else first
            same = _bare(truth.words[a:b]) == _bare(read.words[c:d])
            numbers += (start - here, end - start, first - there, last - first, int(same))
            here, there = end, last
        return numbers

    def kept(self, evidence: Sequence[Span]) -> list[Span]:
        """Map parts of the truth onto what was read."""
        spans = []
        for start, end in evidence:
            first, last = bisect_right(self.truth.ends, start), bisect_left(self.truth.starts, end)
            after = self._blocks[bisect_right(self._ends, first) : bisect_left(self._starts, last)]
            here = [_clipped(block, first, last) for block in after]
            if here and here[0][0] < here[-1][1]:
                spans.append(self.read.range(here[0][0], here[-1][1]))
        return spans


def changes_of(numbers: Sequence[int]) -> Iterator[tuple[int, int, int, int, bool]]:
    """Yield (start, end, start, end, same): a part of the truth, and what became of it.

    `same`: the words are equal but for case, punctuation and white space, which the metrics do not see.

    Args:
        numbers: for each change the distance from the last one and the length, in the truth and then in what was
            read, and whether it is the same: short numbers, since a large report has millions.
    """
    here = there = 0
    for gap, length, space, size, same in zip(*[iter(numbers)] * 5, strict=True):
        start, first = here + gap, there + space
        here, there = start + length, first + size
        yield start, here, first, there, bool(same)


def _bare(words: Sequence[str]) -> str:
    return "".join(map(_bare_word, words))


@lru_cache(maxsize=1 << 16)
def _bare_word(word: str) -> str:
    return _SIGNS.sub("", word).lower()


def _clipped(block: Sequence[Any], first: int, last: int) -> Span:
    """Return the read words of the part of a block that belongs to the truth's words [first, last)."""
    tag, a, b, c, d = block
    return (max(a, first) + c - a, min(b, last) + c - a) if tag == "equal" else (c, d)


Row = dict[str, Any]
PageId = tuple[str, int]

_PASSAGE = 700  # characters of a retrieved chunk that are shown
_ANSWER = 600
_EVIDENCE = 4_000

_HIT = ("question_id", "condition", "retriever", "rank", "score", "document", "page", "pages", "text")
_GIVEN = ("question_id", "condition", "answer", "error", "stage", "chunker", "retriever", "generator")
_ASKED = ("question_id", "text", "answers", "evidence", "pages")


@dataclass(frozen=True, slots=True)
class Gathered:
    """The rows that some questions need, to be put together here or in another process.

    Args:
        clean: the condition without noise.
        asked: each question's row, document, domain, evidence source and scores.
        texts: rows of the pages of their documents.
    """

    conditions: tuple[str, ...]
    clean: str | None
    pipelines: tuple[Pipeline, ...]
    asked: Sequence[tuple[Row, str, str, str, list[list[Any]]]]
    texts: Sequence[Row]
    hits: Mapping[str, list[Any]]
    answers: Mapping[str, list[Any]]


class Details:
    """Reads questions with everything that is known of them.

    Args:
        only: places of the questions that will be asked for, if they are known; otherwise any may be.

    Raises:
        DataError: a table is missing or damaged.
    """

    def __init__(self, listed: QuestionList, *, only: Sequence[int] | None = None) -> None:
        self._list, run, bases = listed, listed.run, set(listed.bases.values())
        names = documents = None
        if only is not None:
            names, documents = {listed.ids[place] for place in only}, {listed.documents[place] for place in only}
        self._asked = Lookup(run.path("questions"), "question_id", _ASKED, only=names)
        texts = ("condition", "document", "page", "text", "error")
        self._texts = Lookup(run.path("texts"), "document", texts, bases, only=documents)
        self._hits = Lookup(run.path("hits"), "question_id", _HIT, bases, only=names)
        self._answers = Lookup(run.path("answers"), "question_id", _GIVEN, bases, only=names)

    def read(self, places: Sequence[int]) -> Row:
        """Return questions, as `assembled` does."""
        return assembled(self.gathered(places))

    def gathered(self, places: Sequence[int]) -> Gathered:
        """Read the rows that some questions need."""
        names = [self._list.ids[place] for place in places]
        documents = {self._list.documents[place] for place in places}
        traits = [
            (self._list.documents[place], self._list.domains[place], self._list.sources[place]) for place in places
        ]
        asked, scores = {row["question_id"]: row for row in self._asked.rows(names)}, self._scores(places)
        return Gathered(
            tuple(self._list.conditions),
            None if self._list.clean is None else self._list.conditions[self._list.clean],
            tuple(self._list.pipelines),
            [(asked[name], *about, rows) for name, about, rows in zip(names, traits, scores, strict=True)],
            self._texts.rows(documents),
            self._hits.columns(names),
            self._answers.columns(names),
        )

    def _scores(self, places: Sequence[int]) -> list[list[list[Any]]]:
        """Return the scores of questions: of each, for each pipeline, a list over conditions; or `failed`."""
        chosen = np.asarray(places, dtype=np.intp)
        columns = []
        for pipeline in range(len(self._list.pipelines)):
            cells = [self._list.scores(pipeline, condition) for condition in range(len(self._list.conditions))]
            known = np.stack([np.round(values[chosen], 4) for values, _ in cells], axis=1)
            values = known.astype(object)
            values[np.isnan(known)] = None
            values[np.stack([failed[chosen] for _, failed in cells], axis=1)] = "failed"
            columns.append(values.tolist())
        return [list(rows) for rows in zip(*columns, strict=True)] or [[] for _ in places]


def assembled(part: Gathered) -> Row:
    """Return questions; pages that several of them share are there once.

    Returns:
        `questions`: by id. `pages`: by key, the truth and what each condition read. `passages`: texts of chunks.
        A hit is a list: place of the condition, name of the retriever, rank, score, document, page, whether it is
        of the question's own pages, place of its text. An answer is a list: places of the pipeline and the
        condition, the answer, the error. Both are short because a large report has millions.
    """
    pages, passages = _Pages(part.conditions, part.clean, part.texts), dict[str, int]()
    hits, answers = _hits(part, passages), _answers(part)
    questions = {}
    for row, document, domain, source, scores in part.asked:
        name, evidence = row["question_id"], row["evidence"] or []
        questions[name] = {
            "id": name,
            "text": row["text"],
            "answers": row["answers"] or [],
            "evidence": [passage[:_EVIDENCE] for passage in evidence],
            "document": document,
            "domain": domain,
            "source": source,
            "pages": pages.of(document, list(row["pages"] or []), [text for text in evidence if text]),
            "hits": hits[name],
            "answered": answers[name],
            "scores": scores,
        }
    return {"questions": questions, "pages": pages.shown, "passages": list(passages)}


def _hits(part: Gathered, passages: dict[str, int]) -> Mapping[str, list[list[Any]]]:
    """Return the hits of each question; each text is once in `passages`, whoever found it."""
    found: dict[str, list[list[Any]]] = defaultdict(list)
    own = {row["question_id"]: (document, set(row["pages"] or ())) for row, document, *_ in part.asked}
    places = {name: number for number, name in enumerate(part.conditions)}
    columns = (part.hits[column] for column in _HIT)
    for name, condition, retriever, rank, score, document, page, pages, text in zip(*columns, strict=True):
        home, pages_asked = own[name]
        is_own = document == home and not pages_asked.isdisjoint(pages or (page,))
        place = passages.setdefault(shown(text or "", _PASSAGE), len(passages))
        score = None if score is None or score != score else round(score, 4)
        found[name].append([places[condition], retriever or "", rank, score, document, page, int(is_own), place])
    return found


def _answers(part: Gathered) -> Mapping[str, list[list[Any]]]:
    found: dict[str, list[list[Any]]] = defaultdict(list)
    places = {name: number for number, name in enumerate(part.conditions)}
    pipelines = {
        (each.stage, each.chunker or None, each.retriever or None, each.generator or None): number
        for number, each in enumerate(part.pipelines)
    }
    columns = (part.answers[column] for column in _GIVEN)
    for name, condition, answer, error, *parts in zip(*columns, strict=True):
        if condition in places and (pipeline := pipelines.get(tuple(parts))) is not None:
            found[name].append([pipeline, places[condition], shown(answer or "", _ANSWER), error or ""])
    return found


class _Pages:
    """Pages of some documents, compared in every condition: what each condition read is there once for all questions.

    Args:
        texts: rows of their texts.
    """

    def __init__(self, conditions: Sequence[str], clean: str | None, texts: Iterable[Row]) -> None:
        self._conditions, self._clean = conditions, clean
        self._texts: dict[PageId, dict[str, Row]] = defaultdict(dict)
        for row in texts:
            self._texts[row["document"], row["page"]][row["condition"]] = row
        self._compared: dict[tuple[str, str], Comparison] = {}
        self._sides: dict[str, Side] = {}
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
            side = self._sides.get(key) or self._sides.setdefault(key, Side(truth))
            self._compared[key, condition] = Comparison(side, side if part == truth else Side(part))
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
