"""A judge without a model, for runs where none can be asked."""

from collections.abc import Iterator, Sequence
from json import dumps

from ohr.contracts import Completion, Generator, Prompt

from .answer_match import Correctness, deterministic_accuracy
from .figures import figures

_RANKS: dict[Correctness, int] = {"wrong": 0, "undecided": 1, "correct": 2}


class ByRule(Generator, kind="by_rule"):
    """A judge without a model: the better answer is correct by the rules of `table_accuracy`, or has more gold figures.

    It is a stand-in, where no model can be asked. It reads the parts of a judge's prompt: the gold answer, and one
    answer or two. It knows nothing of clarity and logic, and takes an answer that no rule decides for correct where it
    has all figures of the gold answer.
    """

    def answer(self, prompts: Sequence[Prompt]) -> Iterator[Completion]:
        """Reply to each prompt as it asks: with a better model, or with a judgment."""
        for prompt in prompts:
            yield Completion(_reply(prompt.passages))


def _reply(parts: Sequence[str]) -> str:
    match parts:
        case (gold, first, second):
            grades = grade(first, gold), grade(second, gold)
            better = "tie" if grades[0] == grades[1] else "model_1" if grades[0] > grades[1] else "model_2"
            return dumps({"rationale": f"grades {grades[0]} and {grades[1]}", "better_model": better})
        case (gold, answer):
            rank, share = grade(answer, gold)
            is_correct = rank == _RANKS["correct"] or (rank == _RANKS["undecided"] and share == 1)
            return (
                f"JUDGMENT: {'CORRECT' if is_correct else 'INCORRECT'}\nCONFIDENCE: 1.0\nREASONING: grade {rank, share}"
            )
        case _:
            return "There is no answer to judge."


def grade(answer: str, gold: str) -> tuple[int, float]:
    """Return a grade: 0 for wrong, 1 for undecided, 2 for correct; and the share of the gold figures that it has."""
    wanted, said = ({one.digits for one in figures(text) if not one.is_year} for text in (gold, answer))
    return _RANKS[deterministic_accuracy(answer, gold).outcome], len(wanted & said) / len(wanted) if wanted else 0.0
