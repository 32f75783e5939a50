"""Times the scoring of each finance benchmark on as many made-up items as it has, against the straightforward way.

    python speed/finance_scoring.py [BENCHMARK ...]

Each function prints its time with its limit, and how many times as long its peer takes, which is timed on a few of the
same items. FinCriticalED's peer needs rouge-score.
"""

import csv
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from io import StringIO
from itertools import cycle, islice
from math import nan
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

SEED = 1
TEXT = """
the company reported total revenue of net income and interest expense for quarter ended under section agreement holder
shares outstanding class common stock subject to terms notes due amount principal rate lender borrower
"""


def timed(work: Callable[[], object]) -> float:
    began = perf_counter()
    work()
    return perf_counter() - began


def report(name: str, items: str, ours: float, limit: float, peer: str, ratio: float) -> None:
    print(f"{name}: {items} in {ours:.1f} s (limit {limit:g} s); {ratio:.0f} times as fast as {peer}")


def fincriticaled() -> None:
    """All scores of 859 pages of about 11 facts, through the benchmark's own metrics; the peer on 5 of the pages."""
    from ohr.benchmarks.fincriticaled.facts import strip_entity_tags

    draw = random.Random(SEED)
    pages = [filing(draw) for _ in range(859)]
    work = [(page, strip_entity_tags(page), read_badly(page, i % 2 == 0, draw)) for i, page in enumerate(pages)]
    with TemporaryDirectory() as folder:
        write_filings(Path(folder), work)
        time_filings(Path(folder), "clean", work)
        time_filings(Path(folder), "reference", work)


def time_filings(folder: Path, protocol: str, work: Sequence[tuple[str, str, str]]) -> None:
    from ohr.benchmarks.fincriticaled import FinCriticalED
    from ohr.contracts import Page
    from ohr.dataset.inputs import read_inputs
    from ohr.graph.cache_keys import Keys
    from ohr.metrics.dose import by_page
    from ohr.metrics.pages import page_scores
    from ohr.spec.model import Spec

    began = perf_counter()
    benchmark = FinCriticalED(root=folder, protocol=protocol)
    spec = Spec("speed", 0, benchmark, (), (), (), (), (), resolved={})
    inputs = read_inputs(spec)
    rules, predictions = Keys(spec, inputs).rules, benchmark.results(folder / "predictions") or {}
    truths = {name: by_page(inputs.truth[name]) for name in predictions}
    print(f"FinCriticalED, {protocol}: {len(inputs.questions):,} questions read in {perf_counter() - began:.1f} s")

    def score(names: Sequence[str]) -> None:
        for name in names:
            read = by_page([Page(name, 0, predictions[name][0])])
            page_scores(inputs.about[name], truths[name], read, rules)

    names = list(predictions)
    score(names[:2])  # imports and patterns
    whole, few = timed(lambda: score(names)), names[-5:]
    ours, theirs = timed(lambda: score(few)), timed(lambda: score_plainly(work[-5:]))
    peer = "rouge-score, with BeautifulSoup and difflib for all else"
    report(f"FinCriticalED, {protocol}", f"{len(names)} pages", whole, 20, peer, theirs / ours)


def write_filings(folder: Path, pages: Sequence[tuple[str, str, str]]) -> None:
    """Write pages and predictions in the published layout."""
    table = StringIO()
    csv.writer(table).writerows([["matched_html"], *([html] for _, html, _ in pages)])
    (folder / "raw_input_859.csv").write_text(table.getvalue(), encoding="utf-8", newline="")
    for name, place in (("gold_annotation_html/gold", 0), ("predictions/pred", 2)):
        (folder / name).parent.mkdir()
        for index, page in enumerate(pages):
            (folder / f"{name}_{index}.txt").write_text(page[place], encoding="utf-8")


