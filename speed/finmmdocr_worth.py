"""Prints the worth of each repair of FinMMDocR's scoring, on the canned outputs of its sample.

    python speed/finmmdocr_worth.py

Every question has each of the outputs once. Programs run in the sandbox.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from ohr.benchmarks.finmmdocr import SAMPLE, FinMMDocR
from ohr.benchmarks.finmmdocr.merging import layout
from ohr.benchmarks.finmmdocr.metrics import Executed, PageMrr, PageRecall, PotAccuracy
from ohr.benchmarks.finmmdocr.numbers import accuracy, cot_accuracy, is_no_answer
from ohr.contracts import Case, Ranking

PROTOCOLS = ("reference", "clean")
REPAIRS = {
    "definition in the second block": "the block that defines solution() counts, not the first",
    "closing fence missing": "a last block may lack its closing fence",
    "annotated function without a fence": "`def solution(` is found with annotations and other spaces",
    "body in a block": "a body in a block is made a function",
    "argparse mentioned": "the word argparse does not empty a reply",
    "words": "an extraction that is no number is wrong, not 0",
    "scale word in the middle": "spaces are collapsed before units are dropped",
    "true minus": "a true minus (U+2212) is a minus",
    "point first": "a number may begin with its point",
    "USD joined": "of USD, the D is dropped too",
    "caret for a power": "^ is a power",
}
Outputs = Sequence[Mapping[str, Any]]


def answers() -> None:
    golds = {question.id: question.answers for question in FinMMDocR(root="sample").questions()}
    outputs = json.loads((SAMPLE / "outputs.json").read_text("utf-8"))
    found = {protocol: scores(outputs, golds, protocol) for protocol in PROTOCOLS}
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, output in enumerate(outputs):
        groups[output["kind"], output["case"]].append(place)
        groups[output["kind"], "all"].append(place)
    for (kind, case), places in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1] == "all")):
        before, after = (accuracy([found[protocol][place] for place in places]) for protocol in PROTOCOLS)
        print(
            f"{kind} {case:35} n {len(places):3} {before:6} {after:6} {after - before:+7.2f}  {REPAIRS.get(case, '')}"
        )
    cases = [Case("", golds[o["question_id"]], (), o["output"]) for o in outputs if o["kind"] == "pot"]
    rates = [accuracy(Executed(protocol=protocol, seconds=1).score_cases(cases)) for protocol in PROTOCOLS]
    print(f"programs that end: reference {rates[0]}, clean {rates[1]}\n")


def scores(outputs: Outputs, golds: Mapping[str, tuple[str, ...]], protocol: Any) -> list[float]:
    cases = [Case("", golds[output["question_id"]], (), output["output"]) for output in outputs]
    programs = PotAccuracy(protocol=protocol, seconds=1).score_cases(cases)
    return [
        program if output["kind"] == "pot" else extracted(case, protocol)
        for output, case, program in zip(outputs, cases, programs, strict=True)
    ]


def extracted(case: Case, protocol: Any) -> float:
    return 0.0 if is_no_answer(case.reply) else cot_accuracy(case.reply, json.loads(case.answers[0]), protocol)


def rankings() -> None:
    """Rank the sample's pages by the character n-grams that they share with the question, as a retriever might."""
    benchmark = FinMMDocR(root="sample")
    texts = {document.name: [page.text for page in benchmark.pages(document)] for document in benchmark.documents()}
    asked = []
    for question in benchmark.questions():
        held = [grams(text) for text in texts[question.document]]
        order = sorted(range(len(held)), key=lambda page: -len(grams(question.text) & held[page]))
        asked.append(ranking(order, question.pages))
    for name, found in (("the 8 of the sample", asked), ("with one more without evidence", [*asked, ranking([0], [])])):
        for kind in (PageRecall, PageMrr):
            means = [[kind(protocol=protocol).score_ranking(one) for one in found] for protocol in PROTOCOLS]
            values = [accuracy(scored) for scored in means]
            print(f"{kind.__name__} at 10, {name}: reference {values[0]}, clean {values[1]}")
    print()


def ranking(pages: Sequence[int], gold: Sequence[int]) -> Ranking:
    hits = tuple((("d", page),) for page in pages)
    return Ranking("", hits, ("",) * len(hits), frozenset(("d", page) for page in gold), ("",) * len(gold))


def grams(text: str) -> set[str]:
    plain = "".join(text.lower().split())
    return {plain[place : place + (4 if plain.isascii() else 2)] for place in range(len(plain))}


def pictures() -> None:
    for pages, threshold in ((35, 15), (51, 50), (101, 50), (160, 50)):
        found = [layout(pages, "", threshold, protocol).pages for protocol in PROTOCOLS]
        counts = [-(-pages // each) for each in found]
        print(
            f"{pages} pages, threshold {threshold}: reference {found[0]} in each of {counts[0]} pictures, "
            f"clean {found[1]} in each of {counts[1]}"
        )


if __name__ == "__main__":
    answers()
    rankings()
    pictures()
