"""The steps that score the answers of a cell."""

from collections.abc import Mapping
from typing import Any

from ohr.contracts import CaseJudgeMetric, CaseMetric
from ohr.graph.cache_keys import Keys
from ohr.graph.cells import Cell
from ohr.graph.graph import Batch
from ohr.runner.asking_judges import Judged
from ohr.steps.answers.scoring import ScoreAnswers
from ohr.steps.documents.page_images import acting
from ohr.work.step import Step


def score_answers(keys: Keys, cell: Cell, batch: Batch, answers: Mapping[str, str], judged: Judged) -> Step:
    """Return the step that scores the answers to some questions of a cell.

    Args:
        answers: their keys by question: of completions, or of an agent's trajectories.
        judged: keys of the judges' replies.
    """
    questions = [keys.inputs.questions[place] for place in batch.questions]
    given = (name for about in judged.values() for names in about.values() for name in names)
    replies = dict.fromkeys((*answers.values(), *given))
    where = {name: place for place, name in enumerate(replies)}
    at = {question: where[name] for question, name in answers.items()}
    condition = cell.base.name if cell.stage == "reference" else ""
    made_from: list[Any] = [cell.stage, condition, *(answers.get(question.id, "") for question in questions)]
    made_from += [about.get(q.id) for about in judged.values() for q in questions]
    metrics, inputs = [*keys.answer_metrics.values()], tuple(replies)
    whole = any(isinstance(metric, CaseMetric | CaseJudgeMetric) for metric in metrics)
    prompts = batch.prompts if whole else None
    if prompts:
        made_from.append(prompts.key)
        inputs += prompts.inputs
    noises = tuple(acting(cell.read.image_noise))
    name = keys.scores(made_from, questions, metrics, noises)
    asked = tuple(at.get(question.id) for question in questions)
    places = tuple(
        (name, tuple((q, tuple(where[key] for key in names)) for q, names in about.items()))
        for name, about in judged.items()
    )
    read = batch.asks if prompts else None
    rules = keys.rules
    work = ScoreAnswers(cell.stage, condition, batch.questions, asked, rules, len(replies), places, read, noises, whole)
    return Step(work, (name,), inputs)