def filing(draw: random.Random) -> str:
    """A page in HTML with tagged facts: about 4 KB of text in paragraphs and a table."""

    def words(count: int) -> str:
        return " ".join(draw.choices(TEXT.split(), k=count))

    def number(tagged: bool) -> str:
        return f"<number>{draw.randint(1000, 9999999):,}</number>" if tagged else f"{draw.randint(1000, 9999999):,}"

    parts = [f"<p>{words(35)}</p>" for _ in range(11)]
    parts += [f"<p>As of <temporal>June {draw.randint(1, 30)}, 2024</temporal>, {words(20)}.</p>"]
    parts += [f"<p><reportingentity>{words(2).title()} Holdings, Inc.</reportingentity> {words(15)}</p>"]
    rows = [
        f"<tr><td>{words(4)}</td><td><monetaryunit>$</monetaryunit>{number(True)}</td><td>{number(False)}</td></tr>"
        if row % 10 == 0
        else f"<tr><td>{words(4)}</td><td>{number(row % 8 == 1)}</td><td>{number(False)}</td></tr>"
        for row in range(30)
    ]
    return f"<html><body>{''.join(parts)}<table>{''.join(rows)}</table></body></html>"


def read_badly(page: str, as_html: bool, draw: random.Random) -> str:
    """The page as an engine reads it: one character in a hundred is wrong."""
    text = re.sub(r"</?(?:number|temporal|monetaryunit|reportingentity)>", "", page)
    characters = list(text if as_html else re.sub(r"<[^>]+>", "\n", text))
    for _ in range(len(characters) // 100):
        place = draw.randrange(len(characters))
        if characters[place].isalnum():
            characters[place] = draw.choice("0123456789abcdefghij")
    return "".join(characters)


def score_plainly(items: Sequence[tuple[str, str, str]]) -> None:
    """The same questions, asked step by step with what is at hand."""
    from difflib import SequenceMatcher

    from bs4 import BeautifulSoup
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rouge1", "rougeL"], use_stemmer=True)
    for tagged, html, prediction in items:
        gold, made = (BeautifulSoup(text, "lxml").get_text(" ", strip=True) for text in (html, prediction))
        scorer.score(gold, made)
        SequenceMatcher(None, gold, made, autojunk=False).ratio()
        for fact in BeautifulSoup(tagged, "html.parser").find_all(["number", "temporal", "reportingentity"]):
            value = fact.get_text(strip=True)
            if value not in made:
                windows = (made[start : start + len(value)] for start in range(len(made)))
                max(SequenceMatcher(None, value, window).ratio() for window in windows)


def fcmbench() -> None:
    """F1 by both protocols and parse rate of 13,806 replies, those of the sample repeated; the peer does the first."""
    from ohr.benchmarks.fcmbench import FcmBench
    from ohr.benchmarks.fcmbench.layout import SAMPLE
    from ohr.benchmarks.fcmbench.reply_metrics import FcmBenchF1, FcmBenchParsed
    from ohr.report.leaderboard.answers import read_answers
    from ohr.steps.answers.scoring import case_of

    questions, replies = FcmBench(root="sample").questions(), read_answers(SAMPLE / "replies.jsonl")
    asked = list(islice(cycle(question for question in questions if question.id in replies), 13_806))
    cases = [case_of(question, (), replies[question.id]) for question in asked]
    first, others = FcmBenchF1(repairs=()), (FcmBenchF1(), FcmBenchParsed())
    first.score_cases(cases[:100])  # patterns
    ours = timed(lambda: first.score_cases(cases))
    whole = ours + timed(lambda: [metric.score_cases(cases) for metric in others])
    work = [(case.reply, case.answers[0], case.groups["subtask"]) for case in cases]
    theirs = timed(lambda: [plain_f1(*each) for each in work])
    pairs = zip(first.score_cases(cases[:100]), [plain_f1(*each) for each in work[:100]], strict=True)
    same = all(a == b or (a != a and b != b) or abs(a - b) < 1e-9 for a, b in pairs)
    peer = f"sets and floats without repairs, which give {'the same' if same else 'OTHER'} scores"
    report("FCMBench", f"{len(cases):,} replies", whole, 5, peer, theirs / ours)


def plain_f1(reply: str, gold: str, subtask: str) -> float:
    """F1 as the published rules say it, step by step."""
    start, end = reply.find("{"), reply.rfind("}") + 1
    try:
        found = json.loads(reply[start:end]) if end > start >= 0 else None
    except ValueError:
        found = None
    wanted = json.loads(gold)
    found, wanted = (
        each["answer"] if isinstance(each, dict) and "answer" in each else each for each in (found, wanted)
    )
    both: tuple[Any, Any] = found, wanted
    if "num_cal_005" in subtask:
        return nan
    if re.search("num_cal_00[12]$", subtask):
        return nan if found is None else float(abs(float(both[0]) - float(both[1])) <= 2)
    if subtask.endswith("doc_cla_003"):
        found, wanted = (
            each.get("present_categories", []) if isinstance(each, dict) else [] for each in (found, wanted)
        )
    mine, right = set(plain_pairs(found, "")), set(plain_pairs(wanted, ""))
    if not right or not mine & right:
        return float(not right and not mine)
    precision, recall = len(mine & right) / len(mine), len(mine & right) / len(right)
    return 2 * precision * recall / (precision + recall)


def plain_pairs(value: object, path: str) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [pair for key, each in value.items() for pair in plain_pairs(each, f"{path}.{key}")]
    if isinstance(value, list):
        rows = [(path, tuple(plain_text(cell) for cell in each)) for each in value if isinstance(each, list)]
        return [*rows, *(pair for each in value if not isinstance(each, list) for pair in plain_pairs(each, path))]
    return [(path, part.strip()) for part in re.split("[,，]", plain_text(value)) if part.strip()]


def plain_text(value: object) -> str:
    text = re.sub("[<>]", "", "" if value is None else str(value)).strip()
    try:
        number = float(text.replace(",", ""))
    except ValueError:
        return text
    return str(int(number)) if number == int(number) else str(number)


def finmmdocr() -> None:
    """Accuracy and execution of 1,200 different replies, together and two at a time, as a run has them per document."""
    from ohr.benchmarks.finmmdocr import running
    from ohr.benchmarks.finmmdocr.metrics import Executed, PotAccuracy
    from ohr.contracts import Case

    bodies = [
        "revenue, costs = {n}.4, 1311.9\n    return round((revenue - costs) / revenue * 100, 2)",
        "import numpy as np\n    return float(np.sum(np.array([-100.0, 30, {n}]) / 1.08 ** np.arange(3)))",
        "rate = sum(30 / 1.05 ** year for year in range(1, {n}))\n    return f'{rate:.2f}'",
        "return {n} / 0",
    ]
    replies = [f"```python\ndef solution():\n    {bodies[n % 4].replace('{n}', str(n))}\n```" for n in range(1200)]
    cases = [Case("?", ("75",), (), reply, f"test-{n}") for n, reply in enumerate(replies)]
    metrics = (PotAccuracy(), Executed())

    def score(size: int) -> None:
        running._known.cache_clear()
        for start in range(0, len(cases), size):
            for metric in metrics:
                metric.score_cases(cases[start : start + size])

    score(2)  # the sandbox of this process
    together, by_two = timed(lambda: score(1200)), timed(lambda: score(2))
    part = [f"{reply.split('python', 1)[1].rsplit('`', 3)[0]}\nprint(solution())" for reply in replies[:12]]
    plain = timed(
        lambda: [subprocess.run([sys.executable, "-I", "-c", program], capture_output=True) for program in part]
    )
    peer = "`python -I` for each program"
    report("FinMMDocR", "1,200 replies at once", together, 90, peer, 100 * plain / together)
    report("FinMMDocR", "1,200 replies, two at a time", by_two, 90, peer, 100 * plain / by_two)


BENCHMARKS: dict[str, Callable[[], None]] = {
    "fincriticaled": fincriticaled,
    "fcmbench": fcmbench,
    "finmmdocr": finmmdocr,
}


if __name__ == "__main__":
    for benchmark in sys.argv[1:] or BENCHMARKS:
        BENCHMARKS[benchmark]()
