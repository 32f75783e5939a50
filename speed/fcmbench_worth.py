"""Prints the worth of each repair of FCMBench's scoring, alone and left out, and what constant replies earn.

    python speed/fcmbench_worth.py [ROOT REPLIES]

By default on the sample, whose made-up replies were written so that each repair matters. With the published repository
at hand, `ROOT` is its folder and `REPLIES` a file of predictions, such as `prediction_results_example.jsonl`.
"""

import sys
from pathlib import Path

from ohr.benchmarks.fcmbench.layout import REPLIES, SAMPLE, question_file
from ohr.benchmarks.fcmbench.reading import read_items, read_replies
from ohr.benchmarks.fcmbench.replies import CLEAN, REFERENCE
from ohr.benchmarks.fcmbench.totals import aggregate, score_items, worth


def main(root: Path, path: Path) -> None:
    items, replies = read_items(question_file(root)), read_replies(path)
    found = {name: aggregate(score_items(items, replies, each)) for name, each in MODES.items()}
    for name, totals in found.items():
        tasks = " ".join(f"{task} {100 * value:.2f}" for task, value in totals.tasks.items())
        print(f"{name:<10} overall {100 * totals.overall:.2f}  {tasks}  ({totals.n_scored:,} scored)")
    print(f"parse rate {100 * found['clean'].parse_rate:.1f}%, coverage {100 * found['clean'].coverage:.1f}%\n")
    reference, clean = (found[name].overall for name in ("reference", "clean"))
    for repair, each in worth(items, replies).items():
        alone, without = (100 * value for value in each)
        changes = f"({alone - 100 * reference:+.2f})", f"({without - 100 * clean:+.2f})"
        print(f"{repair:<13} alone {alone:.2f} {changes[0]}  left out {without:.2f} {changes[1]}")
    print()
    for name, reply in {"an empty answer": '{"answer": ""}', "no JSON": "Not legible."}.items():
        constant = {item.id: reply for item in items}
        scores = [100 * aggregate(score_items(items, constant, each)).overall for each in MODES.values()]
        print(f"{name} to everything: reference {scores[0]:.2f}, clean {scores[1]:.2f}")


MODES = {"reference": REFERENCE, "clean": CLEAN}


if __name__ == "__main__":
    main(*(map(Path, sys.argv[1:]) if sys.argv[1:] else (SAMPLE, SAMPLE / REPLIES)))
