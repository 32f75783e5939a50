"""The figure of docs/real-documents.md: a panel for each study of real documents, from the kept tables.

python -m studies.real_figure
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ohr.statistics.estimate import Estimate
from studies.answers import reached
from studies.corrections import OF
from studies.further_corrections import of_both
from studies.kept_scores import Scores, retrievers
from studies.real_data import KEPT
from studies.real_documents import PREDICTORS, SELECTIVE, SIGNALS, PageLosses, forgiven, selective
from studies.real_pages import SHARES

FILE = Path(__file__).parents[1] / "docs" / "images" / "real-documents.png"
LABELS = {"rare words": "rare words (exploratory)"}
BLOCKS = {f"text_edit@{version}": f"distance of blocks, {version}" for version in ("1.0", "1.5")}
Interval = tuple[float, float, float]
"""A value with the ends of its 95% interval."""


def draw(file: Path = FILE) -> None:
    """Draw what studies a, b, c, e, f and g found."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, 3, figsize=(16, 7.2), layout="constrained")
    kept, answers = Scores.read(KEPT / SELECTIVE), Scores.read(KEPT / "answers.parquet")
    predicted = PageLosses.read(kept).correlations()
    _intervals(axes[0, 0], [(name, predicted[name]) for name in PREDICTORS])
    axes[0, 0].set(
        xlim=(0, 0.7), xlabel="rank correlation with the loss of a page", title="a. What predicts the loss? (852 pages)"
    )
    ratios = [
        (BLOCKS.get(name, f"{name} of the page"), _of(ratio))
        for name, (_, ratio) in forgiven()[20].items()
        if name != "precision lost"
    ]
    _intervals(axes[0, 1], ratios)
    axes[0, 1].axvline(0.5, color="gray", linewidth=0.8, linestyle=":")
    axes[0, 1].set(
        xlim=(0, 1.4),
        xlabel="rise over what precision loses, 20% invented",
        title="b. Is invention forgiven? (3,388 pages with blocks)",
    )
    lost = retrievers(Scores.read(KEPT / "retrievers.parquet"))
    _intervals(axes[0, 2], [(name, _of(row["loss"], 100)) for name, row in lost.items()])
    axes[0, 2].set(
        xlim=(0, 16), xlabel="points of retrieval lost", title="c. Which retrievers bear it? (2,883 questions)"
    )
    _flagged(axes[1, 0], kept)
    _corrected(axes[1, 1])
    reach = reached(answers)
    _intervals(axes[1, 2], [(name, _of(reach[name], 100)) for name in ("retrieval", "answers")])
    axes[1, 2].set(xlim=(0, 22), xlabel="points lost", title="g. What reaches the answers? (416 questions)")
    engine: Any = figure.get_layout_engine()
    engine.set(hspace=0.08)
    figure.savefig(file, dpi=110)


def _of(estimate: Estimate, times: float = 1) -> Interval:
    return times * estimate.mean, times * estimate.low, times * estimate.high


def _intervals(axes: Any, rows: Sequence[tuple[str, Interval]], shift: float = 0.0, **style: Any) -> None:
    """Draw values with their intervals, the first at the top."""
    for place, (_, (value, low, high)) in enumerate(rows):
        axes.errorbar(
            value,
            place + shift,
            xerr=[[value - low], [high - value]],
            **{"fmt": "o", "color": "C0", "capsize": 3} | style,
        )
        style.pop("label", None)
    axes.set_yticks(range(len(rows)), [name.replace("_", " ") for name, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)


def _flagged(axes: Any, kept: Scores) -> None:
    brought = selective(kept)
    for number, signal in enumerate((*SIGNALS, "random")):
        rows = [_of(brought[f"{signal} {share}%"]["back"], 100) for share in SHARES]
        places = [share + 0.3 * (number - 1) for share in SHARES]
        style = {"fmt": "s-", "color": "gray"} if signal == "random" else {"fmt": "o-"}
        label = LABELS.get(signal, signal)
        axes.errorbar(places, [row[0] for row in rows], yerr=_ends(rows), capsize=3, label=label, **style)
    whole = kept.values["gt", "bm25_reference"] - kept.values["MinerU", "bm25_reference"]
    axes.axhline(100 * float(whole.mean()), color="gray", linewidth=0.8, linestyle=":", label="the whole loss")
    axes.set(xlabel="pages replaced by clean text, %", ylabel="points brought back", ylim=(-1, 18), xticks=SHARES)
    axes.set_title("e. What does reading pages again buy? (2,883 questions)")
    axes.legend(frameon=False, fontsize="small", loc="upper left", ncols=2)


def _ends(rows: Iterable[Interval]) -> list[list[float]]:
    """Return by how much values are above the lower ends, and below the upper ends, of their intervals."""
    return [[value - low for value, low, _ in rows], [high - value for value, _, high in rows]]


def _corrected(axes: Any) -> None:
    for shift, color, where, of in ((-0.12, "C0", "on", OF[0]), (0.12, "C1", "in", OF[1])):
        counted = of_both(KEPT, of)
        together = {"page": 4}  # as planned, a second look, at two hypotheses
        rows = [
            (name, _of(counted.change(name, among=together.get(of, 1) if name == "words_kept" else 1)))
            for name in ("words_kept", "words_misread", "invented")
        ]
        _intervals(axes, rows, shift, color=color, label=f"{where} the {of}")
    axes.axvline(0, color="gray", linewidth=0.8, linestyle=":")
    axes.set(
        xlabel="change in words by a 1.5B model's correction",
        title="f. What does correction buy, and invent? (300 passages)",
    )
    axes.legend(frameon=False, fontsize="small", loc="lower right")


if __name__ == "__main__":
    draw()
