"""Makes candidates of a model's replies: JSON, broken JSON, or lines such as `Question: ...`; finds what they quote."""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from rapidfuzz import fuzz

from ohr.contracts import Completion, Page, Span
from ohr.messages.wording import shortened
from ohr.metrics.answers import CLOSED_ANSWERS
from ohr.questions.candidate import Candidate, Evidence
from ohr.questions.number_readings import numbers
from ohr.questions.truth_texts import Texts, letters, stems
from ohr.questions.writing.assignments import FORMS, Assignment, Passage, parts_of, short_hash
from ohr.text.sentences import sentence_spans
from ohr.text.thoughts import without_thoughts
from ohr.text.words import normalise, words

_NAMES = {
    "question": "question|问题|問題",
    "answer": "answers?|答案|回答",
    "evidence": "evidences?|evidence[_ ]context|quotes?|证据|依据|原文",
    "about": "about|主题",
    "form": "answer[_ ](?:form|format|type)|答案形式|答案类型",
}
_ANY = "|".join(f"(?P<{name}>{words})" for name, words in _NAMES.items())
_NUMBER = r"[ _]?(?:[0-9]{1,2}|[ab])?"
_KEY = re.compile(rf"(?<![\w\"'])[\"'“](?:{_ANY}){_NUMBER}[\"'”][ \t]*[:：]", re.IGNORECASE)
_LINE = re.compile(rf"^[\s>*#\-.\d]*(?:{_ANY}){_NUMBER}[ \t]*\**[ \t]*[:：]\**", re.IGNORECASE | re.MULTILINE)
_OTHER_KEY = re.compile(r"[\"'”][ \t]*,\s*[\"'“]\w{1,30}[\"'”][ \t]*[:：]")
_LATEX = (
    "begin|beta|bar|bf|big|binom|bullet|boldsymbol|frac|forall|footnote|neq|nabla|nu|newline|nonumber|rho|right|rightarrow|"
    "rm|rangle|tau|text|textbf|textit|textrm|times|theta|tan|tfrac|tilde|top|triangle|underline|upsilon|uparrow"
)
"""Commands whose first letter makes an escape of JSON with the backslash."""
_BARE_BACKSLASH = re.compile(
    rf"(?<!\\)((?:\\\\)*)\\(?=(?:{_LATEX})(?![A-Za-z])|u(?![0-9A-Fa-f]{{4}})|[^\"\\/bfnrtu]|\Z)"
)
_TRAILING_COMMA = re.compile(r",(?=\s*[\]}])")
_AFTER = re.compile(r"\s*(?:[,}\]`;]|\Z)")
_SURROUNDING = "\"'“”‘’`,;[]{} \t\r\n"
_READER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)


class Item(NamedTuple):
    """One question of a reply; "", () or None where the reply has nothing of the kind.

    Args:
        answer: a text, or a JSON value.
        about: what the model says that the evidence is about.
        whole: the reply closes it, or has another one after it.
    """

    question: str
    answer: Any
    evidence: tuple[str, ...]
    form: str
    about: str
    whole: bool


def items_in(reply: str, opening: str = "") -> list[Item]:
    """Return the questions of a reply without its thoughts, in order; [] where there is no sign of one.

    The reply may continue the words of an opening: where more can be read with them, they belong to it.
    """
    text = clean(without_thoughts(reply))
    versions = (text, opening + text) if _KEY.search(text) else ()  # what continues an opening has further keys
    repaired = (_BARE_BACKSLASH.sub(r"\1\\\\", version.replace("\\'", "'")) for version in versions)
    readings = [list(_items(version, _KEY)) for version in repaired]
    return max(readings, key=_content, default=[]) or list(_items(text, _LINE))


def _content(items: Sequence[Item]) -> tuple[int, int]:
    """Count the questions with an answer, and the passages."""
    return sum(bool(item.question and item.answer) for item in items), sum(len(item.evidence) for item in items)


def plain(value: Any, comma: str, said: tuple[str, str]) -> str:
    """Return a JSON value as a text; `comma` parts the elements of a list, `said` are the words for true and false."""
    if isinstance(value, bool):
        return said[0] if value else said[1]
    if isinstance(value, list):
        return comma.join(filter(None, (plain(each, comma, said) for each in value)))
    if isinstance(value, dict):
        return comma.join(f"{name}: {plain(each, comma, said)}" for name, each in value.items())
    return "" if value is None else clean(str(value))


