"""Naive."""

import re


class PageLocator:
    def __init__(self, pages):
        self.p = {k: set(re.findall(r"\w{4,}", " ".join(v).lower())) for k, v in pages.items()}

    def locate(self, t, document=None):
        w = set(re.findall(r"\w{4,}", t.lower()))
        c = [(len(w & s), k) for k, s in self.p.items() if document in (None, k[0])]
        b = max(c, default=(0, None))
        return (b[1],) if b[0] > 0.5 * len(w) and w else ()
