"""The prices that a run is shown with: they may change after it, as they change none of its results."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from ohr.errors import DataError
from ohr.prices import Price, Prices
from ohr.results.folder.run_folder import PRICES
from ohr.results.folder.whole_files import replaced


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices by name, and their currency, which may be nothing."""

    prices: Mapping[str, Price] = field(default_factory=dict)
    currency: str = ""


def read_prices(folder: Path) -> PriceList:
    """Read the prices of a run; none where it has no file of them.

    Raises:
        DataError: the file is damaged.
    """
    path = folder / PRICES
    try:
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return PriceList()
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not readable as JSON: {error}") from None
    try:
        return PriceList(TypeAdapter(Prices).validate_python(found["prices"]), str(found["currency"]))
    except (ValidationError, KeyError, TypeError):
        raise DataError(f"{path}: holds no prices as ohr writes them; run the spec again, which writes it") from None


def write_prices(folder: Path, given: PriceList) -> bool:
    """Write the prices of a run in place of those that it had; returns whether they are others.

    Raises:
        DataError: the file cannot be written.
    """
    try:
        before: PriceList | None = read_prices(folder)
    except DataError:
        before = None
    if before == given or not (given.prices or before is None or before.prices):
        return False
    try:
        _write(folder / PRICES, given)
    except OSError as error:
        raise DataError(f"{folder / PRICES}: cannot be written: {error.strerror or error}") from None
    return True


def _write(path: Path, given: PriceList) -> None:
    if not given.prices:
        path.unlink(missing_ok=True)
        return
    prices = {name: price.model_dump(by_alias=True, exclude_none=True) for name, price in given.prices.items()}
    with replaced(path) as new:
        text = json.dumps({"currency": given.currency, "prices": prices}, indent=1, ensure_ascii=False)
        new.write_text(text + "\n", encoding="utf-8")
