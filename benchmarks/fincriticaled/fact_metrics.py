"""Metrics of pages and of facts: what a text keeps of the facts that annotators tagged, and of the page's words.

The protocol of the judge is that of https://github.com/The-FinAI/FinCriticalED, commit b291e71, the judge's notebook:
gpt-4o at temperature 0 in JSON mode. Only the diagnostics of a reply count; its own counts are left aside.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from math import nan
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field
from rapidfuzz.distance import LCSseq, Levenshtein

from ohr.contracts import Metric, PageJudgeMetric, PageMetric, Prompt, Question
from ohr.files.json_input import parse_json
from ohr.files.prompts import filled
from ohr.models.asking import AskingMetric
from ohr.text.porter import stem

from .fact_questions import gold_of, number_of
from .facts import Entity, extract_entities, strip_entity_tags
from .matching import Diagnostic, compat_det, holds, is_part, not_found, override, strict_det
from .page_texts import html_to_text, strip_html_tags

_WORD = re.compile("[a-z0-9]+")
_SHORTEST = 4
"""Letters of a word from which on rouge-score stems it."""


def rouge_f1(reference: str, prediction: str) -> dict[str, float]:
    """Return the F1 of ROUGE-1 and ROUGE-L with stemmed words, as rouge-score 0.1.2 computes them.

    Signs and letters beyond a to z are not part of a word: `(10,234)` equals `10 234`, and Chinese text has no words.
    Two texts without words score 0. The longest common subsequence is rapidfuzz's: rouge-score fills a table in Python,
    which takes a quarter of a second for a page.
    """
    gold, predicted = _words(reference), _words(prediction)
    both = (Counter(gold) & Counter(predicted)).total()
    return {
        "rouge1": _f1(both, len(gold), len(predicted)),
        "rougeL": _f1(LCSseq.similarity(gold, predicted), len(gold), len(predicted)),
    }


def page_scores(gold_html: str, prediction: str) -> dict[str, float]:
    """Score a prediction against the untagged HTML of a page: `rouge1`, `rougeL` and `edit_distance`.

    The last is Levenshtein's distance over the length of the longer text: 0 where both are empty, 1 where one is.
    """
    gold, predicted = html_to_text(gold_html), html_to_text(prediction.strip())
    return {**rouge_f1(gold, predicted), "edit_distance": Levenshtein.normalized_distance(gold, predicted)}


def _words(text: str) -> list[str]:
    return [stem(word) if len(word) >= _SHORTEST else word for word in _WORD.findall(text.lower())]


def _f1(both: int, gold: int, predicted: int) -> float:
    precision, recall = both / max(predicted, 1), both / max(gold, 1)
    return 2 * precision * recall / (precision + recall) if both else 0.0


Mode = Literal["reference", "clean"]

_DIAGNOSTICS = "entity_diagnostics"
_TEXTS = ("type", "value", "context_hint", "matched_text")
_VERDICTS = ("found_in_prediction", "correct")
_LIST = re.compile(rf'"{_DIAGNOSTICS}"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


class Reply(NamedTuple):
    """The content of a judge's reply: the diagnostics that can be read, and why some are missing, or nothing."""

    diagnostics: tuple[Diagnostic, ...]
    fault: str = ""


@lru_cache(maxsize=1)
def judge_prompt() -> Mapping[str, str]:
    """Read the judge's prompt: `system` and `user`."""
    from ruamel.yaml import YAML

    source = files(__package__).joinpath("prompts", "judge.yaml")
    messages: Mapping[str, str] = YAML(typ="safe", pure=True).load(source.read_text(encoding="utf-8"))
    return messages


def judge_messages(gold: str, prediction: str) -> tuple[str, str]:
    """Return the system's and the user's message about a page; the latter has its facts, its HTML and the prediction.

    Args:
        gold: tagged HTML of the page.
        prediction: HTML or text.
    """
    blocks = {
        "facts": json.dumps(extract_entities(gold), indent=2),
        "reference": strip_entity_tags(gold),
        "text": strip_html_tags(prediction),
    }
    return judge_prompt()["system"], filled(judge_prompt()["user"], **blocks)


