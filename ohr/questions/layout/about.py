"""The part of a datasheet that neither ground truth nor questions have: how the set was made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ohr.questions.review.outcome import ReviewerAgreement
from ohr.questions.verify import FunnelRow


class ModelUse(NamedTuple):
    """A model that took part: its name, what it did (`writes`, `judges`), its version, and its settings by name."""

    name: str
    role: str
    version: str = ""
    settings: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class About:
    """How a set was made.

    Args:
        title: of the set.
        models: in the order of their use.
        funnel: of the verification, rule by rule.
        agreements: of each two reviewers.
        settings: of the build, JSON values by name.
        limits: further sentences about what the set cannot show.
    """

    title: str
    models: Sequence[ModelUse] = ()
    funnel: Sequence[FunnelRow] = ()
    agreements: Sequence[ReviewerAgreement] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    limits: Sequence[str] = ()
