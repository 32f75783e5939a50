"""Checks of what plugins return: a wrong value is a failed item, never a silent wrong number."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from ohr.contracts import Chunk, Completion, Context, Hit, Image, Index, Page, Recognition, SystemReply
from ohr.contracts.system import SPLIT
from ohr.errors import OhrError
from ohr.files import images

_LONGEST_REPLY = 4 << 20
"""Characters of a reply, as many as the chat client reads bytes: longer ones take minutes to score."""
_LONGEST_ERROR = 2000
"""Characters of an error text: a server may send megabytes, and each failure is printed and stored."""


class BrokenContract(OhrError):
    """A plugin returned something that its contract rules out."""


def checked_image(image: Any) -> Image:
    """Check a page image: (H, W, 3) uint8, not empty."""
    if not (isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim == 3 and image.shape[2] == 3):
        raise BrokenContract(f"an image must be (H, W, 3) uint8, not {_shape(image)}")
    if not image.size:
        raise BrokenContract(f"an image must have pixels, not {_shape(image)}")
    images.refuse_large(image.shape[1], image.shape[0], "an image")
    return image


def checked_chunks(chunks: Any, pages: Sequence[Page]) -> list[Chunk]:
    """Check a document's chunks: each an id of its own, some text, and pages of this document."""
    known = {(page.document, page.index) for page in pages}
    found = list(chunks)
    for chunk in found:
        if not isinstance(chunk, Chunk):
            raise BrokenContract(f"a chunk must be a Chunk, not {type(chunk).__name__}")
        if not chunk.pages or any((chunk.document, page) not in known for page in chunk.pages):
            raise BrokenContract(
                f"chunk {chunk.id!r} is on pages {chunk.pages} of {chunk.document!r}, which are not there"
            )
        if not 0 <= chunk.start <= chunk.end:
            raise BrokenContract(f"chunk {chunk.id!r} spans [{chunk.start}, {chunk.end})")
    if len({chunk.id for chunk in found}) < len(found):
        raise BrokenContract("two chunks of a document have one id")
    return found


def checked_index(index: Any) -> Index:
    """Check that a retriever's index can be stored."""
    if not isinstance(index, Index):
        raise BrokenContract(f"an index must be an Index, not {type(index).__name__}")
    return index


def checked_hits(hits: Any, size: int, top_k: int) -> list[Hit]:
    """Check one query's hits: at most `top_k` different places in the corpus, scores finite and falling."""
    found = [Hit(int(hit.place), float(hit.score)) for hit in hits]  # scores often come as numpy's floats
    places, scores = [hit.place for hit in found], [hit.score for hit in found]
    if len(found) > top_k:
        raise BrokenContract(f"{len(found)} hits where {top_k} were asked for")
    if any(not 0 <= place < size for place in places) or len(set(places)) < len(places):
        raise BrokenContract(f"hits at {places} in an index of {size} chunks")
    if not all(map(isfinite, scores)) or scores != sorted(scores, reverse=True):
        raise BrokenContract(f"scores must be finite and fall: {scores}")
    return found


def checked_completion(completion: Any) -> Completion:
    """Check a reply, so that it can always be stored; a broken one becomes a completion with an error.

    A token count or a time that is none becomes 0; control characters of an error text are escaped.
    """
    if not isinstance(completion, Completion) or not isinstance(completion.text, str):
        given = getattr(completion, "text", completion)
        return _failed(f"a reply must be a Completion with text, not {type(given).__name__}")
    if len(completion.text) > _LONGEST_REPLY:
        return _failed(f"the reply has {len(completion.text):,} characters; at most {_LONGEST_REPLY:,} are scored")
    if not (completion.error is None or isinstance(completion.error, str)):
        return _failed(f"a completion's error must be text or None, not {type(completion.error).__name__}")
    if not (isinstance(completion.finish, str) and completion.finish in ("stop", "length", "error")):
        return _failed("a completion's finish must be stop, length or error")
    if not isinstance(completion.truncated, bool):
        return _failed(f"a completion's truncated must be true or false, not {type(completion.truncated).__name__}")
    error = completion.error
    if error is not None or completion.finish == "error":
        error = _escaped(error or "no reason was given")
    return replace(
        completion,
        text=storable(completion.text),
        tokens_in=_count(completion.tokens_in),
        tokens_out=_count(completion.tokens_out),
        seconds=_seconds(completion.seconds),
        finish=completion.finish if error is None else "error",
        error=error,
    )


