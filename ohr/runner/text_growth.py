"""How much longer noise makes texts, for a plan: measured on a sample of pages, without an engine."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ohr.contracts import Chunker, Generator, Page, Prompt
from ohr.engine.session import Session
from ohr.graph.cache_keys import Keys
from ohr.graph.graph import BasePart
from ohr.spec.model import KnowledgeBase, Named
from ohr.steps.documents.make_document import read_pages
from ohr.steps.documents.treat import TreatedPages, treat
from ohr.text.tokens import count_tokens

_PAGES = 40
"""Pages of a sample: the slowest text noise takes a quarter of a second for them."""


@dataclass(frozen=True)
class Size:
    """Counts tokens as a generator does; where only its model can, in those of cl100k_base."""

    generator: Generator

    def of(self, texts: Sequence[str]) -> int:
        """Return the tokens of some texts as passages."""
        none = self.generator.size_of(Prompt("", (), "", ""))
        sizes = (self.generator.size_of(Prompt("", (text,), "", text)) for text in texts)
        return sum(
            count_tokens(text) if size is None else size - (none or 0) for text, size in zip(texts, sizes, strict=True)
        )


@dataclass
class Growth:
    """Ratios of a knowledge base's tokens to those of the clean text.

    Args:
        parts: the knowledge bases of the plan's graph.
    """

    session: Session
    keys: Keys
    parts: Iterable[BasePart]
    _known: dict[tuple[str, str, Size], float] = field(default_factory=dict)
    _samples: dict[str, list[tuple[Sequence[Page], Sequence[Page]]]] = field(default_factory=dict)

    def ratio(self, base: KnowledgeBase, chunker: Named[Chunker] | None, size: Size) -> float:
        """Return how many times as long a passage is as on the clean text: a chunk, or a whole page.

        The text is that in the store; else text noise is put on the clean text, as reading images takes an engine.

        Args:
            size: counts the tokens of texts as the generator does.
        """
        place = base.condition, chunker.name if chunker else "", size
        if place not in self._known:
            self._known[place] = 1.0
            if base.noise_type != "none":
                with suppress(Exception):  # a foreign noise or chunker may raise anything, which the run reports
                    self._known[place] = self._measured(base, chunker, size)
        return self._known[place]

    def _measured(self, base: KnowledgeBase, chunker: Named[Chunker] | None, size: Size) -> float:
        if base.condition not in self._samples:
            self._samples[base.condition] = list(self._sample(base))
        means = []
        for side in range(2):
            texts = [text for pair in self._samples[base.condition] for text in _passages(pair[side], chunker)]
            means.append(size.of(texts) / max(len(texts), 1))
        return means[1] / means[0] if all(means) else 1.0

    def _sample(self, base: KnowledgeBase) -> Iterable[tuple[Sequence[Page], Sequence[Page]]]:
        """Yield the clean and the noisy pages of some documents, spread over those that questions are about."""
        inputs = self.keys.inputs
        names = self._documents.get(base.name, {})
        asked = [document for document in inputs.documents if inputs.about.get(document.name)]
        left = _PAGES
        for document in asked[:: max(len(asked) // _PAGES, 1)]:
            clean = list(inputs.truth.get(document.name, ()))[:left]
            if not clean:
                continue
            key = names.get(document.name, "")
            stored = read_pages(self.session.store, key) if self.session.store.has_many([key]) else None
            known = {page.index: page for page in stored or () if page.error is None}
            if stored:
                clean = [page for page in clean if page.index in known]
                noisy: Sequence[Page] = [known[page.index] for page in clean]
            else:
                about = inputs.about.get(document.name, ())
                seed = self.keys.spec.seed + base.replicate
                noisy = treat(TreatedPages.of(clean), base.text_treatments, about, seed, base.dosed_as).pages
            yield clean, noisy
            left -= len(clean)
            if left <= 0:
                return

    @property
    def _documents(self) -> Mapping[str, Mapping[str, str]]:
        """By knowledge base, the key of each document's text."""
        names = [document.name for document in self.keys.inputs.documents]
        return {part.base.name: dict(zip(names, part.documents, strict=False)) for part in self.parts}


def _passages(pages: Sequence[Page], chunker: Named[Chunker] | None) -> Iterable[str]:
    if chunker is None or chunker.stage.resources().alone:
        return [page.text for page in pages]
    return [chunk.text for chunk in chunker.stage.split(pages) if chunk.text.strip()]
