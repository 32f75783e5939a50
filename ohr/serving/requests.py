"""Parameters and JSON of a request, and the reason for which one is refused."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from ohr.errors import OhrError
from ohr.files.json_input import parse_json, whole_number
from ohr.messages.blame import fault_of
from ohr.messages.variables import hidden
from ohr.messages.wording import quoted
from ohr.registry import choices

_LONGEST = 1_000
"""Characters of a reason that are sent."""


class Refusal(Exception):
    """A request that is not served.

    Args:
        number: the error code of the knowledge API, where it names one; else the status.
        code: that of the chat API, where it names one.
        headers: that its answer has besides.
    """

    def __init__(
        self,
        status: HTTPStatus,
        message: str,
        number: int = 0,
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message[:_LONGEST])
        self.status, self.number, self.code, self.headers = status, number or int(status), code, headers or {}

    @classmethod
    def of(cls, error: BaseException, status: HTTPStatus = HTTPStatus.INTERNAL_SERVER_ERROR) -> "Refusal":
        """Return the answer to a fault, without secrets; `status` is that of an OhrError."""
        if isinstance(error, cls):
            return error
        status = status if isinstance(error, OhrError) else HTTPStatus.INTERNAL_SERVER_ERROR
        return cls(status, hidden(fault_of(error)))


class Parameters(dict[str, str]):
    """Parameters of an address; each method refuses a value that is not allowed, and says which are."""

    def number(self, name: str, least: int, most: int | None = None, default: int | None = None) -> int:
        """Return a whole number from `least` to `most`."""
        number = default if name not in self else whole_number(self[name])
        if number is None or number < least or (most is not None and number > most):
            allowed = f"of at least {least}" if most is None else f"from {least} to {most:,}"
            raise self._wrong(name, f"It must be a whole number {allowed}.")
        return number

    def word(self, name: str, allowed: Sequence[str], default: str = "") -> str:
        """Return one of some words."""
        if (given := self.get(name, default)) not in allowed:
            raise self._wrong(name, choices(given, [word for word in allowed if word]))
        return given

    def _wrong(self, name: str, allowed: str) -> Refusal:
        given = f"got {quoted(self[name])}" if name in self else "is missing"
        return Refusal(HTTPStatus.BAD_REQUEST, f"{name}: {given}. {allowed}")


def json_of(body: bytes) -> Any:
    """Read the JSON of a request.

    Raises:
        Refusal: it is none.
    """
    try:
        return parse_json(body)
    except ValueError as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, f"the request is not JSON: {error}") from None
