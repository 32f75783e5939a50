"""Random draws that depend on their item and purpose, never on order, worker or process."""

from hashlib import sha256

import numpy as np


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """Return the generator of one draw.

    Args:
        seed: the run's seed (plus the replicate's number).
        names: what the draw is for: plugin kind, document, page, draw name. Never a knowledge base's name, a rate
            or a severity, so that levels of one noise are coupled.
    """
    words = "\x1f".join(str(name) for name in (seed, *names))
    return np.random.Generator(np.random.PCG64(int.from_bytes(sha256(words.encode()).digest()[:16], "little")))