def checked_recognition(read: Any) -> Recognition:
    """Check what was read of a page, so that it can always be stored; a broken result becomes one with an error."""
    if not isinstance(read, Recognition) or not isinstance(read.text, str):
        given = getattr(read, "text", read)
        return Recognition(error=f"a page must be a Recognition with text, not {type(given).__name__}")
    if not (read.error is None or isinstance(read.error, str)):
        return Recognition(error=f"a page's error must be text or None, not {type(read.error).__name__}")
    if read.error is not None:
        return Recognition(error=_escaped(read.error or "no reason was given"))
    length = len(read.text) + sum(len(block.text) for block in read.blocks)
    if length > _LONGEST_REPLY:
        return Recognition(error=f"the page has {length:,} characters; at most {_LONGEST_REPLY:,} are indexed")
    return replace(
        read,
        text=storable(read.text),
        blocks=tuple(replace(block, text=storable(block.text)) for block in read.blocks),
        tokens_in=_count(read.tokens_in),
        tokens_out=_count(read.tokens_out),
        seconds=None if read.seconds is None else _seconds(read.seconds),
        reader=storable(str(read.reader)),
    )


def _failed(error: str) -> Completion:
    return Completion("", finish="error", error=error)


def checked_reply(reply: Any) -> SystemReply:
    """Check a system's reply, so that it can always be stored and scored.

    Raises:
        BrokenContract: it is none, or holds what no reply can hold.
    """
    if not isinstance(reply, SystemReply) or not isinstance(reply.answer, str):
        given = getattr(reply, "answer", reply)
        raise BrokenContract(f"a system's reply must be a SystemReply whose answer is text, not {type(given).__name__}")
    if len(reply.answer) > _LONGEST_REPLY:
        raise BrokenContract(f"the answer has {len(reply.answer):,} characters; at most {_LONGEST_REPLY:,} are scored")
    contexts = None if reply.contexts is None else tuple(map(_checked_context, reply.contexts))
    return replace(
        reply,
        answer=storable(reply.answer),
        contexts=contexts,
        tokens_in=_count(reply.tokens_in),
        tokens_out=_count(reply.tokens_out),
        seconds=None if reply.seconds is None else _seconds(reply.seconds),
        **{name: _stated_seconds(name, getattr(reply, name)) for name in SPLIT},
        version=storable(str(reply.version)),
    )


def _checked_context(context: Any) -> Context:
    if not isinstance(context, Context):
        raise BrokenContract(f"a context must be a Context, not {type(context).__name__}")
    for name in ("text", "document"):
        if not isinstance(value := getattr(context, name), str):
            raise BrokenContract(f"a context's {name} must be text, not {type(value).__name__}")
    if isinstance(context.page, bool) or not (context.page is None or isinstance(context.page, Integral)):
        raise BrokenContract(f"a context's page must be a whole number, not {context.page!r:.80}")
    score = context.score
    if score is not None and (isinstance(score, bool) or not isinstance(score, Real) or not isfinite(score)):
        raise BrokenContract(f"a context's score must be a finite number, not {score!r:.80}")
    return Context(
        storable(context.text),
        storable(context.document),
        None if context.page is None else int(context.page),
        None if score is None else float(score),
    )


def storable(text: str) -> str:
    """Replace half a character, such as the end of a reply that was cut: it cannot be written to a file."""
    return text.encode("utf-8", "replace").decode()


def _escaped(text: str) -> str:
    """Write control characters as Python does, since a terminal would obey them; very long texts lose their end."""
    shown = (sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text[:_LONGEST_ERROR])
    return type(text)("".join(shown) + "…" * (len(text) > _LONGEST_ERROR))  # as permanent as it was


def _count(value: Any) -> int:
    """Return a count that a 64-bit integer holds, or 0."""
    try:
        count = int(value)
    except (TypeError, ValueError, OverflowError):
        return 0
    return count if 0 <= count < 2**63 else 0


def _seconds(value: Any) -> float:
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return seconds if isfinite(seconds) and seconds >= 0 else 0.0


def _stated_seconds(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value) or value < 0:
        raise BrokenContract(f"a reply's {name} must be a number of seconds, not {value!r:.80}")
    return float(value)


def _shape(image: Any) -> str:
    return f"{image.shape} {image.dtype}" if isinstance(image, np.ndarray) else type(image).__name__