def parse_reply(reply: str) -> Reply:
    """Read the diagnostics of a reply; never raises.

    A reply may be fenced, surrounded by words, or cut: the diagnostics before the cut are kept.
    """
    inside = reply[reply.find("{") : reply.rfind("}") + 1]
    for text in (reply, inside):
        try:
            content = parse_json(text.encode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(content, dict):
            return _read(content.get(_DIAGNOSTICS))
    saved = tuple(_saved(reply))
    return Reply(saved, f"the reply is no JSON; {len(saved)} diagnostics of it could be read")


def judge_postprocess(
    gold: str, pred: str, judge_diagnostics: Sequence[Mapping[str, Any]], mode: Mode = "reference"
) -> list[Diagnostic]:
    """Correct a judge's verdicts by the published override.

    Args:
        gold: tagged HTML of the page.
        pred: the prediction, HTML or text.
        judge_diagnostics: as the judge returned them, in any order.
        mode: `reference` takes what the judge returned, as published: an entity that it left out is missing, and one
            that it made up counts. `clean` takes one verdict for each entity of the page, adds those that are left out
            as not found before the override, and calls nothing correct that is not found.
    """
    given = judge_diagnostics if mode == "reference" else _one_for_each(extract_entities(gold), judge_diagnostics)
    verdicts = override(given, pred)
    if mode == "clean":
        verdicts = [
            {**verdict, "correct": bool(verdict["correct"] and verdict["found_in_prediction"])} for verdict in verdicts
        ]
    return verdicts


def by_fact(gold: str, verdicts: Sequence[Mapping[str, Any]]) -> list[Diagnostic]:
    """Return a page's verdicts in the order of its facts, one for each, so that their sums are the published ones.

    Verdicts on what is no fact of the page count as published: each takes the place of a fact that the judge left out,
    or did not find; of its own type where there is one. Where there is none of any, the verdict is lost.

    Args:
        gold: tagged HTML of the page.
        verdicts: of `judge_postprocess`.
    """
    entities = extract_entities(gold)
    places: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, entity in enumerate(entities):
        places[_named(entity)].append(place)
    by_place: dict[int, Diagnostic] = {}
    others = []
    for verdict in verdicts:
        free = places[_named(verdict)]
        same = next((place for place in free if entities[place]["context_hint"] == verdict.get("context_hint")), None)
        if free:
            free.remove(place := free[0] if same is None else same)
            by_place[place] = dict(verdict)
        else:
            others.append(dict(verdict))
    left = [place for place in range(len(entities)) if place not in by_place]
    left += [place for place, verdict in by_place.items() if not (verdict["found_in_prediction"] or verdict["correct"])]
    for verdict in (verdict for verdict in others if verdict["found_in_prediction"] or verdict["correct"]):
        if left:
            place = next((place for place in left if entities[place]["type"] == verdict.get("type")), left[0])
            left.remove(place)
            by_place[place] = verdict
    return [by_place.get(place) or not_found(entity) for place, entity in enumerate(entities)]


def _named(verdict: Mapping[str, Any]) -> tuple[str, str]:
    """Return the type and value that a verdict and its entity have in common, for all that a judge may do to spaces."""
    return str(verdict.get("type")), " ".join(str(verdict.get("value")).split())


def _one_for_each(entities: Sequence[Entity], given: Sequence[Mapping[str, Any]]) -> list[Diagnostic]:
    """Return one verdict for each entity: the judge's first unused one with its type and value, or `not found`.

    A text that is quoted for an entity that was not found is dropped, so that the override can replace it.
    """
    unused: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for judged in given:
        unused[_named(judged)].append(judged)
    verdicts = []
    for entity in entities:
        same = unused[_named(entity)]
        hinted = next((i for i, judged in enumerate(same) if judged.get("context_hint") == entity["context_hint"]), 0)
        verdict = not_found(entity)
        if same:
            verdict |= {name: value for name, value in same.pop(hinted).items() if name not in entity}
        if not verdict["found_in_prediction"]:
            verdict["matched_text"] = ""
        verdicts.append(verdict)
    return verdicts


def _read(diagnostics: object) -> Reply:
    if not isinstance(diagnostics, list):
        return Reply((), f"the reply has no list `{_DIAGNOSTICS}`")
    read = tuple(_cleaned(entry) for entry in diagnostics if isinstance(entry, dict))
    others = len(diagnostics) - len(read)
    return Reply(read, f"{others} entries of `{_DIAGNOSTICS}` are no objects" if others else "")


def _saved(reply: str) -> Iterator[Diagnostic]:
    """Yield the whole diagnostics at the start of the list of a reply that is cut."""
    start = _LIST.search(reply)
    place, decoder = start.end() if start else len(reply), json.JSONDecoder()
    while place < len(reply):
        try:
            entry, place = decoder.raw_decode(reply, _BETWEEN.match(reply, place).end())  # type: ignore[union-attr]
        except (ValueError, RecursionError):
            return
        if isinstance(entry, dict):
            yield _cleaned(entry)


def _cleaned(entry: Mapping[str, Any]) -> Diagnostic:
    """Return a diagnostic whose texts are texts and whose verdicts are true or false."""
    texts = {name: "" if entry.get(name) is None else str(entry[name]) for name in _TEXTS}
    return texts | {name: str(entry.get(name)).strip().lower() in ("true", "1") for name in _VERDICTS}


Rule = Literal["substring", "whole", "in_place"]
Count = Literal["correct", "found"]
Verdicts = Sequence[Diagnostic]

_PACKAGES = ("beautifulsoup4", "lxml", "rapidfuzz")
_SKIP = "A page without any text has no score, as a page without a prediction in the published code; else it scores 0."
_COUNTED = {"correct": "correct", "found": "found_in_prediction"}


class Ffa(PageMetric, kind="ffa"):
    """1 for each fact of a page that its text has, 0 for each other; the mean is FFA, without a judge.

    It scores questions of FinCriticalED. `substring` searches for the value as the published code does on top of its
    judge, `whole` for whole values with their signs, each occurrence of which counts once; `in_place` also wants the
    words around it, so that values that changed places are wrong.
    """

    version: ClassVar[int] = 2
    packages: ClassVar[tuple[str, ...]] = _PACKAGES
    rule: Annotated[Rule, Field(description="How a value is searched for.")] = "whole"
    count: Annotated[
        Count, Field(description="`found` counts what can be recognized, too; of `substring` both are the same.")
    ] = "correct"
    skip_blank: Annotated[bool, Field(description=_SKIP)] = False

    def score_page(self, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float]:  # noqa: ARG002
        """Return the scores of the page's facts; nan for its other questions, and where its own is not among them."""
        gold = gold_of(questions)
        if gold is None or (self.skip_blank and not text):
            return [nan] * len(questions)
        return _scores(_verdicts(gold, text, self.rule), self.count, questions)


class PageLexical(PageMetric, kind="page_lexical"):
    """The words of a page: ROUGE-1 and ROUGE-L (F1 of stems), or 1 - edit distance, as FinCriticalED computes them.

    Both sides are compared as plain text. It scores the page's own question, so that each page has one score.
    """

    packages: ClassVar[tuple[str, ...]] = _PACKAGES
    measure: Annotated[
        Literal["rouge1", "rougeL", "edit_similarity", "coverage"],
        Field(description="`coverage` is 1 where the page has any text."),
    ] = "rouge1"
    skip_blank: Annotated[bool, Field(description=_SKIP)] = False

    def score_page(self, text: str, truth: str, questions: Sequence[Question]) -> Sequence[float]:
        """Return the score of the page's own question; nan for those of its facts."""
        score = nan
        if self.measure == "coverage":
            score = float(bool(text))
        elif text or not self.skip_blank:
            scores = _lexical(truth, text)
            score = 1 - scores["edit_distance"] if self.measure == "edit_similarity" else scores[self.measure]
        return [nan if question.asked else score for question in questions]


class FactInText(Metric, kind="fact_in_text"):
    """1 where a text has a fact of FinCriticalED, else 0: by the rules of `ffa`, but for signs beside the value."""

    packages: ClassVar[tuple[str, ...]] = _PACKAGES
    rule: Annotated[Literal["substring", "whole"], Field(description="As of `ffa`.")] = "whole"

    def score(self, prediction: str, reference: str) -> float:
        """Return whether the text has the fact; nan for a fact without a letter or sign."""
        if not reference.strip():
            return nan
        return float(is_part(reference, prediction) if self.rule == "substring" else holds(prediction, reference))


class FfaJudge(AskingMetric, PageJudgeMetric, kind="ffa_judge"):
    """FFA as published: a generator judges the facts of a page, and a search for their values corrects its verdicts.

    A reply without a verdict that can be read is a failed score of all facts of the page. Every reply is kept in
    `judgements.parquet`.
    """

    packages: ClassVar[tuple[str, ...]] = _PACKAGES
    protocol: Annotated[
        Literal["reference", "clean"],
        Field(
            description="`reference` corrects only verdicts that the judge gave, as published; `clean` also adds those "
            "that it left out, and calls nothing correct that is not found."
        ),
    ] = "reference"
    count: Annotated[Count, Field(description="`found` counts what the judge recognizes, too.")] = "correct"

    @property
    def prompt_sha256(self) -> str:
        """Hash of the prompt's two messages."""
        return sha256(json.dumps(dict(judge_prompt())).encode()).hexdigest()

    def prompt_for_page(self, text: str, truth: str, questions: Sequence[Question]) -> Prompt | None:  # noqa: ARG002
        """Return the prompt about a page; None without facts, or without text in the published protocol."""
        gold = gold_of(questions)
        if gold is None or not any(question.facts for question in questions):
            return None
        if self.protocol == "reference" and not text:
            return None
        system, user = judge_messages(gold, text)
        own = next(question for question in questions if not question.asked)
        return Prompt(own.text, (text,), system, user, id=own.id)

    def score_page_reply(
        self,
        reply: str,
        text: str,
        truth: str,  # noqa: ARG002
        questions: Sequence[Question],
    ) -> Sequence[float]:
        """Return the corrected verdicts on the facts; nan for other questions.

        Raises:
            ValueError: no verdict of the reply can be read.
        """
        gold, read = gold_of(questions), parse_reply(reply)
        if gold is None:
            return [nan] * len(questions)
        if read.fault and not read.diagnostics:
            raise ValueError(read.fault)
        verdicts = judge_postprocess(gold, text, read.diagnostics, self.protocol)
        return _scores(by_fact(gold, verdicts), self.count, questions)


def _scores(verdicts: Verdicts, count: Count, questions: Sequence[Question]) -> list[float]:
    numbers = [number_of(question) for question in questions]
    return [nan if number is None else float(verdicts[number][_COUNTED[count]]) for number in numbers]


@lru_cache(maxsize=4)  # metrics score a page one after the other
def _verdicts(gold: str, text: str, rule: Rule) -> Verdicts:
    return compat_det(gold, text) if rule == "substring" else strict_det(gold, text, context_veto=rule == "in_place")


@lru_cache(maxsize=2)
def _lexical(truth: str, text: str) -> dict[str, float]:
    return page_scores(truth, text)
