"""Money beside quality: what a question takes under each condition, and what a point of score comes to.

The prices of a run may change after it, so this table is made when it is read, and no file has it.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

from ohr.prices import Payee, Price, is_counted
from ohr.results.derived.losses import Loss, read_losses
from ohr.results.derived.pairs import FAILED
from ohr.results.derived.spending import usage
from ohr.results.run import Row, Run
from ohr.results.tables.groups import ALL
from ohr.results.tables.read_table import plain
from ohr.results.tables.schema import CELL, CELL_NAME

_PIPELINE = ("stage", "chunker", "retriever", "generator")

Payees = Mapping[tuple[str, str, str], Payee]
"""By use, name and role."""

NO_PRICE, NOT_COUNTED = "no price", "tokens not counted"


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens and money of one condition in one pipeline: means over the questions that were answered, in all draws.

    Args:
        questions: answered ones.
        uncounted: those of which nobody said the tokens.
        tokens_in: of a question, as `tokens_out`.
        money: of a question; nan without a price or where tokens were not counted.
        clean_money: of a question on the clean text.
        score: mean of the headline metric, over the questions that are compared with the clean text where there is one.
        per_right: money of a whole point of score, money / score: of as much score as one right answer has.
        clean_per_right: the same on the clean text.
        lost: of the score against the clean text; nan where there is none.
        per_point: what each lost point of 100 adds to `per_right`: (per_right - clean_per_right) / (100 lost); nan
            where no loss is shown.
        note: why something is undefined.
    """

    stage: str
    condition: str
    noise: str
    noise_type: str
    level: str
    chunker: str
    retriever: str
    generator: str
    metric: str
    questions: int
    uncounted: int
    tokens_in: float
    tokens_out: float
    money: float
    clean_money: float
    score: float
    per_right: float
    clean_per_right: float
    lost: float
    per_point: float
    note: str


def read_costs(run: Run) -> list[Cost]:
    """Read what each condition takes in each pipeline that answers; nothing where no price is set.

    Raises:
        DataError: a table, the manifest or the prices are damaged.
    """
    prices = run.price_list.prices
    if not prices or not run.has("answers"):
        return []
    payees: Payees = {(payee.use, payee.name, payee.role): payee for payee, _ in usage(run)}
    summary = run.once(run.rows("summary", by="evidence_source", group=ALL))
    scores = [row for row in summary if row["metric"] == run.headlines.get(row["stage"])]
    efforts = _efforts(run, payees, prices)
    losses = {tuple(getattr(loss, name) for name in (*CELL_NAME, "metric")): loss for loss in read_losses(run)}
    shown = [row for row in scores if _place(row) in efforts]
    clean = {tuple(row[name] for name in _PIPELINE): _place(row) for row in shown if row["noise_type"] == "none"}
    costs = []
    for row in shown:
        of_clean = clean.get(tuple(row[name] for name in _PIPELINE))
        loss = losses.get((*(row[name] or "" for name in CELL_NAME), row["metric"]))
        costs.append(_cost(row, efforts[_place(row)], efforts.get(of_clean) if of_clean else None, loss))
    return costs


def _cost(row: Row, effort: Mapping[str, Any], clean: Mapping[str, Any] | None, loss: Loss | None) -> Cost:
    money, clean_money = effort["money"], clean["money"] if clean else nan
    score = loss.mean if loss else row["mean"]
    per_right, clean_per_right = _ratio(money, score), _ratio(clean_money, loss.clean if loss else nan)
    note = effort["note"] or ("" if row["noise_type"] == "none" else _unshown(loss))
    per_point = nan if note or loss is None else (per_right - clean_per_right) / (100 * loss.lost)
    about: dict[str, Any] = {name: row[name] or "" for name in CELL if name not in ("knob", "knob_value")}
    return Cost(
        **about,
        **{name: effort[name] for name in ("questions", "uncounted", "tokens_in", "tokens_out")},
        level=row["knob_value"] or "",
        metric=row["metric"],
        money=money,
        clean_money=clean_money,
        score=score,
        per_right=per_right,
        clean_per_right=clean_per_right,
        lost=loss.lost if loss else nan,
        per_point=per_point,
        note=note or ("no right answer" if isnan(per_point) and loss else ""),
    )


