"""The judges of a spec, and the questions as they are about distorted images: what keys need, and steps."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ohr.contracts import Benchmark, CaseJudgeMetric, ImageTreatment, PageJudgeMetric, Question
from ohr.errors import PluginError


@dataclass(frozen=True, slots=True)
class Judge:
    """A metric that asks a generator.

    Args:
        made_by: identity of the generator, then the plugin files' digests: part of every reply's key.
    """

    name: str
    metric: CaseJudgeMetric | PageJudgeMetric
    made_by: tuple[Any, ...]


def questioned(benchmark: Benchmark, question: Question, noises: Sequence[ImageTreatment]) -> Question | None:
    """Return a question as it is about images with these distortions; None where it cannot be asked of them.

    Raises:
        PluginError: the benchmark raises, or returns another question.
    """
    if not noises:
        return question
    found: Any
    try:
        found = benchmark.under(question, noises)
    except (Exception, SystemExit) as error:
        reason = f"`under` raised {type(error).__name__}: {error}"
        raise PluginError(f"benchmark {benchmark.kind}: question {question.id}: {reason}") from error
    if found is not None and (not isinstance(found, Question) or found != replace(question, answers=found.answers)):
        raise PluginError(f"benchmark {benchmark.kind}: question {question.id}: `under` may change its answers only")
    return found
