"""The time that servers with limits per minute take at least."""

from dataclasses import dataclass, field

from ohr.contracts import Generator, Stage
from ohr.models.chat_server import ChatServer


@dataclass
class Waits:
    """Sums of requests and tokens by server, model and key, which share their limits."""

    _sums: dict[tuple[str, str, str | None], tuple[ChatServer, float, float]] = field(default_factory=dict)

    def add(self, stage: Stage, requests: float, tokens: float) -> None:
        """Add requests to a stage that asks a server; a batch is under no limit per minute."""
        if not isinstance(stage, ChatServer) or (isinstance(stage, Generator) and stage.posts):
            return
        place = stage.base_url, stage.model, stage.api_key_env
        _, before, tokens_before = self._sums.get(place, (stage, 0.0, 0.0))
        self._sums[place] = stage, before + requests, tokens_before + tokens

    @property
    def minutes(self) -> float:
        """The minutes of the server that takes longest: all are asked at the same time."""
        return max((_minutes(*sums) for sums in self._sums.values()), default=0.0)


def _minutes(server: ChatServer, requests: float, tokens: float) -> float:
    limits = (requests, server.requests_per_minute), (tokens, server.tokens_per_minute)
    return max(amount / limit if limit else 0.0 for amount, limit in limits)