def clean(text: str) -> str:
    """Return a text without control characters and halves of characters, which no file could hold."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", " ", text).strip()


def _items(text: str, keys: re.Pattern[str]) -> Iterator[Item]:
    """Yield the questions that keys mark. An object, or a key that comes again, begins the next one."""
    values: dict[str, Any] = {}
    evidence: list[str] = []
    place = 0
    while match := keys.search(text, place):
        name = str(match.lastgroup)
        opens = "{" in text[place : match.start()] and keys is _KEY
        if values and (opens or (name != "evidence" and name in values)):
            yield _item(values, evidence, True)
            values, evidence = {}, []
        value, place = _value(text, match.end(), keys)
        if name == "evidence":
            evidence += [text for text in map(_text, value if isinstance(value, list) else [value]) if text]
        values[name] = value
    if values:
        yield _item(values, evidence, keys is _LINE or "}" in text[place:])


def _text(value: Any) -> str:
    return plain(value, "\n", ("true", "false"))


def _item(values: dict[str, Any], evidence: list[str], whole: bool) -> Item:
    question, about, form = (_text(values.get(name)) for name in ("question", "about", "form"))
    return Item(question, values.get("answer"), tuple(evidence), form, about, whole)


def _value(text: str, start: int, keys: re.Pattern[str]) -> tuple[Any, int]:
    """Read a key's value, and return it with its end; what is no JSON reaches to the next key, or line."""
    place = start + len(text[start : start + 200]) - len(text[start : start + 200].lstrip())
    following = keys.search(text, start)
    end = following.start() if following else len(text)
    if keys is _LINE:
        return text[start:end].split("\n\n", 1)[0].strip(_SURROUNDING), end
    if decoded := _decoded(text, place):
        return decoded
    other = _OTHER_KEY.search(text, place, end)
    end = other.start() if other else end
    closed = text.rfind("}", place, end)
    stop = closed if closed >= 0 else end
    if text.startswith("[", place) and (last := text.rfind("]", place, stop)) > 0:
        inner = _TRAILING_COMMA.sub("", text[place : last + 1])
        if decoded := _decoded(inner, 0):
            return decoded[0], last + 1
    return text[place:stop].strip(_SURROUNDING).replace("\\\\", "\\"), stop


def _decoded(text: str, place: int) -> tuple[Any, int] | None:
    """Read a JSON value that something of JSON follows, or the end; return it with its end."""
    try:
        value, stop = _READER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return None
    return (value, stop) if _AFTER.match(text, stop) else None


_COMMAND = re.compile(r"\\[A-Za-z]+\*?(?:\{\|?[lcrp|]{1,40}\})?|</?[A-Za-z][^<>\n]{0,200}>")
_ELLIPSIS = re.compile(r"\s*(?:\.{3,}|…+|\[\.\.\.\])\s*")
_CELL = re.compile(r"[&|]|</t[dh]>")
_DOCUMENT = "passage"
_SIMILAR = 80
"""Percent of equal letters (rapidfuzz's `partial_ratio`) from which on a quote is a sentence with a few other words."""
_SHORTEST = 20
"""Letters of a quote that is compared so: shorter ones resemble much."""


def _masked(text: str) -> str:
    """Return a text with spaces in place of commands and tags: each character keeps its place."""
    return _COMMAND.sub(lambda match: " " * len(match[0]), text)


def _with_answer(text: str, span: Span, answer: str) -> Span:
    """Return the shortest of a span, its sentence and its row that has an answer; the span itself where none has."""
    start, end = span
    line = text.rfind("\n", 0, start) + 1, (text.find("\n", end) + 1 or len(text) + 1) - 1
    around = [(first, last) for first, last in sentence_spans(text) if first <= start and end <= last]
    around += [line] if _CELL.search(text[slice(*line)]) else []
    wider = [(first, first + len(text[first:last].rstrip())) for first, last in around]
    holding = [each for each in (span, *wider) if answer in letters(text[slice(*each)]).text]
    return min(holding, key=lambda each: each[1] - each[0], default=span)


