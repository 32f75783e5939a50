"""Prints the worth of each repair of FCMBench's scoring, alone and left out, and what constant replies earn.

    python speed/fcmbench_worth.py [ROOT REPLIES]

By default on the sample, whose made-up replies were written so that each repair matters. With the published repository
at hand, `ROOT` is its folder and `REPLIES` a file of predictions, such as `prediction_results_example.jsonl`.
"""

import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from ohr.benchmarks.fcmbench import FcmBench
from ohr.benchmarks.fcmbench.capture_items import TASKS
from ohr.benchmarks.fcmbench.item_files import REPLIES, SAMPLE
from ohr.benchmarks.fcmbench.reply_metrics import CLEAN, F1, MODES, PARSED, REFERENCE, REPAIRS, Repair
from ohr.report.leaderboard.answers import AnswerScore, read_answers, score_answers


class Repaired(FcmBench):  # type: ignore[misc] # checked by itself, this folder does not see the families' types
    """FCMBench with any choice of repairs in place of a protocol's."""

    repairs: tuple[Repair, ...] = ()

    @property
    def scoring(self):
        return replace(super().scoring, metric_fields={F1: {"repairs": self.repairs}})


def scored(root: Path, replies: Mapping[str, str], repairs: Collection[Repair]) -> AnswerScore:
    return score_answers(Repaired(root=root, repairs=tuple(repairs)), replies, "replies")


def overall(root: Path, replies: Mapping[str, str], repairs: Collection[Repair]) -> float:
    return scored(root, replies, repairs).aggregates["overall"][1].mean


def worth(root: Path, replies: Mapping[str, str]) -> dict[Repair, tuple[float, float]]:
    """Return the overall score with each repair alone, and with all but that one."""
    return {
        each: (overall(root, replies, REFERENCE | {each}), overall(root, replies, CLEAN - {each})) for each in REPAIRS
    }


def main(root: Path, path: Path) -> None:
    replies = read_answers(path)
    found = {name: scored(root, replies, each) for name, each in MODES.items()}
    parsed = {name: score.scores[PARSED]["evidence_source"]["all"] for name, score in found.items()}
    means = {name: {key: one.mean for key, (_, one) in score.aggregates.items()} for name, score in found.items()}
    for name, values in means.items():
        tasks = " ".join(f"{task} {100 * values[task]:.2f}" for task in TASKS if task in values)
        print(f"{name:<10} overall {100 * values['overall']:.2f}  {tasks}  ({parsed[name].n:,} scored)")
    print(f"parse rate {100 * parsed['clean'].mean:.1f}%, {len(found['clean'].missing):,} without a reply\n")
    reference, clean = (means[name]["overall"] for name in ("reference", "clean"))
    for repair, (alone, without) in worth(root, replies).items():
        changes = f"({100 * (alone - reference):+.2f})", f"({100 * (without - clean):+.2f})"
        print(f"{repair:<13} alone {100 * alone:.2f} {changes[0]}  left out {100 * without:.2f} {changes[1]}")
    print()
    for name, reply in {"an empty answer": '{"answer": ""}', "no JSON": "Not legible."}.items():
        constant = {question.id: reply for question in FcmBench(root=root).questions()}
        scores = [100 * overall(root, constant, each) for each in MODES.values()]
        print(f"{name} to everything: reference {scores[0]:.2f}, clean {scores[1]:.2f}")


if __name__ == "__main__":
    main(*(map(Path, sys.argv[1:]) if sys.argv[1:] else (SAMPLE, SAMPLE / REPLIES)))