def _ratio(money: float, score: float) -> float:
    return money / score if score > 0 else nan


def _unshown(loss: Loss | None) -> str:
    """Return why a condition has no price of a lost point; "" where a loss is shown."""
    if loss is None:
        return "no clean text"
    if loss.verdict == FAILED:
        return "too much failed"
    if isnan(loss.low):
        return "no loss" if loss.lost == 0 else "too few documents"
    if loss.lost < 0:
        return "a gain" if loss.high < 0 else "a gain, not shown"
    return "" if loss.low > 0 else "no loss shown"


def _place(row: Row) -> tuple[Any, ...]:
    return tuple(row[name] for name in CELL_NAME)


def _efforts(run: Run, payees: Payees, prices: Mapping[str, Price]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return tokens and money of a question by cell; cells of which nothing was answered are left out."""
    import pyarrow.compute as pc

    answers = plain(run.table("answers", [*CELL_NAME, "tokens_in", "tokens_out", "error"]))
    done = answers.filter(pc.is_null(answers["error"]))
    for name in ("tokens_in", "tokens_out"):  # as numbers of 64 bits their sum might not fit
        done = done.set_column(done.column_names.index(name), name, pc.cast(done[name], "float64"))
    done = done.append_column("uncounted", pc.equal(done["tokens_in"], 0))
    sums = done.group_by(list(CELL_NAME)).aggregate(
        [([], "count_all"), ("tokens_in", "sum"), ("tokens_out", "sum"), ("uncounted", "sum")]
    )
    calls, mute = _agent_calls(run), _mute(run)
    found = {}
    for row in sums.to_pylist():
        count, name = row["count_all"], row["generator"]
        whole = {"": (row["tokens_in_sum"], row["tokens_out_sum"], row["uncounted_sum"] + mute[_place(row)])}
        used = calls.get((row["condition"], row["chunker"], name), whole)
        parts = [(payee, *used[role]) for role in used if (payee := _of(payees, name, role)) is not None]
        found[_place(row)] = _effort(parts, count, prices)
    return found


def _mute(run: Run) -> Counter[tuple[Any, ...]]:
    """Count by cell the replies with words of which only the prompt's tokens are known."""
    rows = run.rows("answers", [*CELL_NAME, "tokens_in", "reply", "error"], tokens_out=0)
    return Counter(_place(row) for row in rows if row["tokens_in"] and row["reply"] and not row["error"])


def _of(payees: Payees, name: str, role: str) -> Payee | None:
    """Find the generator, the model of an agent, or the system, whose one call has a role too."""
    places = ("answers", name, ""), ("agents", name, role), ("systems", name, "")
    return next((payees[place] for place in places if place in payees), None)


def _effort(
    parts: Sequence[tuple[Payee, int, int, int]], questions: int, prices: Mapping[str, Price]
) -> dict[str, Any]:
    """Return the means of a question from the sums of all that were asked for it."""
    uncounted = sum(part[3] for part in parts)
    money = sum(payee.money(prices, questions, *tokens, counted=not silent) for payee, *tokens, silent in parts)
    has_price = bool(parts) and all(payee.price(prices) is not None for payee, *_ in parts)
    return {
        "questions": questions,
        "uncounted": uncounted,
        "tokens_in": sum(part[1] for part in parts) / questions,
        "tokens_out": sum(part[2] for part in parts) / questions,
        "money": money / questions if parts else nan,
        "note": NO_PRICE if not has_price else NOT_COUNTED if isnan(money) else "",
    }


def _agent_calls(run: Run) -> dict[tuple[Any, ...], dict[str, tuple[int, int, int]]]:
    """Sum the tokens of each agent's calls by the role of the model; a shared call counts once in a knowledge base."""
    sums = defaultdict[Any, dict[str, tuple[int, int, int]]](dict)
    for step in run.different_steps(["tokens_in", "tokens_out", "reply"], kind="ask"):
        roles = sums[step["condition"], step["chunker"], step["agent"]]
        tokens_in, tokens_out, silent = roles.get(step["role"], (0, 0, 0))
        more_in, more_out = step["tokens_in"], step["tokens_out"]
        uncounted = not is_counted(step["reply"] or "", more_in, more_out)
        roles[step["role"]] = tokens_in + more_in, tokens_out + more_out, silent + uncounted
    return sums
