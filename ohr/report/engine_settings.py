"""Engines of a run: the settings that engines share, their names, and the seconds of a page."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from math import nan
from typing import Any

from ohr.results.derived.copies import copies_of_clean
from ohr.results.run import Run
from ohr.treatments import recorded_engine, recorded_treatments

PLAIN = "as they are"
"""Pages without noise, in words."""

_NO_ENGINE = "ground_truth"
_RECORDED = "precomputed"  # results of whichever engine: the kind says nothing


def read_settings(run: Run) -> dict[str, dict[str, str]]:
    """Group the conditions that differ in their OCR engine only: noise, in words, to engine to condition."""
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    labels, bases = dict[str, str](), dict[str, Mapping[str, Any]]()
    copies = copies_of_clean(run)
    for base in run.manifest["spec"].get("knowledge_bases", ()):
        engine = recorded_engine(base) if base.get("condition") not in copies else {}
        if "condition" in base and engine.get("kind", _NO_ENGINE) != _NO_ENGINE and not base.get("again_of"):
            others = [each for each in recorded_treatments(base) if each.family != "ocr"]
            rest = json.dumps([others, *(base.get(name) for name in ("retrievers", "target"))], sort_keys=True)
            labels[rest] = " + ".join(each.label for each in others) or PLAIN
            key = json.dumps(engine, sort_keys=True)
            bases.setdefault(key, base)
            groups[rest].setdefault(key, base["condition"])
    several = {rest: engines for rest, engines in groups.items() if len(engines) > 1}
    names = _names({key: bases[key] for engines in several.values() for key in engines})
    unique = len({labels[rest] for rest in several}) == len(several)
    return {
        labels[rest] if unique else f"{labels[rest]} ({n})": {names[key]: engines[key] for key in engines}
        for n, (rest, engines) in enumerate(several.items(), 1)
    }


def engine_of(run: Run) -> dict[str, str]:
    """Return the name of the engine that read each condition."""
    keys, first = dict[str, str](), dict[str, Mapping[str, Any]]()
    for base in run.manifest["spec"].get("knowledge_bases", ()):
        if "condition" in base and (engine := recorded_engine(base)):
            keys[base["condition"]] = json.dumps(engine, sort_keys=True)
            first.setdefault(keys[base["condition"]], base)
    names = _names(first)
    return {condition: names[key] for condition, key in keys.items()}


def _names(bases: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Name each engine by its kind, or where that says too little by its knowledge base, or else by its condition."""
    names = {}
    for key, base in bases.items():
        kind = recorded_engine(base)["kind"]
        names[key] = base["name"] if kind == _RECORDED else kind
    for field in ("name", "condition"):
        taken = Counter(names.values())
        names = {key: bases[key][field] if taken[name] > 1 else name for key, name in names.items()}
    return names


def page_seconds(run: Run, settings: Mapping[str, Mapping[str, str]]) -> dict[str, float]:
    """Return the mean seconds that each engine took for a page, under all noises."""
    read = run.table("readings", ["condition", "seconds"])
    sums = read.group_by(["condition"]).aggregate([("seconds", "sum"), ([], "count_all")]).to_pylist()
    taken = {row["condition"]: (row["seconds_sum"] or 0.0, row["count_all"]) for row in sums}
    found = {}
    for name in dict.fromkeys(engine for engines in settings.values() for engine in engines):
        mine = [taken[engines[name]] for engines in settings.values() if engines.get(name) in taken]
        pages = sum(count for _, count in mine)
        seconds = sum(sum_ for sum_, _ in mine)
        found[name] = seconds / pages if pages and seconds else nan
    return found
