"""The treatments of a knowledge base, as an entry of a spec names them and as a manifest has them."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

_Plugin = dict[str, Any]

SHORT = ("image_noise", "ocr", "text_noise")
"""The families that a spec names by keys of their own, in the order in which these act."""


class KnowledgeBaseEntry(BaseModel):
    """The keys of one entry of `knowledge_bases`."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: Annotated[str | None, Field(description="By default its noise and OCR engine.")] = None
    image_noise: Annotated[_Plugin | list[_Plugin], Field(description="Distorts page images.")] = []
    ocr: Annotated[_Plugin, Field(description="Reads the pages.")] = {"kind": "ground_truth"}
    text_noise: Annotated[_Plugin | list[_Plugin], Field(description="Edits the text.")] = []
    treatments: Annotated[
        list[_Plugin],
        Field(description="In place of the three above: noise, repairs and the OCR engine, in the order they act."),
    ] = []
    retrievers: Annotated[list[str] | None, Field(description="Names of the retrievers to use; all.")] = None
    repeats: Annotated[
        int,
        Field(strict=True, ge=1, le=20, description="How often its pages are read: how far engines repeat themselves."),
    ] = 1

    def placed(self) -> Iterator[tuple[tuple[str, ...] | tuple[str, int], str | None, _Plugin]]:
        """Yield its treatments in order, each with its key in the entry, and its family where the key says it."""
        for place, keys in enumerate(self.treatments):
            yield ("treatments", place), None, keys
        for family in SHORT if not self.treatments else ():
            given = getattr(self, family)
            if isinstance(given, dict):
                yield (family,), family, given
            else:
                yield from (((family, place), family, keys) for place, keys in enumerate(given))


class Recorded(NamedTuple):
    """A treatment as JSON values: its family, what it is for (noise, reading, repair) and takes, and its keys."""

    family: str
    purpose: str
    takes: str | None
    keys: Mapping[str, Any]

    @property
    def label(self) -> str:
        """Its kind in words, with its strength."""
        strength = None if self._strength is None else str(self._strength)
        return " ".join(filter(None, (str(self.keys.get("kind")).replace("_", " "), strength)))

    @property
    def acts(self) -> bool:
        """Whether it does anything: one whose strength is 0 gives its input back."""
        return self._strength != 0

    @property
    def _strength(self) -> object:
        return next((self.keys[knob] for knob in _KNOBS if self.keys.get(knob) is not None), None)


_KNOBS = ("severity", "level", "rate")


def written_treatments(treatments: Sequence[Recorded]) -> dict[str, Any]:
    """Return treatments as parts of a knowledge base's JSON values: by the short keys where these can say it."""
    families = [family for family, _ in groupby(each.family for each in treatments)]
    if set(families) <= {*SHORT} and families == [family for family in SHORT if family in families]:
        image, read, text = ([dict(each.keys) for each in treatments if each.family == family] for family in SHORT)
        if len(read) == 1:
            return dict(zip(SHORT, (image, read[0], text), strict=True))
    return {"treatments": [{**each._asdict(), "keys": dict(each.keys)} for each in treatments]}


def recorded_treatments(base: Mapping[str, Any]) -> list[Recorded]:
    """Return the treatments of a manifest's knowledge base, in the order in which they act."""
    if "treatments" in base:
        return [Recorded(**each) for each in base["treatments"]]
    return list(_by_short_keys(base))


def _by_short_keys(base: Mapping[str, Any]) -> Iterator[Recorded]:
    for family in SHORT:
        given = base.get(family) or ()
        for keys in [given] if isinstance(given, Mapping) else given:
            purpose, takes = ("reading" if family == "ocr" else "noise"), ("text" if family == SHORT[-1] else "image")
            yield Recorded(family, purpose, takes, keys)


def recorded_engine(base: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the keys of the engine that read a manifest's knowledge base; none where it is not said."""
    return next((each.keys for each in recorded_treatments(base) if each.family == "ocr"), {})


def plain_scans(knowledge_bases: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return for each noisy condition the one of the same engine without noise; nothing where there is clean text.

    Args:
        knowledge_bases: as a resolved spec and a manifest have them.
    """
    bases = [base for base in knowledge_bases if not base.get("again_of")]
    noisy = {base["condition"]: any(each.family != "ocr" for each in recorded_treatments(base)) for base in bases}
    readers = {base["condition"]: recorded_engine(base) or {"kind": "ground_truth"} for base in bases}
    if any(reader["kind"] == "ground_truth" and not noisy[condition] for condition, reader in readers.items()):
        return {}
    engines = {condition: json.dumps(reader, sort_keys=True, default=str) for condition, reader in readers.items()}
    plain = {engines[condition]: condition for condition in reversed(noisy) if not noisy[condition]}
    return {
        condition: plain[engines[condition]] for condition in noisy if noisy[condition] and engines[condition] in plain
    }
