"""The tables of the page that a run's own tables give, each with one line on how to read it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ohr.report.analyses import ANALYSES
from ohr.report.headlines import VERDICTS, interval
from ohr.report.html.sheets import Sheet, cell, of_rows, pipeline
from ohr.results.derived.losses import Loss
from ohr.results.derived.pairs import MOST_FAILED
from ohr.results.tables.groups import ALL
from ohr.results.tables.read_table import read_rows

Row = Mapping[str, Any]


def losses(losses: Sequence[Loss]) -> Sheet:
    """Return the loss of every condition and pipeline against the clean text."""
    rows = tuple(
        (
            loss.stage,
            loss.metric,
            loss.system,
            loss.condition,
            cell(loss.clean),
            cell(loss.mean),
            interval(loss.lost, loss.low, loss.high),
            VERDICTS[loss.verdict],
            cell(loss.detectable),
            cell(loss.questions_lost),
            cell(loss.questions_gained),
            cell(loss.pairs),
            cell(loss.pairs_failed),
            cell(loss.left_out),
        )
        for loss in losses
    )
    headers = (
        "stage", "metric", "pipeline", "condition", "clean", "score", "lost [95% interval]", "verdict", "detectable",
        "questions that lost", "gained", "compared", "failed", "left out",
    )  # fmt: skip
    how = (
        "Lost: the clean score minus this one, question by question, with its interval over documents. Detectable: "
        "the loss that four of five such studies would show. Not shown: the interval holds 0, which is not "
        "the same as no loss. Failed: compared questions that failed and scored 0; beyond "
        f"{100 * MOST_FAILED:.0f}% there is no verdict."
    )
    return Sheet("Loss against the clean text", how, headers, rows)


def hypotheses(folder: Path, manifest: Mapping[str, Any]) -> list[Sheet]:
    """Return the comparisons that were written down before the run; none where there are none."""
    rows = read_rows(folder / "hypotheses.parquet")
    if not rows:
        return []
    known = manifest.get("hypotheses") or {}
    before = "after scores of this run were known" if known.get("scores_before") else "before any score was known"
    shown = [
        {
            "hypothesis": row["name"],
            "expected": row["expected"],
            "found": VERDICTS[row["verdict"]],
            "held": "yes" if row["held"] else "no",
            "lost [95% interval]": interval(row["difference"], row["low"], row["high"]),
            "p (Holm)": cell(row["p_holm"]),
            "margin": row["margin"],
        }
        for row in rows
    ]
    how = f"Written down {before}, first run {known.get('time', '')}; judged as one family. All else is exploratory."
    return [of_rows("Hypotheses", how, shown)]


def robustness(folder: Path) -> list[Sheet]:
    """Return the summaries of the curves; none where no noise has several levels."""
    rows = ANALYSES["robustness"](folder)
    how = (
        "Area: mean retention over the doses. Slope: score lost per unit of dose. r50: dose at which half is lost. "
        "Difference: the other noise's area less this one's. Equal score: dose at which this noise does what the other "
        "condition does. "
        "Crossing: dose at which two pipelines change places."
    )
    return [of_rows("Curves in one number", how, rows)] if rows else []


def means(points: Sequence[Row]) -> Sheet:
    """Return the mean score of every condition and pipeline."""
    rows = tuple(
        (
            row["stage"],
            row["metric"],
            pipeline(row),
            row["condition"],
            cell(row["kb_r_noise"]),
            cell(row["kb_evidence_loss"]),
            interval(row["mean"], row["low"], row["high"]),
            cell(row["floor"]),
            cell(row["ceiling"]),
            cell(row["n"]),
            cell(row["documents"]),
        )
        for row in points
    )
    headers = (
        "stage", "metric", "pipeline", "condition", "r_noise", "evidence loss", "score", "floor", "ceiling", "n",
        "documents",
    )  # fmt: skip
    how = "Mean over questions with its 95% interval over documents. lcs, the longest common subsequence: share of the "
    how += "evidence's words that are in what was retrieved, in order."
    return Sheet("Scores", how, headers, rows)


def decomposition(folder: Path, shown: Mapping[str, Sequence[str]]) -> list[Sheet]:
    """Arrange the loss by stage, where the run has it."""
    path = folder / "decomposition.parquet"
    rows = read_rows(path) if path.is_file() else []
    rows = [row for row in rows if row["metric"] in shown.get(row["stage"], ())]
    found = []
    for group in dict.fromkeys(row["evidence_source"] for row in rows):
        lines: dict[tuple[str, ...], dict[str, str]] = {}
        for row in (row for row in rows if row["evidence_source"] == group):
            place = (row["stage"], row["metric"], pipeline(row), row["condition"])
            lines.setdefault(place, {})[row["quantity"]] = interval(row["value"], row["low"], row["high"])
        cells = [
            dict(zip(("stage", "metric", "pipeline", "condition"), place, strict=True))
            | {name: line.get(key, "") for key, name in QUANTITIES.items()}
            for place, line in lines.items()
        ]
        title = "All questions" if group == ALL else str(group).replace("_", " ")
        how = (
            "Loss with a noisy index alone, with noisy reading alone, and what either repair alone brings back; the "
            "overlap comes back only with both."
        )
        found.append(of_rows(title, how, cells))
    return found


QUANTITIES: Mapping[str, str] = {
    "total": "total loss",
    "index_alone": "noisy index alone",
    "reading_alone": "noisy reading alone",
    "gain_of_repairing_index": "gain of a clean index",
    "gain_of_repairing_reading": "gain of clean reading",
    "overlap": "overlap",
}


def attribution(folder: Path, headline: Mapping[str, str]) -> list[Sheet]:
    """Return the cost of each part of a noise, where the run has estimated it."""
    path = folder / "attribution.parquet"
    if not path.is_file():
        return []
    wanted = {"page": "damaged", **headline}
    rows = [row for row in read_rows(path, evidence_source=ALL) if row["metric"] == wanted.get(row["stage"])]
    shown = [
        {
            "condition": row["condition"],
            "method": row["method"].replace("_", " "),
            "part": row["part"],
            "measure": "r_noise" if row["stage"] == "page" else f"{row['stage']} {row['metric']}",
            "pipeline": pipeline(row),
            "cost": interval(row["cost"], row["low"], row["high"]),
            "n": row["n"],
        }
        for row in rows
    ]
    how = "What a part of a noise adds to r_noise and takes from a score: without it, or as its Shapley share."
    return [of_rows("Cost of each part", how, shown)] if shown else []


def doses(folder: Path) -> list[Sheet]:
    """Return the noise of each knowledge base."""
    names = {
        "condition": "condition",
        "replicate": "draw",
        "r_noise": "r_noise",
        "r_noise_clean": "of clean evidence",
        "r_content": "without markup",
        "evidence_loss": "evidence loss",
        "term_survival": "terms kept",
        "answer_survival": "answers kept",
        "edit_distance": "edit distance",
        "empty_pages": "empty pages",
        "failed_pages": "failed pages",
        "excluded": "excluded",
    }
    rows = read_rows(folder / "doses.parquet")
    if not any(row["replicate"] for row in rows):
        del names["replicate"]
    how = (
        "r_noise: share of questions whose evidence is damaged; evidence loss: mean share of the evidence's words that "
        "is lost."
    )
    return [of_rows("Noise of each knowledge base", how, rows, names)] if rows else []


def failures(folder: Path, manifest: Mapping[str, Any]) -> list[Sheet]:
    """Return failed items by reason, and the warnings."""
    rows = read_rows(folder / "failures.parquet")
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        reasons.setdefault((row["stage"], row["reason"]), []).append(row["item"])
    shown = tuple((stage, f"{len(items):,}", reason, items[0]) for (stage, reason), items in reasons.items())
    found = []
    if shown:
        how = "Questions that need a failed item score 0, and are counted."
        found.append(Sheet("Failed items", how, ("stage", "items", "reason", "first"), shown))
    if warnings := manifest.get("warnings"):
        lines = tuple((str(warning),) for warning in warnings)
        found.append(Sheet("Warnings", "What was left out, and what looks wrong.", ("warning",), lines))
    return found


def provenance(manifest: Mapping[str, Any]) -> list[Sheet]:
    """Return the versions, hashes and times that are needed to check a run."""
    machine = manifest.get("machine") or {}
    rows: list[tuple[str, str]] = [
        ("run", str(manifest.get("name", ""))),
        ("key", str(manifest.get("key", ""))[:12]),
        ("ohr", str(manifest.get("ohr", ""))),
        ("started", str(manifest.get("started", ""))),
        ("written", str(manifest.get("written", ""))),
        ("system", ", ".join(f"{name} {value}" for name, value in machine.items())),
        ("seconds by phase", _listed(manifest.get("seconds"))),
        ("calls", _listed(manifest.get("calls"))),
        ("tokens", _listed(manifest.get("tokens"))),
        ("packages", _listed(manifest.get("packages"))),
        ("prompts (SHA-256)", _listed(manifest.get("prompt_sha256"))),
        ("plugin files (SHA-256)", _listed(manifest.get("plugins"))),
    ]
    how = "Enough to check the run or to do it again; the whole manifest follows."
    return [Sheet("Origin of these numbers", how, ("what", "value"), tuple(row for row in rows if row[1]))]


def _listed(values: Any) -> str:
    return (
        ", ".join(f"{name} {value}" for name, value in values.items() if value) if isinstance(values, Mapping) else ""
    )