class Quotes:
    """Looks for quotes in the passages of a prompt."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._passages = passages
        pages = [Page(_DOCUMENT, 2 * at, passage.text) for at, passage in enumerate(passages)]
        masked = [Page(_DOCUMENT, 2 * at + 1, _masked(passage.text)) for at, passage in enumerate(passages)]
        self._texts = Texts({_DOCUMENT: [*pages, *masked]})

    def evidence(self, quote: str, answer: str = "") -> Evidence:
        """Return the passage's own words, with their characters of the page.

        White space, punctuation, case and markup may differ; an ellipsis may replace words. A quote
        with a few other words, but no other numbers, becomes the sentences that resemble it. A quote without the
        answer becomes its sentence or its row of a table, if that has it. Where no passage has the words, the quote
        stays as it is, with the page of the first passage and no characters.
        """
        for find in (self._span, self._resembling):
            for at, passage in enumerate(self._passages):
                if span := find(at, quote):
                    start, end = _with_answer(passage.text, span, letters(answer).text)
                    return Evidence(passage.page, passage.text[start:end], passage.start + start, passage.start + end)
        return Evidence(self._passages[0].page if self._passages else -1, quote)

    def _span(self, at: int, quote: str) -> Span | None:
        direct = self._texts.span(_DOCUMENT, 2 * at, quote)
        if span := direct or self._texts.span(_DOCUMENT, 2 * at + 1, _masked(quote)):
            return span
        parts = list(filter(None, _ELLIPSIS.split(quote)))
        if len(parts) < 2:
            return None
        sides = [self._span(at, part) for part in parts]
        ordered = [side for side in sides if side]
        if len(ordered) < len(sides) or ordered != sorted(ordered):
            return None
        return ordered[0][0], ordered[-1][1]

    def _resembling(self, at: int, quote: str) -> Span | None:
        """Return the sentences that resemble a quote, if they have its numbers."""
        text, asked = self._passages[at].text, letters(quote).text
        held = letters(text)
        if len(asked) < _SHORTEST or len(held.text) < len(asked):
            return None
        match = fuzz.partial_ratio_alignment(asked, held.text, score_cutoff=_SIMILAR)
        if match is None or match.dest_start >= match.dest_end:
            return None
        first, last = held.places[match.dest_start], held.places[match.dest_end - 1]
        touched = [(start, end) for start, end in sentence_spans(text) if start <= last and first < end]
        start, end = touched[0][0], touched[0][0] + len(text[touched[0][0] : touched[-1][1]].rstrip())
        return (start, end) if numbers(quote) <= numbers(text[start:end]) else None


_NOTHING = frozenset({"", "none", "null", "na", "n/a", "无", "没有", "无法"})
_YES_NO = CLOSED_ANSWERS - {"noanswer"} | {"是", "否", "不是", "对", "不对"}
_NAME_WORDS = 12
"""Words of the name of what a question is about, at most."""
_NUMBER_WORDS = 5
"""Words of a number with its unit, at most: 3.5 million metric tons a year."""


class Fault(NamedTuple):
    """Why a reply, or a part of it, made no candidate.

    Args:
        name: `no reply: ...`, `no JSON`, `no question`, `no answer`, `cut`, `copies the example` or, of a question on
            two pages, `names the entity` or `evidence of one page`.
        reply: its beginning.
    """

    assignment: str
    name: str
    reply: str


def candidates_of(
    assignment: Assignment, completion: Completion, made_by: str = ""
) -> tuple[list[Candidate], list[Fault]]:
    """Read the reply to an assignment; whatever a model writes, this never raises.

    At most as many candidates are made as were asked for. A question that lacks the name of what it is about gets it in
    front, and the note `name_added`. Evidence that the passages have in other signs becomes their
    own words; other evidence stays as it is, and the rule `evidence_not_on_its_page` removes it.
    """
    if completion.error is not None:
        return [], [Fault(assignment.id, f"no reply: {completion.error}", "")]
    items = items_in(completion.text, assignment.prompt.opening)
    candidates: dict[str, Candidate] = {}
    names = [] if items else ["cut" if completion.finish == "length" else _nothing(completion.text)]
    for item in items:
        name = _fault(assignment, item)
        if name:
            names.append(name)
        elif len(candidates) < assignment.questions:
            candidate = _candidate(assignment, item, made_by)
            if _on_one_page(assignment, candidate):
                names.append("evidence of one page")
            else:
                candidates.setdefault(candidate.id, candidate)
    return list(candidates.values()), [Fault(assignment.id, name, shortened(completion.text)) for name in names]


def _on_one_page(assignment: Assignment, candidate: Candidate) -> bool:
    """Report whether all evidence of a question on two pages is on one of them; a quote without a place is unknown."""
    placed = bool(candidate.evidence) and all(passage.start >= 0 for passage in candidate.evidence)
    return placed and not assignment.parents and len(assignment.pages) > len(candidate.pages)


def _nothing(reply: str) -> str:
    """Return the fault of a reply without an item: the model says that there is no question, or something else."""
    said = re.sub(r"[`\s.。\"'*]|json", "", reply, flags=re.IGNORECASE).casefold()
    return "no question" if said in {"[]", "{}", "[{}]", *_NOTHING} and said else "no JSON"


def _fault(assignment: Assignment, item: Item) -> str:
    """Return why an item is no candidate; "" where it is one."""
    asked = letters(item.question).text
    if not item.whole:
        return "cut"
    if normalise(item.question) in _NOTHING or not asked:
        return "no question"
    if not _copied(assignment.language).isdisjoint({asked, *(letters(quote).text for quote in item.evidence)}):
        return "copies the example"
    if assignment.parents:
        named = letters(assignment.entity).text
        return "names the entity" if named in asked or letters(assignment.parents[0].answers[0]).text in asked else ""
    return "no answer" if normalise(_answer(assignment, item)) in _NOTHING else ""


@cache
def _copied(language: str) -> frozenset[str]:
    """Return the letters of the questions and the evidence in a language's examples: small models repeat them."""
    items = [item for example in parts_of(language).example.values() for item in items_in(example)]
    return frozenset(letters(text).text for item in items for text in (item.question, *item.evidence))


