"""Protocols on OHRBench's released texts of law, manual and textbook; `OHRBENCH_DATA` names the folder."""

import os
from pathlib import Path
from statistics import fmean

import numpy as np

from ohr.report.analyses import ANALYSES
from ohr.results.run import Run
from ohr.statistics.comparison import compare
from studies.headings import write_restored
from studies.runs import Values, points, question_scores, run_spec, summary

DOMAINS = ("law", "manual", "textbook")
_DATA = """
name: {name}
replicates: 1
benchmark: {{kind: ohrbench, root: "${{OHRBENCH_DATA}}", domains: [law, manual, textbook], protocol: {protocol}}}
retrievers: [{{kind: {retriever}, top_k: 2}}]
evaluate: [retrieval]
"""
_BASES = """
knowledge_bases:
  - name: gt
  - {name: MinerU, ocr: {kind: precomputed, root: "${OHRBENCH_DATA}/retrieval_base/MinerU"}}
"""
_TABLES = """
questions: {evidence_source: [table]}
knowledge_bases:
  - name: gt
  - {name: html, text_noise: {kind: table_format, to: html}}
"""


def _published(work: Path) -> Run:
    """Return the run by the published protocol; the restored base has the same folder name, on which chunks depend."""
    base = Path(os.environ["OHRBENCH_DATA"]) / "retrieval_base"
    restored = work / "restored" / "MinerU"
    if not restored.is_dir():
        write_restored(base / "MinerU", base / "gt", restored)
    spec = _DATA.format(name="published", protocol="reference", retriever="bm25_reference") + _BASES.lstrip("\n")
    headings = f'  - {{name: headings, ocr: {{kind: precomputed, root: "{restored}"}}}}\n'
    return run_spec(f"{spec}{headings}decompose: true\n", work)


def _clean(work: Path, rest: str, name: str) -> Run:
    return run_spec(_DATA.format(name=name, protocol="clean", retriever="bm25") + rest.lstrip("\n"), work)


def damaged_truth(work: Path) -> Values:
    """Questions that count as damaged before any OCR."""
    of = _published(work)
    (row,) = of.rows("doses", condition="gt")
    (noisy,) = of.rows("doses", condition="MinerU")
    by_domain = {domain: summary(of, "gt", "damaged", domain, "domain")["mean"] for domain in DOMAINS}
    return {
        "questions": row["questions"],
        "gt, %": points(row["r_noise"]),
        "law, %": points(by_domain["law"]),
        "textbook, %": points(by_domain["textbook"]),
        "MinerU, %": points(noisy["r_noise"]),
        "MinerU, of whole evidence, %": points(noisy["r_noise_clean"]),
    }


def signs_of_print(work: Path) -> Values:
    """Damaged questions with and without typographic signs and words cut by lines, and by threshold."""
    (strict,) = _published(work).rows("doses", condition="MinerU")
    (folded,) = _clean(work, _BASES, "folded").rows("doses", condition="MinerU")
    return {
        "as published, %": points(strict["r_noise"]),
        "signs folded, %": points(folded["r_noise"]),
        "one in": round(strict["r_noise"] / (strict["r_noise"] - folded["r_noise"])),
        "at .90, %": points(strict["r_noise_at_90"]),
        "at .98, %": points(strict["r_noise_at_98"]),
        "thresholds": 0.95,
        "low threshold": 0.9,
        "high threshold": 0.98,
    }


def lost_headings(work: Path) -> Values:
    """The score of a knowledge base before and after its bare headings have their words again."""
    of = _published(work)
    base = Path(os.environ["OHRBENCH_DATA"]) / "retrieval_base"
    tally = write_restored(base / "MinerU", base / "gt", work / "restored" / "MinerU")
    (after, clusters), (before, _) = question_scores(of, "headings"), question_scores(of, "MinerU")
    found = compare(after, before, clusters)
    manual = [summary(of, name, group="manual", by="domain")["mean"] for name in ("headings", "MinerU")]
    return {
        "bare": tally["bare"],
        "restored": tally["restored"],
        "before": points(before.mean()),
        "after": points(after.mean()),
        "gain": points(found.difference.mean),
        "low": points(found.difference.low),
        "high": points(found.difference.high),
        "gain, manuals": points(manual[0] - manual[1]),
        "level": 95,
    }


def markup_in_the_score(work: Path) -> Values:
    """Tables in HTML: the loss as scored, and with the markup of both sides stripped."""
    of = _clean(work, _TABLES, "tables")
    rows = {row["noise"]: row for row in ANALYSES["formatting_lcs"](of)}
    scored, bare = (rows["gt"][name] - rows["html"][name] for name in ("lcs", "without_formatting"))
    return {"questions": rows["gt"]["n"], "loss": points(scored), "loss without markup": points(bare)}


def reading_in_retrieval(work: Path) -> Values:
    """The parts of a loss of retrieval: other passages found, and the same passages in a worse text."""
    of = _published(work)
    rows = of.rows("decomposition", condition="MinerU", metric="lcs", evidence_source="all")
    part = {row["quantity"]: row["value"] for row in rows}
    return {
        "loss": points(part["total"]),
        "index alone": points(part["index_alone"]),
        "reading alone": points(part["reading_alone"]),
        "gain of clean reading": points(part["gain_of_repairing_reading"]),
        "pages found, loss": points(summary(of, "MinerU", "hit@2")["lost"]),
    }


def two_means(work: Path) -> Values:
    """The loss as a mean over questions and over domains, and a printed share that its number of questions excludes."""
    of = _published(work)
    gt, noisy = (summary(of, name) for name in ("gt", "MinerU"))
    possible = [asked for asked in range(1, 1201) if any(round(100 * k / asked, 2) == 30.77 for k in range(asked + 1))]
    return {
        "over questions": points(gt["mean"] - noisy["mean"]),
        "over domains": points(gt["macro_mean"] - noisy["macro_mean"]),
        "printed, %": 30.77,
        "asked": 1200,
        "most that fit": max(possible),
    }


def clustered_loss(work: Path) -> Values:
    """The half width of the interval of a real loss, by document and by question."""
    of = _published(work)
    (clean, clusters), (noisy, _) = question_scores(of, "gt"), question_scores(of, "MinerU")
    found = compare(clean, noisy, clusters).difference
    spread = float(np.std(clean - noisy, ddof=1)) / len(clean) ** 0.5
    return {
        "questions": len(clean),
        "real documents": found.documents,
        "worth": round(found.effective_documents),
        "by document, points": points(fmean((found.high - found.mean, found.mean - found.low))),
        "by question, points": points(1.96 * spread),
    }
