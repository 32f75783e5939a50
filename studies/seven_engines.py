"""Seven engines on the 200 pages of opendataloader-bench: published scores, words kept, and the loss of retrieval.

    git clone https://github.com/opendataloader-project/opendataloader-bench
    python -m studies.seven_engines opendataloader-bench WORK

The benchmark (MIT; its pages are DP-Bench's, MIT) has a Markdown truth, and no questions. They are written from that
truth without a model (`ohr.benchmarks.known_items`). Tables are Markdown on both sides: a notation counts for nothing.
"""

import argparse
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import fmean

import numpy as np

from ohr.benchmarks.known_items import known_items
from ohr.contracts import Page
from ohr.files.ohrbench_json import write_pages
from ohr.markup.page import Markup, tidy
from ohr.results.derived.losses import read_losses
from ohr.results.run import Run
from ohr.runner.run import run
from ohr.spec.read import read_spec

Values = dict[str, float]
SPEC = Path(__file__).parents[1] / "pipelines" / "opendataloader-bench.yaml"
DRAWS = 2_000
SCORES = ("overall", "nid", "teds", "mhs")


def questions(pages: Mapping[str, str]) -> Iterator[dict[str, object]]:
    """Yield the questions of all pages, in OHRBench's layout."""
    for item in known_items(pages):
        yield {
            "doc_name": item.page,
            "ID": f"{item.page.split('/')[1]}-{item.source}-{item.number}",
            "questions": item.query,
            "answers": item.passage,
            "doc_type": "pages",
            "answer_form": "String",
            "evidence_source": item.source,
            "evidence_context": item.passage,
            "evidence_page_no": 0,
            "task_type": "understanding",
        }


def write_set(bench: Path, root: Path) -> dict[str, str]:
    """Write the truth and the questions; returns the text of each page."""
    markup, pages = Markup(tables="markdown"), dict[str, str]()
    for path in sorted(bench.glob("ground-truth/markdown/*.md")):
        name = f"pages/{path.stem}"
        pages[name] = tidy(path.read_text(encoding="utf-8"), markup)
        write_pages(root / "retrieval_base" / "gt" / f"{name}.json", [Page(name, 0, pages[name])])
    (root / "qas_v2.json").write_text(
        json.dumps(list(questions(pages)), ensure_ascii=False, indent=1), encoding="utf-8"
    )
    return pages


def published(bench: Path, engine: str) -> dict[str, Values]:
    """Return an engine's published scores by document; nan where a page has no table, or no heading."""
    evaluation = json.loads((bench / "prediction" / engine / "evaluation.json").read_text(encoding="utf-8"))
    return {
        f"pages/{each['document_id']}": {
            name: np.nan if each["scores"][name] is None else each["scores"][name] for name in SCORES
        }
        for each in evaluation["documents"]
    }


def measured(of: Run, bench: Path) -> dict[str, dict[str, Values]]:
    """Return what is known of each engine by document: published scores, words, and the loss of its questions."""
    clean, found = retrieval(of, "truth"), {}
    for engine in (row["condition"] for row in of.rows("doses") if row["condition"] != "truth"):
        noisy, read = retrieval(of, engine), of.rows("page_statistics", kb=engine)
        found[engine] = {
            **{score: {name: each[score] for name, each in published(bench, engine).items()} for score in SCORES},
            "kept": {row["document"]: row["words_kept"] / max(row["words_true"], 1) for row in read},
            "edit": {row["document"]: row["edit_distance_content"] for row in read},
            "loss": {name: fmean(clean[name]) - fmean(noisy[name]) for name in clean},
        }
    return found


def retrieval(of: Run, condition: str) -> dict[str, list[float]]:
    """Return the retrieval scores (LCS) of the questions on each document."""
    scores = defaultdict(list)
    for row in of.rows("scores", condition=condition, metric="lcs", stage="retrieval"):
        scores[row["document"]].append(row["value"])
    return scores


def agreement(found: Mapping[str, Mapping[str, Values]], score: str) -> tuple[float, float, float]:
    """Return Spearman's correlation of engines' mean score and loss, with its 95% interval over drawn documents."""
    from scipy.stats import spearmanr

    names, rng = sorted(next(iter(found.values()))["loss"]), np.random.default_rng(0)
    columns = np.array(
        [[[each[key].get(name, np.nan) for name in names] for key in (score, "loss")] for each in found.values()]
    )
    drawn = (columns[:, :, rng.integers(0, len(names), len(names))] for _ in range(DRAWS))
    rhos = [spearmanr(*np.nanmean(each, axis=2).T).statistic for each in drawn]
    return spearmanr(*np.nanmean(columns, axis=2).T).statistic, *np.quantile(rhos, [0.025, 0.975])


def show(of: Run, found: Mapping[str, Mapping[str, Values]]) -> None:
    """Print a line for each engine, the best published score first, and the correlations."""
    losses = {(each.condition, group): each for group in ("all", "text", "table") for each in read_losses(of, group)}
    columns = "".join(f"{name:>7}" for name in (*SCORES[1:], "edit", "kept"))
    print(f"{'engine':24}{'overall':>8}{columns}  {'loss, points':22}{'text':>6}{'table':>7}")
    for engine in sorted(found, key=lambda name: -np.nanmean(list(found[name]["overall"].values()))):
        means = [float(np.nanmean(list(found[engine][name].values()))) for name in (*SCORES, "edit", "kept")]
        lost, text, table = (losses[engine, group] for group in ("all", "text", "table"))
        interval = f"{100 * lost.lost:5.1f} [{100 * lost.low:.1f}, {100 * lost.high:.1f}]"
        numbers = f"{means[0]:8.3f}" + "".join(f"{mean:7.3f}" for mean in means[1:])
        print(f"{engine:24}{numbers}  {interval:22}{100 * text.lost:6.1f}{100 * table.lost:7.1f}")
    for name in (*SCORES, "edit", "kept"):
        rho, low, high = agreement(found, name)
        print(f"rank correlation of {name} and loss, {len(found)} engines: {rho:.2f} [{low:.2f}, {high:.2f}]")


def main() -> None:
    """Write the set, run the spec, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", type=Path, help="checkout of opendataloader-bench")
    parser.add_argument("work", type=Path, help="folder for the set, the store and the run")
    given = parser.parse_args()
    os.environ |= {
        "OPENDATALOADER_BENCH": str(given.bench.resolve()),
        "QUESTION_SET": str((given.work / "set").resolve()),
    }
    if given.work.exists() and not (given.work / ".ohr").is_dir():
        parser.error(f"{given.work} is none of this script's folders: name a new one")
    write_set(given.bench, given.work / "set")
    of = Run(run(read_spec(SPEC), store=given.work / ".ohr", runs=given.work / "runs").folder)
    show(of, measured(of, given.bench))


if __name__ == "__main__":
    main()