def _answer(assignment: Assignment, item: Item) -> str:
    answers = parts_of(assignment.language).answers
    return plain(item.answer, answers["and"], (answers["true"], answers["false"]))


def _candidate(assignment: Assignment, item: Item, made_by: str) -> Candidate:
    parents, pages = assignment.parents, assignment.pages
    question = _named(assignment, item)
    name = short_hash(assignment.document, *pages, assignment.id, question)
    quotes = Quotes(assignment.passages)
    answer = _answer(assignment, item)
    wanted = answer if len(item.evidence) == 1 else ""  # of two passages one may be without the answer
    evidence = [passage for parent in parents for passage in parent.evidence]
    return Candidate(
        id=name,
        question=question,
        answers=parents[1].answers if parents else (answer,),
        document=assignment.document,
        evidence=tuple(evidence) or tuple(quotes.evidence(quote, wanted) for quote in item.evidence),
        source=assignment.source,
        task=assignment.task,
        answer_form=parents[1].answer_form if parents else form_of(answer, item),
        language=assignment.language,
        origin="joined" if parents else "written",
        made_by=made_by,
        parents=tuple(parent.id for parent in parents),
        notes={"pages": "single" if len(pages) == 1 else "several"}
        | ({"name_added": item.about} if question != item.question else {}),
    )


def _named(assignment: Assignment, item: Item) -> str:
    """Return a question after the name of what it is about, where it has no word of that name: small models forget it.

    The name must be in the prompt's title or passage, and must not hold the answer.
    """
    about, shown = letters(item.about).text, letters(assignment.prompt.user).text
    answer = letters(_answer(assignment, item)).text
    missing = set(stems(item.about)).isdisjoint(stems(item.question))
    usable = about and about in shown and answer not in about and len(words(item.about)) <= _NAME_WORDS
    colon = parts_of(assignment.language).answers["colon"]
    return f"{item.about}{colon}{item.question}" if missing and usable and not assignment.parents else item.question


def form_of(answer: str, item: Item) -> str:
    """Return the form of an answer by what it is; where that leaves it open, as the model says."""
    if normalise(answer) in _YES_NO:
        return "Yes/No"
    if isinstance(item.answer, list) and len(item.answer) > 1:
        return "List"
    if numbers(answer) and len(words(answer)) <= _NUMBER_WORDS and re.search(r"[0-9]", answer):
        return "Numeric"
    return item.form if item.form in FORMS and item.form in ("String", "List") else "String"
