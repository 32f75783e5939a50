"""The table of what noises and an engine cost retrieval at equal dose."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ohr.runner.noise_cost import Cost
    from ohr.statistics.estimate import Estimate

COST_HEADS = (
    "domain", "noise", "equal in", "r_noise", "words lost", "loss", "engine more by", "verdict", "correlation", "draws",
    "shared", "chance", "draws",
)  # fmt: skip
COST_KEY = (
    "losses of retrieval in points with 95% intervals over documents; engine more by: question by question, negative "
    "where the noise costs more\n"
    "matches: the 90% interval is within 3 points; does not match: the 95% interval is outside of them\n"
    "correlation of the losses of questions with the engine's; draws: of two draws of the noise\n"
    "shared: of the questions lost with the engine, those lost with the noise; chance: of all questions; draws: of "
    "those lost with another draw"
)


def cost_cells(cost: "Cost") -> tuple[str, ...]:
    """Write a row of the table."""
    start = (cost.domain, cost.noise or "engine", cost.dose, f"{cost.r_noise:.3f}", f"{cost.evidence_loss:.3f}")
    loss = points(cost.loss.difference)
    if cost.apart is None or cost.correlation is None or cost.shared is None:
        return (*start, loss, *[""] * 7)
    apart, seeds = points(cost.apart.difference), (cost.between_seeds, cost.by_chance, cost.shared_by_seeds)
    of_losses, *shares = (_share(each) for each in seeds)
    correlation, shared = _share(cost.correlation.mean), _share(cost.shared.mean)
    return (*start, loss, apart, cost.verdict, correlation, of_losses, shared, *shares)


def points(value: "Estimate") -> str:
    """Write a share in points, with its interval."""
    interval = "" if value.low != value.low else f" [{100 * value.low:.1f}, {100 * value.high:.1f}]"
    return f"{100 * value.mean:.1f}{interval}"


def _share(value: float) -> str:
    return "" if value != value else f"{value:.2f}"


def cost_row(cost: "Cost") -> dict[str, object]:
    """Return a row's numbers for a script."""
    estimates = {
        "loss": cost.loss.difference,
        "apart": cost.apart and cost.apart.difference,
        "correlation": cost.correlation,
        "shared": cost.shared,
    }
    values = {name: value and [value.mean, value.low, value.high] for name, value in estimates.items()}
    plain = (
        "domain",
        "noise",
        "dose",
        "r_noise",
        "evidence_loss",
        "verdict",
        "between_seeds",
        "by_chance",
        "shared_by_seeds",
    )
    inner = {"apart_inner": [cost.apart.inner_low, cost.apart.inner_high]} if cost.apart else {}
    return {name: getattr(cost, name) for name in plain} | values | inner
