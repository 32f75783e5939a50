"""promptfoo: the results of `promptfoo eval --output FILE.json` (or `.jsonl`), one system of them.

Its layout: `results.results` has a result for each test, prompt and provider, with `vars`, `response.output` and
`testCase`. `error` is also the reason of a failed assertion: only a result without output has failed.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.errors import DataError
from ohr.files.foreign_answers.answer_rows import (
    CONTEXTS,
    EXTRA,
    REFERENCES,
    AnswerFile,
    AnswerRow,
    answer_file,
    extra,
    mapping,
)
from ohr.files.json_input import text_of
from ohr.files.tables import is_blank
from ohr.messages.wording import keys_of, quoted, shortened

QUESTIONS = ("question", "query", "input", "user_input", "prompt")
"""Names of the variable that holds the question; a test with one variable holds it there."""
_ASSERTED = ("equals", "iequals", "similar", "factuality")
"""Assertions whose value is an accepted answer."""
_HELD = ("contains", "icontains")
"""Assertions whose value is a part of one: all of them are the accepted answer where nothing else is."""


def read(path: Path, found: Any, pick: str | None = None) -> AnswerFile:
    """Read the answers of one provider to one prompt.

    Args:
        path: for messages.
        found: what the JSON file holds, or a list of the objects of JSON Lines.
        pick: the name of the provider and prompt, or a part of it, where there are several.

    Raises:
        DataError: it is no output of promptfoo, has several systems of which none is picked, or a result is not sound.
    """
    systems: dict[str, list[tuple[str, Mapping[str, Any]]]] = defaultdict(list)
    for place, result in enumerate(_results(path, found)):
        where = f"{path}: result {place}"
        if not isinstance(result, Mapping):
            raise DataError(f"{where}: must be a mapping (got {quoted(result)})")
        systems[_system(result)].append((where, result))
    chosen = picked(path, list(systems), pick, "system") if systems else ""
    return answer_file("promptfoo", path, ((where, _parts(where, result)) for where, result in systems[chosen]))


def picked(path: Path, names: Sequence[str], pick: str | None, thing: str) -> str:
    """Return the one name, or the one that is meant; refuse if it is none, or several.

    Args:
        pick: the name, or a part that no other has; without regard to case.
        thing: what is named.
    """
    if pick is None:
        matching = list(names)
    else:
        wanted = pick.casefold()
        exact = [name for name in names if wanted in (name.casefold(), name.casefold().removeprefix(f"{thing} "))]
        matching = exact or [name for name in names if wanted in name.casefold()]
    if len(matching) == 1:
        return matching[0]
    listed = "\n".join(f"  {shortened(name)}" for name in (matching or names)[:10])
    said = (
        f"holds several {thing}s" if pick is None else f"--pick {pick!r} is {'several' if matching else 'no'} {thing}"
    )
    raise DataError(f"{path}: {said}: name one with --pick (a part of its name suffices):\n{listed}")


def write(rows: Sequence[AnswerRow], about: Mapping[str, str]) -> str:
    """Write rows as the output of an evaluation that asserted nothing; contexts are one text, too, for its tests."""
    name = " ".join(filter(None, (about.get("retriever"), about.get("generator")))) or "ohr"
    prompt = {"raw": "{{question}}", "label": "{{question}}"}
    results = [
        {
            "promptIdx": 0,
            "testIdx": place,
            "testCase": {"vars": _variables(row), "metadata": _metadata(row, about)},
            "provider": {"id": name, "label": name},
            "prompt": {"raw": row.question, "label": prompt["label"]},
            "vars": _variables(row),
            "response": {"error": row.error} if row.error else {"output": row.answer},
            "metadata": _metadata(row, about),
            "success": not row.error,
            "score": 0 if row.error else 1,
            "failureReason": 2 if row.error else 0,
            **({"error": row.error} if row.error else {}),
            "latencyMs": 0,
            "namedScores": {},
        }
        for place, row in enumerate(rows)
    ]
    failed = sum(bool(row.error) for row in rows)
    stats = {"successes": len(rows) - failed, "failures": 0, "errors": failed, "tokenUsage": {}}
    created = "1970-01-01T00:00:00.000Z"  # the same run gives the same bytes
    whole = {
        "evalId": re.sub(r"[^\w.]+", "-", f"ohr {about.get('run', '')} {about.get('knowledge_base', '')} {name}"),
        "results": {
            "version": 3,
            "timestamp": created,
            "prompts": [{**prompt, "id": "question", "provider": name, "metrics": {"score": stats["successes"]}}],
            "results": results,
            "stats": stats,
        },
        "config": {"description": f"answers of {name}, written by ohr"},
        "shareableUrl": None,
    }
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def _variables(row: AnswerRow) -> dict[str, Any]:
    joined = {} if row.contexts is None else {"context": "\n\n".join(row.contexts)}
    reference = {"reference": row.references[0]} if row.references else {}
    return {"question": row.question, **joined, **reference}


def _metadata(row: AnswerRow, about: Mapping[str, str]) -> dict[str, Any]:
    contexts = {} if row.contexts is None else {"contexts": row.contexts}
    evidence = {"reference_contexts": row.evidence} if row.evidence else {}
    return {**about, **extra(row), **contexts, **evidence}


def _results(path: Path, found: Any) -> Iterable[Any]:
    listed = found
    while isinstance(listed, Mapping):  # version 3 has results in results
        listed = listed.get("results")
    if not isinstance(listed, list):
        there = f" (it has {keys_of(found)})" if isinstance(found, Mapping) else ""
        raise DataError(f"{path}: is no output of promptfoo: it has no list `results.results`{there}")
    return listed


def _system(result: Mapping[str, Any]) -> str:
    """Name the provider and the prompt of a result, as promptfoo's own tables do."""
    provider, prompt = result.get("provider"), result.get("prompt")
    if isinstance(provider, Mapping):
        provider = provider.get("label") or provider.get("id")
    label = (prompt.get("label") or prompt.get("raw")) if isinstance(prompt, Mapping) else prompt
    return f"[{provider or 'unknown'}] {' '.join(str(label or '').split())}".strip()


