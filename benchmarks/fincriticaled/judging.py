"""The judge: what it is asked, how its reply is read, and how its verdicts are corrected and counted.

Source of the protocol: https://github.com/The-FinAI/FinCriticalED, commit b291e71, the judge's notebook: gpt-4o at
temperature 0 in JSON mode. Only the diagnostics of a reply count; its own counts are replaced.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from typing import Any, Literal

from ohr.files.json_input import parse_json
from ohr.files.prompts import filled

from .facts import Entity, extract_entities, strip_entity_tags
from .matching import not_found, override
from .texts import strip_html_tags
from .totals import Diagnostic, Record, record

Mode = Literal["reference", "clean"]

_DIAGNOSTICS = "entity_diagnostics"
_TEXTS = ("type", "value", "context_hint", "matched_text")
_VERDICTS = ("found_in_prediction", "correct")
_LIST = re.compile(rf'"{_DIAGNOSTICS}"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")


@dataclass(frozen=True, slots=True)
class Reply:
    """The content of a judge's reply.

    Args:
        diagnostics: those that can be read.
        fault: why some are missing, or empty.
    """

    diagnostics: tuple[Diagnostic, ...]
    fault: str = ""


@lru_cache(maxsize=2)
def prompt(name: Literal["transcribe", "judge"]) -> Mapping[str, str]:
    """Read one of the benchmark's prompts: `transcribe` has a `text`, `judge` a `system` and a `user`."""
    from ruamel.yaml import YAML

    source = files("ohr.benchmarks.fincriticaled").joinpath("prompts", f"{name}.yaml")
    found: Mapping[str, str] = YAML(typ="safe", pure=True).load(source.read_text(encoding="utf-8"))
    return found


def prompt_sha256() -> str:
    """Return the hash of the judge's prompt, which is kept with the replies to it."""
    return sha256(json.dumps(dict(prompt("judge"))).encode()).hexdigest()


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
    return prompt("judge")["system"], filled(prompt("judge")["user"], **blocks)


def parse_reply(reply: str) -> Reply:
    """Read the diagnostics of a reply; never raises.

    A reply may be fenced, surrounded by words, or cut: the diagnostics before the cut are kept.
    """
    inside = reply[reply.find("{") : reply.rfind("}") + 1]
    for text in (reply, inside):
        try:
            found = parse_json(text.encode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(found, dict):
            return _read(found.get(_DIAGNOSTICS))
    kept = tuple(_saved(reply))
    return Reply(kept, f"the reply is no JSON; {len(kept)} diagnostics of it could be read")


def judge_postprocess(
    gold: str, pred: str, judge_diagnostics: Sequence[Mapping[str, Any]], mode: Mode = "reference"
) -> Record:
    """Correct a judge's verdicts by the published override, and count them.

    Args:
        gold: tagged HTML of the page.
        pred: the prediction, HTML or text.
        judge_diagnostics: as the judge returned them, in any order.
        mode: `reference` counts what the judge returned, as published: an entity that it left out is missing, and one
            that it made up counts. `clean` takes one verdict for each entity of the page, adds those that are left out
            as not found before the override, and calls nothing correct that is not found.
    """
    entities = extract_entities(gold)
    given = judge_diagnostics if mode == "reference" else _one_for_each(entities, judge_diagnostics)
    verdicts = override(given, pred)
    if mode == "clean":
        verdicts = [{**one, "correct": bool(one["correct"] and one["found_in_prediction"])} for one in verdicts]
    return record((entity["type"] for entity in entities), verdicts)


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
    made: dict[int, Diagnostic] = {}
    others = []
    for one in verdicts:
        free = places[_named(one)]
        same = next((place for place in free if entities[place]["context_hint"] == one.get("context_hint")), None)
        if free:
            free.remove(place := free[0] if same is None else same)
            made[place] = dict(one)
        else:
            others.append(dict(one))
    left = [place for place in range(len(entities)) if place not in made]
    left += [place for place, one in made.items() if not (one["found_in_prediction"] or one["correct"])]
    for one in (one for one in others if one["found_in_prediction"] or one["correct"]):
        if left:
            place = next((place for place in left if entities[place]["type"] == one.get("type")), left[0])
            left.remove(place)
            made[place] = one
    return [made.get(place) or not_found(entity) for place, entity in enumerate(entities)]


def _named(one: Mapping[str, Any]) -> tuple[str, str]:
    """Return the type and value that a verdict and its entity have in common, for all that a judge may do to spaces."""
    return str(one.get("type")), " ".join(str(one.get("value")).split())


def _one_for_each(entities: Sequence[Entity], given: Sequence[Mapping[str, Any]]) -> list[Diagnostic]:
    """Return one verdict for each entity: the judge's first unused one with its type and value, or `not found`.

    A text that is quoted for an entity that was not found is dropped, so that the override can replace it.
    """
    unused: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for one in given:
        unused[_named(one)].append(one)
    made = []
    for entity in entities:
        same = unused[_named(entity)]
        hinted = next((i for i, one in enumerate(same) if one.get("context_hint") == entity["context_hint"]), 0)
        verdict = not_found(entity)
        if same:
            verdict |= {name: value for name, value in same.pop(hinted).items() if name not in entity}
        if not verdict["found_in_prediction"]:
            verdict["matched_text"] = ""
        made.append(verdict)
    return made


def _read(diagnostics: object) -> Reply:
    if not isinstance(diagnostics, list):
        return Reply((), f"the reply has no list `{_DIAGNOSTICS}`")
    read = tuple(_cleaned(one) for one in diagnostics if isinstance(one, dict))
    others = len(diagnostics) - len(read)
    return Reply(read, f"{others} entries of `{_DIAGNOSTICS}` are no objects" if others else "")


def _saved(reply: str) -> Iterator[Diagnostic]:
    """Yield the whole diagnostics at the start of the list of a reply that is cut."""
    start = _LIST.search(reply)
    place, decoder = start.end() if start else len(reply), json.JSONDecoder()
    while place < len(reply):
        try:
            one, place = decoder.raw_decode(reply, _BETWEEN.match(reply, place).end())  # type: ignore[union-attr]
        except (ValueError, RecursionError):
            return
        if isinstance(one, dict):
            yield _cleaned(one)


def _cleaned(one: Mapping[str, Any]) -> Diagnostic:
    """Return a diagnostic whose texts are texts and whose verdicts are true or false."""
    texts = {name: "" if one.get(name) is None else str(one[name]) for name in _TEXTS}
    return texts | {name: str(one.get(name)).strip().lower() in ("true", "1") for name in _VERDICTS}
