"""Which page images a prompt shows to a generator that reads images."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ohr.contracts import Image, Question
from ohr.engine.images import PageImages
from ohr.engine.recipe import Recipe
from ohr.engine.retrieve import Found
from ohr.spec.model import KnowledgeBase


@dataclass(frozen=True)
class Shown:
    """Page images for prompts; none where no generator of the run reads images."""

    recipe: Recipe

    def own(self, base: KnowledgeBase, question: Question) -> Sequence[Image]:
        """Show the question's own pages, in ascending order."""
        return self.images(base, ((question.document, index) for index in sorted(question.pages)))

    def found(self, base: KnowledgeBase, hits: Iterable[Found]) -> Sequence[Image]:
        """Show the pages of the passages that were found, each once, the best first."""
        return self.images(base, ((hit.chunk.document, page) for hit in hits for page in hit.chunk.pages))

    def images(self, base: KnowledgeBase, pages: Iterable[tuple[str, int]]) -> Sequence[Image]:
        """Show some pages as a knowledge base sees them; those that no document has are left out."""
        if not any(generator.stage.reads_images for generator in self.recipe.spec.generators):
            return ()
        documents = {document.name: document for document in self.recipe.inputs.documents}
        return PageImages(
            [
                self.recipe.image(base, documents[name], index)
                for name, index in dict.fromkeys(pages)
                if name in documents and index < documents[name].pages
            ]
        )
