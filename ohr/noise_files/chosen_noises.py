"""The noises that twins are held against: those that are named, or all that can be fitted."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ohr.contracts import Treatment
from ohr.errors import SpecError
from ohr.messages.wording import choices
from ohr.noise_files.image_synthesis import image_kinds
from ohr.noise_files.likeness import candidates
from ohr.registry import Registry
from ohr.spec.read import read_noise


def text_noises(given: Sequence[str]) -> Mapping[str, Sequence[Treatment]]:
    """Return noises of texts, each in its variants: kinds by their names, and noises as in a spec; all by default.

    Raises:
        SpecError: one is no noise of texts, or has no severity to be fitted.
    """
    registry = Registry()
    every = candidates(registry) if not given or any(map(_is_kind, given)) else {}
    chosen: dict[str, Sequence[Treatment]] = {}
    for text in given or every:
        if _is_kind(text):
            chosen[text] = every[_known(text, list(every))]
            continue
        chain = read_noise(text, registry)
        if chain.medium != "text" or len(chain.noises) > 1:
            raise SpecError(f"--noise {text}: must be one noise of texts")
        chain.noises[0].check()
        chosen[text] = [chain.noises[0]]
    return chosen


def image_noises(given: Sequence[str]) -> list[str]:
    """Return kinds of image noise, whose severities are fitted, and all else is by default; none where none is given.

    Raises:
        SpecError: one is no image noise, or has fields or no severity to be fitted.
    """
    kinds = []
    for text in given:
        if _is_kind(text):
            kinds.append(text)
            continue
        chain = read_noise(text)
        if chain.medium != "image" or len(chain.noises) > 1 or set_fields(chain.noises[0]):
            raise SpecError(f"--noise {text}: must be a kind of image noise, without fields but its severity")
        kinds.append(chain.noises[0].kind)
    usable = image_kinds() if kinds else []
    return [_known(kind, usable) for kind in kinds]


def set_fields(noise: Treatment) -> dict[str, object]:
    """Return what of a noise is not by default, but for its strength."""
    fields: dict[str, object] = noise.model_dump(mode="json", exclude_defaults=True, exclude={"kind", noise.knob})
    return fields


def _is_kind(text: str) -> bool:
    """Report whether a text is a bare name, and no YAML or file."""
    return text.replace("_", "").isalnum() and not Path(text).is_file()


def _known(kind: str, usable: Sequence[str]) -> str:
    if kind not in usable:
        raise SpecError(f"--noise {kind}: is no noise that can be fitted to these pages. {choices(kind, usable)}")
    return kind