def _parts(where: str, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts of a result; contexts may be with the answer, with the test, or among its variables."""
    test, response = mapping(result.get("testCase")), mapping(result.get("response"))
    variables = {**mapping(test.get("vars")), **mapping(result.get("vars"))}
    metadata = {
        **mapping(test.get("metadata")),
        **mapping(response.get("metadata")),
        **mapping(result.get("metadata")),
    }
    question = _first((variables,), QUESTIONS)
    if question is None and len(variables) == 1:
        (question,) = variables.values()
    if question is None:
        there = ", ".join(variables) or "none"
        raise DataError(f"{where}: no variable is the question ({', '.join(QUESTIONS)}); its variables are {there}")
    output = response.get("output")
    reference = _first((variables, metadata), REFERENCES)
    return {
        **{part: _first((variables, metadata), names) for part, names in EXTRA.items() if part != "error"},
        "question": question,
        "answer": text_of(output) if isinstance(output, bool) else output,  # as its own assertions take it
        "contexts": _first((metadata, variables), CONTEXTS),
        "reference": _asserted(test, result) if reference is None else reference,
        "error": result.get("error") or response.get("error") or ("no output" if output is None else None),
    }


def _asserted(test: Mapping[str, Any], result: Mapping[str, Any]) -> Any:
    """Return the accepted answer that the assertions of a test or of its grading name; None where they name none."""
    graded = mapping(result.get("gradingResult")).get("componentResults")
    checked = [mapping(each).get("assertion") for each in (graded if isinstance(graded, list) else ())]
    given = list(_assertions(test.get("assert"))) or list(_assertions(checked))
    for kinds in (_ASSERTED, _HELD):
        values = [each["value"] for each in given if each.get("type") in kinds and not is_blank(each.get("value"))]
        if values:
            return values[0] if kinds is _ASSERTED or len(values) == 1 else ", ".join(map(text_of, values))
    return None


def _assertions(listed: Any) -> Iterator[Mapping[str, Any]]:
    """Yield assertions, also those in a set of them."""
    for each in listed if isinstance(listed, list) else ():
        if isinstance(each, Mapping):
            yield each
            yield from _assertions(each.get("assert"))


def _first(places: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Any:
    return next((place[name] for place in places for name in names if place.get(name) is not None), None)
