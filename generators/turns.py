"""Conversations as models are sent them."""

from collections.abc import Iterable, Iterator

from ohr.contracts import Conversation, Image

Said = str | Iterable[str | Image]
"""The content of a message: one text, or texts and images in their order."""


def spoken(conversation: Conversation) -> Iterator[tuple[str, Said]]:
    """Yield the role and the content of each turn: one text, or where it shows pictures its parts; makes them late.

    A text of no characters beside pictures is left out: some servers refuse an empty part.
    """
    for turn, (role, parts) in zip(conversation.turns, conversation.shown(), strict=True):
        if turn.pictures:
            yield role, (part for part in parts if not isinstance(part, str) or part)
        else:
            yield role, turn.text
